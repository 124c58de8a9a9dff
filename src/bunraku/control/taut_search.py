"""The best motion in which every string pulls: a path of smooth problems, from coarse time steps to fine ones.

Strings are wires here (bunraku.control.taut_problem), which may push while the search is on its way. The price of low tension is
high and soft at first, then becomes lower and harder: each problem starts at the optimum of the last one. The path is followed with
time steps four times as long, where the tension depends less on small changes of the hands. Its end is interpolated by cubic
splines and descended again with steps half as long, and then with those of the problem. At the end, the wires are strings again.

A descent is Gauss–Newton's as long as much is to be gained, then Newton's. Its line search goes along curves on which strings fit
the configurations (bunraku.control.taut_problem.fitted), first without feedback: taut strings hold a figure by themselves. The
slope along such a curve is that of the straight line, and so is the curvature where the gradient vanishes, so that Newton's method
converges quadratically as before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.control.coarse_grid import coarser
from bunraku.control.control_outcomes import OPTIMAL, OUT_OF_ITERATIONS
from bunraku.control.control_problem import ControlProblem, no_gains
from bunraku.control.control_system import ControlCurve, Rollout
from bunraku.control.newton import Descent, DescentOptions, Iteration, Kind, LineSearch, Trial
from bunraku.control.taut_problem import TautExpansion, TautProblem, fitted, on, tracking_gains, wired
from bunraku.outcome import STOPPED

Array = NDArray[np.float64]
Feedback = Literal["none", "tracking", "all"]
"""Of a projection: none, gains that track states whatever the tensions (tracking_gains), or those of the whole cost."""
Stage = tuple[float, float]
"""Price per string and second, and softness [N]."""


@dataclass(frozen=True)
class TautOptions:
    """Numbers that tune the search for motions whose strings stay taut."""

    price: float = 0.2
    """Price of low tension, per string and second (bunraku.control.taut_problem)."""
    softness: float = 0.01
    """Tension below which the price is quadratic [N]."""
    paths: tuple[tuple[int, tuple[Stage, ...]], ...] = (
        (4, ((1.0, 30.0), (0.5, 10.0), (0.2, 3.0), (0.2, 1.0), (0.2, 0.3))),
        (4, ((5.0, 3.0), (1.0, 1.0), (0.3, 0.3))),
        (2, ((5.0, 3.0), (1.0, 1.0), (0.3, 0.3))),
    )
    """Paths, each tried if those before do not arrive: the longest time step, in those of the problem, and the stages before the
    final ones. The first is the fastest. The second avoids motions in which wires push."""
    most_pushing: float = 0.2
    """Share of the tensions that may be negative on a path; a path with more of them is given up."""
    grids: tuple[int, ...] = (4, 2, 1)
    """Lengths of the time steps, in those of the problem. Those that do not divide its number of steps are left out, so that a
    number of steps that 4 divides is solved soonest."""
    before_last: tuple[Stage, ...] = ((0.2, 0.1),)
    """Stages before the final one, on every grid."""
    loose_tolerance: float = 3e-3
    """Tolerance of stages before the last one, as a share of the cost."""
    coarse_tolerance: float = 1e-7
    """Tolerance of the last stage on a coarse grid."""
    near: float = 1e-4
    """Share of the cost. While Gauss–Newton's direction expects a larger decrease, second derivatives are not computed."""
    noise: float = 1e-11
    """Share of the cost. If the expected decrease is smaller, the cost may rise as much: rounding errors are larger."""
    fit: float = 1e-8
    """Share of the cost. While the expected decrease is larger, strings are made to fit the configurations of a line search."""
    stage_iterations: int = 40
    """Most iterations of a stage before the last one."""
    step_tolerance: float = 1e-13
    """Tolerance of each step on a coarse grid [rad or m]."""
    shortest: float = 1.0 / 512.0
    """Shortest step of the line search."""
    max_mu: float = 300.0
    """Largest μ of a Newton direction (bunraku.control.newton) before Gauss–Newton's is taken."""


def search_taut(
    problem: TautProblem, *, tolerance: float, iterations: int, options: TautOptions, descent: DescentOptions,
    heard: Callable[[Iteration, float], None],
) -> Descent:  # fmt: skip
    """The best motion of `problem`, whose figure has strings, with all strings taut.

    tolerance: the last descent ends when the expected decrease is below this share of the cost
    iterations: most iterations of the last stage on each grid
    options, descent: numbers that tune the search and its descents
    heard: called with every iteration and the progress of the path, from 0 to 1

    The outcome is ok if the descent has converged with an exact Hessian and every string pulls at every step. Ctrl-C returns the
    best motion so far.
    """
    smooth = on(problem, wired(problem.system.figure))
    history: list[Iteration] = []
    best, outcome = at_rest(problem), OUT_OF_ITERATIONS
    rest = problem.total(best)
    for longest, path in options.paths:
        search = _PathSearch(smooth, problem.strings, longest, tolerance, iterations, options, descent, history, heard)
        try:
            converged = search.along(path)
        except KeyboardInterrupt:
            converged, outcome = False, STOPPED
        strung = search.on_strings(problem)
        if strung is not None and converged and problem.total(strung) < rest:
            return Descent(strung, tuple(history), OPTIMAL)
        if strung is not None and problem.total(strung) < problem.total(best):
            best = strung
        if outcome == STOPPED:
            break
    return Descent(best, tuple(history), outcome)


def at_rest(problem: ControlProblem) -> Rollout:
    """The motion of `problem` in which the puppeteer does nothing."""
    s, N = problem.system, problem.steps
    u = np.zeros((N, s.n_kin + len(s.figure.forces)))
    u[:, : s.n_kin] = problem.start[s.n : s.n_q]
    run = problem.project(ControlCurve(np.repeat(problem.start[None], N + 1, 0), u))
    assert isinstance(run, Rollout), "a figure that hangs still can be simulated"
    return run


class _PathSearch:
    """A search along one path, on all grids."""

    def __init__(
        self, smooth: ControlProblem, strings: int, longest: int, tolerance: float, iterations: int, options: TautOptions,
        descent: DescentOptions, history: list[Iteration], heard: Callable[[Iteration, float], None],
    ) -> None:  # fmt: skip
        self.smooth, self.strings, self.tolerance, self.iterations = smooth, strings, tolerance, iterations
        self.options, self.descent, self.history, self.heard = options, descent, history, heard
        self.grids = [c for c in options.grids if c <= longest and smooth.steps % c == 0]
        self.times = self.grids[0]
        self.run = at_rest(self._grid(self.times))

    def along(self, path: tuple[Stage, ...]) -> bool:
        """Whether the search arrives at an optimum with taut strings; the motion is then `self.run`."""
        o, arrived = self.options, False
        for c in self.grids:
            problem = self._grid(c)
            if c != self.times:
                fine = finer(self.run, self._staged(problem, o.before_last[0]), self.times // c)
                if fine is None:
                    return False
                self.run, self.times = fine, c
                path = ()
            last = self.tolerance if c == self.grids[-1] else max(self.tolerance, o.coarse_tolerance)
            arrived = self._through((*path, *o.before_last, (o.price, o.softness)), problem, last)
            if not arrived:
                break
        return arrived and bool(self.run.impulse[:, : self.strings].min() > 0.0)

    def on_strings(self, problem: TautProblem) -> Rollout | None:
        """The motion so far, on the strings of `problem`; None if they cannot make it."""
        return finer(self.run, problem, self.times) if self.times != 1 else cheapest(self.run, self.run, problem)

    def _grid(self, c: int) -> ControlProblem:
        return self.smooth if c == 1 else coarser(self.smooth, c, tolerance=self.options.step_tolerance)

    def _staged(self, problem: ControlProblem, stage: Stage) -> TautProblem:
        return TautProblem.of(problem, self.strings, *stage)

    def _through(self, path: tuple[Stage, ...], problem: ControlProblem, tolerance: float) -> bool:
        """Descends through all stages of `path` on one grid; whether the last descent converges."""
        o, arrived, run = self.options, False, self.run
        walk = _Walk(self._staged(problem, path[0]), self.options, self.descent)
        for k, stage in enumerate(path):
            last = k == len(path) - 1
            walk.problem = walk.work.problem = walk.line.problem = self._staged(problem, stage)
            cost, arrived = sum(walk.problem.cost(run)), False
            walk.begin(self.options.near if last else 0.0)
            for _ in range(self.iterations if last else o.stage_iterations):
                begun = time.perf_counter()
                step = walk.step(run, cost)
                if step is None:
                    break
                slack = int((run.impulse[:, : self.strings] <= 0.0).sum())
                self.history.append(
                    Iteration(
                        len(self.history), step.kind, cost, step.decrease, step.trial.gamma, step.mu, slack,
                        time.perf_counter() - begun,
                    )
                )  # fmt: skip
                self.heard(self.history[-1], (self.grids.index(self.times) + k / len(path)) / len(self.grids))
                run, cost = step.trial.run, step.trial.cost
                self.run = run
                small = step.decrease <= (tolerance if last else o.loose_tolerance) * abs(cost) or step.trial.gamma == 0.0
                arrived = small and (not last or (step.kind == "newton" and step.mu == 0.0))
                if arrived:
                    break
                if self.times == self.grids[0] and slack > o.most_pushing * self.strings * problem.steps:
                    return False
        return arrived


@dataclass(frozen=True, eq=False)
class _Step:
    trial: Trial
    kind: Kind
    decrease: float
    mu: float


class _FittedLine(LineSearch):
    """A line search along which strings fit (bunraku.control.taut_problem.fitted), until the optimum is near."""

    fits: bool = True

    def on_line(self, run: Rollout, change: ControlCurve, gamma: float) -> ControlCurve:
        curve = super().on_line(run, change, gamma)
        return fitted(self.problem.system, curve) if self.fits else curve


class _Walk:
    """Descends on one problem: Newton's direction with the smallest μ that helps, or Gauss–Newton's where that is better."""

    def __init__(self, problem: TautProblem, options: TautOptions, descent: DescentOptions) -> None:
        self.problem, self.options, self.mu = problem, options, 0.0
        self.work, self.line, self.first_mu = TautExpansion(problem), _FittedLine(problem, 1, descent), descent.first_mu
        self.held: Feedback = "none"
        self.hold = no_gains()
        self.begin(0.0)

    def begin(self, near: float) -> None:
        """Begins a descent. While Gauss–Newton's direction expects a decrease above `near` times the cost, it is taken."""
        self.near, self.far, self.expected, self.mu = near, True, np.inf, 0.0

    def step(self, run: Rollout, cost: float) -> _Step | None:
        """One iteration from `run`; None if no direction lowers the cost."""
        self.hold = no_gains()
        return (self._quick(run, cost) if self.far else None) or self._exact(run, cost)

    def _quick(self, run: Rollout, cost: float) -> _Step | None:
        """A step along Gauss–Newton's direction, without second derivatives of the steps."""
        if self.work.safe_along(run) is None:
            return None
        found = self._along(run, cost, self.work.direction(self.work.gains), "gauss-newton", 1.0)
        if found is not None:
            slow = self.near > 0.0 and found.decrease > 0.9 * self.expected
            self.far = found.decrease > (100.0 if slow else 1.0) * self.near * abs(cost)
            self.expected = found.decrease
        return found

    def _exact(self, run: Rollout, cost: float) -> _Step | None:
        """A step along Newton's direction with the smallest μ that helps, or along Gauss–Newton's where that is better."""
        if self.work.bend_along(run) is None:
            return None
        safe = self.work.direction(self.work.gains)
        found, mu = self._newton(run, cost, self.mu)
        if found is None or found.mu > 1.0 or 0.0 < found.trial.gamma < 0.2:
            rival = self._along(run, cost, safe, "gauss-newton", mu)
            if rival is not None and (found is None or rival.trial.cost < found.trial.cost):
                self.mu = self._faded(min(mu, 100.0) / 4.0)
                return rival
        if found is not None and found.trial.gamma > 0.0:
            gamma = found.trial.gamma
            told = found.decrease * min(gamma, 1.0) * (1.0 - 0.5 * min(gamma, 1.0))
            truth = (cost - found.trial.cost) / told if told > 1e-13 * abs(cost) else 1.0
            good = gamma >= 1.0 and truth > 0.5
            held = truth > 0.25 and gamma > 0.25
            mu = found.mu / (8.0 * gamma) if good else found.mu if held else max(4.0 * found.mu, self.first_mu)
            self.mu = self._faded(min(mu, self.options.max_mu))
        return found

    def _faded(self, mu: float) -> float:
        return mu if mu > 0.2 * self.first_mu else 0.0

    def _newton(self, run: Rollout, cost: float, mu: float) -> tuple[_Step | None, float]:
        """A step with the first μ that gives a positive Hessian and a lower cost; and the last μ tried."""
        while mu <= self.options.max_mu:
            if self.work.newton(mu) is not None:
                change = self.work.direction(self.work.newton_gains)
                found = self._along(run, cost, change, "newton", mu)
                if found is not None:
                    return found, mu
            mu = max(4.0 * mu, self.first_mu)
        return None, mu

    def _trial(self, run: Rollout, cost: float, change: ControlCurve, gamma: float, slope: float) -> Trial | None:
        """The motion at γ with the feedback that served last; if it does not serve here, with that which serves best."""
        best, good = None, cost + 0.7 * gamma * (1.0 - 0.5 * gamma) * slope
        ways: tuple[Feedback, ...] = ("none", "tracking", "all")
        for held in sorted(ways, key=lambda way: way != self.held):
            one = self.line.trial(run, change, gamma, self._feedback(held))
            if one is not None and (best is None or one.cost < best.cost):
                best, self.held = one, held
            if best is not None and (not self.line.fits or best.cost <= good):
                break
        return best

    def _feedback(self, way: Feedback) -> Array:
        if way == "tracking" and not len(self.hold):
            self.hold = tracking_gains(self.work)
        return self.work.gains if way == "all" else self.hold if way == "tracking" else no_gains()

    def _along(self, run: Rollout, cost: float, change: ControlCurve, kind: Kind, mu: float) -> _Step | None:
        """The best of γ = 1, ½, ¼, … along `change`, as long as halving γ lowers the cost."""
        slope, best, gamma, o = self.work.slope(change), None, 1.0, self.line.options
        self.line.fits = -slope > self.options.fit * abs(cost)
        noise = -slope if -slope <= self.options.noise * abs(cost) else -np.inf  # such a decrease is lost in rounding errors
        while gamma >= self.options.shortest:
            one = self._trial(run, cost, change, gamma, slope)
            enough = cost + max(o.min_decrease * gamma * slope + o.rounding * abs(cost), noise)
            if one is not None and one.cost <= enough and (best is None or one.cost < best.cost):
                best = one
                if gamma == 1.0 and cost - one.cost >= -0.36 * slope:  # nearly what the quadratic model promises, or more
                    if cost - one.cost >= max(-0.65 * slope, 1e-10 * abs(cost)):
                        best = self.line.further(run, one, change, self._feedback(self.held))
                    break
            elif best is not None:
                break
            gamma *= 0.5
        if best is None and mu == 0.0 and -slope <= self.options.noise * abs(cost):
            best = Trial(run, cost, 0.0)  # no step can be told from rounding errors
        return None if best is None else _Step(best, kind, -slope, mu)


def finer(run: Rollout, problem: TautProblem, times: int) -> Rollout | None:
    """A motion of `problem` near `run`, whose time steps are `times` as long; None if it fails.

    States and kinematic variables are interpolated by cubic splines, which start at rest.
    """
    from scipy.interpolate import CubicSpline  # imported here: it takes long to load

    s = problem.system
    coarse, fine = times * s.dt * np.arange(len(run) + 1), s.dt * np.arange(problem.steps + 1)
    x: Array = CubicSpline(coarse, run.x, bc_type="natural")(fine)
    zero = np.zeros(s.n_kin)
    hands: Array = CubicSpline(coarse, run.x[:, s.n : s.n_q], bc_type=((1, zero), (2, zero)))(fine)
    x[:, s.n : s.n_q] = hands
    x[1:, s.n_q + s.n :] = np.diff(hands, axis=0) / s.dt
    x[0] = problem.start
    curve = ControlCurve(x, np.concatenate([hands[1:], np.repeat(run.u[:, s.n_kin :], times, 0)], 1))
    impulse, states = np.repeat(run.impulse, times, 0) / times, np.repeat(run.states, times, 0)
    return cheapest(curve, Rollout(curve.x, curve.u, impulse, states), problem)


def cheapest(curve: ControlCurve, about: Rollout, problem: TautProblem) -> Rollout | None:
    """The cheaper motion of `problem` near a `curve`: without feedback, or with gains of the steps `about` which it goes."""
    work = TautExpansion(problem)
    work.at(about)
    runs = problem.project(curve), problem.project(fitted(problem.system, curve), tracking_gains(work))
    return min((one for one in runs if isinstance(one, Rollout)), key=problem.total, default=None)
