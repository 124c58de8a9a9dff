"""Agents of the library: a person who walks, a mobile manipulator that rolls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.ensemble.team import Agent, Hold
from bunraku.figure import Figure, library
from bunraku.figure.library.manipulators import mobile_manipulator
from bunraku.figure.shape import Box, Cylinder
from bunraku.planning.ways.steer import Bezier, Holonomic, Planar
from bunraku.spatial import se3, so3


@functools.cache
def _figure(name: str) -> Figure:
    return library.named(name)


@functools.cache
def _rider() -> Figure:
    return mobile_manipulator(rides=True)


def porter(name: str, *holds: Hold, moves: type[Planar] = Bezier) -> Agent:
    """A person: a cylinder from the knees to the shoulders."""
    figure = _figure("mannequin")
    base = ("pelvis_tx", "pelvis_ty", "pelvis_rz")
    return Agent(name, figure, holds, base, Cylinder(0.26, 1.36), (0.0, 0.0, 0.72), moves, color=(0.2, 0.43, 0.46))


def rover(name: str, *holds: Hold, moves: type[Planar] = Holonomic, rides: bool = False) -> Agent:
    """A mobile manipulator: the box around its base and turret. One that rides follows the ground."""
    figure = _rider() if rides else _figure("mobile_manipulator")
    base: tuple[str, ...] = ("base_x", "base_y", "base_turn")
    base += ("base_lift", "base_pitch", "base_roll") if rides else ()
    box, at, orange = Box((0.75, 0.58, 0.6)), (0.0, 0.0, 0.32), (0.91, 0.43, 0.1)
    return Agent(name, figure, holds, base, box, at, moves, facing=np.pi / 2, color=orange)


def hold(tool: str, at: ArrayLike, *, z: ArrayLike = (0.0, 0.0, -1.0), x: ArrayLike = (1.0, 0.0, 0.0)) -> Hold:
    """A tool at a point of the object, its z and (nearly) its x axis along these directions, all in the object's axes."""
    e_z = np.asarray(z, float) / np.linalg.norm(z)
    e_y = np.cross(e_z, np.asarray(x, float))
    e_y /= np.linalg.norm(e_y)
    R = np.stack([np.cross(e_y, e_z), e_y, e_z], 1)
    return Hold(tool, se3.pose(at, so3.quaternion(R)))


@dataclass(frozen=True)
class Kind:
    """What a file may call an agent, and the tools that it can hold with."""

    make: Callable[..., Agent]
    tools: tuple[str, ...]


KINDS = {"porter": Kind(porter, ("left_palm", "right_palm")), "rover": Kind(rover, ("tool",))}
