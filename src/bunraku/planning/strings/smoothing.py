"""smooth, stabilize: smooths the inputs of a plan by optimal control, and computes feedback that stabilises a figure along it.

The hands of a plan change their speed at random in every segment. `smooth` minimises their accelerations while the figure stays
near the plan and ends where the plan ends. The optimisation ignores obstacles, so the weight of staying near the plan is raised
until the rechecker accepts the result.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.outcome import STOPPED
from bunraku.planning.strings.hand_limits import HandLimits
from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.recheck_plan import recheck

if TYPE_CHECKING:
    from bunraku.control import Optimum

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SmoothingOptions:
    """Weights of the optimal control problems of `smooth` and `stabilize`."""

    near: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0, 1000.0)
    """Weights of staying near the plan, tried in this order until the rechecker accepts the result."""
    at_end: float = 30.0
    """Extra weight of the last sample, at the goal [s]."""
    spare: float = 1e-5
    """Distance that the hands keep from their limits [m or rad]."""
    hold_near: float = 100.0
    """Weight of staying near the plan in the feedback of `stabilize`."""
    hold_hands: float = 0.1
    """Weight of accelerations of the hands in the feedback of `stabilize`: small, so that the hands react fast to a push."""


def smooth(found: Plan, *, iterations: int = 60, options: SmoothingOptions = SmoothingOptions()) -> Plan:
    """The plan with smoother inputs, accepted by the rechecker.

    found: the plan to smooth.
    iterations: maximum number of iterations of each optimisation.
    options: weights.
    Returns the smoother plan, or the same one if the rechecker accepts none. Raises KeyboardInterrupt on Ctrl-C.
    """
    if found.motion is None:
        return found
    problem, clock = found.problem, worked()
    for near in options.near:
        try:
            optimum = _optimum(found.motion, problem.limits, near=near, hands=1.0, iterations=iterations, options=options)
        except BunrakuError:
            continue
        if optimum.outcome.kind == STOPPED.kind:
            raise KeyboardInterrupt
        motion = optimum.motion
        verdict = recheck(motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
        none = np.zeros((0, found.speeds.shape[1]))
        better = dataclasses.replace(found, motion=motion, verdict=verdict, speeds=none, rough=found.roughness)
        if verdict.accepted and better.roughness < found.roughness:
            return dataclasses.replace(better, seconds={**found.seconds, "smooth": worked() - clock})
    return found


def stabilize(found: Plan, *, options: SmoothingOptions = SmoothingOptions()) -> Optimum:
    """The feedback that stabilises a figure along a plan.

    found: the plan. options: weights.
    Returns the plan's motion with `gains`, as `bunraku.control.tracking` takes it; raises BunrakuError if `found` has no motion.
    """
    if found.motion is None:
        raise BunrakuError(f"there is no motion to stabilize: {found.outcome.kind}\n  advice: {found.outcome.advice}")
    return _optimum(
        found.motion, found.problem.limits, near=options.hold_near, hands=options.hold_hands, iterations=0, options=options
    )


def _optimum(
    guess: Motion, limits: HandLimits, *, near: float, hands: float, iterations: int, options: SmoothingOptions
) -> Optimum:
    from bunraku import control  # imported here: planning workers do not need it

    figure = guess.figure
    rates = np.gradient(guess.q, guess.t, axis=0)[:, figure.n_dynamic :]
    cost = (
        control.Configuration(near, guess.q, at_end=options.at_end / near),
        control.Speed(1e-3, rates, at_end=options.at_end),
        control.Acceleration(hands),
    )
    free = [k for k, on in enumerate(limits.free) if on]
    names = [figure.kinematic[k] for k in free]
    box = control.Limits(
        variables={figure.kinematic[k]: (limits.lower[k] + options.spare, limits.upper[k] - options.spare) for k in free},
        speeds={figure.kinematic[k]: limits.speed[k] for k in free},
    )
    return control.optimize(
        figure, cost, duration=guess.duration, dt=float(guess.t[1] - guess.t[0]), q=guess.q[0], inputs=names,
        guess=guess.q[1:, figure.n_dynamic :], limits=box if iterations else None, iterations=iterations, tolerance=1e-9,
    )  # fmt: skip
