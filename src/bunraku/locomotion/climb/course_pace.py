"""How far the body gets in a cycle: a stride, but less in curves, where the outer feet would step too far."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.locomotion.climb.body_way import smooth_box

Array = NDArray[np.float64]


class CoursePace:
    """Cycles along a course.

    length: length of the body's path [m]
    stride: distance per cycle where nothing is slow [m]
    slow: first and last distance along the path [m], and how many times as many cycles it takes there
    spacing: distance between two samples of the pace [m]
    """

    def __init__(self, length: float, stride: float, slow: list[tuple[float, float, float]], spacing: float) -> None:
        self.stride = stride
        self.u = np.asarray(spacing * np.arange(int(length / spacing) + 2) if slow else np.zeros(1), float)
        share = np.ones(len(self.u))
        for first, last, factor in slow:
            own = slice(*np.searchsorted(self.u, (first, last)))
            share[own] = np.maximum(share[own], factor)
        if slow:
            share = smooth_box(share, max(int(stride / spacing) // 2 * 2 + 1, 3))
        self.cycles = np.concatenate([[0.0], np.cumsum((share[1:] + share[:-1]) / 2.0 * spacing / stride)])

    def at(self, cycles: ArrayLike) -> Array:
        """Distance along the path of the body [m] after this number of `cycles`, which may be negative."""
        return _extended(np.asarray(cycles, float), self.cycles, self.u, self.stride)

    def cycles_to(self, u: ArrayLike) -> Array:
        """The number of cycles after which the body is at `u` [m]."""
        return _extended(np.asarray(u, float), self.u, self.cycles, 1.0 / self.stride)


def _extended(x: Array, knots: Array, values: Array, slope: float) -> Array:
    """Linear interpolation, continued with a slope before the first and after the last knot."""
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(np.interp(inside, knots, values) + slope * (x - inside))
