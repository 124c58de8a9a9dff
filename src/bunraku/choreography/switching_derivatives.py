"""Derivatives of a cost with respect to switching times, exact for the discrete steps (trep, eq. 8 and 9).

A switched system is a chain of steps x₊ = f(x, τ) with a cost ℓ(x, τ) at every sample; τ are the switching times. Append τ to the
state as constants: y = (x, τ). Then the cost-to-go, as a function of y, has a gradient ρ and a second derivative P with

    ρ = Aᵀ ρ₊ + ℓ_y,        P = Aᵀ P₊ A + ℓ_yy + ρ₊ · f_yy,        A = ∂(f, τ)/∂(x, τ).

One backward sweep gives the gradient with respect to τ: the τ-entries of ρ at the first sample. Of P only the τ-block there is
needed. It equals the sum of Yᵀ (ℓ_yy + ρ₊ · f_yy) Y over all samples, with the tangent Y = ∂y/∂τ. One forward sweep gives Y by
Y₊ = A Y: a few columns instead of the full matrix P.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Switched(Protocol):
    """A chain of N steps that depends on m switching times."""

    def run(self, times: Array, /) -> Array:
        """The states x, (N + 1, n), at these switching `times` (m,)."""
        ...

    def cost(self, times: Array, x: Array, /) -> float:
        """The whole cost of the states `x` that `run` returned for `times`."""
        ...

    def first(self, times: Array, x: Array, /) -> tuple[Array, Array]:
        """First derivatives at `times` and the states `x`.

        Returns ∂f/∂(x, τ) of every step, (N, n, n + m), and ∂ℓ/∂(x, τ) of every sample, (N + 1, n + m).
        """
        ...

    def second(self, times: Array, x: Array, adjoint: Array, tangent: Array, /) -> Array:
        """Yᵀ (ℓ_yy + ρ₊ · f_yy) Y summed over samples, (m, m), at `times` and the states `x`.

        adjoint: ρ₊ of every step, (N, n).
        tangent: Y of every sample, (N + 1, n + m, m).
        """
        ...


@dataclass(frozen=True)
class CostExpansion:
    """A cost and its derivatives with respect to the switching times."""

    cost: float
    gradient: Array
    hessian: Array
    x: Array


def first_sweep(F: Array, slope: Array) -> Array:
    """ρ of every sample, (N + 1, n + m): eq. 8.

    F: ∂f/∂(x, τ) of every step, (N, n, n + m).
    slope: ∂ℓ/∂(x, τ) of every sample, (N + 1, n + m).
    """
    N, n = F.shape[:2]
    rho = np.empty_like(slope)
    rho[N] = slope[N]
    for k in range(N - 1, -1, -1):
        rho[k] = slope[k] + F[k].T @ rho[k + 1, :n]
        rho[k, n:] += rho[k + 1, n:]
    return rho


def tangent_sweep(F: Array) -> Array:
    """Y of every sample, (N + 1, n + m, m), from `F` = ∂f/∂(x, τ) of every step, (N, n, n + m)."""
    N, n, size = F.shape
    m = size - n
    Y = np.zeros((N + 1, size, m))
    Y[:, n:] = np.eye(m)
    for k in range(N):
        Y[k + 1, :n] = F[k] @ Y[k]
    return Y


def expand(system: Switched, times: Array, *, second: bool = True) -> CostExpansion:
    """The cost of a `system` at switching `times` (m,), its gradient and, if `second`, its second derivative."""
    x = system.run(times)
    F, slope = system.first(times, x)
    n, m = F.shape[1], len(times)
    rho = first_sweep(F, slope)
    hessian = system.second(times, x, rho[1:, :n], tangent_sweep(F)) if second else np.zeros((0, 0))
    return CostExpansion(system.cost(times, x), rho[0, n : n + m], 0.5 * (hessian + hessian.T), x)
