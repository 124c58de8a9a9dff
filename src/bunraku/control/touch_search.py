"""optimize among bodies that touch: the cost jumps where contacts begin, so hands are searched by samples, not by slopes.

Each input moves by a smooth curve through a few knots, beside the guess and at rest at both ends. The values at the knots of all
inputs are found by evolution with an adapted covariance (CMA-ES; Hansen, *The CMA evolution strategy: a tutorial*, 2016): many
curves are simulated, the better half of them decides where the next are drawn, and how far. It needs no derivative, and crosses
the jumps in which a foot meets a ball one step earlier.

What follows an impact depends on the time step more than the rest of a motion. So the last iterations simulate with shorter steps:
first the best hands found until then, then others around the best of these. What is returned is a motion with these steps. Each
is simulated with steps half as long, too, and costs what the worse of the two does: hands for which it matters little are better,
because what they do follows from physics and not from the step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.control.control_outcomes import OPTIMAL, OUT_OF_ITERATIONS
from bunraku.control.control_problem import ControlProblem
from bunraku.control.control_system import ControlCurve, Rollout
from bunraku.control.newton import Iteration
from bunraku.dynamics import Simulation
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.kernels.clock import worked
from bunraku.kinematics import frames_along
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TouchSearchOptions:
    """Numbers that tune the search among bodies that touch."""

    knots: int = 4
    """Knots of the curve of each input."""
    spread: float = 0.08
    """Standard deviation of the first values at knots [m or rad; 10 N or N·m for forces]."""
    force_scale: float = 10.0
    """How many newtons count as much as a metre."""
    samples: int = 16
    """Curves that are simulated in each iteration."""
    narrow: float = 1e-4
    """The search has converged where all values spread by less than this [m or rad]."""
    finer: int = 16
    """Steps of the last iterations in each step of the motion; 1: no such iterations."""
    last: int = 7
    """How many these are, beside the others. The first of them simulates the best motions of the others again."""
    last_spread: float = 0.25
    """Standard deviation of values at knots at their beginning, as a share of the first."""


def search_touch(
    problem: ControlProblem, simulation: Simulation, finer: tuple[Simulation, ...], guess: ControlCurve, *, iterations: int,
    seed: int, options: TouchSearchOptions, progress: Listener | None,
) -> tuple[Rollout, tuple[Iteration, ...], Outcome]:  # fmt: skip
    """The best motion of `simulation`, which is at the start of `problem` and stays there, near the inputs of `guess`.

    finer: the same with shorter steps, for the last iterations; motions of the first of them, which cost what the worst does
    iterations: maximum number of iterations before these
    seed: of the random numbers
    options: numbers that tune the search
    progress: called at every iteration

    Returns the motion, what each iteration cost, and whether it converged. Ctrl-C gives the best so far.
    """
    own, fine = (_Curves(problem, guess, options, simulations) for simulations in ((simulation,), finer))
    last, dice = (options.last if options.finer > 1 else 0), np.random.default_rng(seed)
    best = own.tried(np.zeros(own.size))
    if best.run is None:
        best = best._replace(run=own.unmoved())
    found = _Evolution(best.values, options.spread, options.samples, dice)
    known, history, outcome = [best], list[Iteration](), OUT_OF_ITERATIONS
    try:
        for number in range(iterations + last):
            begun = worked()
            if own is not fine and last > 0 and (number == iterations or outcome.ok):
                own, outcome, best = fine, OUT_OF_ITERATIONS, best._replace(cost=np.inf)
                known = [fine.tried(one.values) for one in known]
                start = min(known, key=lambda one: one.cost).values
                found = _Evolution(start, options.last_spread * options.spread, options.samples, dice)
            else:
                known += found.generation(own.tried)
            known = sorted(known, key=lambda one: one.cost)[: options.samples]
            best = min(best, known[0], key=lambda one: one.cost)
            history.append(Iteration(number, "steepest", best.cost, 0.0, found.spread, 0.0, 0, worked() - begun))
            if progress is not None:
                text = f"cost {best.cost:.6g}, values spread by {found.spread:.2g}"
                progress(Progress("optimize", (number + 1) / (iterations + last), text))
            if found.spread < options.narrow:
                outcome = OPTIMAL.because("no motion nearby costs less, of those that were tried")
                if own is fine or last == 0:
                    break
    except KeyboardInterrupt:
        outcome = STOPPED
    assert best.run is not None
    return best.run, tuple(history), outcome


class _Tried(NamedTuple):
    """One motion of the search: values at knots, what it costs, and itself; None where a step fails."""

    values: Array
    cost: float
    run: Rollout | None


class _Curves:
    """Motions of a `problem` with inputs near those of `guess`, by values at knots."""

    def __init__(
        self, problem: ControlProblem, guess: ControlCurve, options: TouchSearchOptions, simulations: tuple[Simulation, ...]
    ) -> None:
        s = problem.system
        self._problem, self._guess, self._simulations = problem, guess, simulations
        self._t = s.dt * np.arange(problem.steps + 1, dtype=float)
        self._knots = np.linspace(0.0, self._t[-1], options.knots + 1)
        self._scale = np.concatenate([np.ones(len(s.hands)), np.full(len(s.thrusts), options.force_scale)])
        self.size = options.knots * s.n_u

    def unmoved(self) -> Rollout:
        """The states of the guess, where it cannot be simulated."""
        N, nc = self._problem.steps, self._problem.system.n_links
        return Rollout(self._guess.x, self._guess.u, np.zeros((N, nc)), np.zeros((N, nc), np.int8))

    def tried(self, values: Array) -> _Tried:
        """The motion of the first simulation with these `values`, and what the worst of all costs."""
        s, worst, first = self._problem.system, -np.inf, None
        rows = np.concatenate([np.zeros((1, s.n_u)), values.reshape(-1, s.n_u)])
        u = self._guess.u.copy()
        u[:, s.chosen] += self._scale * CubicSpline(self._knots, rows, bc_type="clamped")(self._t[1:])
        for simulation in self._simulations:
            run = simulated(self._problem, simulation, u)
            if run is None:
                return _Tried(values, np.inf, None)
            worst, first = max(worst, self._problem.total(run)), run if first is None else first
        return _Tried(values, worst, first)


def simulated(problem: ControlProblem, simulation: Simulation, u: Array) -> Rollout | None:
    """The motion of a copy of `simulation`, at the start of `problem`, under the inputs `u`; None where a step fails.

    It may have steps that are a whole number of times shorter than those of the problem.
    """
    s = problem.system
    every = round(s.dt / simulation.dt)
    hands = between_samples(np.concatenate([problem.start[None, s.n : s.n_q], u[:, : s.n_kin]]), every)
    steps = simulation.copy().run(hands, np.repeat(u[:, s.n_kin :], every, axis=0))
    if np.any(steps.bits & STEP_BITS.frozen):
        return None
    q = np.concatenate([problem.start[None, : s.n_q], steps.q[every - 1 :: every]])
    p = np.concatenate([problem.start[None, s.n_q : s.n_q + s.n], steps.momentum[every - 1 :: every]])
    rates = np.concatenate([problem.start[None, s.n_q + s.n :], np.diff(q[:, s.n :], axis=0) / s.dt])
    done = np.concatenate([q[1:, s.n :], u[:, s.n_kin :]], 1)
    impulse = steps.impulse.reshape(len(u), every, s.n_links).sum(1)
    return Rollout(np.concatenate([q, p, rates], 1), done, impulse, steps.states[every - 1 :: every])


def between_samples(rows: Array, every: int) -> Array:
    """Hands at the ends of steps, `every` so many in a sample, on a smooth curve through the `rows` of all samples."""
    if every == 1:
        return rows[1:]
    t = np.arange(len(rows), dtype=float)
    return np.asarray(CubicSpline(t, rows)(np.arange(1, every * (len(rows) - 1) + 1) / every))


class Shift(NamedTuple):
    """How much a motion depends on its time step."""

    frame: str
    """The frame that is furthest from where it would be with steps half as long."""
    by: float
    """How far, at any sample [m]."""


def shift_by_halving(half: Simulation, run: Rollout, every: int) -> Shift:
    """How far `run` is from the motion of `half`, which is at its start and has steps half as long: `every` in a sample of the run.

    Hands follow a smooth curve through those of the run; forces stay for as long as they did.
    """
    figure, n = half.figure, half.figure.n_dynamic
    q = run.x[:, : figure.n_q]
    steps = half.copy().run(between_samples(q[:, n:], every), np.repeat(run.u[:, figure.n_q - n :], every, axis=0))
    ours, theirs = (frames_along(figure, rows)[:, :, :3, 3] for rows in (q[1:], steps.q[every - 1 :: every]))
    apart = np.linalg.norm(ours - theirs, axis=2).max(0)
    return Shift(figure.frames[int(np.argmax(apart))].name, float(apart.max()))


class _Evolution:
    """Evolution with an adapted covariance; names as in the tutorial."""

    def __init__(self, mean: Array, sigma: float, samples: int, dice: np.random.Generator) -> None:
        n, self.samples, self.dice = len(mean), samples, dice
        self.mean, self.sigma = mean, sigma
        self.mu = samples // 2
        w = np.log(self.mu + 0.5) - np.log(np.arange(1, self.mu + 1))
        self.weights = w / w.sum()
        mu_eff = 1.0 / float(np.sum(self.weights**2))
        self.mu_eff = mu_eff
        self.c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0)
        self.damping = 1.0 + 2.0 * max(0.0, np.sqrt((mu_eff - 1.0) / (n + 1.0)) - 1.0) + self.c_sigma
        self.c_c = (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n)
        self.c_1 = 2.0 / ((n + 1.3) ** 2 + mu_eff)
        self.c_mu = min(1.0 - self.c_1, 2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0) ** 2 + mu_eff))
        self.expected = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        self.C, self.path_c, self.path_sigma, self.count = np.eye(n), np.zeros(n), np.zeros(n), 0

    @property
    def spread(self) -> float:
        """The largest standard deviation."""
        return float(self.sigma * np.sqrt(np.linalg.eigvalsh(self.C)[-1]))

    def generation(self, try_out: Callable[[Array], _Tried]) -> list[_Tried]:
        """Draws, simulates and learns from one generation. Returns it."""
        n = len(self.mean)
        d, B = np.linalg.eigh(self.C)
        d = np.sqrt(np.maximum(d, 1e-20))
        z = self.dice.standard_normal((self.samples, n))
        y = (z * d) @ B.T
        tried = [try_out(x) for x in self.mean + self.sigma * y]
        order = np.argsort([one.cost for one in tried], kind="stable")
        chosen = y[order[: self.mu]]
        step = self.weights @ chosen
        self.mean = self.mean + self.sigma * step
        self.count += 1
        self.path_sigma = (1.0 - self.c_sigma) * self.path_sigma
        self.path_sigma += np.sqrt(self.c_sigma * (2.0 - self.c_sigma) * self.mu_eff) * (B @ ((B.T @ step) / d))
        length = float(np.linalg.norm(self.path_sigma))
        fast = length / np.sqrt(1.0 - (1.0 - self.c_sigma) ** (2 * self.count)) < (1.4 + 2.0 / (n + 1.0)) * self.expected
        self.path_c = (1.0 - self.c_c) * self.path_c
        if fast:
            self.path_c += np.sqrt(self.c_c * (2.0 - self.c_c) * self.mu_eff) * step
        rest = 0.0 if fast else self.c_1 * self.c_c * (2.0 - self.c_c)
        self.C = (
            (1.0 - self.c_1 - self.c_mu + rest) * self.C
            + self.c_1 * np.outer(self.path_c, self.path_c)
            + self.c_mu * (chosen.T * self.weights) @ chosen
        )
        self.sigma *= float(np.exp(min(1.0, self.c_sigma / self.damping * (length / self.expected - 1.0))))
        return tried
