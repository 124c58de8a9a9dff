"""plan: finds a motion of the puppeteer's hands that brings the figure to its goal."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arguments import require_common, require_kind, require_number
from bunraku.collision.manifold.touch_rules import as_touch
from bunraku.dynamics import settle
from bunraku.figure import Figure
from bunraku.kernels.xorshift import whole
from bunraku.outcome import STOPPED
from bunraku.planning.strings import Goal, HandLimits, Plan, PlanningProblem, TreePlanner, search_together
from bunraku.planning.strings import smooth as smoothed
from bunraku.planning.strings.planners import planner_named
from bunraku.planning.strings.push_tree import push
from bunraku.progress import Listener, Progress
from bunraku.scene import Scene


def plan(
    figure: Figure, goal: Goal | ArrayLike, *, start: ArrayLike | None = None, scene: Scene | None = None,
    limits: HandLimits | Mapping[str, float | tuple[float, float]] | None = None, hold: tuple[str, ...] = (),
    planner: str | TreePlanner = "est", budget: float = 10.0, smooth: bool = False, workers: int | None = 1,
    cluster: str | None = None, touch: object = None, seed: int | None = None, progress: Listener | None = None,
) -> Plan:  # fmt: skip
    """Plans a motion of a figure on strings among obstacles: the hands move, the figure follows by physics, nothing touches.

    With `touch`, bodies meet instead: the hands push an object to its goal, or aside (bunraku.planning.strings.push_tree).

    figure: a figure with kinematic variables, which are the puppeteer's hands.
    goal: targets for points of the figure (`Goal.at_points`, `Goal.at_configuration`), or a configuration [rad or m].
    start: the configuration at the start, at rest [rad or m]; None lets the figure settle.
    scene: the obstacles; None for none.
    limits: limits of the hands: `HandLimits`, or a mapping with the keys of a file: "speed" [m/s], "acceleration" [m/s²],
        "reach" [m], and lower and upper limit of variables by name; None is 0.6 m/s, 6 m/s² and 0.6 m.
    hold: names of kinematic variables that stay at their start.
    planner: "est", "est-uniform", "est-goal", "ao-est", "sst", or a `TreePlanner`. The last two names are anytime planners:
        they use the whole budget for cheaper plans, the others stop at the first.
    budget: processor time of each tree [s].
    smooth: whether optimal control smooths the inputs of the plan.
    workers: number of trees that grow in parallel; None for one per core. With one, the same seed gives the same plan.
    cluster: address of a Dask scheduler whose workers are used, or "local" to start one; None uses local processes.
    touch: which bodies touch (see `simulate`); None if none may. Then one tree grows, of simulations; planner, smooth, workers and
        cluster are not used, goals are for points, and the plan, which is a simulation, is not rechecked.
    seed: seed of the random numbers; by default 0.
    progress: called with the state of the search.
    Returns the plan, accepted by the rechecker; if there is none, its outcome says why. Ctrl-C stops the search and keeps the
    best so far. Raises UnknownName for unknown names, BunrakuError for invalid numbers.
    """
    require_kind("figure", figure, Figure, expected="a Figure", advice="bunraku.load(…) and bunraku.library.named(…) give one")
    if not isinstance(goal, Goal) and np.asarray(goal).dtype.kind not in "iuf":
        require_kind("goal", goal, Goal, expected="a Goal or a configuration", advice="Goal.at_points gives one")
    require_number("budget", budget, unit="s")
    require_common(seed, progress)
    own = 0 if seed is None else whole(seed)
    try:
        problem = problem_of(figure, goal, start=start, scene=scene, limits=limits, hold=hold)
    except KeyboardInterrupt:
        problem = problem_of(figure, goal, start=figure.start if start is None else start, scene=scene, limits=limits, hold=hold)
        chosen = planner_named(planner) if isinstance(planner, str) else planner
        return Plan(STOPPED.because("stopped before the search began"), problem, chosen, seed=own)
    rules = as_touch(touch)
    if rules is not None:
        chosen = planner_named(planner) if isinstance(planner, str) else planner
        return push(problem, rules, chosen, seed=own, seconds=budget, progress=progress)
    found = search_together(problem, planner, workers=workers, cluster=cluster, seed=own, seconds=budget, progress=progress)
    if progress is not None:
        progress(Progress("search", 1.0, str(found.outcome.kind)))
    if not smooth or not found.outcome.ok:
        return found
    if progress is not None:
        progress(Progress("smoothing", 0.0))
    try:
        return smoothed(found)
    except KeyboardInterrupt:
        return dataclasses.replace(found, outcome=STOPPED.because("stopped while smoothing; the plan is the one before smoothing"))


def problem_of(
    figure: Figure, goal: Goal | ArrayLike, *, start: ArrayLike | None = None, scene: Scene | None = None,
    limits: HandLimits | Mapping[str, float | tuple[float, float]] | None = None, hold: tuple[str, ...] = (),
) -> PlanningProblem:  # fmt: skip
    """The problem that `plan` solves for the same `figure`, `goal`, `start`, `scene`, `limits` and `hold`, with the same errors."""
    q = settle(figure) if start is None else np.array(start, float)
    wanted = goal if isinstance(goal, Goal) else Goal.at_configuration(figure, goal)
    if not isinstance(limits, HandLimits):
        limits = _limits_of(figure, q, limits or {})
    around = Scene("nothing", floor=None) if scene is None else scene
    return PlanningProblem(figure, q, wanted, around, limits.holding(figure, hold), name=figure.name)


def _limits_of(figure: Figure, start: ArrayLike, words: Mapping[str, float | tuple[float, float]]) -> HandLimits:
    """Limits from the keys of a file."""
    general = ("speed", "acceleration", "reach")
    numbers: dict[str, Any] = {name: words[name] for name in general if name in words}
    boxes = {name: (float(box[0]), float(box[1])) for name, box in words.items() if name not in general}  # type: ignore[index]
    return HandLimits.of(figure, np.asarray(start, float), boxes=boxes, **numbers)
