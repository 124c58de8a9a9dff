"""Balance: the support polygon, how far inside of it a point is, and the zero-moment point of a motion.

A polygon is (k, 2), its corners counter-clockwise; one or two corners are a point or an edge, with no inside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.kernels.compile import kernel
from bunraku.kinematics.forward import pose
from bunraku.kinematics.inverse.tasks import Bound
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import cross, get6

Array = NDArray[np.float64]


def support_polygon(points: ArrayLike) -> Array:
    """The convex hull of `points` (n, 2) or (n, 3) [m], seen from above (Andrew's monotone chain). Raises `NotFinite`."""
    P = np.asarray(points, float)
    if P.ndim != 2 or P.shape[1] not in (2, 3) or len(P) == 0:
        raise BunrakuError(f"expected points of support (n, 2) or (n, 3), got {P.shape}")
    if not np.isfinite(P).all():
        raise NotFinite("a point of support is not finite")
    P = np.unique(P[:, :2], axis=0)  # sorted by x, then y
    if len(P) < 3:
        return P
    size = float(np.ptp(P, axis=0).max())

    def half(points: Array) -> list[Array]:
        chain: list[Array] = []
        for p in points:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], p) <= 1e-12 * size**2:
                chain.pop()
            chain.append(p)
        return chain[:-1]

    return np.array(half(P) + half(P[::-1]))


def _turn(a: Array, b: Array, c: Array) -> float:
    """Twice the signed area of a triangle; positive if a, b, c are counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def edges(polygon: ArrayLike) -> tuple[Array, Array]:
    """Inward unit normals (k, 2) and offsets (k,) of the edges of a `polygon`: n·x − offset ≥ 0 inside.

    Raises `BunrakuError` for fewer than three corners.
    """
    try:
        P = np.asarray(polygon, float)
    except (TypeError, ValueError):
        raise BunrakuError(
            f"expected the corners (k, 2) of a polygon, got {polygon!r}\n  advice: support_polygon makes one"
        ) from None
    if len(P) < 3:
        raise BunrakuError(f"{len(P)} corners have no inside\n  advice: give at least three points of support, not in a line")
    along = np.roll(P, -1, axis=0) - P
    normals = np.stack([-along[:, 1], along[:, 0]], 1) / np.linalg.norm(along, axis=1, keepdims=True)
    return normals, np.sum(normals * P, axis=1)


def margin(polygon: ArrayLike, points: ArrayLike) -> Array:
    """How far inside a `polygon` each of the `points` (…, 2 or 3) is [m]: the distance to its boundary, negative outside."""
    P, x = np.atleast_2d(np.asarray(polygon, float)), np.asarray(points, float)[..., :2]
    along = np.roll(P, -1, axis=0) - P
    squares = np.maximum(np.sum(along**2, 1), 1e-300)
    away = x[..., None, :] - P
    s = np.clip(np.sum(away * along, -1) / squares, 0.0, 1.0)
    distance = np.linalg.norm(away - s[..., None] * along, axis=-1).min(-1)
    if len(P) < 3:
        return np.asarray(-distance)
    normals, offsets = edges(P)
    inside = (x @ normals.T - offsets).min(-1) >= 0.0
    return np.asarray(np.where(inside, distance, -distance))


def static_margin(figure: Figure, q: ArrayLike, polygon: ArrayLike) -> float:
    """How far inside the support `polygon` the centre of mass of `figure` is at `q` [m]; negative: it falls if it stands still."""
    return float(margin(polygon, pose(figure, q).com))


@dataclass(frozen=True, eq=False)
class Balance(Bound):
    """The centre of mass stays above a support polygon: `Balance(support_polygon(points), inside=0.02)`.

    `points` are where the figure stands: for example the corners of its soles, or points of several frames,
    `[pose(robot, q).point("left_sole", (x, y, 0)) for x in (-0.08, 0.12) for y in (-0.05, 0.05)]`.
    """

    polygon: ArrayLike
    """Corners (k, 2), counter-clockwise [m]."""
    inside: float = 0.0
    """The distance that it keeps from the edges [m]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "count", len(edges(self.polygon)[0]))

    def values(self, figure: Figure, q: Array) -> tuple[Array, Array]:
        """Distances of the centre of mass of `figure` at `q` from each edge, (k,) [m], and their derivatives (k, n)."""
        normals, offsets = edges(self.polygon)
        here = pose(figure, q)
        return normals @ here.com[:2] - offsets - self.inside, normals @ here.com_jacobian[:2]


# -- motions -----------------------------------------------------------------------------------------------------


@kernel
def _momentum(joints, Q, V, mass, com, out):
    """Momentum about the world's origin (linear, angular) and centre of mass at every sample."""
    n = joints.shape[0]
    R, p, S, W = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6))
    o = (0.0, 0.0, 0.0)
    for t in range(Q.shape[0]):
        place(joints, 0, n, Q[t], o, R, p, S)
        for k in range(3):
            com[t, k] = 0.0
        for k in range(6):
            out[t, k] = 0.0
        for j in range(n):
            joint = joints[j]
            for k in range(6):
                W[j, k] = V[t, joint.variable] * S[j, k] + (W[joint.parent, k] if joint.parent >= 0 else 0.0)
            m = joint.mass
            c = carry(R, p, o, j, joint.com, 1.0)
            w = get6(W, j)
            v = cross((w[0], w[1], w[2]), c)
            v = (v[0] + w[3], v[1] + w[4], v[2] + w[5])
            own = (
                R[j, 0, 0] * w[0] + R[j, 0, 1] * w[1] + R[j, 0, 2] * w[2],
                R[j, 1, 0] * w[0] + R[j, 1, 1] * w[1] + R[j, 1, 2] * w[2],
                R[j, 2, 0] * w[0] + R[j, 2, 1] * w[1] + R[j, 2, 2] * w[2],
            )
            I = joint.inertia  # xx xy xz yy yz zz
            spin = (
                I[0] * own[0] + I[1] * own[1] + I[2] * own[2],
                I[1] * own[0] + I[3] * own[1] + I[4] * own[2],
                I[2] * own[0] + I[4] * own[1] + I[5] * own[2],
            )
            spin = carry(R, p, o, j, spin, 0.0)
            orbit = cross(c, v)
            for k in range(3):
                com[t, k] += m * c[k] / mass
                out[t, k] += m * v[k]
                out[t, 3 + k] += spin[k] + m * orbit[k]


def momentum_along(figure: Figure, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Momentum (T, 6), linear and angular about the world's origin, and centre of mass (T, 3) [m] of samples.

    q, v: configurations and velocities of `figure`, (T, n). Raises `NotFinite`, or `BunrakuError` for other shapes.
    """
    # Copies: for read-only arrays, such as a motion's, numba would compile the kernel once more.
    Q, V = (np.array(x, float, order="C") for x in (q, v))
    if Q.ndim != 2 or Q.shape[1] != figure.n_q or V.shape != Q.shape:
        raise BunrakuError(f"{figure.name} has {figure.n_q} variables, but q and v have shapes {Q.shape} and {V.shape}")
    if not (np.isfinite(Q).all() and np.isfinite(V).all()):
        raise NotFinite(f"{figure.name}: q or v is not finite")
    joints = figure.compiled.tree.joints
    mass = float(joints["mass"].sum())
    if not mass > 0.0:
        raise BunrakuError(f"{figure.name} has no moving mass, and so no centre of mass")
    momentum, com = np.empty((len(Q), 6)), np.empty((len(Q), 3))
    _momentum(joints, Q, V, mass, com, momentum)
    return momentum, com


def zero_moment_point(figure: Figure, t: ArrayLike, q: ArrayLike, *, height: float = 0.0) -> Array:
    """The zero-moment point: where on a floor at `height` [m] the force of the floor acts, (T, 2) [m].

    t, q: times (T,) [s] and configurations (T, n) of a motion of `figure`.

    Velocities and rates of momentum are finite differences of second order. NaN where the figure does not press on
    the floor at all. Raises `BunrakuError` for fewer than three samples, or times that do not increase.
    """
    t, Q = np.asarray(t, float), np.asarray(q, float)
    if t.shape != (len(Q),) or len(t) < 3 or not (np.diff(t) > 0.0).all():
        raise BunrakuError("expected at least three samples, at increasing times")
    momentum, com = momentum_along(figure, Q, np.gradient(Q, t, axis=0, edge_order=2))
    rate = np.gradient(momentum, t, axis=0, edge_order=2)
    g = np.array(figure.gravity)
    mass = float(figure.compiled.tree.joints["mass"].sum())
    force = rate[:, :3] - mass * g  # the force of the floor
    moment = rate[:, 3:] - np.cross(com, mass * g)  # its moment about the origin
    fz = np.where(force[:, 2] > 1e-6 * mass * np.linalg.norm(g), force[:, 2], np.nan)
    x = (height * force[:, 0] - moment[:, 1]) / fz
    y = (height * force[:, 1] + moment[:, 0]) / fz
    return np.stack([x, y], 1)
