"""Visibility roadmaps: few nodes that cover much space (Siméon, Laumond and Nissoux, 2000).

One configuration sees another if the curve between them is free. A free sample that no guard sees becomes a guard. One that sees
guards of several components becomes a connector and joins them. Any other is dropped. After many samples in a row without a new
guard, the roadmap most likely covers the free space.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.clock import worked
from bunraku.outcome import STOPPED, Outcome
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND, NO_FREE_SAMPLE
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Learning:
    """What was added to the roadmap, and the outcome."""

    samples: int
    """Number of free samples drawn."""
    guards: int
    connectors: int
    components: int
    failures: int
    """Number of free samples in a row that some guard saw."""
    outcome: Outcome = BUDGET_SPENT

    @property
    def covered(self) -> float:
        """An estimate of the share of the free space that the guards see: 1 − 1/failures."""
        return 1.0 - 1.0 / max(self.failures, 1)


def learn(
    roadmap: Roadmap, *, seed: int = 0, failures: int = 150, guards: int = 400, seconds: float = np.inf, looks: int = 16,
    progress: Listener | None = None,
) -> Learning:  # fmt: skip
    """Adds guards and connectors to a `roadmap`, in place.

    roadmap: the roadmap.
    seed: of the random samples. The same seed extends the same roadmap in the same way; with less time, by fewer of the same nodes.
    failures: learning ends after this number of free samples in a row that some guard saw.
    guards: learning ends when the roadmap has this number of guards.
    seconds: budget of processor time [s].
    looks: each sample is checked against this number of nearest guards in each component, and against looks² in total.
    progress: called with the state of learning.
    Returns what was added and the outcome. Ctrl-C ends learning and keeps what was added.
    """
    space, begun = roadmap.space, worked()
    rng = np.random.default_rng([seed, len(roadmap)])
    samples = row = connectors = 0

    def state(outcome: Outcome) -> Learning:
        parts = len(set(roadmap.component.tolist())) if len(roadmap) else 0
        return Learning(samples, len(roadmap.guards), connectors, parts, row, outcome)

    try:
        while row < failures and len(roadmap.guards) < guards:
            if worked() - begun > seconds:
                return state(BUDGET_SPENT)
            q = space.free_sample(rng)
            if q is None:
                return state(NO_FREE_SAMPLE)
            samples += 1
            seen = _seen_guards(roadmap, q, looks)
            row = 0 if not seen else row + 1
            if len(seen) != 1:
                node = roadmap.add_node(q, guard=not seen)
                for guard in seen:
                    roadmap.add_edge(node, guard)
                connectors += bool(seen)
            if progress is not None:
                done = max(row / failures, len(roadmap.guards) / guards)
                progress(Progress("roadmap", min(done, 1.0), f"{len(roadmap.guards)} guards, {connectors} connectors"))
    except KeyboardInterrupt:
        return state(STOPPED)
    return state(FOUND)


def _seen_guards(roadmap: Roadmap, q: Array, looks: int) -> list[int]:
    """The nearest guard that q sees in each component."""
    guards = roadmap.guards
    if not len(guards):
        return []
    space, label = roadmap.space, roadmap.component
    away = space.distances(q, roadmap.nodes[guards])
    seen: dict[int, int] = {}
    looked: dict[int, int] = {}
    for guard in guards[np.argsort(away, kind="stable")[: looks * looks]].tolist():
        component = int(label[guard])
        if component in seen or looked.get(component, 0) >= looks:
            continue
        looked[component] = looked.get(component, 0) + 1
        if space.sees(q, roadmap.nodes[guard]):
            seen[component] = guard
    return list(seen.values())
