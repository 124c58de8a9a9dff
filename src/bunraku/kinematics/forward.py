"""Pose: frames already computed for a configuration."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import ORIGIN
from bunraku.figure.plain_wrapping import Placing, way_length
from bunraku.kinematics import tree
from bunraku.shown import Shown
from bunraku.spatial import se3

Array = NDArray[np.float64]


def configuration(figure: Figure, q: ArrayLike) -> Array:
    """A copy of `q`, checked for kernels: of the size of `figure`, and finite.

    Raises `BunrakuError` for another size, and `NotFinite`, with the names of the variables.
    """
    q = np.array(q, float)
    if q.shape != (figure.n_q,):
        raise BunrakuError(f"{figure.name} has {figure.n_q} variables, but q has shape {q.shape}")
    if not math.isfinite(q.dot(q)) and not np.isfinite(q).all():  # the first is four times as fast
        bad = ", ".join(figure.names[k] for k in np.flatnonzero(~np.isfinite(q))[:5])
        raise NotFinite(f"{figure.name}: q is not finite at {bad}")
    return q


class Pose(Shown):
    """Where everything is at q, and how it moves with q. World axes, SI.

    Jacobians have a column for each variable, in the order of q; twists are (linear, angular).
    """

    def __init__(self, figure: Figure, q: ArrayLike) -> None:
        """Computes the joints of `figure` at `q` (n,) [rad or m]; everything else is computed when first used, and kept."""
        self.figure = figure
        self.q = np.array(q, float)
        joints = figure.compiled.tree.joints
        self._buffer = np.empty(18 * len(joints))
        if self.q.shape != (figure.n_q,) or not tree.pose(joints, self.q, self._buffer):
            configuration(figure, q)  # raises the error

    @cached_property
    def _R(self) -> Array:
        """Axes of every joint, as rows."""
        n = len(self._buffer) // 18
        return self._buffer[: 9 * n].reshape(n, 3, 3)

    @cached_property
    def _p(self) -> Array:
        """Position of every joint."""
        n = len(self._buffer) // 18
        return self._buffer[9 * n : 12 * n].reshape(n, 3)

    @cached_property
    def _S(self) -> Array:
        """Screw (ω, v) of every joint."""
        n = len(self._buffer) // 18
        return self._buffer[12 * n :].reshape(n, 6)

    # -- frames --------------------------------------------------------------------------------------------------

    @cached_property
    def frames(self) -> Array:
        """X_WF of every frame, in the figure's order, (n, 4, 4)."""
        compiled = self.figure.compiled
        out = np.empty((len(self.figure.frames), 4, 4))
        tree.frames(self._R, self._p, compiled.frame_joint, compiled.frame_X, out)
        return out

    def _carrier(self, frame: str) -> tuple[int, Array]:
        """The joint that carries a frame, and X_WF."""
        if frame == WORLD:
            return -1, np.eye(4)
        f = self._frame_index(frame)
        return int(self.figure.compiled.frame_joint[f]), self.frames[f]

    def _frame_index(self, frame: str) -> int:
        try:
            return self.figure.frame_index[frame]
        except KeyError:
            raise UnknownName("frame", frame, tuple(self.figure.frame_index)) from None

    def X(self, frame: str) -> Array:
        """X_WF of `frame`, (4, 4). Raises `UnknownName` where there is no such frame."""
        return self._carrier(frame)[1]

    def point(self, frame: str, position: ArrayLike = ORIGIN) -> Array:
        """Where the point at `position` of `frame` [m] is, (3,) [m]."""
        return se3.transform(self.X(frame), position)

    def X_joint(self, j: int) -> Array:
        """X_WJ of joint `j` of the compiled tree, (4, 4); −1 is the world."""
        return se3.pose(self._p[j], self._R[j].T) if j >= 0 else np.eye(4)

    # -- derivatives ---------------------------------------------------------------------------------------------

    def _derivatives(self, frame: str, position: ArrayLike, order: int) -> tuple[Array, Array, Array]:
        j, X = self._carrier(frame)
        n = self.figure.n_q
        first = np.zeros((3, n))
        second = np.zeros((3, n, n) if order > 1 else (0, 0, 0))
        third = np.zeros((3, n, n, n) if order > 2 else (0, 0, 0, 0))
        x = tuple(se3.transform(X, position).tolist())
        compiled = self.figure.compiled.tree
        tree.point_derivatives(compiled.joints, compiled.chain, self._S, j, x, n, first, second, third)
        return first, second, third

    def point_jacobian(self, frame: str, position: ArrayLike = ORIGIN) -> Array:
        """∂x/∂q of the point at `position` of `frame` [m], (3, n)."""
        return self._derivatives(frame, position, 1)[0]

    def point_dqdq(self, frame: str, position: ArrayLike = ORIGIN) -> Array:
        """∂²x/∂q∂q of the point at `position` of `frame` [m], (3, n, n)."""
        return self._derivatives(frame, position, 2)[1]

    def point_dqdqdq(self, frame: str, position: ArrayLike = ORIGIN) -> Array:
        """∂³x/∂q∂q∂q of the point at `position` of `frame` [m], (3, n, n, n)."""
        return self._derivatives(frame, position, 3)[2]

    def jacobian(self, frame: str) -> Array:
        """Twist of `frame` at its origin for each variable, rows (linear, angular), (6, n)."""
        j, _ = self._carrier(frame)
        J = np.zeros((6, self.figure.n_q))
        J[:3] = self.point_jacobian(frame)
        compiled = self.figure.compiled.tree
        chain = compiled.chain[j, 1 : 1 + compiled.chain[j, 0]] if j >= 0 else np.zeros(0, np.int64)
        J[3:, compiled.joints["variable"][chain]] = self._S[chain, :3].T
        return J

    # -- mass ----------------------------------------------------------------------------------------------------

    @cached_property
    def _mass(self) -> tuple[float, Array, Array]:
        joints = self.figure.compiled.tree.joints
        mass, centre, J = tree.centre_of_mass(joints, self._R, self._p, self._S, self.figure.n_q)
        if not mass > 0.0:
            raise BunrakuError(f"{self.figure.name} has no moving mass, and so no centre of mass")
        return mass, centre, J

    @property
    def com(self) -> Array:
        """Centre of mass of everything that moves, (3,)."""
        return self._mass[1]

    @property
    def com_jacobian(self) -> Array:
        """∂com/∂q, (3, n)."""
        return self._mass[2]

    # -- strings -------------------------------------------------------------------------------------------------

    def path(self, name: str) -> Array:
        """The points that the string or wire called `name` runs through, hook first, (n, 3) [m]; of pulleys, the centres.

        Raises `UnknownName`.
        """
        for string in (*self.figure.strings, *self.figure.wires):
            if string.name == name:
                return np.array([self.point(at.frame, at.position) for at in string.path])
        raise UnknownName("string", name, tuple(s.name for s in (*self.figure.strings, *self.figure.wires)))

    @cached_property
    def gaps(self) -> Array:
        """Distance − length of every string, then of every wire [m]; a string's is ≤ 0."""
        out = []
        placing = Placing(lambda at: self.point(at.frame, at.position), lambda frame, axis: self.X(frame)[:3, :3] @ axis)
        for string in (*self.figure.strings, *self.figure.wires):
            wound = string.wound(0.0 if string.variable is None else float(self.q[self.figure.index(string.variable)]))
            out.append(way_length(placing, string) - wound)
        return np.array(out)

    def __repr__(self) -> str:
        return f"<Pose of {self.figure.name}>"


def pose(figure: Figure, q: ArrayLike | None = None) -> Pose:
    """The pose of `figure` at `q` (n,) [rad or m], or at its start. Raises `NotFinite` where q is not finite."""
    return Pose(figure, figure.start if q is None else q)


def frames_along(figure: Figure, Q: ArrayLike) -> Array:
    """X_WF of every frame of `figure` at every sample of `Q` (T, n): (T, n_frames, 4, 4). Raises `NotFinite`."""
    Q = np.require(Q, float, ["C", "W"])  # numba compiles kernels of arrays that may not be written once more
    if Q.ndim != 2 or Q.shape[1] != figure.n_q:
        raise BunrakuError(f"{figure.name} has {figure.n_q} variables, but Q has shape {Q.shape}")
    if not np.isfinite(Q).all():
        raise NotFinite(f"{figure.name}: Q is not finite at sample {int(np.argwhere(~np.isfinite(Q))[0, 0])}")
    compiled = figure.compiled
    out = np.empty((len(Q), len(figure.frames), 4, 4))
    tree.frames_of_samples(compiled.tree.joints, Q, compiled.frame_joint, compiled.frame_X, out)
    return out
