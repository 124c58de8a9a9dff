"""StepMap: a step as a function of arrays, (x, u) ↦ x₁, with exact derivatives, for batches. JAX and PyTorch stand on it.

x = (q, p): all variables, and the momentum of the dynamic ones. u = (k1, f): the kinematic variables after the step, and the force
inputs. z = (x, u) is what derivatives are by.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.home_momentum import home_momentum
from bunraku.dynamics.quantities import momentum
from bunraku.dynamics.rollout import STEP_BITS, rollout
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE, require_dynamic, require_share
from bunraku.dynamics.step_derivatives import OneStep, StepDerivatives, step_derivatives
from bunraku.errors import BunrakuError, BunrakuWarning, NotFinite
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StepMap:
    """The step of a `figure` that takes `dt` [s]; `share` is the share of a force's impulse that acts at its start.

    Ball joints stay in the coordinates of their file. Where their second angle comes near 90°, where these are singular, a step
    raises BunrakuError; `simulate` has no such limit.
    """

    figure: Figure
    dt: float = 0.01
    share: float = LEFT_SHARE

    def __post_init__(self) -> None:
        if not 0.0 < self.dt < np.inf:
            raise BunrakuError(f"the time step is {self.dt} s\n  advice: give a positive number; 0.01 or less suits marionettes")
        require_share(self.share)
        require_dynamic(self.figure)

    @property
    def n_x(self) -> int:
        """Numbers of a state."""
        return self.figure.n_q + self.figure.n_dynamic

    @property
    def n_u(self) -> int:
        """Numbers of an input."""
        return self.figure.n_q - self.figure.n_dynamic + len(self.figure.forces)

    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """The state at a configuration `q` (the start by default) with velocities `v` [rad/s or m/s] (zero by default)."""
        at = configuration(self.figure, self.figure.start if q is None else q)
        rates = np.zeros(self.figure.n_q) if v is None else configuration(self.figure, v)
        return np.concatenate([at, momentum(self.figure, at, rates)])

    def hold(self, q: ArrayLike | None = None) -> Array:
        """The input that leaves the kinematic variables as in `q` (the start by default), without forces."""
        at = configuration(self.figure, self.figure.start if q is None else q)
        return np.concatenate([at[self.figure.n_dynamic :], np.zeros(len(self.figure.forces))])

    # -- values ----------------------------------------------------------------------------------------------------

    def step(self, x: ArrayLike, u: ArrayLike) -> Array:
        """The states (…, n_x) after one step from `x` (…, n_x) with inputs `u` (…, n_u)."""
        return self._batched(lambda row, put: self._ahead(row, put)[0], (self.n_x,), x, u)

    def roll(self, x: ArrayLike, u: ArrayLike) -> Array:
        """The states (…, T + 1, n_x) from `x` (…, n_x) on, with rows of inputs `u` (…, T, n_u); the first is `x`."""
        inputs = np.asarray(u, float)
        flat = inputs.reshape(*inputs.shape[:-2], -1)
        steps = inputs.shape[-2]

        def whole(row: Array, puts: Array) -> Array:
            out = np.empty((steps + 1, self.n_x))
            out[0] = row
            for k, put in enumerate(puts.reshape(steps, self.n_u)):
                out[k + 1] = self._ahead(out[k], put)[0]
            return out

        return self._batched(whole, (steps + 1, self.n_x), x, flat, put_size=steps * self.n_u)

    # -- derivatives -----------------------------------------------------------------------------------------------

    def jacobian(self, x: ArrayLike, u: ArrayLike) -> Array:
        """∂x₁/∂z (…, n_x, n_x + n_u) of the steps from `x` with inputs `u`."""
        size = (self.n_x, self.n_x + self.n_u)
        return self._batched(lambda row, put: self._first(self._expanded(row, put)), size, x, u)

    def hessian_along(self, x: ArrayLike, u: ArrayLike, dz: ArrayLike) -> Array:
        """∂²x₁/∂z² · `dz` (…, n_x, n_x + n_u): how the Jacobian at `x`, `u` changes in the direction `dz` (…, n_x + n_u)."""
        size = (self.n_x, self.n_x + self.n_u)
        return self._batched(
            lambda row, put, along: self._second(self._expanded(row, put, order=2)) @ along, size, x, u, dz
        )  # fmt: skip

    def hessian_of(self, x: ArrayLike, u: ArrayLike, M: ArrayLike) -> Array:
        """Σ_oi M[o, i] ∂²x₁[o]/∂z[i]∂z (…, n_x + n_u) at `x`, `u`; `M` is (…, n_x, n_x + n_u). Transposes `hessian_along`."""
        flat = np.asarray(M, float).reshape(*np.shape(M)[:-2], -1)

        def contracted(row: Array, put: Array, matrix: Array) -> Array:
            H = self._second(self._expanded(row, put, order=2))
            return np.asarray(np.tensordot(matrix.reshape(self.n_x, -1), H, 2))

        return self._batched(contracted, (self.n_x + self.n_u,), x, u, flat)

    def weighted_hessian(self, x: ArrayLike, u: ArrayLike, weights: ArrayLike) -> Array:
        """∂²(weights · x₁)/∂z² (…, n_x + n_u, n_x + n_u) at `x`, `u`, for rows of `weights` (…, n_x); costs little more than D."""
        size = (self.n_x + self.n_u,) * 2
        n, nq = self.figure.n_dynamic, self.figure.n_q

        def weighted(row: Array, put: Array, weight: Array) -> Array:
            H = self._expanded(row, put, order=2, covector={"q1": weight[:n], "p1": weight[nq:]}).H
            assert H is not None
            return H

        return self._batched(weighted, size, x, u, weights)

    # -- one row ---------------------------------------------------------------------------------------------------

    def _ahead(self, x: Array, u: Array) -> tuple[Array, OneStep]:
        figure, nq = self.figure, self.figure.n_q
        if not (np.isfinite(x).all() and np.isfinite(u).all()):
            raise NotFinite(f"{figure.name}: a state or an input is not a finite number")
        tree, n, nc, n_k = figure.compiled.tree, figure.n_dynamic, len(figure.compiled.tree.links), nq - figure.n_dynamic
        q, p, lam = np.repeat(x[None, :nq], 4, 0), x[nq:].copy(), np.zeros(nc)
        charts = np.repeat(np.eye(3)[None], len(tree.balls), 0)
        out = np.empty((1, nq)), np.empty((1, n)), np.empty((1, nc)), np.empty((0, nc)), np.empty((0, 2))
        states, bits = np.empty((1, nc), np.int8), np.empty(1, np.int64)
        rollout(
            tree, q, p, lam, charts, np.zeros(nc, np.bool_), u[None, :n_k].copy(), u[None, n_k:].copy(), self.dt, self.share,
            STEP_TOLERANCE, *out, states, bits,
        )  # fmt: skip
        end, after = out[0][0], out[1][0]
        if bits[0] & STEP_BITS.recharted:
            after = home_momentum(figure, charts, q[0], end, after)
        done = OneStep(end, after, out[2][0], states[0], int(bits[0]))
        return np.concatenate([end, after]), done

    def _expanded(self, x: Array, u: Array, *, order: int = 1, covector: dict[str, Array] | None = None) -> StepDerivatives:
        _, done = self._ahead(x, u)
        if done.bits & (STEP_BITS.held | STEP_BITS.divided | STEP_BITS.frozen):
            warnings.warn(
                BunrakuWarning(f"{self.figure.name}: a step was held back or divided; its derivative is not that of nearby steps"),
                stacklevel=2,
            )
        n_k = self.figure.n_q - self.figure.n_dynamic
        return step_derivatives(
            self.figure, x[: self.figure.n_q], done.q, done.impulse, done.states, dt=self.dt, forces=u[n_k:], share=self.share,
            order=order, covector=covector,
        )  # fmt: skip

    def _first(self, found: StepDerivatives) -> Array:
        return np.concatenate([found.A, found.B], 1)

    def _second(self, found: StepDerivatives) -> Array:
        H = found.H
        assert H is not None
        out = np.zeros((self.n_x, *H.shape[1:]))
        out[: self.figure.n_dynamic] = H[found.outputs["q1"]]
        out[self.figure.n_q :] = H[found.outputs["p1"]]
        return out

    # -- batches ---------------------------------------------------------------------------------------------------

    def _batched(self, function: Callable[..., Array], size: tuple[int, ...], *given: ArrayLike, put_size: int = 0) -> Array:
        """The function of every row of what is given, on all cores: kernels release the GIL."""
        arrays = [np.asarray(array, float) for array in given]
        wanted = [self.n_x, put_size or self.n_u]
        for array, width, name in zip(arrays, wanted, ("x", "u"), strict=False):
            if array.shape[-1:] != (width,):
                raise BunrakuError(
                    f"{name} has shape {array.shape}\n"
                    f"  advice: states of {self.figure.name} have {self.n_x} numbers, inputs {self.n_u}"
                )
        batch = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        count = math.prod(batch)
        flat = [np.broadcast_to(array, (*batch, array.shape[-1])).reshape(count, array.shape[-1]) for array in arrays]
        out = np.empty((count, *size))

        def fill(rows: range) -> None:
            for k in rows:
                out[k] = function(*(array[k] for array in flat))

        workers = min(os.cpu_count() or 1, len(out))
        if workers < 2:
            fill(range(len(out)))
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(fill, (range(first, len(out), workers) for first in range(workers))))
        return out.reshape(*batch, *size)
