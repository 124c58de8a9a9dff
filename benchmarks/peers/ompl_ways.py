"""OMPL's geometric planners on the free space of an errand, with our steering and our proof of every edge.

Their states are configurations, scaled by the weights of our metric. Edges are the steered curves that our own trees have, and are
checked by the same proof. PRM* and BKPIECE draw their configurations with our sampler and our variations; OMPL's Python has no way
to give RRTConnect another sampler than the uniform one.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.planning.ways.free_space import FreeSpace

Array = NDArray[np.float64]
PLANNERS = {"RRTConnect": "RRTConnect", "BKPIECE": "BKPIECE1", "PRM*": "PRMstar"}


def ways_by_ompl(
    space: FreeSpace, start: Array, goal: Array, planner: str, *, seed: int = 0, seconds: float = 10.0, patience: float = 2.0
) -> float:  # fmt: skip
    """Processor time until the first path between two configurations [s]; infinite if there is none after so many `seconds`.

    OMPL stops by the clock on the wall: after `patience` times as long, because the machine may be busy.
    """
    try:
        from ompl import base, geometric, util
    except ImportError:
        raise MissingExtra("ompl", "ompl", "a planner of OMPL") from None
    util.setLogLevel(util.LogLevel.LOG_NONE)
    util.RNG.setSeed(seed + 1)
    n, w, rng = space.n, space.weights, np.random.default_rng(seed)

    def plain(state: Any) -> Array:
        return np.asarray(np.array([state[k] for k in range(n)]) / w)

    def write(state: Any, q: Array) -> None:
        for k, value in enumerate((space.configuration(q, "a state") * w).tolist()):
            state[k] = value

    class Proof(base.MotionValidator):  # type: ignore[misc]
        """An edge is free if the steered curve is proven free."""

        def checkMotion(self, a: Any, b: Any, *_: Any) -> bool:
            return space.sees(plain(a), plain(b))

    class Ours(base.ValidStateSampler):  # type: ignore[misc]
        """Our sampler, and near a state our variations, if the space has such."""

        def sample(self, state: Any) -> bool:
            q = space.free_sample(rng, tries=1024)
            if q is not None:
                write(state, q)
            return q is not None

        def sampleNear(self, state: Any, near: Any, distance: float) -> bool:
            Q = np.repeat(plain(near)[None], 16, 0)
            Q = space.vary(rng, Q) if space.vary is not None else Q + rng.uniform(-distance, distance, Q.shape) / w
            free = space.free(Q)
            if free.any():
                write(state, Q[int(free.argmax())])
            return bool(free.any())

    scaled, bounds = base.RealVectorStateSpace(n), base.RealVectorBounds(n)
    for k in range(n):
        bounds.setLow(k, float(space.lower[k] * w[k]))
        bounds.setHigh(k, float(space.upper[k] * w[k]))
    scaled.setBounds(bounds)
    setup = geometric.SimpleSetup(scaled)
    about = setup.getSpaceInformation()
    setup.setStateValidityChecker(lambda state: bool(space.free(plain(state)[None])[0]))
    proof = Proof(about)
    about.setMotionValidator(proof)
    about.setValidStateSamplerAllocator(Ours)
    ends = [scaled.allocState() for _ in range(2)]
    for state, q in zip(ends, (start, goal), strict=True):
        write(state, q)
    setup.setStartAndGoalStates(*ends)
    chosen = getattr(geometric, PLANNERS[planner])(about)
    if hasattr(chosen, "setProjectionEvaluator"):  # a grid over the place of the first who moves, half a metre wide
        widths = [0.5 * float(w[k]) for k in (0, 1)]
        chosen.setProjectionEvaluator(base.RealVectorOrthogonalProjectionEvaluator(scaled, widths, [0, 1]))
    setup.setPlanner(chosen)
    objective = base.PathLengthOptimizationObjective(about)
    objective.setCostThreshold(objective.infiniteCost())  # PRM*, too, ends with the first path
    setup.setOptimizationObjective(objective)
    setup.setup()
    begun = time.process_time()
    setup.solve(patience * seconds)  # of the clock on the wall: PRM* has two threads, and would wait for Python for ever
    spent = time.process_time() - begun
    return spent if setup.haveExactSolutionPath() and spent <= seconds else float("inf")
