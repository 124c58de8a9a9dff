"""Played: a puppet under the hands that a score gives it, as a chain of steps that depends on the shifts.

The hands are known once the shifts are, so the state is (q, p) of the dynamic variables alone; a step depends on the shifts
through the kinematic variables at its start and its end. The cost is half the sum of

    (q − reference)²        what the puppet does beside what it was asked to do: it swings where hands are hasty,
    loyal · (shift / give)²
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
from bunraku.dynamics.expand import expand_along
from bunraku.dynamics.rollout import FROZEN, HELD, RECHARTED
from bunraku.dynamics.simulation import SHARE, Steps
from bunraku.errors import BunrakuError
from bunraku.figure import Figure

Array = NDArray[np.float64]
LOYAL = 1e-2  # [s] beside a radian


@dataclass(frozen=True, eq=False)
class Played:
    """One puppet of a score; a `Switched` whose switching times are the shifts."""

    score: Score
    role: str
    dt: float = 0.01
    loyal: float = LOYAL
    _last: dict[bytes, tuple[Jet, Steps]] = field(default_factory=dict, repr=False)

    @cached_property
    def figure(self) -> Figure:
        return self.score.script.role(self.role).figure

    @cached_property
    def t(self) -> Array:
        return self.dt * np.arange(round(self.score.counts * self.score.script.count / self.dt) + 1, dtype=float)

    def _played(self, shifts: Array) -> tuple[Jet, Steps]:
        """The last one is remembered: cost and derivatives are asked for one after the other."""
        key = shifts.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._play(shifts)
        return self._last[key]

    def _play(self, shifts: Array) -> tuple[Jet, Steps]:
        wanted = reference(self.score, self.role, self.t, shifts)
        steps = Simulation(self.figure, wanted.value[0], dt=self.dt).run(wanted.value[1:, self.figure.n_dynamic :], energy=False)
        if (steps.bits & (HELD | FROZEN | RECHARTED)).any():
            k = int(np.flatnonzero(steps.bits & (HELD | FROZEN | RECHARTED))[0])
            raise BunrakuError(
                f"{self.role} cannot follow its strings {self.t[k + 1]:.2f} s into the show\n"
                "  advice: make the motion there smaller or slower"
            )
        return wanted, steps

    def run(self, times: Array, /) -> Array:
        wanted, steps = self._played(times)
        n = self.figure.n_dynamic
        x = np.zeros((len(self.t), 2 * n))
        x[0, :n] = wanted.value[0, :n]
        x[1:, :n], x[1:, n:] = steps.q[:, :n], steps.momentum
        return x

    def _off(self, wanted: Jet, x: Array) -> Array:
        return np.asarray(x[:, : self.figure.n_dynamic] - wanted.value[:, : self.figure.n_dynamic])

    def _loyalty(self) -> Array:
        return self.loyal / self.score.give**2

    def cost(self, times: Array, x: Array, /) -> float:
        wanted, _ = self._played(times)
        return float(0.5 * self.dt * np.sum(self._off(wanted, x) ** 2) + 0.5 * self._loyalty() @ times**2)

    def first(self, times: Array, x: Array, /) -> tuple[Array, Array]:
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

    def second(self, times: Array, x: Array, adjoint: Array, /) -> Array:
        wanted, steps = self._played(times)
        n, nq, m = self.figure.n_dynamic, self.figure.n_q, len(times)
        weights = np.zeros((len(adjoint), 2 * n + steps.impulse.shape[1]))
        weights[:, self._rows()] = adjoint
        D, H = self._expanded(wanted, steps, weights)
        N = len(D)
        out = np.zeros((N + 1, 2 * n + m, 2 * n + m))
        # (q0, p0, k1) by (x, τ): the hands depend on τ alone.
        T = np.zeros((N, 2 * nq, 2 * n + m))
        T[:, :n, :n] = np.eye(n)
        T[:, nq : nq + n, n : 2 * n] = np.eye(n)
        T[:, n:nq, 2 * n :], T[:, nq + n :, 2 * n :] = wanted.first[:-1, n:], wanted.first[1:, n:]
        out[:-1] = T.swapaxes(1, 2) @ H @ T
        pull = np.einsum("ti,tij->tj", weights, D)
        out[:-1, 2 * n :, 2 * n :] += np.einsum("ti,tiab->tab", pull[:, n:nq], wanted.second[:-1, n:])
        out[:-1, 2 * n :, 2 * n :] += np.einsum("ti,tiab->tab", pull[:, nq + n :], wanted.second[1:, n:])
        self._add_cost(out, wanted, self._off(wanted, x), times)
        return out

    def _add_cost(self, out: Array, wanted: Jet, off: Array, times: Array) -> None:
        n, m = self.figure.n_dynamic, len(times)
        first = wanted.first[:, :n]
        out[:, range(n), range(n)] += self.dt
        out[:, :n, 2 * n :] -= self.dt * first
        out[:, 2 * n :, :n] -= self.dt * first.swapaxes(1, 2)
        tail = out[:, 2 * n :, 2 * n :]
        tail += self.dt * (np.einsum("tia,tib->tab", first, first) - np.einsum("ti,tiab->tab", off, wanted.second[:, :n]))
        tail[0, range(m), range(m)] += self._loyalty()

    def _rows(self) -> NDArray[np.int64]:
        n, nc = self.figure.n_dynamic, len(self.figure.compiled.tree.links)
        return np.concatenate([np.arange(n), np.arange(n + nc, 2 * n + nc)])

    def _expanded(self, wanted: Jet, steps: Steps, weights: Array) -> tuple[Array, Array]:
        """Derivatives of all steps, the second contracted with a row of weights a step."""
        figure, tree = self.figure, self.figure.compiled.tree
        n, nq, nc, N = figure.n_dynamic, figure.n_q, len(tree.links), len(steps.q)
        D = np.empty((N, 2 * n + nc, 2 * nq))
        H = np.empty((len(weights), 2 * nq, 2 * nq))
        Q = np.concatenate([wanted.value[:1], steps.q])
        expand_along(
            tree, steps.states, Q, steps.impulse, np.zeros((N, len(figure.forces))), self.dt, SHARE,
            weights if len(weights) else np.zeros((0, 2 * n + nc)), D, H,
        )  # fmt: skip
        return D, H
