"""Leg shift: joints of the legs such that feet stand higher, lower or tilted, while the rest of the body stays where it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import pose
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.spatial import so3

Array = NDArray[np.float64]


class LegShift:
    """Moves the feet of one humanoid relative to its body; it begins with the last shift, so one Newton step is enough.

    humanoid: the robot
    damping: of the least squares, in squares of the height of the centre of mass: near stretched knees joints must not jump
    """

    def __init__(self, humanoid: Humanoid, *, damping: float = 1e-4) -> None:
        self.humanoid, self.damping = humanoid, damping
        figure = humanoid.figure
        self.joints = tuple(
            figure.indices([at.variable.name for name in humanoid.leg(foot) if (at := figure.frame(name)).variable is not None])
            for foot in humanoid.feet
        )
        """Indices in q of the joints of each leg."""
        self._limits = figure.limits
        self.last = np.zeros(figure.n_q)
        """By how much the last configuration was shifted (n_q,)."""

    def shifted(self, q: Array, heights: Array, tilts: Array) -> Array:
        """The configuration `q` (n_q,) with feet higher by `heights` (2,) [m] and turned by `tilts` (2, 2) about the world's x and
        y axes [rad]."""
        if not (self.last.any() or np.abs(heights).max() > 1e-6 or np.abs(tilts).max() > 1e-5):
            return q
        own, (lower, upper) = self.humanoid, self._limits
        before, out = pose(own.figure, q), np.clip(q + self.last, lower, upper)
        now = pose(own.figure, out)
        for frame, joints, height, tilt in zip(own.feet, self.joints, heights, tilts, strict=True):
            X, Y = before.X(frame), now.X(frame)
            error = np.concatenate([X[:3, 3] - Y[:3, 3], so3.log(so3.exp([*tilt, 0.0]) @ X[:3, :3] @ Y[:3, :3].T)])
            error[2] += height
            J = now.jacobian(frame)[:, joints]
            out[joints] += J.T @ np.linalg.solve(J @ J.T + self.damping * own.height**2 * np.eye(6), error)
        out = np.clip(out, lower, upper)
        self.last = out - q
        return np.asarray(out)
