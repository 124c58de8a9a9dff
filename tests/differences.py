"""Difference quotients: the one helper against which every exact derivative is checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def difference_quotient(function: Callable[[Array], ArrayLike], x: ArrayLike, *, step: float = 1e-3) -> Array:
    """The derivative of `function` at `x` by differences of the size `step`, with the axis of x last.

    Of fourth order: f' ≈ (8 (f₊ − f₋) − (f₊₊ − f₋₋)) / 12 step.
    """
    stencil = ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0))
    x = np.asarray(x, float)
    columns = []
    for direction in np.eye(x.size):
        total = sum(weight * np.asarray(function(x + n * step * direction), float) for n, weight in stencil)
        columns.append(total / (12.0 * step))
    return np.stack(columns, -1) if columns else np.zeros((*np.shape(function(x)), 0))


def relative_error(exact: ArrayLike, quotient: ArrayLike) -> float:
    """The largest difference between `exact` and `quotient`, over the largest entry (or 1, where the derivative is small).

    Raises ValueError where their shapes differ.
    """
    exact, quotient = np.asarray(exact, float), np.asarray(quotient, float)
    if exact.shape != quotient.shape:
        raise ValueError(f"shapes differ: {exact.shape} and {quotient.shape}")
    if exact.size == 0:
        return 0.0
    return float(np.max(np.abs(exact - quotient)) / max(1.0, float(np.max(np.abs(quotient)))))
