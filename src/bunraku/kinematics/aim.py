"""Rotations that make a joint point somewhere, for many samples at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def turned(axis: ArrayLike, angle: ArrayLike) -> Array:
    """Rotations (T, 3, 3) by each `angle` (T,) [rad] about one `axis` or many (T, 3), of unit length."""
    axis, angle = np.asarray(axis, float), np.asarray(angle, float)
    x, y, z = np.moveaxis(np.broadcast_to(axis, (*angle.shape, 3)), -1, 0)
    zero = np.zeros_like(x)
    W = np.moveaxis(np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]), (0, 1), (-2, -1))
    s, c = np.sin(angle)[..., None, None], 1.0 - np.cos(angle)[..., None, None]
    return np.asarray(np.eye(3) + s * W + c * (W @ W))


def shortest(a: ArrayLike, b: ArrayLike) -> Array:
    """The rotation (3, 3) by the smallest angle that takes the direction `a` to `b`."""
    start, end = (np.asarray(x, float) / float(np.linalg.norm(np.asarray(x, float))) for x in (a, b))
    axis = np.cross(start, end)
    size, cosine = float(np.linalg.norm(axis)), float(start @ end)
    if size < 1e-9:
        side = np.cross(start, [1.0, 0.0, 0.0] if abs(start[0]) < 0.9 else [0.0, 1.0, 0.0])
        return np.eye(3) if cosine > 0.0 else turned(side / np.linalg.norm(side), np.pi)
    return turned(axis / size, np.arctan2(size, cosine))


def twist(axis: Array, M: Array) -> Array:
    """Angles (T,) [rad] about an `axis` whose rotations R make tr(Mᵀ R) largest, for `M` (T, 3, 3)."""
    vee = np.stack([M[:, 2, 1] - M[:, 1, 2], M[:, 0, 2] - M[:, 2, 0], M[:, 1, 0] - M[:, 0, 1]], 1)
    along = np.einsum("i,tij,j->t", axis, M, axis)
    return np.asarray(np.arctan2(vee @ axis, np.trace(M, axis1=1, axis2=2) - along))


def nearest_angles(axes: Array, between: Array, M: Array, q: Array, limits: tuple[Array, Array]) -> Array:
    """Angles (T, k) [rad] within `limits` whose rotations R = Π C_i exp(a_i q_i) make tr(Mᵀ R) large.

    axes: the a_i (k, 3); between: the constant rotations C_i before each (k, 3, 3); M: (T, 3, 3); q: where the search
    starts, (T, k). Fifteen times, each angle in turn is set to its best value for the others as they are.
    """
    q = np.clip(q, *limits)
    low, high = (np.where(np.isinf(limits).any(0), 0.0, limit) for limit in limits)
    middle = np.where(np.isinf(limits).any(0), q, (low + high) / 2.0)
    for _ in range(15 if len(axes) > 1 else 1):
        for i in range(len(axes)):
            before = after = np.broadcast_to(np.eye(3), M.shape)
            for j in range(len(axes)):
                own = between[j] @ turned(axes[j], q[:, j])
                before, after = (before @ own, after) if j < i else (before, after @ own) if j > i else (before, after)
            best = twist(axes[i], (before @ between[i]).swapaxes(1, 2) @ M @ after.swapaxes(1, 2))
            near = middle[..., i]
            best = near + (best - near + np.pi) % (2.0 * np.pi) - np.pi
            q[:, i] = np.clip(best, limits[0][i], limits[1][i])
    return q
