"""States in motion, and difference quotients, for tests of steps as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.settle import settle
from bunraku.dynamics.step_map import StepMap
from bunraku.figure import library

Array = NDArray[np.float64]


def in_motion(name: str, seed: int = 1) -> tuple[StepMap, Array, Array, Array, Array]:
    """A step of a figure of the library that moves, with forces: its map, x, u, and a direction dx, du."""
    figure = library.named(name)
    own, rng = StepMap(figure), np.random.default_rng(seed)
    n, n_k = figure.n_dynamic, figure.n_q - figure.n_dynamic
    q = settle(figure) if figure.strings else figure.start + 0.3 * rng.normal(size=figure.n_q)
    x, u = own.state(q), own.hold(q)
    for _ in range(20):
        x = own.step(x, u)
    u[n_k:] += 0.3 * rng.normal(size=own.n_u - n_k)
    dx, du = np.zeros(own.n_x), rng.normal(size=own.n_u)
    dx[figure.n_q :] = 0.1 * rng.normal(size=n)
    du[:n_k] *= 1e-3  # hands that jump in one step make strings slack
    return own, x, u, dx, du


def quotient(function: Callable[[float], Any], h: float = 1e-3) -> Any:
    """The derivative at 0, from four values: the error is h⁴."""
    return (8.0 * (function(h) - function(-h)) - (function(2.0 * h) - function(-2.0 * h))) / (12.0 * h)
