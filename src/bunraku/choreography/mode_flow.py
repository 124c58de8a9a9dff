"""Modes with continuous dynamics: ẋ = f_i(x) between the switching times τ_i and τ_{i+1}.

Every mode has a fixed number of steps, however long it lasts, so the cost is a smooth function of the switching times. A step of
length h is the midpoint rule x₊ = x + h f(x + h/2 f(x)); the running cost is a sum with the same h.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Field:
    """A vector field f, its derivative f_x and, for a covector c, c · f_xx."""

    f: Callable[[Array], Array]
    f_x: Callable[[Array], Array]
    f_xx: Callable[[Array, Array], Array]

    @staticmethod
    def linear(A: ArrayLike, b: ArrayLike | None = None) -> Field:
        """ẋ = A x + b, with `A` (n, n) and `b` (n,), by default zero."""
        M = np.array(A, float)
        shift = np.zeros(len(M)) if b is None else np.array(b, float)
        zero = np.zeros_like(M)
        return Field(lambda x: M @ x + shift, lambda x: M, lambda x, c: zero)


@dataclass(frozen=True)
class Flow:
    """A sequence of modes from time 0 to `end`, switched at times τ, with a quadratic cost about `goal`.

    J = ½ ∫ (x − goal)ᵀ running (x − goal) dt + ½ (x(end) − goal)ᵀ final (x(end) − goal)
    """

    fields: Sequence[Field]
    start: Array
    end: float
    goal: Array
    running: Array
    final: Array
    steps: int = 50
    """Number of steps per mode."""

    def __post_init__(self) -> None:
        if len(self.fields) < 2:
            raise BunrakuError("a flow with one mode has no switching time\n  advice: give two or more vector fields")

    def lengths(self, times: Array) -> Array:
        """Length of every step [s] at switching `times` [s]."""
        return np.repeat(np.diff([0.0, *times, self.end]) / self.steps, self.steps)

    def _shares(self) -> Array:
        """∂h/∂τ of every step, (N, m)."""
        m = len(self.fields) - 1
        D = np.zeros((m + 1, m))
        D[np.arange(m), np.arange(m)] = 1.0
        D[np.arange(1, m + 1), np.arange(m)] = -1.0
        return np.repeat(D / self.steps, self.steps, axis=0)

    def _fields(self) -> list[Field]:
        return [field for field in self.fields for _ in range(self.steps)]

    def run(self, times: Array, /) -> Array:
        """The states x, (N + 1, n), at switching `times` [s]."""
        x = [np.array(self.start, float)]
        for field, h in zip(self._fields(), self.lengths(times), strict=True):
            x.append(x[-1] + h * field.f(x[-1] + 0.5 * h * field.f(x[-1])))
        return np.array(x)

    def cost(self, times: Array, x: Array, /) -> float:
        """J of the states `x` at switching `times` [s]."""
        off = x - self.goal
        along = 0.5 * np.einsum("ki,ij,kj->k", off[:-1], self.running, off[:-1])
        return float(self.lengths(times) @ along + 0.5 * off[-1] @ self.final @ off[-1])

    def first(self, times: Array, x: Array, /) -> tuple[Array, Array]:
        """First derivatives at `times` and `x`, as `Switched.first`."""
        h, dh, off = self.lengths(times), self._shares(), x - self.goal
        N, n, m = len(h), x.shape[1], dh.shape[1]
        F, slope = np.empty((N, n, n + m)), np.zeros((N + 1, n + m))
        for k, field in enumerate(self._fields()):
            _, _, k2, F2, Y = _stages(field, x[k], h[k])
            F[k, :, :n] = np.eye(n) + h[k] * F2 @ Y[:, :n]
            F[k, :, n:] = np.outer(k2 + h[k] * F2 @ Y[:, n], dh[k])
        slope[:-1, :n] = h[:, None] * (off[:-1] @ self.running)
        slope[:-1, n:] = 0.5 * np.einsum("ki,ij,kj->k", off[:-1], self.running, off[:-1])[:, None] * dh
        slope[-1, :n] = self.final @ off[-1]
        return F, slope

    def second(self, times: Array, x: Array, adjoint: Array, tangent: Array, /) -> Array:
        """Second derivatives at `times` and `x`, contracted with `adjoint` and `tangent`, as `Switched.second`."""
        h, dh, off = self.lengths(times), self._shares(), x - self.goal
        N, (n, m) = len(h), (x.shape[1], dh.shape[1])
        H = tangent[N, :n].T @ self.final @ tangent[N, :n]
        for k, field in enumerate(self._fields()):
            by_h = np.zeros((n + 1, n + 1))  # by (x, h)
            k1, F1, _, F2, Y = _stages(field, x[k], h[k])
            c = F2.T @ adjoint[k]
            by_h += h[k] * Y.T @ field.f_xx(x[k] + 0.5 * h[k] * k1, adjoint[k]) @ Y
            by_h[:n, :n] += 0.5 * h[k] ** 2 * field.f_xx(x[k], c) + h[k] * self.running
            cross = 0.5 * h[k] * F1.T @ c + Y[:, :n].T @ c + self.running @ off[k]
            by_h[:n, n] += cross
            by_h[n, :n] += cross
            by_h[n, n] += 2.0 * Y[:, n] @ c
            to_h = np.zeros((n + 1, n + m))
            to_h[:n, :n], to_h[n, n:] = np.eye(n), dh[k]
            along = to_h @ tangent[k]
            H += along.T @ by_h @ along
        return np.asarray(H)


def _stages(field: Field, x: Array, h: float) -> tuple[Array, Array, Array, Array, Array]:
    """f and f_x at x and at the midpoint, and the derivative of the midpoint with respect to (x, h)."""
    k1, F1 = field.f(x), field.f_x(x)
    y = x + 0.5 * h * k1
    Y = np.concatenate([np.eye(len(x)) + 0.5 * h * F1, 0.5 * k1[:, None]], 1)
    return k1, F1, field.f(y), field.f_x(y), Y
