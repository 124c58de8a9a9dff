"""A first humanoid file for a robot, from its model alone: feet, soles, hands, trunk, and a level home with bent knees.

Legs are the two mirrored limbs that end lowest in the model's own posture; arms are the two other mirrored limbs with most joints.
The sole is the underside of the shapes of the last link of a leg.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError, FileError
from bunraku.figure import WORLD, Figure
from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.home_posture import Legs, relaxed_arms, sole_axes, standing
from bunraku.locomotion.guide.humanoid_file import figure_in
from bunraku.render.triangles import triangles
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DescribeOptions:
    """What counts as a limb and as a sole."""

    leg_joints: int = 4
    """Fewest joints of a leg."""
    arm_joints: int = 2
    """Fewest joints of an arm."""
    mirrored: float = 0.05
    """Largest difference between the ends of two mirrored limbs, as a share of the robot's size."""
    underside: float = 0.006
    """What lies within this height above the lowest point of a foot belongs to its sole [m]."""
    bent: float = 0.7
    """How far knees are bent at home, at least [rad]."""


@dataclass(frozen=True, eq=False)
class Description:
    """The parts of a robot that guiding needs, found in its figure."""

    figure: Figure
    options: DescribeOptions = DescribeOptions()

    @cached_property
    def _start(self) -> Pose:
        return pose(self.figure, np.array(self.figure.start))

    @cached_property
    def _joints(self) -> dict[str, list[str]]:
        """For the last jointed frame of each limb: the jointed frames from the base (excluded) to it."""
        figure = self.figure
        free = {name for joint in figure.groups if joint.kind == "free" for name in joint.frames}
        if not free:
            raise FigureError(f"{figure.name} is fixed in the world", name=figure.name, advice="give its root a free joint")
        jointed = [frame.name for frame in figure.frames if frame.variable is not None and frame.name not in free]
        chains: dict[str, list[str]] = {}
        for name in jointed:
            chain, at = [name], figure.frame(name).parent
            while at != WORLD:
                if at in jointed:
                    chain.append(at)
                at = figure.frame(at).parent
            chains[name] = chain[::-1]
        return chains

    def _pairs(self, least: int) -> list[tuple[str, str]]:
        """Ends of mirrored limbs that share no joint beyond where they part, left before right."""
        chains, here = self._joints, self._start
        # A limb ends before it divides into fingers.
        splits = {name for name in chains if sum(chain[-2:-1] == [name] for chain in chains.values()) > 1}
        ends = [
            name for name, chain in chains.items()
            if len(chain) >= least and not splits & set(chain[len(chain) - least :-1])
            and (name in splits or not any(other[-2:-1] == [name] for other in chains.values()))
        ]  # fmt: skip
        places = np.array([here.point(frame.name) for frame in self.figure.frames])
        size = float(np.ptp(places, axis=0).max())
        middle = float(here.point(self._base)[1])
        out = []
        for a in ends:
            for b in ends:
                p, q = here.point(a), here.point(b)
                mirrored = np.abs([p[0] - q[0], p[1] + q[1] - 2.0 * middle, p[2] - q[2]]).max() < self.options.mirrored * size
                if p[1] > q[1] + 0.01 * size and mirrored and len(chains[a]) == len(chains[b]):
                    out.append((a, b))
        return out

    @cached_property
    def _base(self) -> str:
        return next(joint for joint in self.figure.groups if joint.kind == "free").frames[-1]

    @cached_property
    def legs(self) -> tuple[str, str]:
        """The last links of the legs, left and right; raises FigureError if there are none."""
        pairs = self._pairs(self.options.leg_joints)
        if not pairs:
            raise FigureError(
                f"{self.figure.name} has no two mirrored legs of {self.options.leg_joints} joints or more", name=self.figure.name,
                advice="write the humanoid file by hand (docs/guiding.md)",
            )  # fmt: skip
        return min(pairs, key=lambda pair: self._start.point(pair[0])[2])

    @cached_property
    def hands(self) -> tuple[str, str] | None:
        """The last links of the arms; None if there are none."""
        legs = {joint for leg in self.legs for joint in self._joints[leg]}
        arms = [pair for pair in self._pairs(self.options.arm_joints) if not set(pair) & legs]
        arms = [
            pair
            for pair in arms
            if not set(self._joints[pair[0]]) & (legs | set(self._joints[pair[1]][-self.options.arm_joints :]))
        ]
        return max(arms, key=lambda pair: len(self._joints[pair[0]]), default=None)

    @cached_property
    def trunk(self) -> str:
        """The link from which the arms hang; the base, if there are none."""
        if self.hands is None:
            return self._base
        left, right = (self._joints[hand] for hand in self.hands)
        both = [a for a, b in zip(left, right, strict=True) if a == b]
        return both[-1] if both else self._base

    @cached_property
    def knees(self) -> Legs:
        """The joints of the legs that bend them forward."""
        return Legs.found(self.figure, (self._joints[self.legs[0]], self._joints[self.legs[1]]), self._start)

    @cached_property
    def axes(self) -> tuple[Array, Array]:
        """Axes of the soles in the frames of the last links, (3, 3) each."""
        left, right = (sole_axes(self._start.X(foot)[:3, :3]) for foot in self.legs)
        return left, right

    @cached_property
    def sole(self) -> tuple[tuple[float, float], Array]:
        """Length and width of a sole, and its middle in the frame of a last link, the same for both [m]."""
        left, right = (self._underside(foot, A) for foot, A in zip(self.legs, self.axes, strict=True))
        size = np.minimum(np.ptp(left, axis=0), np.ptp(right, axis=0))
        middles = [A @ (0.5 * (low.min(0) + low.max(0))) for A, low in zip(self.axes, (left, right), strict=True)]
        apart = np.abs(self.axes[0].T @ (middles[0] - middles[1]))  # of feet that are mirrored
        length, width = (float(x) for x in np.maximum(size[:2] - apart[:2], 0.5 * size[:2]))
        return (length, width), np.asarray(np.mean(middles, axis=0))

    def _underside(self, foot: str, A: Array) -> Array:
        """Points of the underside of a foot in the axes `A` of its sole (k, 3) [m], all at the height of the lowest."""
        figure, X_FW = self.figure, np.linalg.inv(self._start.X(foot))
        own = [shape for shape in figure.shapes if self._carrier(shape.frame) == foot]
        points = []
        for shape in [shape for shape in own if shape.collides] or own:
            X = X_FW @ self._start.X(shape.frame)
            corners = triangles(shape.geometry).vertices @ so3.matrix(np.array(shape.rotation)).T + shape.position
            points.append((corners @ X[:3, :3].T + X[:3, 3]) @ A)
        if not points:
            raise FigureError(
                f"{foot!r} has no shape, so its sole is unknown", name=figure.name, advice="give the sole's size by hand"
            )
        every = np.concatenate(points)
        low = every[every[:, 2] < every[:, 2].min() + self.options.underside].copy()
        low[:, 2] = every[:, 2].min()
        return np.asarray(low)

    def _carrier(self, frame: str) -> str:
        while frame != WORLD and self.figure.frame(frame).variable is None:
            frame = self.figure.frame(frame).parent
        return frame

    @cached_property
    def home(self) -> dict[str, float]:
        """Angles of the joints in a posture with level feet and bent knees, those that differ from the model's posture."""
        figure, start, limbs = self.figure, np.array(self.figure.start), [self._joints[leg] for leg in self.legs]
        if self.hands is not None:
            left, right = (self._joints[hand] for hand in self.hands)
            shared = sum(a == b for a, b in zip(left, right, strict=True))
            limbs += [left[shared:], right[shared:]]
            start = relaxed_arms(figure, start, left[shared:], right[shared:])
        q = standing(figure, self.legs, self.axes, self.sole[1], self.knees, self.options.bent, start)
        names = [variable.name for limb in limbs for frame in limb if (variable := figure.frame(frame).variable) is not None]
        values = {name: (float(q[figure.index(name)]), float(figure.start[figure.index(name)])) for name in names}
        return {name: value for name, (value, before) in values.items() if abs(value - before) > 5e-4}

    def text(self, name: str, file: str) -> str:
        """The humanoid file, with the `name` of the robot and its model's `file`."""
        (length, width), at = self.sole
        lines = [f"humanoid: {name}", f"figure: {file}", f"feet: [{', '.join(self.legs)}]"]
        place = ", ".join(f"{0.0 if abs(x) < 5e-5 else x:.4g}" for x in at)
        lines.append(f"sole: {{size: [{length:.3g}, {width:.3g}], at: [{place}]}}")
        if self.hands is not None:
            lines.append(f"hands: [{', '.join(self.hands)}]")
        lines.append(f"trunk: {self.trunk}")
        home = ", ".join(f"{name}: {value:.4g}" for name, value in self.home.items())
        lines.append(f"home: {{{home}}}")
        return "\n".join(lines) + "\n"


def described(robot: str | os.PathLike[str], folder: Path) -> str:
    """A first humanoid file for the `robot` in a URDF, SDF or MJCF file, to be written into a `folder`; raises BunrakuError."""
    path = Path(robot)
    figure = figure_in(path)
    if figure is None:
        raise FileError("there is no figure in that file", path=str(path), advice="give a URDF, SDF or MJCF file of a robot")
    with contextlib.suppress(ValueError):  # another drive of Windows
        path = Path(os.path.relpath(path, folder))
    return Description(figure).text(path.stem, path.as_posix())
