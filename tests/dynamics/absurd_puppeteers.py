"""Puppeteers who ask for the impossible: rows of kinematic variables, from leaps of a millimetre to leaps of a kilometre a step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure

Array = NDArray[np.float64]
HABITS = ("leaps", "teleport", "together", "contradict", "negative", "jitter", "rush", "there and back", "all of it")


def absurd(figure: Figure, seed: int, steps: int = 40) -> tuple[str, Array]:
    """What the puppeteer of this seed does, and his rows."""
    rng, n = np.random.default_rng(seed), figure.n_dynamic
    rest = figure.start[n:]
    K, t = np.repeat(rest[None], steps, 0), np.arange(1.0, steps + 1.0)
    count, scale = len(rest), 10.0 ** rng.uniform(-3.0, 3.0)
    motion = [v.motion for v in figure.variables[n:]]
    winds = np.array([m == "length" for m in motion], bool)
    slides = np.array([m == "translate" for m in motion], bool)
    habit = HABITS[seed % len(HABITS)]
    some = rng.random(count) < 0.4
    some[rng.integers(count)] = True
    if habit in ("leaps", "all of it"):
        K += np.cumsum(np.where(rng.random(K.shape) < 0.15, scale * rng.normal(size=K.shape), 0.0), 0)
    if habit == "teleport":  # one of the hands, and back
        K[steps // 4 : 3 * steps // 4, rng.integers(count)] += scale * rng.choice([-1.0, 1.0])
    if habit == "together":  # all hands alike
        K[:, slides] += np.cumsum(scale * rng.normal(size=steps) * (rng.random(steps) < 0.2))[:, None]
    if habit in ("contradict", "all of it"):
        K[:, winds] = np.where(rng.random((steps, winds.sum())) < 0.3, rng.uniform(0.0, 2.0, (steps, winds.sum())), K[:, winds])
        K[:, ~winds & some] += np.where(rng.random((steps, 1)) < 0.3, rng.normal(size=(steps, (~winds & some).sum())), 0.0)
    if habit in ("negative", "all of it"):
        K[steps // 3 :, some] -= scale
        K[steps // 2 :, winds] = -scale * rng.random(winds.sum())
    if habit == "jitter":
        K += min(scale, 1.0) * rng.normal(size=K.shape)
    if habit == "rush":
        K[:, some] += scale * (t[:, None] / steps) ** 3 * rng.normal(size=some.sum())
    if habit == "there and back":
        K[1::2, some] += scale
    return f"{habit}, {scale:.2g} m", K
