"""SearchSpace: a problem as arrays, and the queries of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision import World
from bunraku.collision.pair_rows import rows
from bunraku.collision.world_arrays import MODE, STATIC, WorldArrays
from bunraku.dynamics import Simulation, simulate
from bunraku.figure import Figure
from bunraku.figure.frame import Point
from bunraku.figure.records import FigureTree, PointRole
from bunraku.kinematics.forward import Pose, frames_along
from bunraku.motion import Motion
from bunraku.planning.strings.goal import marks_of
from bunraku.planning.strings.hand_segment import Course, allowed_speeds, one_segment
from bunraku.planning.strings.planners import TreePlanner
from bunraku.planning.strings.planning_problem import PlanningProblem
from bunraku.planning.strings.search_options import SearchOptions
from bunraku.planning.strings.sst import Sparse, sparse
from bunraku.planning.strings.tree_nodes import Aim
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SearchSpace:
    """States of a figure and segments between them. Built once per problem."""

    problem: PlanningProblem
    options: SearchOptions = SearchOptions()

    @cached_property
    def tree(self) -> FigureTree:
        """The figure as arrays for kernels."""
        return self.problem.figure.compiled.tree

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The goal's points, then points that show where the rest of the figure is."""
        return tuple(dict.fromkeys((*self.problem.goal.points, *marks_of(self.problem.figure))))

    @cached_property
    def flat(self) -> WorldArrays:
        """The world as arrays. Pairs whose convex hulls overlap at the start are left to the exact recheck of a plan."""
        world, start = self.problem.world, self.problem.start[None]
        for _ in range(4):
            found = rows(world.flat, start, within=self.problem.margin, mode=MODE.first)
            if not len(found):
                break
            world = world.allowing([(world.names[i], world.names[j]) for i, j in found.ints[:, 1:3].tolist()])
        return world.flat

    @cached_property
    def threads(self) -> WorldArrays:
        """A world in which straight pieces of strings move among the obstacles of the scene."""
        flat: Any = World(self.problem.figure, self.problem.scene).flat
        n = len(self.ends)
        obstacles = len(self.problem.scene.obstacles)
        tested = np.zeros((n, len(flat.kind)), np.bool_)
        last = len(flat.kind) - (self.problem.scene.floor is not None)
        tested[:, last - obstacles : last] = flat.kind[last - obstacles : last] != STATIC.plane
        return flat._replace(  # type: ignore[no-any-return]
            joint=np.zeros(n, np.int64), radius=np.full(n, self.options.string_radius), round=np.ones(n, np.bool_), tested=tested
        )

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """The straight pieces of strings and wires, as pairs of the tree's points; none if there are no obstacles.

        At a pulley they go to its centre; the recheck of a plan follows the string round it.
        """
        count = len(self.problem.figure.strings) + len(self.problem.figure.wires)
        points, out = self.tree.points, []
        for link in self.tree.links[:count]:
            own = np.arange(link["first"], link["first"] + link["count"])
            own = own[(points["is_point"][own] > 0.0) & (points["role"][own] != PointRole.SIDE)]
            out += [(a, b) for a, b in pairwise(own.tolist()) if points["weight"][a] > 0.0]
        return np.array(out if self.problem.scene.obstacles else [], np.int64).reshape(-1, 2)

    @cached_property
    def course(self) -> Course:
        """Steps, limits and points for kernels."""
        problem, compiled = self.problem, self.problem.figure.compiled
        joint, places = [], []
        for at in self.points:
            f = self.problem.figure.frame_index[at.frame]
            joint.append(int(compiled.frame_joint[f]))
            places.append(se3.transform(compiled.frame_X[f], at.position))
        limits = problem.limits
        groups = _groups(problem.figure, limits.free, {at.frame for at in problem.goal.points})
        return Course(
            problem.dt, problem.steps, problem.margin, limits.lower, limits.upper, limits.speed, limits.acceleration,
            groups, np.array(joint, np.int64), np.array(places).reshape(-1, 3), self.ends,
            self.options.tolerance,
        )  # fmt: skip

    @cached_property
    def aim(self) -> Aim:
        """The goal. The leading points are its points; for a goal that is a configuration, its first hooks."""
        goal = self.problem.goal
        toward = np.zeros(0) if goal.kinematic is None else goal.kinematic
        return Aim(goal.targets, min(len(goal.points), 2), goal.within, goal.speed, toward, max(self.far(self.problem.start), 1e-9))

    def sparse(self, planner: TreePlanner, capacity: int) -> Sparse:
        """Arrays of SST for at most `capacity` nodes, with the radii of the `planner`."""
        return sparse(
            capacity, self.aim.leading, near=planner.near, apart=planner.apart, goal_rate=planner.to_goal, hurry=planner.hurry
        )

    def far(self, q: ArrayLike) -> float:
        """Root mean square distance of the goal's points at configuration `q` from their targets [m]."""
        pose = Pose(self.problem.figure, q)
        places = np.array([pose.point(at.frame, at.position) for at in self.problem.goal.points])
        return math.sqrt(float(((places - self.problem.goal.targets) ** 2).sum(1).mean()))

    def places(self, Q: Array) -> Array:
        """Positions of the points at configurations `Q` (T, n_q): (T, points, 3) [m]."""
        X, index = frames_along(self.problem.figure, Q), self.problem.figure.frame_index
        out = [X[:, index[at.frame], :3, :3] @ np.array(at.position) + X[:, index[at.frame], :3, 3] for at in self.points]
        return np.stack(out, 1)

    @cached_property
    def root(self) -> Array:
        """The state at the start, at rest."""
        simulation = Simulation(self.problem.figure, self.problem.start, dt=self.problem.dt)
        q, nk = simulation.q, self.problem.figure.n_q - self.problem.figure.n_dynamic
        nc, nb = len(self.tree.links), len(self.tree.balls)
        charts = np.tile(np.eye(3).ravel(), nb)
        return np.concatenate([q, q, q, np.zeros(self.problem.figure.n_dynamic), np.zeros(2 * nc), charts, np.zeros(nk)])

    def segment(self, state: Array, speeds: Array) -> tuple[bool, Array, Array]:
        """One segment from `state` to hand `speeds`: whether it is possible and collision-free, the state after it, its samples."""
        out, Q = np.empty_like(self.root), np.empty((self.problem.steps + 1, self.problem.figure.n_q))
        ok = one_segment(self.tree, self.flat, self.threads, self.course, state, np.ascontiguousarray(speeds), out, Q)
        return bool(ok), out, Q

    def allowed(self, q: Array, v: Array, wanted: Array) -> Array:
        """The speeds nearest to those `wanted` that the hands, at `q` with speeds `v`, may have after a segment."""
        out = np.empty(len(v))
        allowed_speeds(self.course, q, v, np.ascontiguousarray(wanted, float), out)
        return out

    def inputs(self, speeds: Array) -> Array:
        """Kinematic variables, one row per step, for hand `speeds` at the ends of segments (m, kinematic)."""
        N, T, figure = self.problem.steps, self.problem.segment, self.problem.figure
        t = self.problem.dt * np.arange(1, N + 1)[:, None]
        q, v, out = self.problem.start[figure.n_dynamic :], np.zeros(figure.n_q - figure.n_dynamic), []
        for v1 in speeds:
            out.append(q + v * t + 0.5 * (v1 - v) * t * t / T)
            q, v = out[-1][-1], v1
        return np.concatenate(out)

    def motion(self, speeds: Array) -> Motion:
        """The motion of a plan with hand `speeds` (m, kinematic), simulated from the start at full precision."""
        K = self.inputs(speeds)
        return simulate(self.problem.figure, K, duration=len(K) * self.problem.dt, dt=self.problem.dt, q=self.problem.start)


def _groups(figure: Figure, free: NDArray[np.bool_], wanted: set[str]) -> NDArray[np.int64]:
    """Groups of free kinematic variables: for each string, those of its spindle and its length; the others alone.

    Strings that hold a frame of the goal are repeated, so that about half of all draws choose one of them.
    """
    names, own = list(figure.kinematic), []
    for string in (*figure.strings, *figure.wires):
        group, frame = {string.variable}, string.spindle.frame
        while frame != "world":
            part = figure.frame(frame)
            group.add(part.variable.name if part.variable is not None else None)
            frame = part.parent
        own.append([names.index(name) for name in names if name in group and free[names.index(name)]])
    grouped = {k for group in own for k in group}
    own += [[k] for k in range(len(names)) if free[k] and k not in grouped]
    leading = [group for group, string in zip(own, (*figure.strings, *figure.wires), strict=False) if string.hook.frame in wanted]
    if 0 < len(leading) < len(own):
        own += leading * ((len(own) - len(leading)) // len(leading))
    own = [group for group in own if group]
    widest = max((len(group) for group in own), default=1)
    return np.array([group + [-1] * (widest - len(group)) for group in own], np.int64).reshape(-1, widest)
