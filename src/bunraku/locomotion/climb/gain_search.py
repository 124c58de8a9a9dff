"""The paper's outer optimisation: gains (α, β) of the gait with the smallest joint accelerations (*gecko*, III-C, eq. 15).

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
from bunraku.locomotion.climb.gecko import GaitGains, Gecko, Wish, gait
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TunedGains:
    """The best gains, their gait, f of eq. 15 [rad/s] before and after, and the number of gaits tried."""

    gains: GaitGains
    Q: Array
    before: float
    after: float
    gaits: int


def accelerations(gecko: Gecko, Q: Array, dt: float) -> Array:
    """Accelerations (T − 2, n) [rad/s²] of the active joints of a `gecko` in configurations `Q` (T, n_q), `dt` [s] apart."""
    return np.asarray(np.diff(Q[:, gecko.active], 2, axis=0) / dt**2)


def tune(
    gecko: Gecko, q: Array, feet: FootPaths, want: Wish, *, gains: GaitGains = GaitGains(), rounds: int = 6,
    splits: int = 10, reach: float = 2.5, probe: float = 0.05, progress: Listener | None = None,
) -> TunedGains:  # fmt: skip
    """The gains whose gait has the smallest ∫Σ|q̈| dt.

    gecko, q, feet, want: as in `gait`
    gains: where the descent starts
    rounds: maximum number of descent directions
    splits: golden sections along each direction
    reach: length of a line search, in natural logarithms of the gains
    probe: step of the difference quotients, in natural logarithms of the gains
    progress: called after every round
    """
    dt, count = float(feet.t[1] - feet.t[0]), 0

    def f(x: Array) -> float:
        nonlocal count
        count += 1
        Q, _ = gait(gecko, q, feet, want, gains=at(x))
        return float(np.abs(accelerations(gecko, Q, dt)).sum()) * dt if len(Q) == len(feet.t) else math.inf

    def along(x: Array, down: Array, s: float) -> float:
        return f(x + s * down)

    def at(x: Array) -> GaitGains:
        return replace(gains, alpha=math.exp(x[0]), beta=math.exp(x[1]))

    x = np.log([gains.alpha, gains.beta])
    before = best = f(x)
    for k in range(rounds):
        slope = np.array([f(x + probe * e) - f(x - probe * e) for e in np.eye(2)])
        if not np.isfinite(slope).all() or not slope.any():
            break
        down = -slope / np.linalg.norm(slope)
        step, value = golden(functools.partial(along, x, down), reach, splits)
        if not value < best * (1.0 - 1e-3):
            break
        x, best = x + step * down, value
        if progress is not None:
            progress(Progress("gains", (k + 1) / rounds, f"{best:.4g} rad/s"))
    return TunedGains(at(x), gait(gecko, q, feet, want, gains=at(x))[0], before, best, count)


def golden(f: Callable[[float], float], high: float, splits: int) -> tuple[float, float]:
    """The minimiser of `f` between 0 and `high` and its value, after `splits` sections; `f` must have a single minimum there."""
    low, ratio = 0.0, (math.sqrt(5.0) - 1.0) / 2.0
    a, b = high - ratio * high, ratio * high
    fa, fb = f(a), f(b)
    for _ in range(splits):
        if fa <= fb:
            high, b, fb = b, a, fa
            a = high - ratio * (high - low)
            fa = f(a)
        else:
            low, a, fa = a, b, fb
            b = low + ratio * (high - low)
            fb = f(b)
    return (a, fa) if fa <= fb else (b, fb)
