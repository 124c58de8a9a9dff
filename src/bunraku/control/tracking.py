"""track: tests how well the feedback of an optimum stabilises a figure that is disturbed, or that differs from the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.control.control_system import Rollout, System
from bunraku.control.optimum import Optimum, motion_of
from bunraku.control.receding_horizon import drive
from bunraku.dynamics import mass_matrix
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.motion import Motion

Array = NDArray[np.float64]
Disturbance = Callable[[int, Array], Array]


@dataclass(frozen=True, eq=False)
class Tracked:
    """Two simulations under the same disturbances, with and without feedback."""

    motion: Motion
    """Motion with feedback."""
    without: Motion
    """Motion with the optimum's inputs alone."""
    error: Array
    """Root-mean-square error over the dynamic variables at each sample, with feedback."""
    error_without: Array

    __repr__ = brief

    @property
    def recovered(self) -> float:
        """Share of the error without feedback that feedback removes: 1 is all, 0 nothing."""
        return float(1.0 - np.sqrt((self.error**2).mean() / max((self.error_without**2).mean(), 1e-300)))

    def __str__(self) -> str:
        rms = [float(np.sqrt((e**2).mean())) for e in (self.error, self.error_without)]
        return f"error {rms[0]:.3g} with feedback, {rms[1]:.3g} without: feedback removes {100 * self.recovered:.0f} %"


def track(optimum: Optimum, *, figure: Figure | None = None, disturb: Disturbance | None = None) -> Tracked:
    """Simulates `optimum` with and without feedback, on another `figure` (other masses, lengths, damping) or under `disturb`.

    `disturb` changes the state at a sample, (sample, x) → x. The feedback measures configuration and rates, and computes momenta
    with the masses of the model. Raises BunrakuError if the other figure has other variables.
    """
    model = optimum.system
    there = figure or model.figure
    if there.names != model.figure.names or there.n_dynamic != model.n:
        raise BunrakuError(f"{there.name} has other variables than {model.figure.name}\n  advice: give one with the same joints")
    real = System.of(there, dt=model.dt, inputs=model.inputs, share=model.share)
    run, gains = optimum.run, optimum.gains
    same = real.figure == model.figure

    def feedback(x: Array, k: int) -> Array:
        seen = x if same else _momenta_of(x, real, model)
        u: Array = run.u[k].copy()
        u[model.chosen] -= gains[k] @ (seen - run.x[k])
        return u

    start = run.x[0] if same else _momenta_of(run.x[0], model, real)
    held = drive(real, start, len(run), feedback, disturb)
    loose = drive(real, start, len(run), lambda x, k: run.u[k].copy(), disturb)
    return Tracked(motion_of(real, held), motion_of(real, loose), _error(held, optimum), _error(loose, optimum))


def _momenta_of(x: Array, of: System, to: System) -> Array:
    """The state of one figure with the momenta that another figure would have at the same rates."""
    n, nq = of.n, of.n_q
    q, p, hands = x[:nq], x[nq : nq + n], x[nq + n :]
    here, there = mass_matrix(of.figure, q), mass_matrix(to.figure, q)
    v = np.linalg.solve(here[:n, :n], p - here[:n, n:] @ hands)
    out: Array = np.concatenate([q, there[:n, :n] @ v + there[:n, n:] @ hands, hands])
    return out


def _error(run: Rollout, optimum: Optimum) -> Array:
    n = optimum.system.n
    out: Array = np.sqrt(((run.x[:, :n] - optimum.run.x[:, :n]) ** 2).mean(1))
    return out
