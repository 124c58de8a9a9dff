"""Accelerations of a climb: of its joints, of its ankles and of its trunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.gecko import Gecko, blocks
from bunraku.motion.orientation import continuous
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionAccelerations:
    """Magnitudes of accelerations by second differences: `joints` (n, motors) [rad/s²], `ankles` (n, feet) [rad/s²], and `trunk`
    (n, points) [m/s²], at samples `dt` [s] apart.

    That of an ankle is the angular acceleration of the foot against the leg, whatever the angles that describe it.
    """

    joints: Array
    ankles: Array
    trunk: Array
    dt: float

    __repr__ = brief

    def against(self, other: MotionAccelerations) -> Iterator[tuple[str, str, float, float, str]]:
        """For every kind that both have: its name, "peak" or "sum", the value, that of the `other` motion, and the unit.

        Nothing if one motion is shorter than the other; the time between two samples may differ.
        """
        for name, unit in (("joints", "rad/s"), ("ankles", "rad/s"), ("trunk", "m/s")):
            a, b = getattr(self, name), getattr(other, name)
            if a.size and abs((len(a) + 1) * self.dt - (len(b) + 1) * other.dt) < self.dt + other.dt:
                yield name, "peak", float(a.max()), float(b.max()), f"{unit}²"
                yield name, "sum", float(a.sum() * self.dt), float(b.sum() * other.dt), unit


def motion_accelerations(gecko: Gecko, Q: Array, dt: float, apart: int = 1) -> MotionAccelerations:
    """The accelerations of a `gecko` in configurations `Q` (T, n_q), `dt` [s] apart; feet must be turned as they stand.

    apart: number of samples over which differences are taken, about every sample: n = T − 2 apart
    """
    found = [_accelerations(gecko, Q[max(part.start - apart, 0) : part.stop + apart], dt, apart) for part in blocks(len(Q))]
    joints, ankles, trunk = (np.concatenate([getattr(a, kind) for a in found]) for kind in ("joints", "ankles", "trunk"))
    return MotionAccelerations(joints, ankles, trunk, dt)


def _accelerations(gecko: Gecko, Q: Array, dt: float, apart: int) -> MotionAccelerations:
    X, index, square = frames_along(gecko.figure, Q), gecko.figure.frame_index, (apart * dt) ** 2

    def second(x: Array) -> Array:
        return np.asarray(x[2 * apart :] - 2.0 * x[apart:-apart] + x[: -2 * apart]) / square

    motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
    trunk = np.stack([X[:, index[name], :3, 3] for name in gecko.trunk], 1)
    ankles = np.empty((max(len(Q) - 2 * apart, 0), gecko.n_ankles))
    for k in range(gecko.n_ankles):
        foot, leg = (X[:, index[name], :3, :3] for name in (gecko.roles.feet[k], gecko.holders[k]))
        turns = turns_between(np.swapaxes(leg, 1, 2) @ foot, apart)
        ankles[:, k] = np.linalg.norm(turns[apart:] - turns[:-apart], axis=1) / square
    return MotionAccelerations(np.abs(second(Q[:, motors])), ankles, np.linalg.norm(second(trunk), axis=2), dt)


def turns_between(R: Array, apart: int = 1) -> Array:
    """Rotation vectors (T − apart, 3) from each of the rotations `R` (T, 3, 3) to that `apart` samples later, in its own axes."""
    q = continuous(so3.quaternion(np.swapaxes(R[:-apart], 1, 2) @ R[apart:]))
    q = q * np.where(q[:, :1] < 0.0, -1.0, 1.0)
    size = np.linalg.norm(q[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[:, :1])
    return np.asarray(q[:, 1:] * np.where(size > 1e-12, angle / np.maximum(size, 1e-300), 2.0))
