"""Arms whose inverse kinematics has a closed form.

    arm = closed_form(figure, "left_palm")
    q_arm = arm.nearest(X, q)                # all branches considered; None out of reach
    Q_arm, found = arm.nearest_many(X_many)  # one kernel call

An arm of seven variables is ball – hinge – ball, like the mannequin's arms and the gecko's legs: the elbow's angle follows
from the law of cosines, and the elbow may swivel about the line from shoulder to wrist. An arm of six variables is a turret,
two parallel hinges and a ball wrist, like the mobile manipulator's: it has up to eight solutions and no swivel.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, FigureError, NotFinite
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration, pose
from bunraku.kinematics.inverse import arm_kernels
from bunraku.kinematics.inverse.task_parts import carrier, finite
from bunraku.spatial import se3

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ClosedArm:
    """The last 7 or 6 variables before a tool frame T. Targets are X_WT; the other variables have their values in q."""

    figure: Figure
    tool: str
    base: str
    """The frame of the joint that carries the arm, or "world"."""
    indices: NDArray[np.int64]
    """Indices of the arm's variables in q, from the shoulder on."""
    _joint: int
    _arms: NDArray[np.void]

    __repr__ = brief

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the arm's variables, from the shoulder on."""
        return tuple(self.figure.names[k] for k in self.indices)

    @property
    def swivels(self) -> bool:
        """Whether the elbow may swivel: seven variables."""
        return len(self.indices) == 7

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper joint limits of the arm's variables [rad]."""
        lower, upper = self.figure.limits
        return lower[self.indices], upper[self.indices]

    # -- the base of the arm -----------------------------------------------------------------------------------------

    def _start(self, q: ArrayLike | None) -> tuple[Array, Array]:
        q = configuration(self.figure, self.figure.start if q is None else q)
        return q, pose(self.figure, q).X_joint(self._joint)

    def _seen(self, X: ArrayLike, q: ArrayLike | None) -> tuple[Array, Array]:
        """q, and targets (T, 4, 4) in the frame of the arm's base."""
        X = np.asarray(X, float)
        if X.shape[-2:] != (4, 4) or X.ndim > 3:
            raise BunrakuError(f"{self.tool}: expected targets (4, 4) or (T, 4, 4), got {X.shape}")
        if not np.isfinite(X).all():
            raise NotFinite(f"{self.tool}: a target is not finite")
        q, X_WB = self._start(q)
        return q, np.ascontiguousarray(se3.inverse(X_WB) @ X.reshape(-1, 4, 4))

    # -- solutions ---------------------------------------------------------------------------------------------------

    def solutions(self, X: ArrayLike, q: ArrayLike | None = None, *, swivel: float = 0.0, within_limits: bool = False) -> Array:
        """Every solution (k, n), up to eight, angles within ±π; none where the target is out of reach.

        X: the pose X_WT of the tool, (4, 4). q: the configuration of the rest of the figure; by default its start.
        swivel: of the elbow [rad]. within_limits: leaves out solutions beyond joint limits.
        """
        _, seen = self._seen(finite(X, (4, 4), f"{self.tool}: target"), q)
        out = np.empty((8, len(self.indices)))
        count = arm_kernels.all_solutions(self._arms, seen[0, :3, :3].copy(), seen[0, :3, 3].copy(), float(swivel), out)
        out = out[:count]
        if within_limits:
            lower, upper = self.limits
            turns = 2 * np.pi * np.array([0, -1, 1])
            options = out[..., None] + turns
            fits = (options >= lower[:, None] - 1e-12) & (options <= upper[:, None] + 1e-12)
            out = np.take_along_axis(options, fits.argmax(-1)[..., None], -1)[..., 0][fits.any(-1).all(-1)]
        return out

    def reaches(self, X: ArrayLike, q: ArrayLike | None = None) -> bool:
        """Whether the tool can reach the pose `X` (4, 4), joint limits ignored, with the rest of the figure at `q`."""
        return len(self.solutions(X, q)) > 0

    def swivel(self, q: ArrayLike | None = None) -> float:
        """The angle of the elbow at `q` about the line from shoulder to wrist [rad]; at 0 the elbow points down."""
        out = np.empty(1)
        q = configuration(self.figure, self.figure.start if q is None else q)
        arm_kernels.swivels(self._swivelling()._arms, q[self.indices][None], out)
        return float(out[0])

    def _swivelling(self) -> ClosedArm:
        if not self.swivels:
            raise BunrakuError(f"{self.tool}: an arm of six variables has no swivel")
        return self

    def nearest(self, X: ArrayLike, q: ArrayLike | None = None, *, swivel: float | None = None) -> Array | None:
        """The whole configuration with the tool at `X` (4, 4), within limits and nearest to `q`; None where there is none.

        Without a `swivel` [rad], the elbow keeps the one that it has in q, or takes the nearest to it that limits allow.
        """
        q, _ = self._start(q)
        tries = np.array([0.0 if swivel is None else swivel])
        if swivel is None and self.swivels:
            steps = np.linspace(0.0, np.pi, 37)[1:]
            tries = self.swivel(q) + np.concatenate([[0.0], np.stack([steps, -steps], 1).ravel()])
        targets = np.broadcast_to(finite(X, (4, 4), f"{self.tool}: target"), (len(tries), 4, 4))
        angles, found = self.nearest_many(targets, q, swivel=tries)
        if not found.any():
            return None
        out = np.array(q)
        out[self.indices] = angles[found.argmax()]
        return out

    def nearest_many(
        self, X: ArrayLike, q: ArrayLike | None = None, *, swivel: ArrayLike = 0.0, near: ArrayLike | None = None
    ) -> tuple[Array, Bools]:
        """Angles (T, n) for poses `X` (T, 4, 4) of the tool, and which of them have a solution within limits.

        q: the configuration of the rest of the figure. swivel: of the elbow, one or (T,) [rad].
        near: each solution is the branch nearest to its row (T, n), or by default to the arm in q.
        """
        q, seen = self._seen(X, q)
        T, n = len(seen), len(self.indices)
        swivels = np.array(np.broadcast_to(np.asarray(swivel, float), T), order="C")
        reference = np.array(np.broadcast_to(q[self.indices] if near is None else np.asarray(near, float), (T, n)), order="C")
        if not (np.isfinite(swivels).all() and np.isfinite(reference).all()):
            raise NotFinite(f"{self.tool}: a swivel or reference is not finite")
        out, found = np.full((T, n), np.nan), np.zeros(T, np.bool_)
        arm_kernels.nearest_solutions(self._arms, seen, swivels, *self.limits, reference, out, found)
        return out, found

    def swivels_of(self, Q: ArrayLike) -> Array:
        """Swivel of every row of the arm's angles `Q` (T, 7) [rad]."""
        Q = np.ascontiguousarray(Q, float)
        out = np.empty(len(Q))
        arm_kernels.swivels(self._swivelling()._arms, Q, out)
        return out


def closed_form(figure: Figure, tool: str, *, down: ArrayLike = (0.0, 0.0, -1.0)) -> ClosedArm:
    """The arm of `figure` that ends in the frame `tool`.

    Its last seven variables, if they are ball – hinge – ball, or its last six, if they are turret – two parallel hinges – ball.
    down: the direction in which the elbow points at swivel 0, in the axes of the arm's base.

    Raises `FigureError` where the arm is of another kind.
    """
    joint, X = carrier(figure, tool)
    joints, chain = figure.compiled.tree.joints, figure.compiled.tree.chain
    above = list(chain[joint, 1 : 1 + chain[joint, 0]])[::-1] if joint >= 0 else []
    for n, fits in ((7, _is_swivel_arm), (6, _is_turret_arm)):
        own = [int(j) for j in above[-n:]]
        if len(own) == n and (joints["kind"][own] < 3).all() and not joints["pitch"][own].any() and fits(joints, own):
            return _arm(figure, tool, own, X, finite(down, (3,), "down"))
    raise FigureError(
        "no closed form of its inverse kinematics is known here", kind="frame", name=tool,
        advice="an arm is ball – hinge – ball, or turret – two parallel hinges – ball; `Inverse` solves any other",
    )  # fmt: skip


def _meet(joints: NDArray[np.void], ball: list[int]) -> bool:
    """Whether three rotations are about one point, each axis perpendicular to the next."""
    kinds = joints["kind"][ball]
    plain = all(not joints["position"][j].any() and not joints["turned"][j] for j in ball[1:])
    return plain and kinds[0] != kinds[1] != kinds[2]


def _is_swivel_arm(joints: NDArray[np.void], own: list[int]) -> bool:
    return _meet(joints, own[:3]) and _meet(joints, own[4:])


def _is_turret_arm(joints: NDArray[np.void], own: list[int]) -> bool:
    if not _meet(joints, own[3:]):
        return False
    axes = np.eye(3)
    R2, R3 = joints["rotation"][own[1]], joints["rotation"][own[2]]
    first, second = axes[joints["kind"][own[0]]], R2 @ axes[joints["kind"][own[1]]]
    third = R3 @ axes[joints["kind"][own[2]]]
    square, parallel = abs(first @ second), abs(third @ axes[joints["kind"][own[1]]])
    return bool(square < 1e-12 and parallel > 1.0 - 1e-12)


def _arm(figure: Figure, tool: str, own: list[int], X: Array, down: Array) -> ClosedArm:
    joints = figure.compiled.tree.joints
    arms = np.zeros(1, arm_kernels.ARM_RECORD)
    arm = arms[0]
    arm["kinds"][: len(own)] = joints["kind"][own]
    # Seven: shoulder, elbow, wrist. Six: turret, its two hinges, wrist.
    starts = {"start": 0, "second": 3, "third": 4} if len(own) == 7 else {"start": 0, "second": 1, "third": 2, "wrist": 3}
    for field, k in starts.items():
        arm[field]["R"], arm[field]["p"] = joints["rotation"][own[k]], joints["position"][own[k]]
    arm["tool"]["R"], arm["tool"]["p"] = X[:3, :3], X[:3, 3]
    arm["down"] = down / np.linalg.norm(down)
    parent = int(joints["parent"][own[0]])
    base = figure.compiled.joint_frame[parent] if parent >= 0 else "world"
    return ClosedArm(figure, tool, base, joints["variable"][own].astype(np.int64), parent, arms.view(type(joints)))
