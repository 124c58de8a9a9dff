"""Feet: which legs of a puppet stand on the boards, and feedback that leaves these to the boards.

A foot is a limb with a box named "sole". A leg that stands is held by friction under its sole, and its strings are slack. Feedback
that knows only strings would pull it off; so while it stands, its strings are left where they are, and where it is does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.puppet import Puppet
from bunraku.figure import Box, Figure, Point
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
    hand_speed: float = 0.6
    """How fast hands follow the strings of a leg that stands elsewhere than rehearsed [m/s]."""
    back: float = 0.25
    """Time constant with which they return while the leg swings [s]."""


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
    hooks: tuple[Point, ...]
    """Where these strings hook to it."""
    spindles: Index
    """Kinematic variables that move their spindles along x and y, (strings, 2)."""

    def places(self, figure: Figure, q: Array) -> Array:
        """Where the corners are along configurations `q` (T, n_q) of the `figure` [m], (T, 4, 3)."""
        X = frames_along(figure, np.ascontiguousarray(q))[:, figure.frame_index[self.frame]]
        return np.asarray(np.einsum("tij,cj->tci", X[:, :3, :3], self.corners) + X[:, None, :3, 3])

    def hooked(self, figure: Figure, q: Array) -> Array:
        """Where its strings hook along configurations `q` (T, n_q) of the `figure`: x and y [m], (T, strings, 2)."""
        X = frames_along(figure, np.ascontiguousarray(q))
        found = [X[:, k, :2, :3] @ np.array(at.position) + X[:, k, :2, 3] for k, at in self._hooks(figure)]
        return np.stack(found, 1)

    def _hooks(self, figure: Figure) -> list[tuple[int, Point]]:
        return [(figure.frame_index[at.frame], at) for at in self.hooks]


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
        n, strings = figure.n_dynamic, [k for k, s in enumerate(figure.strings) if puppet.part_of[s.name] == part]
        hooks = tuple(figure.strings[k].hook for k in strings)
        feet.append(SoledFoot(part, shape.frame, corners, own[own < n], own[own >= n], hooks, puppet.spindles[strings]))
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


class LegHands:
    """Hands that stay above legs which stand elsewhere than rehearsed, so that the strings of these stay slack."""

    def __init__(
        self, figure: Figure, feet: tuple[SoledFoot, ...], q: Array, boards: float, dt: float, options: FeetOptions = FeetOptions()
    ) -> None:
        """Of a `figure` with these `feet` that rehearsed the configurations `q` (N + 1, n_q) every `dt` [s] on these `boards` [m].

        `options` say when a foot stands, and how fast hands are.
        """
        self.figure, self.feet, self.floor, self.dt, self.options = figure, feet, boards + options.low, dt, options
        self.stood = [foot.places(figure, q)[:, :, 2].mean(1) < self.floor for foot in feet]
        self.hooks = [foot.hooked(figure, q) for foot in feet]
        self.off = np.zeros(figure.n_q)
        """How far hands are from where they should be for this [m]."""

    def follow(self, q: Array, k: int) -> Array:
        """The change of `off` in step `k`, which begins at the configuration `q`."""
        before, row = self.off.copy(), q[None]
        for foot, stood, hooks in zip(self.feet, self.stood, self.hooks, strict=True):
            at = foot.spindles
            if stood[k] and foot.places(self.figure, row)[0, :, 2].mean() < self.floor:
                most = self.options.hand_speed * self.dt
                self.off[at] += np.clip(foot.hooked(self.figure, row)[0] - hooks[k] - self.off[at], -most, most)
            else:
                self.off[at] *= np.exp(-self.dt / self.options.back)
        return self.off - before
