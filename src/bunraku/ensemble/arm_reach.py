"""The reach of an arm: a spherical shell about its shoulder that must contain its wrist (*carrying*, Section III-C).

A grasp fixes the wrist in the object's frame, so the shell restricts the pose of the object. The poses that satisfy the shells of
all arms of all agents are the reachable cooperative space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure import Figure
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.arm import ClosedArm, closed_form

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Shell:
    """Possible positions of the wrist, relative to the base of an agent (with x, y, heading at zero)."""

    shoulder: Array
    """Position of the shoulder in the base's frame [m]."""
    least: float
    """Smallest distance from shoulder to wrist [m]."""
    most: float
    """The largest distance from shoulder to wrist [m]."""
    wrist: Array
    """Position of the wrist in the tool's frame [m]."""

    def ahead(self, facing: float) -> tuple[Array, float, float]:
        """(centre, least, most) of a ball whose intersection with the shell is the part within `facing` [rad] of straight ahead.

        Its surface passes through the rim of that part, and its centre lies straight ahead of the shoulder.
        """
        away, radius = self.within(facing)
        return self.shoulder + np.array([away, 0.0, 0.0]), 0.0, radius

    def within(self, angle: float) -> tuple[float, float]:
        """For the ball that cuts out the part within an `angle` [rad]: distance of its centre from the shell's, and radius [m]."""
        away = self.most / max(2.0 * math.cos(angle), 0.5)
        return away, math.sqrt(self.most**2 + away**2 - 2.0 * self.most * away * math.cos(angle))


def shell(figure: Figure, tool: str, *, base: tuple[str, ...], spare: float = 0.04) -> Shell:
    """The shell of the arm of a `figure` that ends in the frame `tool`, with the figure at its start.

    `base` names the variables of its base. `spare` [m] is subtracted from the reach at both ends. Raises FigureError if no reach
    is left.
    """
    arm = closed_form(figure, tool)
    q = figure.configuration(**dict.fromkeys(base, 0.0))
    here = pose(figure, q)
    shoulder, elbow, wrist = (here.X(frame)[:3, 3] for frame in _joints(arm))
    upper, fore = float(np.linalg.norm(elbow - shoulder)), float(np.linalg.norm(wrist - elbow))
    bend = _bends(arm, q, upper, fore, float(np.linalg.norm(wrist - shoulder)))
    ends = [math.sqrt(max(upper**2 + fore**2 + 2.0 * upper * fore * math.cos(angle), 0.0)) for angle in bend]
    X_WT = here.X(tool)
    least, most = min(ends) + spare, max(ends) - spare
    if least >= most:
        raise FigureError("the arm has no reach left", kind="frame", name=tool, advice=f"spare is {spare} m: make it smaller")
    return Shell(shoulder, least, most, X_WT[:3, :3].T @ (wrist - X_WT[:3, 3]))


def _joints(arm: ClosedArm) -> tuple[str, str, str]:
    """The frames of shoulder, elbow and wrist."""
    places = (0, 3, 4) if arm.swivels else (1, 2, 3)
    names = [arm.variables[k] for k in places]
    frame = {f.variable.name: f.name for f in arm.figure.frames if f.variable is not None}
    return frame[names[0]], frame[names[1]], frame[names[2]]


def _bends(arm: ClosedArm, q: Array, upper: float, fore: float, now: float) -> tuple[float, ...]:
    """Angles between upper arm and forearm (0 is stretched) within the elbow's limits, at which the reach is extreme."""
    k = int(arm.indices[3 if arm.swivels else 2])
    lower, higher = arm.figure.limits[0][k], arm.figure.limits[1][k]
    # The elbow's variable equals the angle up to sign and offset; both follow from its value at the start.
    angle = math.acos(float(np.clip((now**2 - upper**2 - fore**2) / (2.0 * upper * fore), -1.0, 1.0)))
    sign = 1.0 if abs(abs(q[k]) - angle) < 1e-6 else 0.0
    if not sign or not np.isfinite([lower, higher]).all():
        return 0.0, math.pi
    ends = [abs(lower), abs(higher)]
    return (min(ends) if lower * higher > 0.0 else 0.0), min(max(ends), math.pi)
