"""A control problem whose strings are to stay taut: low tension has a price, and so has a lean that makes angles singular.

While all strings are taut, they are wires: a step is a smooth function of the inputs, and so is the cost. Where strings change
between taut and slack, the cost has kinks, at which descents end early. The price, per string and second, is that of a logarithmic
barrier that fades above the tension τ. Below the softness δ it is continued by its quadratic Taylor polynomial (a relaxed barrier),
so that it is finite for every tension T, also of a slack string, and twice differentiable:

    β(T) = log(1 + τ/T) for T > δ,    β(T) = β(δ) + β′(δ) (T − δ) + ½ β″(δ) (T − δ)² otherwise

The second angle b of a ball joint has a price, too, proportional to (|b| − b₀)³ where it is larger than b₀. Three angles are
singular at 90°, and steps depend on the angles already on the way there: a simulation changes them
(bunraku.dynamics.ball_charts), a linearisation along a motion cannot.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_problem import ControlProblem, MotionExpansion, no_gains
from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.riccati import riccati
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.string import String, Wire
from bunraku.kinematics.ways import lengths_along

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TautProblem(ControlProblem):
    """A problem with a price on low tension of its strings, which are the first `strings` links of its figure."""

    strings: int = 0
    """Number of strings."""
    price: float = 0.0
    """Price of β, per string and second."""
    softness: float = 1.0
    """δ: tension below which the price is quadratic [N]."""
    fading: float = 10.0
    """τ: tension above which the price fades [N]."""
    lean_price: float = 2000.0
    """Price of (|b| − b₀)³ [1/rad³], per ball joint and second."""
    upright: float = 0.9
    """b₀: lean of a ball joint that is free [rad]; less than where a simulation changes its angles."""

    @classmethod
    def of(cls, problem: ControlProblem, strings: int, price: float, softness: float) -> TautProblem:
        """The `problem` with a `price` and a `softness` [N] for its first `strings` links."""
        given = {f.name: getattr(problem, f.name) for f in fields(ControlProblem)}
        return cls(**given, strings=strings, price=price, softness=softness)

    def cost(self, run: Rollout) -> tuple[float, float]:
        """The cost along `run`, which includes the price of low tension, and the penalty of the bounds."""
        cost, penalty = super().cost(run)
        leaning = self.lean_price * float((self._beyond(run) ** 3).sum())
        return cost + self.system.dt * (self.price * float(self._beta(run)[0].sum()) + leaning), penalty

    def price_slopes(self, run: Rollout) -> tuple[Array, Array]:
        """First and second derivative of the price with respect to the impulse of every string, at every step of `run`."""
        _, first, second = self._beta(run)
        return self.price * first, self.price / self.system.dt * second

    def lean_slopes(self, run: Rollout) -> tuple[Array, Array]:
        """First and second derivative of the price of leaning with respect to `leans`, at every sample of `run`."""
        beyond, per_sample = self._beyond(run), self.system.dt * self.lean_price
        return 3.0 * per_sample * beyond**2 * np.sign(run.x[:, self.leans]), 6.0 * per_sample * beyond

    @cached_property
    def leans(self) -> NDArray[np.int64]:
        """The second angle of every ball joint that moves by physics, among all variables."""
        tree = self.system.tree
        second: NDArray[np.int64] = tree.joints["variable"][tree.balls] + 1
        return second[second < self.system.n]

    def _beyond(self, run: Rollout) -> Array:
        """How far every ball joint leans beyond what is free, at every sample [rad]."""
        out: Array = np.maximum(np.abs(run.x[:, self.leans]) - self.upright, 0.0)
        return out

    def _beta(self, run: Rollout) -> tuple[Array, Array, Array]:
        tension = run.impulse[:, : self.strings] / self.system.dt
        T, below = np.maximum(tension, self.softness), np.minimum(tension - self.softness, 0.0)
        first, second = 1.0 / (T + self.fading) - 1.0 / T, 1.0 / T**2 - 1.0 / (T + self.fading) ** 2
        return np.log1p(self.fading / T) + below * (first + 0.5 * below * second), first + below * second, second


class TautExpansion(MotionExpansion):
    """Derivatives along motions of `problem`."""

    problem: TautProblem

    def __init__(self, problem: TautProblem) -> None:
        super().__init__(problem)
        shape = (problem.steps, problem.system.n_links)
        if not len(self.slopes.gl):
            self.slopes = self.slopes._replace(gl=np.zeros(shape), hl=np.zeros(shape))

    def _slopes(self, run: Rollout) -> tuple[Array, Array]:
        out = super()._slopes(run)
        first, second = self.problem.price_slopes(run)
        self.slopes.gl[:, : first.shape[1]] += first
        self.slopes.hl[:, : first.shape[1]] += second
        first, second = self.problem.lean_slopes(run)
        self.slopes.gx[:, self.problem.leans] += first
        self.slopes.hx[:, self.problem.leans] += second
        return out


def tracking_gains(work: TautExpansion) -> Array:
    """Gains of the feedback that keeps a figure near the motion that `work` has linearised, whatever the tensions: the price of low
    tension would make them stiff where a string is nearly slack."""
    K, free = np.zeros_like(work.gains), work.slopes._replace(gl=np.zeros_like(work.slopes.gl), hl=np.zeros_like(work.slopes.hl))
    riccati(work.steps, free, no_gains(), 0.0, 0.0, K, np.zeros_like(work.feed), np.zeros_like(work.first))
    return K


def can_be_taut(figure: Figure) -> bool:
    """Whether `figure` has strings, and none of them is elastic."""
    return len(figure.strings) > 0 and not any(string.elastic for string in figure.strings)


def wired(figure: Figure) -> Figure:
    """The `figure` with wires instead of strings: the same motions as long as all strings pull.

    Raises BunrakuError if it has no strings, or elastic ones.
    """
    if not can_be_taut(figure):
        what = "elastic strings" if figure.strings else "no strings"
        raise BunrakuError(f"{figure.name} has {what}\n  advice: taut is for inelastic strings; leave it out")
    wires = [Wire(**{f.name: getattr(string, f.name) for f in fields(String)}) for string in figure.strings]
    return replace(figure, strings=(), wires=(*wires, *figure.wires))


def on(problem: ControlProblem, figure: Figure) -> ControlProblem:
    """The same `problem` for another `figure` with the same variables and links."""
    s = problem.system
    return replace(problem, system=System.of(figure, dt=s.dt, inputs=s.inputs, share=s.share))


def fitted(system: System, curve: ControlCurve) -> ControlCurve:
    """The `curve` of a `system` with strings and wires that are as long as their ways at its configurations.

    A straight step in the space of curves changes lengths linearly. The length that holds a nearly straight arm is a quadratic
    function of the angle of its elbow, so that strings would soon be too short for the configurations that they should lead to.
    Fitting them changes a tangent of the motions of taut strings by terms of second order only.
    """
    figure, s = system.figure, system
    own, x, u = {variable.name for variable in figure.lengths}, curve.x.copy(), curve.u.copy()
    ways = lengths_along(figure, np.ascontiguousarray(x[:, : s.n_q]))
    for k, rope in enumerate((*figure.strings, *figure.wires)):
        if rope.variable in own and rope.variable in s.inputs:
            i = figure.index(rope.variable)
            x[1:, i] = u[:, i - s.n] = rope.winding(ways[1:, k])
            x[1:, s.n_q + i] = np.diff(x[:, i]) / s.dt
    return ControlCurve(x, u)
