"""RRT-Connect: two trees, from the start and from the goal, that grow toward each other (Kuffner and LaValle, 2000)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.sweep import Curve
from bunraku.planning.freespace import FreeSpace
from bunraku.planning.path import Path
from bunraku.planning.steer import length, reversed_curve, samples
from bunraku.planning.way_outcome import WayOutcome

Array = NDArray[np.float64]


@dataclass
class Tree:
    """Configurations that the root sees along curves."""

    Q: Array
    parent: list[int] = field(default_factory=lambda: [-1])
    curves: list[Curve | None] = field(default_factory=lambda: [None])
    """From the parent."""

    def __len__(self) -> int:
        return len(self.parent)

    def add(self, q: Array, parent: int, curve: Curve) -> int:
        n = len(self.parent)
        if n == len(self.Q):
            self.Q = np.concatenate([self.Q, np.empty_like(self.Q)])
        self.Q[n] = q
        self.parent.append(parent)
        self.curves.append(curve)
        return n

    def branch(self, k: int) -> list[Curve]:
        """Curves from the root to a node."""
        out: list[Curve] = []
        while (curve := self.curves[k]) is not None:
            out.append(curve)
            k = self.parent[k]
        return out[::-1]


def tree_at(q: Array) -> Tree:
    Q = np.empty((256, len(q)))
    Q[0] = q
    return Tree(Q)


@dataclass(frozen=True, eq=False)
class Growth:
    """What two trees came to."""

    outcome: WayOutcome
    path: Path | None
    trees: tuple[Tree, Tree]
    seconds: float


def connect(
    space: FreeSpace, start: Array, goal: Array, *, seed: int = 0, seconds: float = 10.0, nodes: int = 100_000, stride: float = 1.0
) -> Growth:
    """A path between two free configurations, or how far the trees got; Ctrl-C ends it.

    A branch grows by at most `stride` (weighted metres) at a time.
    """
    rng, begun = np.random.default_rng(seed), time.perf_counter()
    trees = (tree_at(start), tree_at(goal))

    def ended(outcome: WayOutcome, path: Path | None = None) -> Growth:
        return Growth(outcome, path, trees, time.perf_counter() - begun)

    direct = space.curve(start, goal)
    if space.free_along(direct):
        return ended(WayOutcome.FOUND, Path(space, (direct,)))
    here, there = 0, 1
    samples_ahead = space.sample(rng, 64)
    used = 0
    try:
        while len(trees[0]) + len(trees[1]) < nodes and time.perf_counter() - begun < seconds:
            if used == len(samples_ahead):
                samples_ahead, used = space.sample(rng, 64), 0
            target, used = samples_ahead[used], used + 1
            reached = _extend(space, trees[here], target, stride)
            if reached is not None:
                met = _reach(space, trees[there], trees[here].Q[reached], stride)
                if met is not None:
                    ends = (reached, met) if here == 0 else (met, reached)
                    return ended(WayOutcome.FOUND, _joined(space, trees, *ends))
            if len(trees[here]) > len(trees[there]) or reached is None:
                here, there = there, here
    except KeyboardInterrupt:
        return ended(WayOutcome.STOPPED)
    return ended(WayOutcome.BUDGET)


def _extend(space: FreeSpace, tree: Tree, target: Array, stride: float, near: int = -1) -> int | None:
    """One stride toward the target; the new node."""
    if near < 0:
        near = int(np.argmin(space.distances(target, tree.Q[: len(tree)])))
    q = tree.Q[near]
    curve = space.curve(q, target)
    size = length(curve, space.weights)
    if size < 1e-9:
        return near
    if size > stride:
        end = samples(curve, stride / size)
        curve = space.curve(q, end)
    else:
        end = curve.Q[-1]
    if not space.free_along(curve):
        return None
    return tree.add(end, near, curve)


def _reach(space: FreeSpace, tree: Tree, target: Array, stride: float) -> int | None:
    """Strides toward the target until it is reached, which returns its node, or until something is in the way."""
    near = int(np.argmin(space.distances(target, tree.Q[: len(tree)])))
    while True:
        reached = _extend(space, tree, target, stride, near)
        if reached is None:
            return None
        if float(space.distances(target, tree.Q[reached][None])[0]) < 1e-9:
            return reached
        near = reached


def _joined(space: FreeSpace, trees: tuple[Tree, Tree], a: int, b: int) -> Path:
    back = [reversed_curve(curve) for curve in trees[1].branch(b)[::-1]]
    return Path(space, tuple(trees[0].branch(a) + back))
