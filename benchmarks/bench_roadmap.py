"""Two boxes carry a slab through a factory of 90,000 triangles: the first path, beside OMPL's RRTConnect on the same checker."""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Ratio, best_of
from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.scenes import factory
from bunraku.ensemble.team import Carried, Team
from bunraku.figure.shape import Box, Shape
from bunraku.planning.ways.find_way import FoundWay, find
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.roadmap import Roadmap, load
from bunraku.planning.ways.visibility import learn

Array = NDArray[np.float64]
SEEDS = 20
AREA = ((-5.8, 5.8), (-3.8, 3.8))

RATIOS = {
    "roadmap.first_path_ratio": Ratio("roadmap.first_path_us", "ompl.first_path_us", at_most=1.0),
    "roadmap.second_query_ratio": Ratio("roadmap.second_query_us", "roadmap.fifty_milliseconds_us", at_most=1.0),
    "roadmap.new_query_ratio": Ratio("roadmap.new_query_us", "roadmap.fifty_milliseconds_us", at_most=1.0),
    "roadmap.hits_ratio": Ratio("roadmap.hits_count", "roadmap.one_count", at_most=0.0),
}
NOTES = {
    "roadmap.first_path_us": f"find(…), an empty roadmap, median of {SEEDS} seeds; every curve is proven free",
    "roadmap.first_path_worst_us": "the slowest of them",
    "ompl.first_path_us": "RRTConnect, our proof as its motion validator, median (a run that found nothing counts as 10 s)",
    "ompl.first_path_tuned_us": "the same with the range that suits it best here, 1 m",
    "ompl.first_path_5mm_us": "RRTConnect, our check of samples every 5 mm, which proves nothing",
    "roadmap.hits_count": "overlaps, and ways out of reach, in those paths sampled every 5 mm, as coal sees them",
    "roadmap.second_query_us": "the same query of the roadmap after saving and loading it",
    "roadmap.new_query_us": "median over 20 other queries of a learnt roadmap, loaded from its file",
    "roadmap.new_query_answered_share": "of those that were answered from the roadmap alone",
    "roadmap.learn_us": "learning that roadmap",
    "roadmap.valid_share": "of samples that are free, in coordinates relative to the object",
    "roadmap.valid_naive_share": "the same of uniform samples",
    "roadmap.edge_us": "one proof of an edge",
}


@functools.cache
def problem() -> tuple[Team, FreeSpace, Array, Array]:
    slab = Carried((Shape("world", Box((1.5, 0.8, 0.06)), name="slab"),), tilt=0.3, heights=(0.6, 1.3))
    left = rover("left", hold("tool", (-0.73, 0.0, -0.02), z=(1, 0, 1), x=(0, 1, 0)))
    right = rover("right", hold("tool", (0.73, 0.0, -0.02), z=(-1, 0, 1), x=(0, 1, 0)))
    team = Team((left, right), slab)
    with tempfile.TemporaryDirectory() as folder:
        space = team.space(factory(folder), AREA, margin=0.01)
    start, goal = (
        team.configuration({"left": (x, y - 1.45, np.pi / 2), "right": (x, y + 1.45, -np.pi / 2)}, (x, y, 1.0, np.pi / 2, 0, 0))
        for x, y in ((-4.4, -0.6), (4.4, -0.6))
    )
    return team, space, start, goal


def hits(found: FoundWay) -> int:
    """Overlaps of a path sampled every 5 mm, by coal, and samples out of reach."""
    team, space, _, _ = problem()
    assert found.path is not None
    Q = found.path.dense(0.005)
    return int((space.world.check(Q).clearance < 0.0).sum() + (~team.reaches(Q)).sum())


def bench_first_path() -> dict[str, float]:
    _, space, start, goal = problem()
    find(space, start, goal, seed=0, smooth=False)  # compiles
    times, hit = [], 0
    for seed in range(SEEDS):
        begun = time.perf_counter()
        found = find(space, start, goal, seed=seed, smooth=False)
        times.append(time.perf_counter() - begun)
        if not found.outcome.ok:
            raise AssertionError(f"seed {seed}: {found.outcome}")
        hit += hits(found)
    proof, tuned, samples = ompl_times(), ompl_times(stride=1.0), ompl_times(discrete=True, seeds=5)
    return {
        "roadmap.first_path_us": 1e6 * float(np.median(times)),
        "roadmap.first_path_worst_us": 1e6 * max(times),
        "roadmap.hits_count": float(hit),
        "roadmap.one_count": 1.0,
        "ompl.first_path_us": 1e6 * float(np.median(proof)),
        "ompl.first_path_tuned_us": 1e6 * float(np.median(tuned)),
        "ompl.first_path_5mm_us": 1e6 * float(np.median(samples)),
    }


def ompl_times(
    *, discrete: bool = False, stride: float = 0.0, seeds: int = SEEDS, seconds: float = 10.0,
    of: tuple[FreeSpace, Array, Array] | None = None,
) -> list[float]:  # fmt: skip
    """RRTConnect on the same variables, bounds, metric and checker; OMPL's Python has no way to hand in a sampler.

    A stride of 0 is OMPL's own choice.
    """
    from ompl import base, geometric, util

    util.setLogLevel(util.LogLevel.LOG_NONE)
    space, start, goal = of or problem()[1:]
    n, w = space.n, space.weights

    class Proof(base.MotionValidator):  # type: ignore[misc]
        def checkMotion(self, a: Any, b: Any, *_: Any) -> bool:
            return space.sees(plain(a), plain(b))

    def plain(state: Any) -> Array:
        return np.asarray(np.array([state[k] for k in range(n)]) / w)

    out = []
    for seed in range(seeds):
        util.RNG.setSeed(seed + 1)
        scaled, bounds = base.RealVectorStateSpace(n), base.RealVectorBounds(n)
        for k in range(n):
            bounds.setLow(k, float(space.lower[k] * w[k]))
            bounds.setHigh(k, float(space.upper[k] * w[k]))
        scaled.setBounds(bounds)
        setup = geometric.SimpleSetup(scaled)
        about = setup.getSpaceInformation()
        setup.setStateValidityChecker(lambda state: bool(space.free(plain(state)[None])[0]))
        about.setStateValidityCheckingResolution(0.005 / about.getMaximumExtent() if discrete else 0.01)
        validator = Proof(about)
        if not discrete:
            about.setMotionValidator(validator)
        ends = []
        for q in (start, goal):
            state = scaled.allocState()
            for k in range(n):
                state[k] = float(space.configuration(q, "end")[k] * w[k])
            ends.append(state)
        setup.setStartAndGoalStates(*ends)
        planner = geometric.RRTConnect(about)
        if stride:
            planner.setRange(stride)
        setup.setPlanner(planner)
        setup.setup()
        begun = time.perf_counter()
        setup.solve(seconds)
        out.append(time.perf_counter() - begun if setup.haveExactSolutionPath() else seconds)
    return out


def bench_queries() -> dict[str, float]:
    _, space, start, goal = problem()
    roadmap = Roadmap(space)
    begun = time.perf_counter()
    learn(roadmap, seed=0, failures=400, guards=150, seconds=60.0)
    find(space, start, goal, roadmap=roadmap, smooth=False)
    learnt = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        roadmap.save(Path(folder) / "factory.npz")
        back = load(Path(folder) / "factory.npz", space)
    if back.search(start, goal) is None:
        raise AssertionError("the saved roadmap has forgotten its path")
    rng, times, answered = np.random.default_rng(7), [], 0
    for _ in range(20):
        a, b = space.free_sample(rng), space.free_sample(rng)
        assert a is not None
        assert b is not None
        begun = time.perf_counter()
        path = back.search(a, b)
        times.append(time.perf_counter() - begun)
        answered += path is not None
    return {
        "roadmap.second_query_us": best_of(lambda: back.search(start, goal), repeat=5, number=1),
        "roadmap.new_query_us": 1e6 * float(np.median(times)),
        "roadmap.new_query_answered_share": answered / len(times),
        "roadmap.fifty_milliseconds_us": 5e4,
        "roadmap.learn_us": 1e6 * learnt,
    }


def bench_samples() -> dict[str, float]:
    _, space, _, _ = problem()
    rng = np.random.default_rng(0)
    Q = space.sample(rng, 20_000)
    free = Q[space.free(Q)]
    naive = space.free(rng.uniform(space.lower, space.upper, (200_000, space.n)))
    curves = [space.curve(q, q + 0.2 * rng.normal(size=space.n)) for q in free[:200]]
    return {
        "roadmap.valid_share": len(free) / len(Q),
        "roadmap.valid_naive_share": float(naive.mean()),
        "roadmap.edge_us": best_of(lambda: [space.free_along(curve) for curve in curves], repeat=5, number=1) / len(curves),
    }
