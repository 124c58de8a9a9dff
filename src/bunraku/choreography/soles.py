"""Feet: which legs of a puppet stand on the boards, and feedback that leaves these to the boards.

A foot is a limb with a box named "sole". A leg that stands is held by friction under its sole, and its strings are slack. Feedback
that knows only strings would pull it off; so while it stands, its strings are left where they are, and where it is does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.puppet import Puppet
from bunraku.figure import Box, Figure
from bunraku.kinematics import frames_along
from bunraku.spatial import se3

Array = NDArray[np.float64]
Index = NDArray[np.int64]
SOLE = "sole"  # name of the shape that a puppet stands on


@dataclass(frozen=True)
class FeetOptions:
    """When a foot stands, and how feedback lets go of its leg."""

    low: float = 0.003
    """A foot stands while its sole is less than this above the boards [m]."""


@dataclass(frozen=True, eq=False)
class SoledFoot:
    """A foot of a puppet."""

    part: str
    frame: str
    corners: Array
    """Lower corners of its sole in its frame [m], (4, 3)."""
    dynamic: Index
    """Dynamic variables of its leg."""
    kinematic: Index
    """Kinematic variables of the strings of its leg."""

    def places(self, figure: Figure, q: Array) -> Array:
        """Where the corners are along configurations `q` (T, n_q) of the `figure` [m], (T, 4, 3)."""
        X = frames_along(figure, np.ascontiguousarray(q))[:, figure.frame_index[self.frame]]
        return np.asarray(np.einsum("tij,cj->tci", X[:, :3, :3], self.corners) + X[:, None, :3, 3])


def feet_of(puppet: Puppet) -> tuple[SoledFoot, ...]:
    """The feet of a `puppet`."""
    figure, feet = puppet.figure, []
    for shape in figure.shapes:
        if shape.name != SOLE or not isinstance(shape.geometry, Box):
            continue
        joint = figure.compiled.frame_joint[figure.frame_index[shape.frame]]
        variable = int(figure.compiled.tree.joints["variable"][joint])
        part = next(name for name, own in puppet.parts.items() if variable in own)
        X, own = se3.pose(shape.position, shape.rotation), puppet.parts[part]
        half = 0.5 * np.array(shape.geometry.size)
        corners = np.array([X[:3, :3] @ (half * [x, y, -1.0]) + X[:3, 3] for x in (-1, 1) for y in (-1, 1)])
        n = figure.n_dynamic
        feet.append(SoledFoot(part, shape.frame, corners, own[own < n], own[own >= n]))
    return tuple(feet)


def standing(puppet: Puppet, q: Array, boards: float, options: FeetOptions = FeetOptions()) -> NDArray[np.bool_]:
    """Whether each foot of a `puppet` stands on boards along configurations `q` (T, n_q), (T, feet).

    boards: height of the boards [m].
    options: when a foot stands.
    """
    low = [foot.places(puppet.figure, q)[:, :, 2].mean(1) < boards + options.low for foot in feet_of(puppet)]
    return np.array(low).T.reshape(len(q), -1)


def leg_strings(puppet: Puppet) -> list[list[int]]:
    """Numbers of the strings of the leg of each foot of a `puppet`."""
    figure = puppet.figure
    return [[k for k, s in enumerate(figure.strings) if puppet.part_of[s.name] == foot.part] for foot in feet_of(puppet)]
