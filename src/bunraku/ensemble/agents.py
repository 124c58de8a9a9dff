"""Agents of the library: a walking person and a mobile manipulator."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.ensemble.team import Agent, Grasp
from bunraku.figure import Figure, library
from bunraku.figure.library.manipulators import mobile_manipulator
from bunraku.figure.shape import Box, Cylinder
from bunraku.planning.ways.steer import Bezier, Differential, Holonomic, Planar
from bunraku.spatial import se3, so3


@functools.cache
def _figure(name: str) -> Figure:
    return library.named(name)


@functools.cache
def _rover(wheels: str, rides: bool) -> Figure:
    return mobile_manipulator(rides=rides, wheels=wheels)


def porter(name: str, *holds: Grasp, moves: type[Planar] = Bezier) -> Agent:
    """A person called `name` who `holds` with palms and `moves` with this steering; planning replaces it by a cylinder."""
    figure = _figure("mannequin")
    base = ("pelvis_tx", "pelvis_ty", "pelvis_rz")
    return Agent(name, figure, holds, base, Cylinder(0.26, 1.36), (0.0, 0.0, 0.72), moves, color=(0.2, 0.43, 0.46))


def rover(name: str, *holds: Grasp, moves: type[Planar] = Holonomic, rides: bool = False) -> Agent:
    """A mobile manipulator called `name` that `holds` with its tool and `moves` with this steering; planning replaces it by a box.

    If it `rides`, its height, pitch and roll follow uneven ground. A differential drive has two wheels and casters, any other base
    has four wheels with rollers. They turn as it moves; those of one that rides do not.
    """
    figure = _rover("" if rides else "differential" if issubclass(moves, Differential) else "mecanum", rides)
    base: tuple[str, ...] = ("base_x", "base_y", "base_turn")
    base += ("base_lift", "base_pitch", "base_roll") if rides else ()
    box, at, orange = Box((0.75, 0.58, 0.6)), (0.0, 0.0, 0.32), (0.91, 0.43, 0.1)
    return Agent(name, figure, holds, base, box, at, moves, facing=np.pi / 2, color=orange)


def hold(
    tool: str, at: ArrayLike, *, z: ArrayLike = (0.0, 0.0, -1.0), x: ArrayLike = (1.0, 0.0, 0.0), arm: str = ""
) -> Grasp:  # fmt: skip
    """A `tool` frame at the point `at` [m] of the object, its z axis along `z` and its x axis nearly along `x`; in object axes.

    `arm` names the first variable of the arm that ends in the tool, if that arm has no closed form.
    """
    e_z = np.asarray(z, float) / np.linalg.norm(z)
    e_y = np.cross(e_z, np.asarray(x, float))
    e_y /= np.linalg.norm(e_y)
    R = np.stack([np.cross(e_y, e_z), e_y, e_z], 1)
    return Grasp(tool, se3.pose(at, so3.quaternion(R)), arm)


@dataclass(frozen=True)
class AgentKind:
    """How to build an agent of one kind, and the tools that it can hold with."""

    make: Callable[..., Agent]
    tools: tuple[str, ...]


AGENT_KINDS = {"porter": AgentKind(porter, ("left_palm", "right_palm")), "rover": AgentKind(rover, ("tool",))}
