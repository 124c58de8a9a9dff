"""Footing: the rechecker's conditions for agents that stand on the ground.

Corners of standing soles do not move. Nothing sinks into the ground. A person always has at least one foot on the ground, and
wheels stay on the ground.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent, Team
from bunraku.ensemble.whole_team import feet
from bunraku.figure.shape import Box, Capsule, Cylinder, Shape, Sphere
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
Heights = Callable[[Array], Array]
"""A function from points (n, 2) [m] to heights of the ground (n,) [m]."""


@dataclass(frozen=True)
class FootingOptions:
    """Tolerances for standing on the ground."""

    standing: float = 1e-3
    """A corner no higher than this over the ground counts as standing [m]."""
    sunk: float = 0.01
    """How far the lowest point of an agent may be below the ground [m]."""
    afloat: float = 0.02
    """How far the lowest point of an agent may be above the ground [m]."""


def floor(scene: Scene) -> Heights:
    """The heights of a flat ground: the floor of the `scene`, or 0."""
    return lambda points: np.full(len(points), 0.0 if scene.floor is None else scene.floor)


def slides(team: Team, motion: Motion, heights: Heights, *, options: FootingOptions = FootingOptions()) -> Array:
    """Largest distance of corners of the `team`'s soles from where they were set down, at each sample of the `motion` (T,) [m].

    `heights` are those of the ground, `options` define standing. Zero if no corner stands.
    """
    out = np.zeros(len(motion))
    for agent in team.agents:
        points = [row for _, own in _under(agent, motion, walking=True) for row in own]
        if not points:
            continue
        P = np.stack(points, 1)
        T, n, _ = P.shape
        stands = _up(P, heights) <= options.standing
        # For each corner, the sample at which its current stance began.
        begins = stands & ~np.vstack([np.zeros((1, n), bool), stands[:-1]])
        since = np.maximum.accumulate(np.where(begins, np.arange(T)[:, None], 0), 0)
        away = np.linalg.norm(P - np.take_along_axis(P, since[..., None], 0), axis=2)
        out = np.maximum(out, np.where(stands, away, 0.0).max(1))
    return out


def footing(
    team: Team, motion: Motion, heights: Heights, *, options: FootingOptions = FootingOptions()
) -> Iterator[tuple[int, str, float]]:  # fmt: skip
    """Agents of a `team` that sink into the ground or float over it in a `motion`: first sample, description, distance [m].

    `heights` are those of the ground, `options` the tolerances.
    """
    for agent in team.agents:
        points = [row for _, own in _under(agent, motion, walking=False) for row in own]
        if not points:
            continue
        up = _up(np.stack(points, 1), heights).min(1)
        for wrong, text in ((up < -options.sunk, "sinks {:.3g} m into"), (up > options.afloat, "floats {:.3g} m over")):
            if wrong.any():
                worst = float(np.abs(up[wrong]).max())
                yield int(np.argmax(wrong)), f"{agent.name} {text.format(worst)} the ground", worst


def standing_points(agent: Agent, motion: Motion, heights: Heights, *, near: float = 0.01) -> tuple[Array, NDArray[np.bool_]]:
    """Points (T, n, 3) [m] on which an `agent` may stand in a `motion`, and whether it does: they are as `near` to the ground [m].

    `heights` are those of the ground.
    """
    P = np.stack([row for _, own in _under(agent, motion, walking=False) for row in own], 1)
    return P, _up(P, heights) <= near


def _up(P: Array, heights: Heights) -> Array:
    """Heights of points (T, n, 3) above the ground."""
    return np.asarray(P[..., 2] - heights(P[..., :2].reshape(-1, 2)).reshape(P.shape[:2]))


def _under(agent: Agent, motion: Motion, *, walking: bool) -> Iterator[tuple[Shape, list[Array]]]:
    """The shapes that an agent stands on, and positions (T, 3) of points that may be their lowest.

    With `walking`, only the corners of feet, which move independently of the base.
    """
    figure, q = agent.figure, motion.track(agent.name).q
    X = frames_along(figure, q)
    joint, index = figure.compiled.frame_joint, figure.frame_index
    base = joint[index[agent.base[2]]] if agent.base[2] in index else -1
    own = set(feet(agent))
    for shape in figure.shapes:
        if shape.frame not in own or not shape.collides or (walking and joint[index[shape.frame]] == base):
            continue
        X_WS = X[:, index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        points = _corners(shape, X_WS) if walking or isinstance(shape.geometry, Box) else _lowest(shape, X_WS)
        if points:
            yield shape, points


def _corners(shape: Shape, X: Array) -> list[Array]:
    if not isinstance(shape.geometry, Box):
        return []
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * np.asarray(shape.geometry.size)
    return [X[:, :3, :3] @ corner + X[:, :3, 3] for corner in corners]


def _lowest(shape: Shape, X: Array) -> list[Array]:
    """The lowest point of a round shape with axis z."""
    down = np.array([0.0, 0.0, -1.0])
    middle, axis = X[:, :3, 3], X[:, :3, 2]
    match shape.geometry:
        case Sphere(radius):
            return [middle + radius * down]
        case Capsule(radius, length):
            return [middle + sign * 0.5 * length * axis + radius * down for sign in (-1.0, 1.0)]
        case Cylinder(radius, length):
            rim = down - (axis @ down)[:, None] * axis
            rim /= np.maximum(np.linalg.norm(rim, axis=1, keepdims=True), 1e-12)
            return [middle + sign * 0.5 * length * axis + radius * rim for sign in (-1.0, 1.0)]
    return []
