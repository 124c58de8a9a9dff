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
from bunraku.figure import WORLD
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.arm import ClosedArm
from bunraku.kinematics.inverse.general_arm import GeneralArm
from bunraku.spatial import se3

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


def shell(arm: ClosedArm | GeneralArm, *, base: tuple[str, ...], spare: float = 0.04) -> Shell:
    """The shell of an `arm`, with its figure at its start.

    `base` names the variables of the figure's base. `spare` [m] is subtracted from the reach at both ends. Raises FigureError if no
    reach is left.
    """
    q = arm.figure.configuration(**dict.fromkeys(base, 0.0))
    shoulder, wrist, ends = _hinged(arm, q) if isinstance(arm, ClosedArm) else _sampled(arm, q)
    least, most = min(ends) + spare, max(ends) - spare
    if least >= most:
        raise FigureError("the arm has no reach left", kind="frame", name=arm.tool, advice=f"spare is {spare} m: make it smaller")
    return Shell(shoulder, least, most, wrist)


def _hinged(arm: ClosedArm, q: Array) -> tuple[Array, Array, list[float]]:
    """The shoulder in the base's frame, the wrist in the tool's, and extreme distances of the two, with upper arm and forearm."""
    here = pose(arm.figure, q)
    shoulder, elbow, wrist = (here.X(frame)[:3, 3] for frame in _joints(arm))
    upper, fore = float(np.linalg.norm(elbow - shoulder)), float(np.linalg.norm(wrist - elbow))
    bend = _bends(arm, q, upper, fore, float(np.linalg.norm(wrist - shoulder)))
    ends = [math.sqrt(max(upper**2 + fore**2 + 2.0 * upper * fore * math.cos(angle), 0.0)) for angle in bend]
    X_WT = here.X(arm.tool)
    return shoulder, X_WT[:3, :3].T @ (wrist - X_WT[:3, 3]), ends


def _sampled(arm: GeneralArm, q: Array, *, samples: int = 4000, rare: float = 0.02) -> tuple[Array, Array, list[float]]:
    """The same for any arm, from random configurations, leaving out the `rare` ones at both ends.

    The shoulder is where the first two axes that turn come nearest to each other, the wrist where the last two do.
    """
    X = arm.places(arm.random(samples))
    now = arm.places(q[arm.indices][None])[0]
    turns = [k for k, variable in enumerate(arm.variables) if arm.figure.variables[arm.figure.index(variable)].motion == "rotate"]
    axes = [np.eye(3)[int(kind)] for kind in arm.axes]
    shoulder = _meeting(*((now[k][:3, 3], now[k][:3, :3] @ axes[k]) for k in turns[:2]))
    wrist = _meeting(*((now[k][:3, 3], now[k][:3, :3] @ axes[k]) for k in turns[:-3:-1]))
    wrist = se3.transform(se3.inverse(now[-1]), wrist)
    away = np.linalg.norm(X[:, -1, :3, :3] @ wrist + X[:, -1, :3, 3] - shoulder, axis=1)
    X_WB = np.eye(4) if arm.base == WORLD else pose(arm.figure, q).X(arm.base)
    return se3.transform(X_WB, shoulder), wrist, np.quantile(away, [rare, 1.0 - rare]).tolist()


def _meeting(a: tuple[Array, Array], b: tuple[Array, Array]) -> Array:
    """The point of the first line (point, direction) that is nearest to the second; its own point if they are parallel."""
    (p, u), (r, v) = a, b
    square = 1.0 - float(u @ v) ** 2
    if square < 1e-9:
        return p
    return np.asarray(p + u * float((r - p) @ (u - (u @ v) * v)) / square)


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
