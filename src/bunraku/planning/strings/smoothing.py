"""After planning: inputs smoothed by optimal control, with the plan as the first guess, and gains that hold a figure to a plan.

A plan's hands change their speed every segment, at random. `smooth` lets them accelerate as little as they can while the figure
stays near the plan and ends where it ends. Optimal control knows nothing of obstacles: the weight of staying near grows until the
rechecker accepts what comes out.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.motion import Motion
from bunraku.planning.strings.hand_limits import Limits
from bunraku.planning.strings.recheck_plan import recheck
from bunraku.planning.strings.search import Plan

if TYPE_CHECKING:
    from bunraku.control import Optimum

Array = NDArray[np.float64]
NEAR = (0.1, 1.0, 10.0, 100.0, 1000.0)  # weights of staying near the plan, each tried where the one before was refused
AT_END = 30.0  # seconds' worth of the end: it is where the goal is
SPARE = 1e-5  # [m or rad] that hands keep from their limits
HANDS = 0.1  # what accelerations of hands weigh in gains: a hand may hurry where the figure was pushed


def smooth(found: Plan, *, iterations: int = 60) -> Plan:
    """The plan with smoother inputs, accepted by the rechecker; the same plan where no smoother one was."""
    if found.motion is None:
        return found
    problem, rough = found.problem, roughness(found.motion)
    for near in NEAR:
        try:
            motion = _optimum(found.motion, problem.limits, near=near, hands=1.0, iterations=iterations).motion
        except BunrakuError:
            continue
        verdict = recheck(motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
        if verdict.accepted and roughness(motion) < rough:
            none = np.zeros((0, found.speeds.shape[1]))
            return dataclasses.replace(found, motion=motion, verdict=verdict, speeds=none)
    return found


def stabilize(found: Plan) -> Optimum:
    """The motion of a plan with the feedback that holds the figure to it: `gains`, and what `bunraku.control.tracking` asks for."""
    if found.motion is None:
        raise BunrakuError(f"there is no motion to hold a figure to: {found.outcome.value}")
    return _optimum(found.motion, found.problem.limits, near=100.0, hands=HANDS, iterations=0)


def roughness(motion: Motion) -> float:
    """∫ acceleration² dt of the hands, over all of them."""
    K, dt = motion.q[:, motion.figure.n_dynamic :], motion.t[1] - motion.t[0]
    return float((np.diff(np.vstack([K[:1], K]), 2, axis=0) ** 2).sum() / dt**3)


def _optimum(guess: Motion, limits: Limits, *, near: float, hands: float, iterations: int) -> Optimum:
    from bunraku import control  # which workers that plan need not wait for

    figure = guess.figure
    rates = np.gradient(guess.q, guess.t, axis=0)[:, figure.n_dynamic :]
    cost = (
        control.Configuration(near, guess.q, at_end=AT_END / near),
        control.Speed(1e-3, rates, at_end=AT_END),
        control.Acceleration(hands),
    )
    free = [k for k, on in enumerate(limits.free) if on]
    names = [figure.kinematic[k] for k in free]
    box = control.Limits(
        variables={figure.kinematic[k]: (limits.lower[k] + SPARE, limits.upper[k] - SPARE) for k in free},
        speeds={figure.kinematic[k]: limits.speed[k] for k in free},
    )
    return control.optimize(
        figure, cost, duration=guess.duration, dt=float(guess.t[1] - guess.t[0]), q=guess.q[0], inputs=names,
        guess=guess.q[1:, figure.n_dynamic :], limits=box if iterations else None, iterations=iterations, tolerance=1e-9,
    )  # fmt: skip
