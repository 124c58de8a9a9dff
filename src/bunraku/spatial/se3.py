"""Rigid motions as 4×4 matrices `X_AB` (the pose of B in A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.spatial import so3

Array = NDArray[np.float64]


def pose(position: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike = so3.IDENTITY) -> Array:
    """The matrix X of a `position` (3,) [m] and a `rotation` (a quaternion or a rotation matrix)."""
    rotation = np.asarray(rotation, float)
    X = np.eye(4)
    X[:3, :3] = so3.matrix(rotation) if rotation.shape == (4,) else rotation
    X[:3, 3] = position
    return X


def inverse(X: ArrayLike) -> Array:
    """X_BA of `X` = X_AB, for stacks (…, 4, 4) too."""
    X = np.asarray(X, float)
    out = np.zeros_like(X)
    R = np.swapaxes(X[..., :3, :3], -1, -2)
    out[..., :3, :3] = R
    out[..., :3, 3] = -(R @ X[..., :3, 3:])[..., 0]
    out[..., 3, 3] = 1.0
    return out


def transform(X: ArrayLike, points: ArrayLike) -> Array:
    """`points` (…, 3) transformed by one `X`; in a stack (…, 4, 4), each X transforms its own point, and shapes broadcast."""
    X, points = np.asarray(X, float), np.asarray(points, float)
    if X.ndim == 2:
        return np.asarray(points @ X[:3, :3].T + X[:3, 3])
    return np.asarray((X[..., :3, :3] @ points[..., None])[..., 0] + X[..., :3, 3])
