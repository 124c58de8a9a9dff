"""shortcut: shortens a plan by leaving segments out or changing speeds; every change is simulated and rechecked."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.recheck_plan import recheck
from bunraku.planning.strings.search_space import SearchSpace

Array = NDArray[np.float64]


def shortcut(found: Plan, *, tries: int = 200, seed: int = 0) -> Plan:
    """A plan that takes less time, or the same time with less effort of the hands.

    Segments are left out, or their speeds blended toward the mean. A change is kept if the plan, simulated from the start, still
    ends in the goal and the rechecker accepts it.

    found: the plan to shorten.
    tries: number of changes that are tried.
    seed: seed of the random changes.
    Returns the shorter plan, or the same one if none is found.
    """
    if found.motion is None:
        return found
    space, rng, best, speeds = SearchSpace(found.problem), np.random.default_rng(seed), found, found.speeds
    price = _price(space, speeds)
    for _ in range(tries):
        trial = _changed(speeds, rng)
        trial = None if trial is None else _allowed(space, trial)
        if trial is None or _price(space, trial) >= price or not _arrives(space, trial):
            continue
        better = _accepted(space, found, trial)
        if better is not None:
            best, speeds, price = better, trial, _price(space, trial)
    return best


def _price(space: SearchSpace, speeds: Array) -> float:
    """Duration first, then the effort of the hands."""
    return len(speeds) * space.problem.segment + 0.05 * space.problem.segment * float((speeds**2).sum())


def _changed(speeds: Array, rng: np.random.Generator) -> Array | None:
    """Speeds with some segments left out, or blended; None if there are too few."""
    n = len(speeds)
    if n < 3:
        return None
    first = int(rng.integers(0, n - 1))
    last = int(rng.integers(first + 1, min(first + 9, n)))
    if rng.random() < 0.5:  # leave segments out, and speed the others up to compensate
        kept = int(rng.integers(1, last - first + 1))
        stretch = speeds[first : first + kept] * min((last - first + 1) / kept, 2.0)
        return np.concatenate([speeds[:first], stretch, speeds[last + 1 :]])
    even = speeds.copy()
    even[first : last + 1] = 0.5 * (even[first : last + 1] + even[first : last + 1].mean(0))
    return even


def _allowed(space: SearchSpace, speeds: Array) -> Array:
    """The nearest allowed speeds of the hands, segment by segment."""
    problem = space.problem
    q, v, out = problem.start[problem.figure.n_dynamic :].copy(), np.zeros(speeds.shape[1]), []
    for wanted in speeds:
        new = space.allowed(q, v, wanted)
        q, v = q + 0.5 * (v + new) * problem.segment, new
        out.append(new)
    return np.array(out)


def _arrives(space: SearchSpace, speeds: Array) -> bool:
    """Whether all segments are collision-free and the last ends in the goal."""
    state, Q = space.root, space.problem.start[None]
    for v in speeds:
        ok, state, Q = space.segment(state, v)
        if not ok:
            return False
    rates = (1.5 * Q[-1] - 2.0 * Q[-2] + 0.5 * Q[-3]) / space.problem.dt
    return space.problem.goal(space.problem.figure, Q[-1], rates)


def _accepted(space: SearchSpace, found: Plan, speeds: Array) -> Plan | None:
    """The plan with `speeds`, if the rechecker accepts it."""
    problem, motion = space.problem, space.motion(speeds)
    verdict = recheck(motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
    if not verdict.accepted:
        return None
    planner = found.planner
    v = np.vstack([np.zeros_like(speeds[:1]), speeds])
    effort = float((v[:-1] ** 2 + v[:-1] * v[1:] + v[1:] ** 2).sum()) * problem.segment / 3.0
    cost = planner.time * motion.duration + planner.effort * effort
    return dataclasses.replace(found, motion=motion, verdict=verdict, speeds=speeds, cost=cost)
