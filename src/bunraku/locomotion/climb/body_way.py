"""The way of the body over a course: at its height over the surface, corners rounded off, edges cleared."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d

Array = NDArray[np.float64]
EDGE = 0.012  # how near feet come to an edge that they could slip off, and how much higher the body goes over it [m]
RADIUS = 0.1  # within which a body feels an edge [m]
FINE = 0.002  # spacing of the sampled way of the body [m]


class Surface(Protocol):
    """What the way asks of a course."""

    height: float
    smoothing: float
    convex: list[bool]

    def over(self, x: ArrayLike, faces: range) -> Array: ...
    def faces_between(self, u: ArrayLike, behind: float, ahead: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


class Way:
    """Places and rotations of the body every FINE [m] along, rounded from corners (u, X)."""

    def __init__(self, surface: Surface, knots: list[float], X: Array) -> None:
        self.surface = surface
        self.u = u = np.arange(knots[0], knots[-1] + FINE, FINE)
        width = max(int(surface.smoothing / FINE) // 2 * 2 + 1, 3)

        def smooth(values: Array) -> Array:
            return smooth_box(smooth_box(np.interp(u, knots, values), width), width)  # twice a box is a tent

        p, ahead, normal = (np.stack([smooth(X[:, i, column]) for i in range(3)], 1) for column in (3, 0, 2))
        self.R = turned(ahead, normal)
        z = self.R[:, :, 2]
        for _ in range(4):  # the rounded normal is not that of a face, so that what is missing is not made up for at once
            p += (smooth_box(self._short(p, width), width) * z.T).T
        self.p = p

    def _short(self, p: Array, width: int) -> Array:
        """By how much the rounded way is too low over edges and steps [m], the most within a window."""
        first, last = self.surface.faces_between(self.u, RADIUS, RADIUS)
        over = np.full(len(self.u), np.inf)
        for a, b in set(zip(first.tolist(), last.tolist(), strict=True)):
            own = (first == a) & (last == b)
            convex = any(self.surface.convex[k] for k in range(a, b))
            over[own] = self.surface.over(p[own], range(a, b + 1)) - (EDGE if convex else 0.0)
        return np.asarray(maximum_filter1d(np.maximum(self.surface.height - over, 0.0), width, mode="nearest"))

    def at(self, u: Array) -> tuple[Array, Array]:
        """Places (T, 3) and rotations (T, 3, 3) at u (T,)."""
        k = np.clip(((u - self.u[0]) / FINE).astype(int), 0, len(self.u) - 2)
        w = (u - self.u[k]) / FINE
        place = self.p[k] + w[:, None] * (self.p[k + 1] - self.p[k])
        mixed = self.R[k] + w[:, None, None] * (self.R[k + 1] - self.R[k])
        return place, turned(mixed[:, :, 0], mixed[:, :, 2])


def turned(ahead: Array, normal: Array) -> Array:
    """Rotations (T, 3, 3) whose z is along the normal and whose x is ahead, as nearly as that goes."""
    z = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    y = np.cross(z, ahead)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], -1)


def smooth_box(values: Array, width: int) -> Array:
    """The mean over a window of an odd number of samples; the ends go on as they were going."""
    half = np.arange(1, width // 2 + 1)
    before = values[0] - (values[1] - values[0]) * half[::-1]
    after = values[-1] + (values[-1] - values[-2]) * half
    return np.convolve(np.concatenate([before, values, after]), np.ones(width) / width, "valid")
