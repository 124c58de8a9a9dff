"""The paper's outer optimisation: gains (α, β) for which a gait accelerates its joints the least (*gecko*, III-C, eq. 15).

Gradient descent, with a golden-section search along each direction, in the logarithms of the gains.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gains, Gecko, Wish, gait

Array = NDArray[np.float64]
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
REACH = 2.5  # how far a search goes, in natural logarithms
PROBE = 0.05


@dataclass(frozen=True, eq=False)
class Tuned:
    """The best gains, the gait that they give, and f of eq. 15 [rad/s] before and after."""

    gains: Gains
    Q: Array
    before: float
    after: float
    gaits: int


def accelerations(gecko: Gecko, Q: Array, dt: float) -> Array:
    """Of the active joints, (T − 2, n) [rad/s²]."""
    return np.asarray(np.diff(Q[:, gecko.active], 2, axis=0) / dt**2)


def tune(
    gecko: Gecko, q: Array, feet: FootPaths, want: Wish, *, gains: Gains = Gains(), rounds: int = 6, splits: int = 10,  # noqa: B008
    heard: Callable[[Gains, float], None] | None = None,
) -> Tuned:  # fmt: skip
    """The gains, from given ones downhill, whose gait from q has the least ∫Σ|q̈| dt."""
    dt, count = float(feet.t[1] - feet.t[0]), 0

    def f(x: Array) -> float:
        nonlocal count
        count += 1
        Q, _ = gait(gecko, q, feet, want, gains=at(x))
        return float(np.abs(accelerations(gecko, Q, dt)).sum()) * dt if len(Q) == len(feet.t) else math.inf

    def along(x: Array, down: Array, s: float) -> float:
        return f(x + s * down)

    def at(x: Array) -> Gains:
        return replace(gains, alpha=math.exp(x[0]), beta=math.exp(x[1]))

    x = np.log([gains.alpha, gains.beta])
    before = best = f(x)
    for _ in range(rounds):
        slope = np.array([f(x + PROBE * e) - f(x - PROBE * e) for e in np.eye(2)])
        if not np.isfinite(slope).all() or not slope.any():
            break
        down = -slope / np.linalg.norm(slope)
        step, value = golden(functools.partial(along, x, down), REACH, splits)
        if not value < best * (1.0 - 1e-3):
            break
        x, best = x + step * down, value
        if heard is not None:
            heard(at(x), best)
    return Tuned(at(x), gait(gecko, q, feet, want, gains=at(x))[0], before, best, count)


def golden(f: Callable[[float], float], high: float, splits: int) -> tuple[float, float]:
    """Where f is least between 0 and `high`, if it has one valley there, and its value."""
    low = 0.0
    a, b = high - GOLDEN * high, GOLDEN * high
    fa, fb = f(a), f(b)
    for _ in range(splits):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - GOLDEN * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + GOLDEN * (high - low)
            fb = f(b)
    return (a, fa) if fa <= fb else (b, fb)
