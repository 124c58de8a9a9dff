"""Played: the simulation of a puppet whose hands follow a score, as a chain of steps that depends on the shifts of cues.

The shifts determine the hands, so the state is (q, p) of the dynamic variables alone. A step depends on the shifts through the
kinematic variables at its start and its end. The cost is half the sum of

    (q − reference)²           how far the puppet deviates from the reference: it swings if hands are hasty,
    loyal · (shift / give)²    a small cost that keeps cues near where they were written; give is the largest allowed shift.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.compose import reference
from bunraku.choreography.jet import Jet
from bunraku.choreography.score import Score
from bunraku.dynamics import Simulation
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulation import LEFT_SHARE, Steps
from bunraku.dynamics.step_expansion import expand_along
from bunraku.errors import BunrakuError
from bunraku.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Played:
    """One puppet of a score; a `Switched` system whose switching times are shifts [counts]."""

    score: Score
    role: str
    dt: float = 0.01
    """Length of a step [s]."""
    window: tuple[float, float] | None = None
    """Beginning and end of the simulated time [s]; None for the whole show. The puppet must be at rest at its beginning."""
    chosen: tuple[int, ...] | None = None
    """Indices of the shifts that may change. They must have no effect outside the window. None for all."""
    loyal: float = 1e-2
    """Weight of (shift / give)² [s]; for comparison, a deviation of 1 rad for 1 s has weight 1."""
    _last: dict[bytes, tuple[Jet, Steps]] = field(default_factory=dict, repr=False)

    @cached_property
    def figure(self) -> Figure:
        """The puppet's figure."""
        return self.score.script.role(self.role).figure

    @cached_property
    def t(self) -> Array:
        """The times of all samples [s]."""
        begin, end = self.window or (0.0, self.score.counts * self.score.script.count)
        return begin + self.dt * np.arange(round((end - begin) / self.dt) + 1, dtype=float)

    @cached_property
    def _own(self) -> NDArray[np.int64]:
        return np.array(range(len(self.score.give)) if self.chosen is None else self.chosen, np.int64)

    def _wanted(self, shifts: Array) -> Jet:
        every = np.zeros(len(self.score.give))
        every[self._own] = shifts
        found = reference(self.score, self.role, self.t, every)
        return Jet(found.value, found.first[..., self._own], found.second[..., self._own[:, None], self._own])

    def _played(self, shifts: Array) -> tuple[Jet, Steps]:
        """Cached for the last shifts: cost and derivatives are requested one after the other."""
        key = shifts.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._play(shifts)
        return self._last[key]

    def _play(self, shifts: Array) -> tuple[Jet, Steps]:
        wanted = self._wanted(shifts)
        steps = Simulation(self.figure, wanted.value[0], dt=self.dt).run(wanted.value[1:, self.figure.n_dynamic :], energy=False)
        broken = steps.bits & (STEP_BITS.held | STEP_BITS.frozen | STEP_BITS.recharted)
        if broken.any():
            k = int(np.flatnonzero(broken)[0])
            raise BunrakuError(
                f"{self.role} cannot follow its strings {self.t[k + 1]:.2f} s into the show\n"
                "  advice: make the motion there smaller or slower"
            )
        return wanted, steps

    def run(self, times: Array, /) -> Array:
        """The states (q, p) of the dynamic variables, with the shifts `times` [counts]; BunrakuError if strings are too short."""
        wanted, steps = self._played(times)
        n = self.figure.n_dynamic
        x = np.zeros((len(self.t), 2 * n))
        x[0, :n] = wanted.value[0, :n]
        x[1:, :n], x[1:, n:] = steps.q[:, :n], steps.momentum
        return x

    def _off(self, wanted: Jet, x: Array) -> Array:
        return np.asarray(x[:, : self.figure.n_dynamic] - wanted.value[:, : self.figure.n_dynamic])

    def _loyalty(self) -> Array:
        return np.asarray(self.loyal / self.score.give[self._own] ** 2)

    def cost(self, times: Array, x: Array, /) -> float:
        """The cost of the states `x` that `run` returned for the shifts `times` [counts]."""
        wanted, _ = self._played(times)
        return float(0.5 * self.dt * np.sum(self._off(wanted, x) ** 2) + 0.5 * self._loyalty() @ times**2)

    def first(self, times: Array, x: Array, /) -> tuple[Array, Array]:
        """First derivatives at the shifts `times` and the states `x`, as `Switched.first`."""
        wanted, steps = self._played(times)
        n, m = self.figure.n_dynamic, len(times)
        D, _ = self._expanded(wanted, steps, np.zeros((0, 0)))
        F = np.empty((len(D), 2 * n, 2 * n + m))
        rows = self._rows()
        F[:, :, :n], F[:, :, n : 2 * n] = D[:, rows, :n], D[:, rows, self.figure.n_q : self.figure.n_q + n]
        F[:, :, 2 * n :] = (
            D[:, rows, n : self.figure.n_q] @ wanted.first[:-1, n:] + D[:, rows, self.figure.n_q + n :] @ wanted.first[1:, n:]
        )
        slope = np.zeros((len(x), 2 * n + m))
        off = self._off(wanted, x)
        slope[:, :n] = self.dt * off
        slope[:, 2 * n :] = -self.dt * np.einsum("ti,tim->tm", off, wanted.first[:, :n])
        slope[0, 2 * n :] += self._loyalty() * times
        return F, slope

    def second(self, times: Array, x: Array, adjoint: Array, tangent: Array, /) -> Array:
        """Second derivatives at `times` and `x`, contracted with `adjoint` and `tangent`, as `Switched.second`."""
        wanted, steps = self._played(times)
        n, nq = self.figure.n_dynamic, self.figure.n_q
        weights = np.zeros((len(adjoint), 2 * n + steps.impulse.shape[1]))
        weights[:, self._rows()] = adjoint
        D, H = self._expanded(wanted, steps, weights)
        # The step's inputs (q0, p0, k1) along the tangent Y: the hands depend on τ alone.
        along = np.concatenate([tangent[:-1, :n], wanted.first[:-1, n:], tangent[:-1, n : 2 * n], wanted.first[1:, n:]], 1)
        out = np.einsum("tia,tib->ab", along, H @ along)
        pull = np.einsum("ti,tij->tj", weights, D)
        out += np.einsum("ti,tiab->ab", pull[:, n:nq], wanted.second[:-1, n:])
        out += np.einsum("ti,tiab->ab", pull[:, nq + n :], wanted.second[1:, n:])
        off = tangent[:, :n] - wanted.first[:, :n]
        out += self.dt * (np.einsum("tia,tib->ab", off, off) - np.einsum("ti,tiab->ab", self._off(wanted, x), wanted.second[:, :n]))
        return np.asarray(out + np.diag(self._loyalty()))

    def _rows(self) -> NDArray[np.int64]:
        n, nc = self.figure.n_dynamic, len(self.figure.compiled.tree.links)
        return np.concatenate([np.arange(n), np.arange(n + nc, 2 * n + nc)])

    def _expanded(self, wanted: Jet, steps: Steps, weights: Array) -> tuple[Array, Array]:
        """Derivatives of all steps; the second ones are contracted with one row of weights per step."""
        figure, tree = self.figure, self.figure.compiled.tree
        n, nq, nc, N = figure.n_dynamic, figure.n_q, len(tree.links), len(steps.q)
        D = np.empty((N, 2 * n + nc, 2 * nq))
        H = np.empty((len(weights), 2 * nq, 2 * nq))
        Q = np.concatenate([wanted.value[:1], steps.q])
        expand_along(
            tree, steps.states, Q, steps.impulse, np.zeros((N, len(figure.forces))), self.dt, LEFT_SHARE,
            weights if len(weights) else np.zeros((0, 2 * n + nc)), D, H,
        )  # fmt: skip
        return D, H
