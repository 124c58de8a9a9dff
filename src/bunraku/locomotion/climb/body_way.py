"""The path of the body over a course: at constant height over the surface, with rounded corners, clear of edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d

from bunraku.locomotion.climb.course_options import CourseOptions

Array = NDArray[np.float64]


class ClimbedSurface(Protocol):
    """The parts of a course that the path of the body uses; `Course` has all of them."""

    height: float
    options: CourseOptions
    convex: list[bool]

    def over(self, x: ArrayLike, faces: range) -> Array:
        """Heights of points `x` (…, 3) over a run of `faces` [m]."""
        ...

    def face_runs(self, u: ArrayLike, behind: float, ahead: float) -> Iterator[tuple[slice, range]]:
        """Runs of samples with the same faces near bodies at `u` (T,) that extend `behind` and `ahead` [m]."""
        ...


class BodyWay:
    """Positions and rotations of the body along a course, sampled every `options.spacing`.

    surface: the course
    knots: distances along the path of the body [m] at which its corners are
    X: poses of the body (n, 4, 4) at the knots, with columns ahead, left, normal
    """

    def __init__(self, surface: ClimbedSurface, knots: list[float], X: Array) -> None:
        self.surface = surface
        self.spacing = spacing = surface.options.spacing
        self.u = u = np.arange(knots[0], knots[-1] + spacing, spacing)
        width = max(int(surface.options.smoothing / spacing) // 2 * 2 + 1, 3)

        def smooth(values: Array) -> Array:
            return smooth_box(smooth_box(np.interp(u, knots, values), width), width)  # a box applied twice is a tent

        p, ahead, normal = (np.stack([smooth(X[:, i, column]) for i in range(3)], 1) for column in (3, 0, 2))
        self.R = turned(ahead, normal)
        z = self.R[:, :, 2]
        for _ in range(4):  # the rounded normal differs from that of a face, so one correction is not enough
            p += (smooth_box(self._short(p, width), width) * z.T).T
        self.p = p

    def _short(self, p: Array, width: int) -> Array:
        """By how much the rounded path is too low over edges and steps [m]: the maximum over a window."""
        options = self.surface.options
        over = np.full(len(self.u), np.inf)
        for own, faces in self.surface.face_runs(self.u, options.edge_reach, options.edge_reach):
            convex = any(self.surface.convex[k] for k in faces[:-1])
            over[own] = self.surface.over(p[own], faces) - (options.edge if convex else 0.0)
        return np.asarray(maximum_filter1d(np.maximum(self.surface.height - over, 0.0), width, mode="nearest"))

    def at(self, u: Array) -> tuple[Array, Array]:
        """Positions (T, 3) [m] and rotations (T, 3, 3) of the body at distances `u` (T,) along its path [m]."""
        k = np.clip(((u - self.u[0]) / self.spacing).astype(int), 0, len(self.u) - 2)
        w = (u - self.u[k]) / self.spacing
        place = self.p[k] + w[:, None] * (self.p[k + 1] - self.p[k])
        mixed = self.R[k] + w[:, None, None] * (self.R[k + 1] - self.R[k])
        return place, turned(mixed[:, :, 0], mixed[:, :, 2])


def turned(ahead: Array, normal: Array) -> Array:
    """Rotations (T, 3, 3) with z along `normal` (T, 3) and x as near to `ahead` (T, 3) as possible."""
    z = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    y = np.cross(z, ahead)
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    return np.stack([np.cross(y, z), y, z], -1)


def smooth_box(values: Array, width: int) -> Array:
    """Moving average of `values` (T,) over a window of `width` samples, an odd number; both ends are extended linearly."""
    half = np.arange(1, width // 2 + 1)
    before = values[0] - (values[1] - values[0]) * half[::-1]
    after = values[-1] + (values[-1] - values[-2]) * half
    return np.convolve(np.concatenate([before, values, after]), np.ones(width) / width, "valid")
