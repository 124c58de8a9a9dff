"""optimize: figure + cost → the motion of least cost, its inputs, and the feedback gains that stabilise it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arguments import require_common, require_kind, require_list, require_number
from bunraku.control.coarse_grid import coarser, refined, thinned
from bunraku.control.control_outcomes import BEYOND_LIMITS, OUT_OF_ITERATIONS
from bunraku.control.control_problem import Broken, ControlProblem, MotionExpansion, no_gains
from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.cost import Term, sheet_of
from bunraku.control.motion_limits import Limits, tightened, violation
from bunraku.control.newton import Descent, DescentOptions, Iteration, Method, descend
from bunraku.control.optimum import Optimum
from bunraku.control.taut_problem import TautExpansion, TautProblem
from bunraku.control.taut_search import TautOptions, at_rest, search_taut
from bunraku.control.touch_search import TouchSearchOptions, between_samples, search_touch, shift_by_halving
from bunraku.dynamics.puppeteer import Puppeteer, force_rows, kinematic_rows
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulate import simulate, simulation_of
from bunraku.dynamics.simulation import LEFT_SHARE, require_admissible
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kernels.clock import worked
from bunraku.outcome import STOPPED
from bunraku.progress import Listener, Progress
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OptimizeOptions:
    """Numbers that tune `optimize`, besides its arguments."""

    descent: DescentOptions = DescentOptions()
    """Options of each descent."""
    limit_tolerance: float = 1e-6
    """Allowed violation of a limit, in the limit's unit; a hundred times as much for distances to the scene."""
    loose_tolerance: float = 1e-6
    """Tolerance of descents while the multipliers of limits still change much."""
    max_stuck: int = 6
    """Number of consecutive descents, each with stiffer penalties, after which a limit is declared impossible to meet."""
    coarse_tolerance: float = 1e-5
    """Tolerance of the descent on a coarse grid. The error of the grid is larger."""
    coarse_step_tolerance: float = 1e-10
    """Tolerance of each step on a coarse grid [rad or m]."""
    same_gains: float = 1e-12
    """Share of the cost: if the last iteration expected a smaller decrease, the gains of that iteration are kept."""
    cheap_prices: tuple[float, ...] = (0.1,)
    """Factors of the weights of forces, in the order in which a second search goes through them (see `optimize`); () for none."""
    cheap_tolerance: float = 1e-3
    """Tolerance of the descents with cheaper forces."""
    cheap_iterations: int = 60
    """Maximum number of iterations of each of them."""
    touch: TouchSearchOptions = TouchSearchOptions()
    """Options of a search among bodies that touch."""
    taut: TautOptions = TautOptions()
    """Options of a search with taut strings."""
    max_start_gap: float = 1e-4
    """How far a loop may be open, or a string too short, at the start [m or rad]: numbers in files are rounded."""


@dataclass(frozen=True)
class _Search:
    """Settings that all descents of one call share."""

    method: Method
    tolerance: float
    iterations: int
    threads: int
    progress: Listener | None
    options: OptimizeOptions
    hard: bool
    """Whether limits must hold in the end, so that descents alternate with updates of their multipliers."""

    def descend(self, problem: ControlProblem, run: Rollout, work: MotionExpansion, tolerance: float, used: int = 0) -> Descent:
        """One descent; `used` iterations were spent by earlier ones."""
        work.problem = problem
        return descend(
            problem, run, method=self.method, tolerance=tolerance, iterations=self.iterations - used, threads=self.threads,
            progress=self.progress, expansion=work, first=used, options=self.options.descent,
        )  # fmt: skip


def optimize(
    figure: Figure, cost: Sequence[Term], *, duration: float, dt: float = 0.01, q: ArrayLike | None = None,
    v: ArrayLike | None = None, inputs: Sequence[str] | None = None, guess: Optimum | ControlCurve | Puppeteer = None,
    forces: Puppeteer = None, limits: Limits | None = None, method: Method = "auto", tolerance: float = 1e-12,
    iterations: int = 100, threads: int = 1, coarse: int = 1, share: float = LEFT_SHARE,
    taut: bool = False, options: OptimizeOptions = OptimizeOptions(), scene: Scene | None = None, touch: object = None,
    seed: int | None = None, progress: Listener | None = None,
) -> Optimum:  # fmt: skip
    """The motion of least cost, its inputs, and the feedback gains that stabilise the figure along it.

    figure: what moves
    cost: a list of terms, whose sum is minimised (bunraku.control.cost)
    duration: how long [s]
    dt: the time step [s]
    q: the configuration at the start, `figure.start` by default
    v: the velocities at the start, zero by default
    inputs: names of the kinematic variables and force inputs that the search may choose, all by default
    guess: initial guess: an earlier optimum, a curve, or a puppeteer (see `simulate`); at rest by default
    forces: the force inputs of the guess, given like a puppeteer
    limits: ranges that every sample must respect; met to 1e-6 of their unit, distances to 0.1 mm
    method: "auto" uses second derivatives of the steps when they pay; "newton", "gauss-newton" and "steepest" fix the direction
    tolerance: the search ends when the expected decrease of the cost is below this share of the cost
    iterations: maximum number of iterations
    threads: number of parallel rollouts in the line search
    coarse: first solve with time steps this many times as long; saves time if the search is long
    share: share of the impulse of forces and dampers in a step that acts at its start (see `simulate`)
    taut: keep every string taut: low tension has a price (bunraku.control.taut_problem), and the search goes along a path of
        smooth problems from rest; `limits`, `touch`, `coarse` and `method` do not go with it
    options: more numbers that tune the search
    scene: what is around and may be touched
    touch: which bodies touch (see `simulate`); then the search is by samples (bunraku.control.touch_search), without gains
    seed: of the random numbers of a search with touch; other searches use none
    progress: called at every iteration with `Progress("optimize", done, text)`

    Many costs have several local optima: a pendulum that is hardly moved, or one that swings up. If the search starts at rest,
    chooses forces and its method is "auto", it is therefore done twice, the second time by continuation: first with forces that
    cost a tenth, and from that motion with the given cost. The better result is returned.

    Returns an Optimum; its outcome is ok if no motion nearby costs less and all limits hold. Ctrl-C returns the best motion so far,
    with an outcome of kind "stopped". Raises BunrakuError if the start violates a constraint, if the figure cannot follow the
    guess, or if the cost does not weigh an input.
    """
    require_kind("figure", figure, Figure, expected="a Figure", advice="bunraku.load(…) and bunraku.library.named(…) give one")
    require_list("cost", cost, expected="a list of terms", advice="terms are in bunraku.control.cost")
    require_number("duration", duration, unit="s")
    require_number("dt", dt, unit="s")
    require_common(seed, progress)
    begun = worked()
    system = System.of(figure, dt=dt, inputs=inputs, share=share)
    problem = problem_of(system, cost, duration=duration, q=q, v=v)
    require_prices(problem)
    require_admissible(figure, problem.start[: system.n_q], within=options.max_start_gap)
    if touch is not None:
        return _touching(
            problem, guess, forces, v, scene, touch, limits, iterations, 0 if seed is None else seed, options, progress
        )
    heard = None if progress is None else _forward_only(progress)
    if taut:
        if limits is not None or coarse != 1 or method != "auto":
            raise BunrakuError("taut does not go with limits, coarse or method\n  advice: leave out one or the other")
        return _taut(problem, guess, forces, tolerance, iterations, options, heard)
    search = _Search(method, tolerance, iterations, threads, heard, options, limits is not None and not limits.soft)
    seconds: dict[str, float] = {}
    if coarse == 1:
        run, stopped = first_run(problem, guess, forces), False
    else:
        run, stopped = _from_coarse(problem, guess, forces, coarse, search)
        seconds["coarse grid"] = worked() - begun
        begun = worked()
        if method == "auto":
            search = replace(search, method="newton")  # the guess is near the optimum
    if limits is not None:
        problem = limits.on(problem)
    work = MotionExpansion(problem)
    found = Descent(run, (), STOPPED)
    again = guess is None and forces is None and method == "auto" and len(system.thrusts) > 0
    try:
        if not stopped:
            problem, found = _best_of(problem, run, work, search, options.cheap_prices if again else ())
        gains = _gains(found, work, options)
    except KeyboardInterrupt:  # outside of a descent
        found = replace(found, outcome=STOPPED)
        gains = _gains(found, work, options)
    seconds["optimize"] = worked() - begun
    scene = None if limits is None else limits.scene
    return Optimum(problem, found.run, gains, found.history, found.outcome, seconds, scene)


def _touching(
    problem: ControlProblem, guess: Optimum | ControlCurve | Puppeteer, forces: Puppeteer, v: ArrayLike | None,
    scene: Scene | None, touch: object, limits: Limits | None, iterations: int, seed: int, options: OptimizeOptions,
    progress: Listener | None,
) -> Optimum:  # fmt: skip
    """The optimum among bodies that touch."""
    if limits is not None:
        raise BunrakuError("limits do not go with touch yet\n  advice: leave them out, and weigh inputs more")
    s, begun = problem.system, worked()
    parts = max(options.touch.finer, 1)
    simulation, finer, half = (
        simulation_of(s.figure, problem.start[: s.n_q], v, dt=s.dt / every, share=s.share, scene=scene, touch=touch)
        for every in (1, parts, 2 * parts)
    )
    curve, _ = _guessed(problem, guess, forces)
    run, history, outcome = search_touch(
        problem, simulation, (finer, half), curve, iterations=iterations, seed=seed, options=options.touch, progress=progress
    )
    played, shift = None, None
    if outcome != STOPPED:
        played = simulate(
            s.figure, between_samples(run.x[:, s.n : s.n_q], parts), duration=s.dt * problem.steps, dt=s.dt / parts,
            q=problem.start[: s.n_q], v=v, forces=np.repeat(run.u[:, s.n_kin :], parts, axis=0), share=s.share, scene=scene,
            touch=touch,
        ).resample(times=s.dt * np.arange(problem.steps + 1))  # fmt: skip
        shift = shift_by_halving(half, run, 2 * parts)
    seconds = {"optimize": worked() - begun}
    return Optimum(problem, run, no_gains(), history, outcome, seconds, scene, seed, played, shift)


def _taut(
    problem: ControlProblem, guess: Optimum | ControlCurve | Puppeteer, forces: Puppeteer, tolerance: float, iterations: int,
    options: OptimizeOptions, progress: Listener | None,
) -> Optimum:  # fmt: skip
    """The optimum with taut strings; if there is none, that of a plain descent from the best motion known."""
    begun, o = worked(), options.taut
    priced = TautProblem.of(problem, len(problem.system.figure.strings), o.price, o.softness)

    def heard(iteration: Iteration, done: float) -> None:
        if progress is not None:
            progress(Progress("optimize", done, str(iteration)))

    found = search_taut(priced, tolerance=tolerance, iterations=iterations, options=o, descent=options.descent, heard=heard)
    known = [at_rest(priced)]
    guessed = priced.project(*_guessed(problem, guess, forces))
    if isinstance(guessed, Rollout):
        known.append(guessed)
    best, work = min([found.run, *known], key=priced.total), TautExpansion(priced)
    if found.outcome != STOPPED and (best is not found.run or not found.outcome.ok):
        more = descend(
            priced, best, tolerance=tolerance, iterations=iterations, progress=progress, expansion=work,
            first=len(found.history), options=options.descent,
        )  # fmt: skip
        found = Descent(more.run, found.history + more.history, more.outcome)
    elif best is not found.run:
        found = replace(found, run=best)
    if work.safe_along(found.run) is None:
        raise BunrakuError("no gains exist along the motion: the cost does not determine an input\n  advice: weigh every input")
    return Optimum(priced, found.run, work.gains.copy(), found.history, found.outcome, {"optimize": worked() - begun})


def require_prices(problem: ControlProblem) -> None:
    """Raises BunrakuError, with the names, if no term of a `problem` weighs an input, whose optimum could then be very large."""
    if free := problem.unpriced:
        forces = {force.name for force in problem.system.figure.forces}
        terms = ["of forces"] * (not forces.isdisjoint(free)) + ["of speed or acceleration"] * (not forces.issuperset(free))
        raise BunrakuError(
            f"the cost does not weigh these inputs: {', '.join(free)}\n"
            f"  advice: add a term {' and one '.join(terms)} for them, or leave them out of inputs"
        )


def _forward_only(progress: Listener) -> Listener:
    """A listener for several descents in a row, for which `done` never decreases."""
    most = 0.0

    def hear(said: Progress) -> None:
        nonlocal most
        most = max(most, said.done)
        progress(replace(said, done=most))

    return hear


def _best_of(
    problem: ControlProblem, run: Rollout, work: MotionExpansion, search: _Search, prices: Sequence[float]
) -> tuple[ControlProblem, Descent]:
    """The result of a search from `run`, or of one by continuation over `prices`, whichever is better."""
    first, o = _found(problem, run, work, search), search.options
    if not prices or first[1].outcome == STOPPED:
        return first
    quick = replace(search, iterations=min(search.iterations, o.cheap_iterations))
    for price in prices:
        cheaper = replace(problem, sheet=problem.sheet._replace(wu=price * problem.sheet.wu))
        found = quick.descend(cheaper, run, work, max(search.tolerance, o.cheap_tolerance))
        if found.outcome == STOPPED:
            return first[0], replace(first[1], outcome=STOPPED)
        run = found.run
    second = _found(problem, run, work, search)
    ok, costs = [], []
    for ended, found in (first, second):
        ok.append(found.outcome.ok)
        costs.append(ended.total(found.run) + (0.0 if search.hard else ended.cost(found.run)[1]))
    if ok[1] > ok[0] or (ok[1] == ok[0] and costs[1] < costs[0]):
        return second
    stopped, last = second[1].outcome == STOPPED, first[1].history[-1:]
    work.problem = first[0]
    (work.bend_along if last and last[0].kind == "newton" else work.safe_along)(first[1].run)  # for the gains
    return first[0], replace(first[1], outcome=STOPPED) if stopped else first[1]


def _found(problem: ControlProblem, run: Rollout, work: MotionExpansion, search: _Search) -> tuple[ControlProblem, Descent]:
    """The result of a search from `run`, and the problem with the multipliers of its limits."""
    if search.hard:
        return _within(problem, run, work, search)
    return problem, search.descend(problem, run, work, search.tolerance)


def _within(problem: ControlProblem, run: Rollout, work: MotionExpansion, search: _Search) -> tuple[ControlProblem, Descent]:
    """Descents, with multiplier updates between them, until all bounds hold."""
    o, worst, stuck = search.options, np.inf, 0
    history: tuple[Iteration, ...] = ()
    try:
        while True:
            near = worst <= 100.0 * o.limit_tolerance
            tolerance = search.tolerance if near else max(search.tolerance, o.loose_tolerance)
            found = search.descend(problem, run, work, tolerance, len(history))
            history, run = history + found.history, found.run
            beyond = violation(problem, run)
            stuck = stuck + 1 if beyond > max(0.5 * worst, o.limit_tolerance) else 0
            held, given_up, spent = beyond <= o.limit_tolerance, stuck == o.max_stuck, len(history) >= search.iterations
            if (held and near) or found.outcome == STOPPED or given_up or spent:
                outcome = found.outcome
                if outcome.ok and not (held and near):  # converged, but while the penalties were still changing
                    outcome = BEYOND_LIMITS if given_up and not held else OUT_OF_ITERATIONS
                return problem, Descent(run, history, outcome)
            problem = tightened(problem, run, stiffer=beyond > 0.25 * worst)
            worst = beyond
    except KeyboardInterrupt:  # between two descents
        return problem, Descent(run, history, STOPPED)


def _from_coarse(
    problem: ControlProblem, guess: Optimum | ControlCurve | Puppeteer, forces: Puppeteer, coarse: int, search: _Search
) -> tuple[Rollout, bool]:
    """The optimum of the coarse grid, interpolated to the fine one; and whether Ctrl-C ended the search."""
    if coarse < 1 or problem.steps % coarse:
        raise BunrakuError(f"{problem.steps} steps are not a multiple of {coarse}\n  advice: choose another value for coarse")
    s, o = problem.system, search.options
    thin = coarser(problem, coarse, tolerance=o.coarse_step_tolerance)
    curve, gains = _guessed(problem, guess, forces)
    wish = thinned(curve, coarse)
    held = thin.project(wish, gains[::coarse].copy()) if gains is not None else None
    run = held if isinstance(held, Rollout) else first_run(thin, wish, None)
    work = MotionExpansion(thin)
    found = descend(
        thin, run, tolerance=o.coarse_tolerance, iterations=search.iterations, expansion=work, progress=search.progress,
        stage="coarse grid", options=o.descent,
    )  # fmt: skip
    curve, fine_gains = refined(found.run, _gains(found, work, o), coarse, s.n, s.n_kin)
    fine = problem.project(curve, fine_gains)
    return fine if isinstance(fine, Rollout) else first_run(problem, curve, None), found.outcome == STOPPED


def problem_of(
    system: System, cost: Sequence[Term], *, duration: float, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> ControlProblem:
    """The problem of minimising `cost` for `system` over `duration` [s], from configuration `q` and velocities `v`."""
    if not 0.0 < duration < np.inf:
        raise BunrakuError(f"the duration is {duration} s\n  advice: give a number of seconds above zero")
    start = system.state(q, v)
    times: Array = system.dt * np.arange(max(round(duration / system.dt), 1) + 1, dtype=float)
    return ControlProblem(system, sheet_of(cost, system, times, start), start, np.zeros(system.n_links, np.int8))


def _guessed(
    problem: ControlProblem, guess: Optimum | ControlCurve | Puppeteer, forces: Puppeteer
) -> tuple[ControlCurve, Array | None]:
    """The curve that the search starts from, and the gains to follow it with, if it has any."""
    system, N = problem.system, problem.steps
    gains = None
    if isinstance(guess, Optimum):
        if len(guess.run) != N or guess.run.u.shape[1] != system.n_kin + len(system.figure.forces):
            raise BunrakuError("the guess is of another figure or duration\n  advice: give one with the same number of steps")
        curve: ControlCurve = guess.run
        gains = guess.gains if guess.system.inputs == system.inputs else None
    elif isinstance(guess, ControlCurve):
        curve = guess
    else:
        times: Array = system.dt * np.arange(1, N + 1, dtype=float)
        rest = problem.start[system.n : system.n_q]
        u = np.concatenate([kinematic_rows(system.figure, guess, times, rest), force_rows(system.figure, forces, times)], 1)
        curve = ControlCurve(np.repeat(problem.start[None], N + 1, 0), u)
    if not np.array_equal(curve.x[0], problem.start):
        curve = ControlCurve(np.concatenate([problem.start[None], curve.x[1:]]), curve.u)
    return curve, gains


def first_run(problem: ControlProblem, guess: Optimum | ControlCurve | Puppeteer, forces: Puppeteer) -> Rollout:
    """The motion that the search starts from: the rollout of `guess` and `forces` (see `optimize`) in `problem`.

    Raises BunrakuError if the figure cannot follow the guess.
    """
    run = problem.project(*_guessed(problem, guess, forces))
    if isinstance(run, Broken):
        system = problem.system
        raise BunrakuError(f"{system.figure.name}: {_why(run, system.dt)}\n  advice: give a guess that the figure can follow")
    return run


def _why(broken: Broken, dt: float) -> str:
    at = f"at t = {dt * (broken.step + 1):.3g} s of the guess"
    if broken.bits & STEP_BITS.held:
        return f"strings are pulled beyond their reach {at}"
    if broken.bits & STEP_BITS.divided:
        return f"a joint turns too fast for one step {at}"
    return f"the motion diverges {at}"


def _gains(found: Descent, work: MotionExpansion, options: OptimizeOptions) -> Array:
    """The gains along the motion that was found."""
    last = found.history[-1] if found.history else None
    if (last is None or last.decrease > options.same_gains * abs(last.cost)) and work.safe_along(found.run) is None:
        raise BunrakuError("no gains exist along the motion: the cost does not determine an input\n  advice: weigh every input")
    return work.gains.copy()
