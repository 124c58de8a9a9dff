"""Arms of any kind, solved by iteration: those of most robots, which have no closed form.

    arm = general_arm(figure, "gripper_link", "arm_1_joint")
    Q_arm, found = arm.nearest_many(X, near=q_arm)      # of all configurations that reach a pose, the nearest to q_arm

It has the methods of a `ClosedArm` without swivel. An arm with more than six variables can move while its tool stays: `near`
decides how, so that a smooth motion of the tool gives a smooth motion of the arm, the same each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, FigureError, NotFinite, UnknownName
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration, pose
from bunraku.kinematics.inverse.arm import ClosedArm, closed_form
from bunraku.kinematics.inverse.general_arm_kernels import GeneralArmOptions, nearest_configurations
from bunraku.kinematics.inverse.task_parts import carrier
from bunraku.spatial import se3

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class GeneralArm:
    """The last variables before a tool frame T. Targets are X_WT; the other variables have their values in q."""

    figure: Figure
    tool: str
    base: str
    """The frame of the joint that carries the arm, or "world"."""
    indices: NDArray[np.int64]
    """Indices of the arm's variables in q, from the shoulder on."""
    _joint: int
    _joints: NDArray[np.void]
    _X_tool: Array
    options: GeneralArmOptions = GeneralArmOptions()

    __repr__ = brief

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the arm's variables, from the shoulder on."""
        return tuple(self.figure.names[k] for k in self.indices)

    @property
    def swivels(self) -> bool:
        """Always False: how such an arm moves while its tool stays is not described by one angle."""
        return False

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the arm's variables [rad or m]."""
        lower, upper = self.figure.limits
        return np.ascontiguousarray(lower[self.indices]), np.ascontiguousarray(upper[self.indices])

    @property
    def axes(self) -> NDArray[np.int64]:
        """The joint's own axis (0, 1 or 2) that each variable turns about, or slides along."""
        return np.asarray(self._joints["kind"] % 3)

    def nearest_many(
        self, X: ArrayLike, q: ArrayLike | None = None, *, swivel: ArrayLike = 0.0, near: ArrayLike | None = None
    ) -> tuple[Array, Bools]:
        """Configurations (T, n) of the arm for poses `X` (T, 4, 4) of the tool, and which of them reach it within limits.

        q: the configuration of the rest of the figure. swivel: has no meaning here.
        near: each solution is the nearest to its row (T, n), or by default to the arm in q.
        Raises BunrakuError for targets of another shape, NotFinite for numbers that are not finite.
        """
        return self._solved(X, q, near, chained=False)

    def followed(self, X: ArrayLike, first: ArrayLike, q: ArrayLike | None = None) -> tuple[Array, Bools]:
        """The same from pose to pose: each solution is the nearest to the one before it, the first to `first` (n,).

        It ends at the first of the poses `X` (T, 4, 4) that is not reached; q as in `nearest_many`.
        """
        return self._solved(X, q, first, chained=True)

    def _solved(self, X: ArrayLike, q: ArrayLike | None, near: ArrayLike | None, *, chained: bool) -> tuple[Array, Bools]:
        targets = np.asarray(X, float)
        if targets.shape[-2:] != (4, 4) or targets.ndim > 3:
            raise BunrakuError(f"{self.tool}: expected targets (4, 4) or (T, 4, 4), got {targets.shape}")
        q = configuration(self.figure, self.figure.start if q is None else q)
        X_WB = pose(self.figure, q).X_joint(self._joint)
        seen = np.ascontiguousarray(se3.inverse(X_WB) @ targets.reshape(-1, 4, 4))
        T, n = len(seen), len(self.indices)
        reference = np.array(np.broadcast_to(q[self.indices] if near is None else np.asarray(near, float), (T, n)), order="C")
        if not (np.isfinite(seen).all() and np.isfinite(reference).all()):
            raise NotFinite(f"{self.tool}: a target or reference is not finite")
        out, found = np.full((T, n), np.nan), np.zeros(T, np.bool_)
        nearest_configurations(self._joints, self._X_tool, seen, *self.limits, reference, chained, self.options, out, found)
        return out, found

    def solutions(
        self, X: ArrayLike, q: ArrayLike | None = None, *, within_limits: bool = True, starts: int = 48, most: int = 8,
        different: float = 0.3,
    ) -> Array:  # fmt: skip
        """Up to `most` solutions (k, n) for a pose `X` (4, 4) of the tool, those farthest from limits first; always the same ones.

        q: the configuration of the rest of the figure. within_limits: has no meaning here, all solutions are.
        starts: number of random configurations from which solutions are searched. different: two that differ by less in all
        variables count as one [rad or m].
        """
        near = self.random(starts)
        near[0] = np.clip(self.figure.start[self.indices], *self.limits)
        found, ok = self.nearest_many(np.broadcast_to(np.asarray(X, float), (starts, 4, 4)), q, near=near)
        lower, upper = self.limits
        room = np.minimum(found - lower, upper - found).min(1)
        out: list[Array] = []
        for k in sorted(np.flatnonzero(ok).tolist(), key=lambda k: (k != 0, -min(float(room[k]), np.pi))):
            if all(np.abs(found[k] - own).max() > different for own in out):
                out.append(found[k])
        return np.array(out[:most]).reshape(-1, len(self.indices))

    def random(self, count: int) -> Array:
        """`count` random configurations (count, n) within limits, always the same; without limits, within a turn."""
        lower, upper = (np.where(np.isfinite(limit), limit, turn) for limit, turn in zip(self.limits, (-np.pi, np.pi), strict=True))
        return np.random.default_rng(0).uniform(lower, upper, (count, len(self.indices)))

    def places(self, Q: Array) -> Array:
        """Poses (T, n + 1, 4, 4) of the joints and of the tool for configurations `Q` (T, n), with the arm's base at the origin."""
        out = np.empty((len(Q), len(self.indices) + 1, 4, 4))
        X = np.broadcast_to(np.eye(4), (len(Q), 4, 4))
        for k, joint in enumerate(self._joints):
            own = np.eye(4)
            own[:3, :3], own[:3, 3] = joint["rotation"], joint["position"]
            X = X @ own @ _moved(int(joint["kind"]), Q[:, k])
            out[:, k] = X
        out[:, -1] = X @ self._X_tool
        return out


def _moved(kind: int, values: Array) -> Array:
    """Poses (T, 4, 4) of a joint that turns about (kinds 0 to 2) or slides along (3 to 5) its x, y or z axis."""
    out = np.tile(np.eye(4), (len(values), 1, 1))
    if kind >= 3:
        out[:, kind - 3, 3] = values
        return out
    a, b = (kind + 1) % 3, (kind + 2) % 3
    out[:, a, a] = out[:, b, b] = np.cos(values)
    out[:, b, a] = np.sin(values)
    out[:, a, b] = -out[:, b, a]
    return out


def general_arm(figure: Figure, tool: str, first: str) -> GeneralArm:
    """The arm of a `figure` that ends in the frame `tool`: the variables from `first`, its shoulder's, to the tool.

    Raises UnknownName if there is no such frame or variable on the way to it, FigureError if these are fewer than six or one is a
    screw.
    """
    joint, X = carrier(figure, tool)
    joints, chain = figure.compiled.tree.joints, figure.compiled.tree.chain
    above = [int(j) for j in chain[joint, 1 : 1 + chain[joint, 0]]][::-1] if joint >= 0 else []
    names = [figure.names[int(joints["variable"][j])] for j in above]
    if first not in names:
        raise UnknownName(f"joint on the way to {tool}", first, tuple(names))
    own = above[names.index(first) :]
    if len(own) < 6 or joints["pitch"][own].any():
        why = "it has a screw" if joints["pitch"][own].any() else f"from {first} to {tool} there are {len(own)} joints"
        raise FigureError(f"the arm cannot hold: {why}", kind="frame", name=tool, advice="give the first of six joints or more")
    alone = np.array(joints[own])
    alone["parent"], alone["variable"] = np.arange(-1, len(own) - 1), np.arange(len(own))
    parent = int(joints["parent"][own[0]])
    base = figure.compiled.joint_frame[parent] if parent >= 0 else "world"
    indices = joints["variable"][own].astype(np.int64)
    return GeneralArm(figure, tool, base, indices, parent, alone.view(type(joints)), np.ascontiguousarray(X))


def arm_of(figure: Figure, tool: str, first: str = "") -> ClosedArm | GeneralArm:
    """The arm of a `figure` that ends in the frame `tool`: the one with a closed form, or the one from the variable `first` on.

    Raises as `closed_form` and `general_arm` do.
    """
    return general_arm(figure, tool, first) if first else closed_form(figure, tool)
