"""RRT-Connect: two trees, from the start and from the goal, that grow toward each other (Kuffner and LaValle, 2000)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision.way_curve import WayCurve
from bunraku.kernels.clock import worked
from bunraku.outcome import STOPPED, Outcome
from bunraku.planning.planning_outcomes import BUDGET_SPENT, FOUND
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path
from bunraku.planning.ways.steer import length, reversed_curve
from bunraku.planning.ways.straight_trees import GROWTH, grow
from bunraku.progress import Listener, Progress

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ConnectOptions:
    """Numbers that tune two trees that grow toward each other."""

    stride: float = 1.5
    """Maximum length of a new branch [weighted m]."""
    batch: int = 32
    """Targets between two checks of the clock."""
    look: float = 0.4
    """Initial distance between the samples at which a straight branch is checked before it is proven [weighted m]."""
    varied: float = 0.75
    """Share of the targets that are variations of nodes, where the space has such."""
    finest: float = 0.02
    """Smallest such distance; the distance is halved whenever a proof fails [weighted m]."""


@dataclass
class WayTree:
    """Configurations, each joined to its parent by a curve."""

    space: FreeSpace
    Q: Array
    parent: NDArray[np.int64]
    count: int = 1
    curves: dict[int, WayCurve] = field(default_factory=dict)
    """The curve from its parent, by node; nodes without one are joined by the steered curve."""

    @property
    def nodes(self) -> Array:
        """Configurations (n, n_q), the root first."""
        return self.Q[: self.count]

    def __len__(self) -> int:
        return self.count

    def make_room(self) -> None:
        """Doubles the capacity."""
        self.Q = np.concatenate([self.Q, np.empty_like(self.Q)])
        self.parent = np.concatenate([self.parent, np.empty_like(self.parent)])

    def add(self, parent: int, curve: WayCurve) -> int:
        """Adds the end of a free `curve` from node `parent` as a node, and returns its index."""
        n = self.count
        if n == len(self.Q):
            self.make_room()
        self.Q[n], self.parent[n], self.curves[n] = curve.Q[-1], parent, curve
        self.count += 1
        return n

    def branch(self, k: int) -> list[WayCurve]:
        """Curves from the root to node `k`."""
        out: list[WayCurve] = []
        while k > 0:
            parent = int(self.parent[k])
            out.append(self.curves[k] if k in self.curves else self.space.curve(self.Q[parent], self.Q[k]))
            k = parent
        return out[::-1]


def _tree_at(space: FreeSpace, q: Array) -> WayTree:
    Q, parent = np.empty((512, len(q))), np.full(512, -1, np.int64)
    Q[0] = q
    return WayTree(space, Q, parent)


@dataclass(frozen=True, eq=False)
class Growth:
    """Two trees, and the path between their roots if they met."""

    outcome: Outcome
    path: Path | None
    trees: tuple[WayTree, WayTree]
    seconds: float

    __repr__ = brief

    @property
    def nodes(self) -> int:
        """Number of nodes of both trees."""
        return len(self.trees[0]) + len(self.trees[1])


def connect(
    space: FreeSpace, start: Array, goal: Array, *, seed: int = 0, seconds: float = 10.0, nodes: int = 100_000,
    targets: float = math.inf, options: ConnectOptions = ConnectOptions(), progress: Listener | None = None,
) -> Growth:  # fmt: skip
    """A path between two free configurations, found by two trees.

    space: the free space.
    start, goal: free configurations (n_q,).
    seed: seed of the random targets.
    seconds: budget of processor time [s].
    nodes: maximum number of nodes of both trees together.
    targets: maximum number of random targets; in narrow places, most of them add no node.
    options: numbers that tune the trees.
    progress: called with the state of the trees after every batch of targets.
    Returns the trees and the path, every curve of which is proven free; without a path, the outcome says why. Ctrl-C ends the
    search and keeps the trees.
    """
    rng = np.random.default_rng(seed)
    trees = (_tree_at(space, start), _tree_at(space, goal))
    turns = _StraightGrowth(space, options).turns if space.steering.straight else _steered
    stride = options.stride
    turns(space, trees, np.empty((0, space.n)), stride, 0)  # compiles kernels before the clock starts
    begun, spent = time.perf_counter(), worked()  # processor time, so that other processes do not shorten the search

    def ended(outcome: Outcome, path: Path | None = None) -> Growth:
        return Growth(outcome, path, trees, time.perf_counter() - begun)

    here, draw, drawn = 0, _Targets(space, trees, rng, options), 0
    try:
        while len(trees[0]) + len(trees[1]) < nodes and drawn < targets and worked() - spent < seconds:
            met, here = turns(space, trees, draw(here), stride, here)
            drawn += options.batch
            if met is not None:
                return ended(FOUND, _joined(space, trees, *met))
            if progress is not None:
                progress(Progress("trees", min((worked() - spent) / seconds, 1.0), f"{len(trees[0]) + len(trees[1]):,} nodes"))
    except KeyboardInterrupt:
        return ended(STOPPED)
    return ended(BUDGET_SPENT)


class _Targets:
    """Random configurations to grow toward; some are variations of nodes of the tree whose turn it will be."""

    def __init__(self, space: FreeSpace, trees: tuple[WayTree, WayTree], rng: np.random.Generator, options: ConnectOptions) -> None:
        self.space, self.trees, self.rng, self.options = space, trees, rng, options
        self.cells: tuple[dict[tuple[int, ...], list[int]], ...] = ({}, {})
        self.sorted = [0, 0]

    def __call__(self, here: int) -> Array:
        out = self.space.sample(self.rng, self.options.batch)
        if self.space.vary is None:
            return out
        own = np.flatnonzero(self.rng.random(len(out)) < self.options.varied)
        nodes = np.array([self._node((here + k) % 2) for k in own.tolist()]).reshape(len(own), self.space.n)
        alive = np.abs(nodes).max(1, initial=0.0) < 1e20  # others were dropped
        if alive.any():
            out[own[alive]] = self.space.vary(self.rng, nodes[alive])
        return out

    def _node(self, which: int) -> Array:
        """A node of a tree: first a cell is drawn, then one of its nodes, so that crowded places are not drawn more often."""
        tree = self.trees[which]
        if self.space.cells is None:
            return np.asarray(tree.Q[self.rng.integers(len(tree))])
        cells, first = self.cells[which], self.sorted[which]
        if first < len(tree):
            for k, cell in enumerate(self.space.cells(tree.Q[first : len(tree)]).tolist(), first):
                cells.setdefault(tuple(cell), []).append(k)
            self.sorted[which] = len(tree)
        own = list(cells.values())[self.rng.integers(len(cells))]
        return np.asarray(tree.Q[own[self.rng.integers(len(own))]])


class _StraightGrowth:
    """Grows straight branches with one kernel call for all targets. Branches are only sampled; those of a path are then proven."""

    def __init__(self, space: FreeSpace, options: ConnectOptions) -> None:
        self.space, self.look, self.finest = space, options.look, options.finest
        self.proven: tuple[set[int], set[int]] = (set(), set())

    def turns(
        self, space: FreeSpace, trees: tuple[WayTree, WayTree], targets: Array, stride: float, here: int
    ) -> tuple[tuple[int, int] | None, int]:
        ways, counts, ends = space.ways, np.array([len(tree) for tree in trees]), np.empty(2, np.int64)
        while True:
            lists = (trees[0].Q, trees[0].parent, trees[1].Q, trees[1].parent)
            status, here = grow(
                space.world.flat, ways.bodies, ways.flat_links, ways.margin, space.metric, lists, counts,
                np.ascontiguousarray(targets), stride, self.look, here, ends,
            )  # fmt: skip
            for tree, count in zip(trees, counts.tolist(), strict=True):
                tree.count = count
            if status == GROWTH.full:
                for tree in trees:
                    if tree.count == len(tree.Q):
                        tree.make_room()
                continue
            if status != GROWTH.met:
                return None, here
            if all(self._prove(tree, int(k), known) for tree, k, known in zip(trees, ends, self.proven, strict=True)):
                return (int(ends[0]), int(ends[1])), here
            self.look = max(0.5 * self.look, self.finest)
            return None, here

    def _prove(self, tree: WayTree, k: int, known: set[int]) -> bool:
        """Whether every curve from the root to a node is free; if one is not, all nodes that grew from it are dropped."""
        chain = []
        while k > 0:
            chain.append(k)
            k = int(tree.parent[k])
        for node in chain[::-1]:
            if node in known:
                continue
            if not self.space.sees(tree.Q[tree.parent[node]], tree.Q[node]):
                dead = np.zeros(len(tree), np.bool_)
                dead[node] = True
                for child in range(node + 1, len(tree)):
                    dead[child] = dead[tree.parent[child]]
                tree.nodes[dead] = 1e30  # far from everything, so never a nearest node
                return False
            known.add(node)
        return True


def _steered(
    space: FreeSpace, trees: tuple[WayTree, WayTree], targets: Array, stride: float, here: int
) -> tuple[tuple[int, int] | None, int]:
    """Grows branches of arbitrary curves, one target at a time."""
    free = space.free(targets)
    for target, reachable in zip(targets, free.tolist(), strict=True):
        near = int(np.argmin(space.distances(target, trees[here].nodes)))
        if not reachable and float(space.distances(target, trees[here].Q[near][None])[0]) < stride:
            here = 1 - here
            continue
        reached = _extend(space, trees[here], target, stride, near, exactly=False)
        if reached is not None:
            met = _reach(space, trees[1 - here], trees[here].Q[reached], stride)
            if met is not None:
                return ((reached, met) if here == 0 else (met, reached)), here
        here = 1 - here
    return None, here


def _extend(space: FreeSpace, tree: WayTree, target: Array, stride: float, near: int = -1, *, exactly: bool = True) -> int | None:
    """Grows one stride toward the target, or `exactly` to it if it is near; returns the new node, None if the curve is not free."""
    if near < 0:
        near = int(np.argmin(space.distances(target, tree.nodes)))
    curve = space.curve(tree.Q[near], target) if exactly else space.steering.toward(tree.Q[near], target)
    size = length(curve, space.weights)
    if size < 1e-9:
        return near
    if size > stride:
        curve = space.steering.cut(curve, stride / size)
    return tree.add(near, curve) if space.free_along(curve) else None


def _reach(space: FreeSpace, tree: WayTree, target: Array, stride: float) -> int | None:
    """Grows strides toward the target until it is reached or something is in the way; returns the target's node, or None."""
    near = int(np.argmin(space.distances(target, tree.nodes)))
    while True:
        reached = _extend(space, tree, target, stride, near)
        if reached is None:
            return None
        if float(space.distances(target, tree.Q[reached][None])[0]) < 1e-9:
            return reached
        near = reached


def _joined(space: FreeSpace, trees: tuple[WayTree, WayTree], a: int, b: int) -> Path:
    """The path from root to root through nodes a and b, where the trees met."""
    back = [reversed_curve(curve) for curve in trees[1].branch(b)[::-1]]
    return Path(space, tuple(trees[0].branch(a) + back))
