"""WayCurve: a curve through configurations, and the kernels that evaluate and bound it.

A curve is a polyline in q. Triples of variables (x, y, heading) may instead follow a cubic Bézier curve in the plane, with the
heading along its tangent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.compile import inline, kernel


class WayCurve(NamedTuple):
    """A polyline through configurations, some variables of which may follow Bézier curves. With one argument, a straight line."""

    Q: NDArray[np.float64]
    """Configurations at the knots (K, n_q)."""
    knots: NDArray[np.float64] = np.array([0.0, 1.0])
    """Parameters s of the knots, from 0 to 1, (K,)."""
    bends: NDArray[np.int64] = np.zeros((0, 4), np.int64)
    """For each Bézier curve: its variables x, y and heading by number, and 1 if the heading points backward, else 0, (B, 4)."""
    control: NDArray[np.float64] = np.zeros((0, 4, 2))
    """Control points of each Bézier curve, x and y [m], (B, 4, 2)."""


class IntervalKind(NamedTuple):
    """What the array `half` of an interval, which `curve_half` writes, means."""

    straight: int = 0
    """On the interval q is its middle + half · t, for t from −1 to 1."""
    bounded: int = 1
    """No variable gets farther than half from its value at the middle."""
    unknown: int = 2
    """Nothing: a heading could not be bounded."""


INTERVAL = IntervalKind()


@inline
def bend(control, k, s):
    """(x, y, heading, x′, y′, x″, y″) of Bézier curve k at s."""
    r = 1.0 - s
    x = y = u = v = a = b = 0.0
    for c in range(2):
        p0, p1, p2, p3 = control[k, 0, c], control[k, 1, c], control[k, 2, c], control[k, 3, c]
        at = r * r * r * p0 + 3.0 * r * r * s * p1 + 3.0 * r * s * s * p2 + s * s * s * p3
        rate = 3.0 * (r * r * (p1 - p0) + 2.0 * r * s * (p2 - p1) + s * s * (p3 - p2))
        second = 6.0 * (r * (p2 - 2.0 * p1 + p0) + s * (p3 - 2.0 * p2 + p1))
        if c == 0:
            x, u, a = at, rate, second
        else:
            y, v, b = at, rate, second
    return x, y, np.arctan2(v, u), u, v, a, b


@inline
def curve_at(curve, s, q):
    """Writes the configuration at the parameter s into q."""
    n, last = curve.Q.shape[1], curve.knots.shape[0] - 2
    k = 0
    while k < last and s > curve.knots[k + 1]:
        k += 1
    width = curve.knots[k + 1] - curve.knots[k]
    f = (s - curve.knots[k]) / width if width > 0.0 else 0.0
    for i in range(n):
        q[i] = curve.Q[k, i] + f * (curve.Q[k + 1, i] - curve.Q[k, i])
    for k in range(curve.bends.shape[0]):
        x, y, heading, _, _, _, _ = bend(curve.control, k, s)
        q[curve.bends[k, 0]], q[curve.bends[k, 1]] = x, y
        i = curve.bends[k, 2]
        heading += np.pi * curve.bends[k, 3]
        q[i] += (heading - q[i] + np.pi) % (2.0 * np.pi) - np.pi  # of all equal angles the one nearest to the polyline's


@kernel
def samples_of(curve, s, out):
    """Configurations at many parameters s."""
    for t in range(s.shape[0]):
        curve_at(curve, s[t], out[t])


@inline
def curve_half(curve, start, end, half):
    """Writes `half`: how far each variable may get from its value at the middle of an interval. Returns one of INTERVAL."""
    n, width, pieces = curve.Q.shape[1], 0.5 * (end - start), 0
    for i in range(n):
        half[i] = 0.0
    if width == 0.0:
        return INTERVAL.straight
    for k in range(curve.knots.shape[0] - 1):
        span = curve.knots[k + 1] - curve.knots[k]
        if span <= 0.0 or curve.knots[k] >= end or curve.knots[k + 1] <= start:
            continue
        pieces += 1
        for i in range(n):
            step = (curve.Q[k + 1, i] - curve.Q[k, i]) / span * width
            if abs(step) > abs(half[i]):
                half[i] = step
    if pieces <= 1 and curve.bends.shape[0] == 0:
        return INTERVAL.straight
    for i in range(n):
        half[i] = abs(half[i])
    middle = 0.5 * (start + end)
    for k in range(curve.bends.shape[0]):
        _, _, _, u, v, a, b = bend(curve.control, k, middle)
        _, _, _, _, _, a0, b0 = bend(curve.control, k, start)
        _, _, _, _, _, a1, b1 = bend(curve.control, k, end)
        # The second derivative is linear in s; (c, d), the third, is constant.
        c, d = (a1 - a0) / (2.0 * width), (b1 - b0) / (2.0 * width)
        second = np.sqrt(max(a0 * a0 + b0 * b0, a1 * a1 + b1 * b1))
        slowest = np.sqrt(u * u + v * v) - second * width
        if slowest <= 0.0:
            return INTERVAL.unknown
        turn = abs(u * b - v * a) + width * abs(u * d - v * c) + 0.5 * width * width * abs(a * d - b * c)
        half[curve.bends[k, 0]] = width * (abs(u) + max(abs(a0), abs(a1)) * width)
        half[curve.bends[k, 1]] = width * (abs(v) + max(abs(b0), abs(b1)) * width)
        half[curve.bends[k, 2]] = width * turn / (slowest * slowest)
    return INTERVAL.bounded
