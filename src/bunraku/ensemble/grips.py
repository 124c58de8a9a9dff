"""Grips: who holds the object on a part of the way, and how; and what stands around meanwhile."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.holdable import Holdable
from bunraku.ensemble.load import too_heavy
from bunraku.ensemble.members import Agent
from bunraku.ensemble.team import OBJECT, Team
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.shape import Shape
from bunraku.kinematics.forward import pose
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


def grips(team: Team) -> tuple[Team, ...]:
    """The teams of those of a `team` who may hold the object together, each with one set of holds; larger ones first.

    An agent that may let go can be missing. Left out are grips that cannot bear the object, or that no height allows.
    """
    options: list[list[Agent | None]] = []
    for agent in team.agents:
        own: list[Agent | None] = [
            replace(agent, holds=holds, regrasps=(), lets_go=False) for holds in (agent.holds, *agent.regrasps)
        ]
        options.append([*own, None] if agent.lets_go else own)
    out = []
    for chosen in itertools.product(*options):
        agents = tuple(agent for agent in chosen if agent is not None)
        if agents and _can(grip := Team(agents, team.carried)):
            out.append(grip)
    return tuple(sorted(out, key=lambda grip: -len(grip.agents)))


def _can(grip: Team) -> bool:
    try:
        _ = grip.heights
    except BunrakuError:
        return False
    return not too_heavy(grip)


def names_of(grip: Team) -> tuple[str, ...]:
    """The names of those who hold in a `grip`."""
    return tuple(agent.name for agent in grip.agents)


def holds_at(grip: Team, q: Array) -> bool:
    """Whether all hands of a `grip` really hold in a configuration `q` of it."""
    return bool(grip.reaches(q)[0]) and Holdable(grip, q[None], np.ones(len(q))).by_all


def around(
    scene: Scene, standing: Iterable[tuple[str, Figure, Array]], held: tuple[tuple[Shape, ...], Array] | None = None
) -> Scene:
    """A `scene` with figures that stand in it, and with the object.

    standing: name, figure and configuration of each
    held: the object's shapes, and its pose (x, y, z, yaw, pitch, roll)
    """
    more: list[Obstacle] = []
    for name, figure, q in standing:
        here = pose(figure, q)
        places = [
            (shape, se3.pose() if shape.frame == "world" else here.X(shape.frame)) for shape in figure.shapes if shape.collides
        ]
        more += [_obstacle(f"{name}_{k}", shape, X, name) for k, (shape, X) in enumerate(places)]
    if held is not None:
        X_WO = pose_of(held[1])
        more += [_obstacle(f"{OBJECT}_{k}", shape, X_WO, OBJECT) for k, shape in enumerate(held[0])]
    return scene.replace(obstacles=(*scene.obstacles, *more))


def pose_of(held: Array) -> Array:
    """The pose (4, 4) of an object `held` at (x, y, z, yaw, pitch, roll)."""
    X = np.eye(4)
    X[:3, :3] = (so3.about(2, held[3:4]) @ so3.about(1, held[4:5]) @ so3.about(0, held[5:6]))[0]
    X[:3, 3] = held[:3]
    return X


def _obstacle(name: str, shape: Shape, X: Array, group: str) -> Obstacle:
    at = X @ se3.pose(shape.position, shape.rotation)
    w, x, y, z = so3.quaternion(at[:3, :3]).tolist()
    return Obstacle(name, shape.geometry, (float(at[0, 3]), float(at[1, 3]), float(at[2, 3])), (w, x, y, z), group=group)
