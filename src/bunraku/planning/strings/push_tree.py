"""Planning among bodies that touch: hands that push an object to its goal.

A tree of simulations grows from the start. A node that is near the goal, and was seldom drawn, is drawn more often; its hands go on
with a random speed for one to four segments, within their limits, and bodies meet as in `simulate`. A node is near if the goal's
points are, and if something that the hands move is behind them, seen from their targets: from there it can push. A branch in which
the puppeteer is held back is dropped. The plan is the branch that first comes into the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulate import simulate, simulation_of
from bunraku.dynamics.simulation import Simulation
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kernels.clock import worked
from bunraku.kinematics.forward import Pose
from bunraku.outcome import STOPPED, Outcome
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND
from bunraku.planning.strings.plan_result import Plan
from bunraku.planning.strings.planners import TreePlanner
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PushOptions:
    """Numbers that tune the search for a push."""

    bias: float = 8.0
    """Preference for nodes near the goal: a node as far from it as the start has weight e^−bias."""
    still: float = 0.5
    """Probability that a hand does not move in a branch."""
    segments: int = 4
    """Segments of a branch, at most."""
    behind: float = 0.08
    """How far behind the object, seen from its target, is a good place to push from [m]."""
    approach: float = 0.5
    """How much a metre to that place counts, relative to a metre of the object to its target."""


@dataclass(frozen=True, eq=False)
class _Node:
    simulation: Simulation
    speed: Array
    rows: Array
    """Values of the hands since the start, a row for every step."""
    far: float


@dataclass(frozen=True, eq=False)
class _Nearness:
    """How far from the goal of `problem` a configuration is."""

    problem: PlanningProblem
    options: PushOptions

    @cached_property
    def pushers(self) -> tuple[str, ...]:
        """Frames with shapes that are not of the trees of the goal's points."""
        figure = self.problem.figure
        goals = {_root(figure, at.frame) for at in self.problem.goal.points}
        return tuple(sorted({s.frame for s in figure.shapes if s.collides and _root(figure, s.frame) not in goals}))

    def __call__(self, q: Array) -> float:
        here, goal, o = Pose(self.problem.figure, q), self.problem.goal, self.options
        out = 0.0
        for at, target in zip(goal.points, goal.targets, strict=True):
            x = here.point(at.frame, at.position)
            way = target - x
            left = float(np.linalg.norm(way))
            place = x - o.behind * way / max(left, 1e-9)
            near = min((float(np.linalg.norm(here.point(frame) - place)) for frame in self.pushers), default=0.0)
            out = max(out, left + (o.approach * near if left > goal.within else 0.0))
        return out


def _root(figure: Figure, frame: str) -> str:
    """The frame on the world that carries `frame`; the world itself carries what is fixed there."""
    while frame in figure.frame_index and figure.frame(frame).parent in figure.frame_index:
        frame = figure.frame(frame).parent
    return frame


def push(
    problem: PlanningProblem, touch: Touch, planner: TreePlanner, *, seed: int, seconds: float,
    progress: Listener | None = None, options: PushOptions = PushOptions(),
) -> Plan:  # fmt: skip
    """Plans hands that bring points of `problem` into their goal, among bodies that touch.

    touch: which bodies touch, and how
    planner: the planner that the plan names
    seed: of the random numbers
    seconds: processor time of the search [s]
    progress: called with the state of the search
    options: numbers that tune it

    Returns the plan, which is a simulation and is not rechecked; if there is none, its outcome says why. Ctrl-C stops the search.
    Raises BunrakuError if nothing can push, or the goal has no points.
    """
    if not problem.figure.kinematic:
        raise BunrakuError(f"nothing of {problem.figure.name} can push\n  advice: make a variable kinematic, or give it a string")
    if not problem.goal.points:
        raise BunrakuError("a push needs a goal for points\n  advice: say where a point of the object should be")
    far, rng, begun = _Nearness(problem, options), np.random.default_rng(seed), worked()
    figure, dt = problem.figure, problem.dt
    first = simulation_of(figure, problem.start, dt=dt, scene=problem.scene, touch=touch)
    nodes = [_Node(first, np.zeros(len(figure.kinematic)), np.zeros((0, len(figure.kinematic))), far(problem.start))]
    tried, segments = [0], 0
    outcome: Outcome = BUDGET_SPENT
    rows: Array | None = None
    try:
        while rows is None and worked() - begun < seconds:
            weight = np.exp(-options.bias * np.array([n.far for n in nodes]) / max(nodes[0].far, 1e-9)) / (1.0 + np.array(tried))
            at = int(rng.choice(len(nodes), p=weight / weight.sum()))
            tried[at] += 1
            node, rows = _branch(problem, far, nodes[at], rng, options)
            segments += 1
            if node is not None:
                nodes.append(node)
                tried.append(0)
            if progress is not None and segments % 50 == 0:
                text = f"{len(nodes)} nodes, nearest {min(n.far for n in nodes):.3g} m"
                progress(Progress("search", min((worked() - begun) / seconds, 1.0), text))
    except KeyboardInterrupt:
        outcome = STOPPED
    took = {"search": worked() - begun}
    if rows is None:
        return Plan(outcome, problem, planner, seed=seed, seconds=took, segments=segments)
    duration = dt * len(rows)
    motion = simulate(figure, rows, duration=duration, dt=dt, q=problem.start, scene=problem.scene, touch=touch)
    return Plan(FOUND, problem, planner, motion, cost=duration, seed=seed, seconds=took, segments=segments)


def _branch(
    problem: PlanningProblem, far: _Nearness, node: _Node, rng: np.random.Generator, options: PushOptions
) -> tuple[_Node | None, Array | None]:
    """A branch from `node`: its end, or the rows of a plan if it comes into the goal; neither if the puppeteer is held back."""
    limits, dt, n = problem.limits, problem.dt, problem.figure.n_dynamic
    asked = rng.uniform(-1.0, 1.0, len(limits.speed)) * limits.speed * (rng.random(len(limits.speed)) > options.still)
    hands, v, rows = node.simulation.q[n:].copy(), node.speed.copy(), []
    for _ in range(problem.steps * int(rng.integers(1, options.segments + 1))):
        v = v + np.clip(asked - v, -limits.acceleration * dt, limits.acceleration * dt)
        after = np.clip(hands + dt * v, limits.lower, limits.upper)
        v, hands = (after - hands) / dt, after
        rows.append(hands)
    simulation = node.simulation.copy()
    steps = simulation.run(np.array(rows))
    if np.any(steps.bits & (STEP_BITS.held | STEP_BITS.frozen)):
        return None, None
    q = np.concatenate([node.simulation.q[None], steps.q])
    whole = np.concatenate([node.rows, np.array(rows)])
    for k in range(1, len(q)):
        if problem.goal(problem.figure, q[k], (q[k] - q[k - 1]) / dt):
            return None, whole[: len(node.rows) + k]
    return _Node(simulation, v, whole, far(q[-1])), None
