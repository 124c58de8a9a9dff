"""OMPL's control planners on the same segments, limits and goal, to compare with: what they find is rechecked like all else.

They get what ours get. A control is the speeds of the hands and three numbers more, which choose as ours do whether the hands go
toward where they are at the goal, and whether only one string is moved; places are sampled from where the points can be; and the
goal can be sampled, so that planners with a bias toward it have one.
"""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND
from bunraku.planning.strings import PLANNERS, Plan, PlanningProblem, SearchOptions, TreePlanner, recheck
from bunraku.planning.strings.search_space import SearchSpace

Array = NDArray[np.float64]
NAMES = {"ompl-est": "EST", "ompl-kpiece": "KPIECE1", "ompl-rrt": "RRT"}
TAG = 1e-9  # what a state's number weighs in OMPL's distances: nothing
LONGEST = 4  # segments that one control may last: with single ones RRT hardly gets anywhere
MORE = 3  # numbers of a control besides the speeds: which way to choose, how hurriedly, which string
GOAL_SHARE = SearchOptions().goal_share
REACH, FAST = 0.6, 0.1  # about the start and the goal, where places are sampled [m], and rates, weighted by 0.1 s


def plan_by_ompl(problem: PlanningProblem, name: str = "ompl-est", *, seed: int = 0, seconds: float = 10.0) -> Plan:
    """`plan` by one of OMPL's planners; `seconds` are of the processor, as far as OMPL lets itself be stopped."""
    try:
        import ompl.base as ob
        import ompl.control as oc
        import ompl.util as ou
    except ImportError:
        raise MissingExtra("ompl", "ompl", "a planner of OMPL") from None
    planner = TreePlanner(name, about="OMPL's, for comparison")
    refusal = problem.refusal()
    if refusal is not None:
        return Plan(refusal, problem, planner, seed=seed)
    ou.setLogLevel(ou.LogLevel.LOG_NONE)
    ou.RNG.setSeed(seed + 1)
    states = _States(SearchSpace(problem))
    states.warm()
    space = states.space_of(ob)
    controls = oc.RealVectorControlSpace(space, len(states.speed) + MORE)
    box = ob.RealVectorBounds(len(states.speed) + MORE)
    box.setLow(-1.0)
    box.setHigh(1.0)
    controls.setBounds(box)
    setup = oc.SimpleSetup(controls)
    info = setup.getSpaceInformation()
    setup.setStateValidityChecker(lambda state: states.number(state) >= 0)
    setup.setStatePropagator(states.propagate)
    info.setPropagationStepSize(problem.segment)
    info.setMinMaxControlDuration(1, LONGEST)
    start = space.allocState()
    states.write(start, 0)
    setup.setStartState(start)
    setup.setGoal(states.goal_of(ob, info))
    chosen = getattr(oc, NAMES[name])(info)
    if hasattr(chosen, "setProjectionEvaluator"):  # a grid over where the leading point is, as ours has
        chosen.setProjectionEvaluator(ob.RealVectorOrthogonalProjectionEvaluator(space, [planner.width] * 3, [0, 1, 2]))
    setup.setPlanner(chosen)
    clock = time.process_time()
    states.segments = 0
    setup.setup()
    setup.solve(ob.PlannerTerminationCondition(lambda: states.found >= 0 or time.process_time() - clock > seconds))
    return states.result(planner, time.process_time() - clock)


class _States:
    """States by number; OMPL sees where the leading points are, how fast, and the number."""

    def __init__(self, space: SearchSpace) -> None:
        self.space, self.rows, self.parent, self.speeds = space, [space.root], [-1], [np.zeros(0)]
        problem = space.problem
        self.speed, self.n = problem.limits.speed, problem.figure.n_dynamic
        self.lead, self.found, self.refused, self.segments = space.aim.leading, -1, 0, 0
        self.nearest = math.inf
        self.places = [space.places(problem.start[None])[0]]
        self.rates = [np.zeros_like(self.places[0])]
        self.solution: Plan | None = None

    def warm(self) -> None:
        """Compiles, or loads, what propagation calls, so that no clock counts it."""
        still = np.zeros((1, len(self.speed)))
        self.space.segment(self.space.root, self.space.allowed(self.space.problem.start[self.n :], still[0], still[0]))
        recheck(self.space.motion(still), self.space.problem.scene)

    def space_of(self, ob: Any) -> Any:
        d = 6 * self.lead + 1
        space, bounds = ob.RealVectorStateSpace(d), ob.RealVectorBounds(d)
        ends = np.stack([self.places[0][: self.lead], self.space.problem.goal.targets[: self.lead]])
        low, high = ends.min(0) - REACH, ends.max(0) + REACH
        for k in range(d):
            place = k % 6 < 3 and k < d - 1
            bounds.setLow(k, float(low[k // 6, k % 6]) if place else -FAST)
            bounds.setHigh(k, float(high[k // 6, k % 6]) if place else FAST)
        space.setBounds(bounds)
        return space

    def goal_of(self, ob: Any, info: Any) -> Any:
        states = self

        class Region(ob.GoalSampleableRegion):  # type: ignore[misc]
            """The problem's goal; its middle is what is sampled."""

            def __init__(self) -> None:
                super().__init__(info)
                self.setThreshold(GOAL_SHARE * states.space.problem.goal.within)

            def distanceGoal(self, state: Any) -> float:
                return states.distance(states.number(state))

            def maxSampleCount(self) -> int:
                return 1

            def sampleGoal(self, state: Any) -> None:
                targets = states.space.problem.goal.targets[: states.lead]
                for k, value in enumerate(np.hstack([targets, np.zeros_like(targets)]).ravel().tolist()):
                    state[k] = value
                state[6 * states.lead] = 0.0

        return Region()

    def number(self, state: Any) -> int:
        return round(float(state[6 * self.lead]) / TAG)

    def write(self, state: Any, number: int) -> None:
        x, v = self.places[number][: self.lead], 0.1 * self.rates[number][: self.lead]
        for k, value in enumerate(np.hstack([x, v]).ravel().tolist()):
            state[k] = value
        state[6 * self.lead] = TAG * number

    def distance(self, number: int) -> float:
        """From the goal: the farthest point, and how much too fast it is; infinite for plans that were refused."""
        goal = self.space.problem.goal
        k = len(goal.targets)
        far = float(np.linalg.norm(self.places[number][:k] - goal.targets, axis=1).max())
        fast = float(np.linalg.norm(self.rates[number][:k], axis=1).max()) - GOAL_SHARE * goal.speed
        out = far + (max(fast, 0.0) if math.isfinite(fast) else 0.0)
        self.nearest = min(self.nearest, out)
        if out <= GOAL_SHARE * goal.within and self.found < 0 and not self.accepts(number):
            return 1.0
        return out

    def propagate(self, state: Any, control: Any, _: float, result: Any) -> None:
        number, problem = self.number(state), self.space.problem
        nq, nk = problem.figure.n_q, len(self.speed)
        row = self.rows[number]
        q = row[2 * nq + self.n : 3 * nq]
        v = self.space.allowed(q, row[len(row) - nk :], self.wanted(q, [control[k] for k in range(nk + MORE)]))
        ok, after, Q = self.space.segment(row, v)
        self.segments += 1
        if not ok:
            self.write(result, 0)
            result[6 * self.lead] = -TAG
            return
        before, now = self.space.places(Q[-2:])
        self.rows.append(after)
        self.parent.append(number)
        self.speeds.append(v)
        self.places.append(now)
        self.rates.append((now - before) / problem.dt)
        self.write(result, len(self.rows) - 1)

    def wanted(self, q: Array, control: list[float]) -> Array:
        """The speeds that a control asks for: toward the goal, of one string, or of all, as often as in our own trees."""
        ours, groups, toward = PLANNERS["est"], self.space.course.groups, self.space.aim.toward
        nk = len(self.speed)
        roll, hurry, which = (0.5 * (1.0 + value) for value in control[nk:])
        if len(toward) and roll < ours.goal_rate:
            return np.asarray((toward - q) / (0.15 + 0.6 * hurry))
        out = self.speed * control[:nk]
        if which < ours.one_group:
            group = groups[min(int(which / ours.one_group * len(groups)), len(groups) - 1)]
            out = np.where(np.isin(np.arange(nk), group), out, 0.0)
        return np.asarray(out)

    def accepts(self, number: int) -> bool:
        """Whether the rechecker does."""
        path, problem, node = [], self.space.problem, number
        while node > 0:
            path.append(self.speeds[node])
            node = self.parent[node]
        speeds = np.array(path[::-1])
        motion = self.space.motion(speeds)
        verdict = recheck(motion, problem.scene, limits=problem.limits, goal=problem.goal, allowed=problem.allowed)
        if not verdict.accepted:
            self.refused += 1
            return False
        self.found = number
        self.solution = Plan(FOUND, problem, TreePlanner("ompl"), motion, verdict, speeds, motion.duration)
        return True

    def result(self, planner: TreePlanner, seconds: float) -> Plan:
        detail = f"the nearest came to {1e3 * self.nearest:.3g} mm"
        found = self.solution or Plan(BUDGET_SPENT.because(detail), self.space.problem, planner)
        return dataclasses.replace(
            found, planner=planner, seconds={"search": seconds}, segments=self.segments, refused=self.refused
        )
