"""Optimum: what `optimize` returns: the motion of least cost, its inputs, and the feedback gains that stabilise it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.control.control_problem import ControlProblem
from bunraku.control.control_system import Rollout, System
from bunraku.control.newton import Iteration
from bunraku.control.touch_search import Shift
from bunraku.figure import Effort, Figure
from bunraku.kinematics.forward import Pose
from bunraku.motion import Motion
from bunraku.outcome import Outcome
from bunraku.result import Result
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Optimum(Result):
    """The best motion that was found."""

    problem: ControlProblem
    run: Rollout
    """States and inputs at every sample."""
    gains: Array
    """Gains K of the feedback u = ū − K(x − x̄) that stabilises the motion, one matrix per step; none with touch."""
    history: tuple[Iteration, ...]
    """Every iteration of the search."""
    outcome: Outcome
    seconds: Mapping[str, float]
    """Processor time [s] by stage: "optimize", and "coarse grid" if there was one."""
    scene: Scene | None = None
    """The obstacles of the limits."""
    seed: int | None = None
    """Of the random numbers of a search with touch; None otherwise: other searches use none."""
    played: Motion | None = None
    """The motion as `simulate` makes it, with marks where bodies meet, after a search with touch; None otherwise."""
    shift: Shift | None = None
    """How far the motion moves where the steps of its simulation are halved, after a search with touch; None otherwise."""

    __repr__ = brief

    @property
    def system(self) -> System:
        """The figure as a control system."""
        return self.problem.system

    @cached_property
    def cost(self) -> float:
        """The sum of all terms (bunraku.control.cost), without the penalty of the limits."""
        return self.problem.total(self.run)

    @cached_property
    def penalty(self) -> float:
        """What is added to the cost for exceeded limits. Zero in the end, unless limits are soft."""
        return self.problem.cost(self.run)[1]

    @property
    def kinematic(self) -> Array:
        """Kinematic variables, set by the puppeteer: one row per step."""
        return self.run.u[:, : self.system.n_kin]

    @property
    def forces(self) -> Array:
        """Force inputs: one row per step."""
        return self.run.u[:, self.system.n_kin :]

    @cached_property
    def motion(self) -> Motion:
        """The motion, with the tensions of its strings."""
        return motion_of(self.system, self.run) if self.played is None else self.played

    @property
    def tail(self) -> tuple[float, ...]:
        """Expected decrease divided by cost, per iteration."""
        return tuple(i.decrease / max(abs(i.cost), 1e-300) for i in self.history)

    def report(self) -> Iterator[tuple[str, str]]:
        """Outcome, cost, penalty of exceeded limits, the last iterations, and the ranges of inputs and tensions."""
        yield "outcome", str(self.outcome)
        yield "cost", f"{self.cost:.6g} after {len(self.history)} iterations"
        if self.penalty > 1e-6 * abs(self.cost):
            yield "limits", f"exceeded: a penalty of {self.penalty:.3g} is added to the cost"
        if self.tail:
            last = self.tail[-8:]
            expected = " ".join(f"{x:.0e}" for x in last)
            yield "search", f"expected decrease / cost in the last {len(last)} iterations: {expected}"
        if self.shift is not None:
            yield (
                "steps",
                f"half as long as in the search, they would move {self.shift.frame} by {1e3 * self.shift.by:.2g} mm",
            )
        shown, figure = self.widest_forces(4), self.system.figure
        for k in shown:
            values = self.forces[:, k]
            yield "input", f"{figure.forces[k].name} {values.min():.3g} … {values.max():.3g} {force_unit(figure, k)}"
        if (more := len(self.system.thrusts) - len(shown)) > 0:
            yield "", f"and {more} forces that vary less"
        tension = self.motion.tension
        if tension is not None and tension.size:
            yield "tension", f"{tension.min():.3g} … {tension.max():.3g} N"

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, cost, iterations, and the root-mean-square deviation from the reference.

        The deviation `error` is over all samples and dynamic variables that have a weight [rad or m].
        """
        n, sheet = self.system.n, self.problem.sheet
        weighed = sheet.wx[:, :n] > 0.0
        away = (self.run.x[:, :n] - sheet.rx[:, :n])[weighed]
        error = {"error": float(np.sqrt(np.mean(away**2)))} if away.size else {}
        found = {"cost": self.cost, "iterations": len(self.history)}
        return super().columns() | found | error

    def widest_forces(self, most: int) -> list[int]:
        """Indices of the `most` chosen forces that vary most, in ascending order."""
        return sorted(sorted(self.system.thrusts.tolist(), key=lambda k: -np.ptp(self.forces[:, k]))[:most])


def force_unit(figure: Figure, k: int) -> str:
    """The unit of force input `k` of `figure`: "N·m" along a variable that turns, "N" otherwise."""
    force = figure.forces[k]
    turns = isinstance(force, Effort) and figure.variables[figure.index(force.variable)].motion in ("rotate", "screw")
    return "N·m" if turns else "N"


def motion_of(system: System, run: Rollout) -> Motion:
    """The motion of a `run` of the `system`, with tensions [N] and gaps [m]."""
    q, dt = run.x[:, : system.n_q], system.dt
    t = dt * np.arange(len(q))
    ropes = len(system.figure.strings) + len(system.figure.wires)
    tension = np.concatenate([run.impulse[:1], run.impulse])[:, :ropes] / dt
    gap = np.array([Pose(system.figure, row).gaps[:ropes] for row in q]) if ropes else None
    return Motion.of(system.figure, t, q, v=np.gradient(q, t, axis=0), tension=tension, gap=gap)
