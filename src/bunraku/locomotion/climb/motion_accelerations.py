"""Accelerations of a climb: of its joints, of its ankles and of its trunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.motion.orientation import continuous
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionAccelerations:
    """Magnitudes of accelerations by second differences: `joints` (T − 2, motors) [rad/s²], `ankles` (T − 2, feet) [rad/s²], and
    `trunk` (T − 2, points) [m/s²], at samples `dt` [s] apart.

    That of an ankle is the angular acceleration of the foot against the leg, whatever the angles that describe it.
    """

    joints: Array
    ankles: Array
    trunk: Array
    dt: float

    __repr__ = brief

    def until(self, count: int) -> MotionAccelerations:
        """Those of the first `count` samples."""
        n = max(count - 2, 0)
        return MotionAccelerations(self.joints[:n], self.ankles[:n], self.trunk[:n], self.dt)

    def against(self, other: MotionAccelerations) -> Iterator[tuple[str, str, float, float, str]]:
        """For every kind that both have: its name, "peak" or "sum", the value, that of the `other` motion, and the unit."""
        for name, unit in (("joints", "rad/s"), ("ankles", "rad/s"), ("trunk", "m/s")):
            a, b = getattr(self, name), getattr(other, name)
            if a.size and a.shape == b.shape:
                yield name, "peak", float(a.max()), float(b.max()), f"{unit}²"
                yield name, "sum", float(a.sum() * self.dt), float(b.sum() * self.dt), unit


def motion_accelerations(gecko: Gecko, Q: Array, dt: float) -> MotionAccelerations:
    """The accelerations of a `gecko` in configurations `Q` (T, n_q), `dt` [s] apart; feet must be turned as they stand."""
    X, index = frames_along(gecko.figure, Q), gecko.figure.frame_index
    motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
    joints = np.abs(np.diff(Q[:, motors], 2, axis=0)) / dt**2
    trunk = np.stack([X[:, index[name], :3, 3] for name in gecko.trunk], 1)
    ankles = np.empty((max(len(Q) - 2, 0), gecko.n_ankles))
    for k in range(gecko.n_ankles):
        foot, leg = (X[:, index[name], :3, :3] for name in (gecko.roles.feet[k], gecko.holders[k]))
        ankles[:, k] = np.linalg.norm(np.diff(turns_between(np.swapaxes(leg, 1, 2) @ foot), axis=0), axis=1) / dt**2
    return MotionAccelerations(joints, ankles, np.linalg.norm(np.diff(trunk, 2, axis=0), axis=2) / dt**2, dt)


def turns_between(R: Array) -> Array:
    """Rotation vectors (T − 1, 3) from each of the rotations `R` (T, 3, 3) to the next, in its own axes."""
    q = continuous(so3.quaternion(np.swapaxes(R[:-1], 1, 2) @ R[1:]))
    q = q * np.where(q[:, :1] < 0.0, -1.0, 1.0)
    size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[:, :1])
    return np.asarray(q[:, 1:] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0))
