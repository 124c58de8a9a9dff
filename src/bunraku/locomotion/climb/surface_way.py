"""Plans a way over the surface of a mesh: the shortest path, at the height of the body, on which feet can stand on both sides.

Nodes are corners of the grid of distances near the level at which the body climbs. There is no such level where a passage is
narrower than the body needs, and small gaps are bridged by it. An edge between two nodes may be used if the surface is within reach
on both sides of it. The path is then pulled straight on the level.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import cKDTree

from bunraku.figure.frame import Vector
from bunraku.locomotion.climb.climb_outcomes import SurfaceOutcome
from bunraku.locomotion.climb.surface_field import SurfaceField
from bunraku.outcome import Outcome

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class WayOptions:
    """Limits of the planner, in lengths of the climber's leg."""

    drop: float = 0.45
    """How far the surface beside the body may fall away below that under it."""
    rise: float = 0.6
    """How far the surface beside the body may rise above that under it."""
    side: float = 0.8
    """Where beside the body this is looked at, as a share of the distance at which feet stand."""
    slow: float = 4.0
    """How much longer a way counts where the surface falls away or rises by as much as is allowed."""
    near: float = 1.0
    """Start and goal may be this far from the nearest place where the body fits [heights of the body]."""
    pulls: tuple[tuple[float, int], ...] = ((0.4, 150), (0.15, 150), (0.05, 60))
    """Spacings at which the path is pulled straight, one after the other, and how often."""
    around: float = 0.75
    """How far the way stays from places that it should avoid."""
    outside: float = 0.02
    """So far above start and goal must be outside of the surface."""
    probe: float = 0.3
    """A second, lower level, as a share of the body's height: where only that one is connected, a passage is too narrow."""


@dataclass(frozen=True, eq=False)
class SurfaceWay:
    """A way of the body: points (n, 3) on its level; and why it does not reach the goal, with the place, or None."""

    points: Array
    failure: Outcome | None = None
    place: Array | None = None


class LevelGraph:
    """Corners of the grid near a level of the field, and edges between neighbours, 26 to each.

    field: the distances
    height: the level [m]
    """

    def __init__(self, field: SurfaceField, height: float) -> None:
        ground, side = field.ground, field.options.side
        own = ground.values[:, :side, :side, :side]
        near = np.argwhere(np.abs(own - height) <= 0.87 * field.spacing)
        index = np.argwhere(ground.blocks >= 0)
        index = index[np.argsort(ground.blocks[tuple(index.T)])]
        cell = index[near[:, 0]] * side + near[:, 1:]
        shape = np.array(ground.blocks.shape) * side + 2
        keys = np.ravel_multi_index(tuple((cell + 1).T), tuple(shape + 2))
        order = np.argsort(keys)
        keys, cell = keys[order], cell[order]
        self.field, self.height = field, height
        self.points = field.onto_level(ground.origin + cell * field.spacing, height, 3)
        pairs: list[Array] = []
        for step in itertools.product((-1, 0, 1), repeat=3):
            if step > (0, 0, 0):
                other = (
                    keys
                    + int(np.ravel_multi_index(tuple(np.array(step) + 1), tuple(shape + 2)))
                    - int(np.ravel_multi_index((1, 1, 1), tuple(shape + 2)))
                )
                at = np.minimum(np.searchsorted(keys, other), len(keys) - 1)
                hit = np.flatnonzero(keys[at] == other)
                pairs.append(np.stack([hit, at[hit]], 1))
        self.pairs: Ints = np.concatenate(pairs).astype(np.int64)

    @cached_property
    def tree(self) -> Any:
        """Finds the node nearest to a point."""
        return cKDTree(self.points)

    def graph(self, weights: Array) -> Any:
        """The sparse matrix of the edges with finite `weights`."""
        use, n = np.isfinite(weights), len(self.points)
        return coo_array((weights[use], (self.pairs[use, 0], self.pairs[use, 1])), shape=(n, n)).tocsr()

    @cached_property
    def lengths(self) -> Array:
        """Lengths of the edges [m]."""
        a, b = (self.points[self.pairs[:, k]] for k in (0, 1))
        return np.asarray(np.maximum(np.linalg.norm(b - a, axis=1), 1e-3 * self.field.spacing))

    def footing(self, spread: float, leg: float, options: WayOptions) -> Array:
        """How much longer each edge counts because the surface falls away or rises beside it; infinite if feet cannot stand.

        spread: how far to the side feet stand [m]
        leg: length of a leg [m]
        options: how far the surface may fall away or rise
        """
        a, b = (self.points[self.pairs[:, k]] for k in (0, 1))
        middle, along = (a + b) / 2.0, b - a
        _, normal = self.field.field(middle)
        left = np.cross(normal, along)
        left *= options.side * spread / np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-12)
        worst = np.zeros(len(a))
        for side in (left, -left):
            beside = self.field.field(middle + side)[0] - self.height
            worst = np.maximum(worst, np.where(beside > 0.0, beside / (options.drop * leg), -beside / (options.rise * leg)))
        return np.where(worst <= 1.0, 1.0 + (options.slow - 1.0) * worst**2, np.inf)


def way_over(
    field: SurfaceField, start: Array, goal: Array, *, height: float, spread: float, leg: float, avoid: Sequence[Vector] = (),
    options: WayOptions = WayOptions(),
) -> SurfaceWay:  # fmt: skip
    """The way of a body over a surface.

    field: distances from the surface
    start, goal: places on the surface, or near it (3,) [m]
    height: of the body over the surface [m]
    spread: how far to the side feet stand [m]
    leg: length of a leg [m]
    avoid: places from which the way stays away [m]
    options: limits, in leg lengths

    If there is no way, the way leads to the nearest place to the goal that can be reached, and says why it ends there.
    """
    for name, spot in (("start", start), ("goal", goal)):
        _, at, normal = field.nearest(np.asarray(spot, float))
        if field.over(at + options.outside * leg * normal) < 0.0:  # on one solid, but inside another
            return SurfaceWay(np.array([start, start]), SurfaceOutcome.buried.because(f"the {name} is inside the surface"), spot)
    level = LevelGraph(field, height)
    if not len(level.points):
        return SurfaceWay(np.array([start, start]), SurfaceOutcome.narrow.because("the body fits nowhere near this surface"), start)
    ends = [_above(field, place, height) for place in (start, goal)]
    (far, beyond), (first, last) = level.tree.query(ends)
    if far > options.near * height:
        return SurfaceWay(np.array([ends[0], ends[0]]), SurfaceOutcome.narrow.because("the body does not fit at the start"), start)
    weights = level.lengths * level.footing(spread, leg, options)
    for bad in avoid:
        near = np.linalg.norm(level.points - bad, axis=1) < options.around * leg
        weights[near[level.pairs].any(1)] = np.inf
    cost, before = dijkstra(level.graph(weights), directed=False, indices=first, return_predecessors=True)
    failure, place = None, None
    if beyond > options.near * height or not np.isfinite(cost[last]):
        goal_node = int(last) if beyond <= options.near * height else None
        failure, place, near = _why_not(level, cost, int(first), goal_node, start, goal, options)
        reached = np.flatnonzero(np.isfinite(cost))
        last = reached[np.argmin(np.linalg.norm(level.points[reached] - near, axis=1))]
    nodes = _trace(before, int(first), int(last))
    return SurfaceWay(pulled(field, level.points[nodes], height, leg, options, avoid), failure, place)


def _above(field: SurfaceField, place: Array, height: float) -> Array:
    """The point at a height over the place of the surface that is nearest to a given one."""
    _, at, normal = field.nearest(np.asarray(place, float))
    return np.asarray(at + height * normal)


def _trace(before: Ints, first: int, last: int) -> list[int]:
    nodes = [last]
    while nodes[-1] != first:
        nodes.append(int(before[nodes[-1]]))
    return nodes[::-1]


def _why_not(
    level: LevelGraph, cost: Array, first: int, last: int | None, start: Array, goal: Array, options: WayOptions
) -> tuple[Outcome, Array, Array]:  # fmt: skip
    """Why no way leads from node `first` to node `last` (None: the body does not fit there), where, and how far one gets."""
    free = level.graph(level.lengths)
    found, before = dijkstra(free, directed=False, indices=first, return_predecessors=True)
    if last is not None and np.isfinite(found[last]):  # the body would fit, but feet would not stand
        nodes = _trace(before, first, last)
        k = next(k for k, node in enumerate(nodes) if not np.isfinite(cost[node]))
        return SurfaceOutcome.footing, level.points[nodes[k]], level.points[nodes[max(k - 1, 0)]]
    low = LevelGraph(level.field, options.probe * level.height)
    a, b = (int(low.tree.query(_above(level.field, place, low.height))[1]) for place in (start, goal))
    found, before = dijkstra(low.graph(low.lengths), directed=False, indices=a, return_predecessors=True)
    if np.isfinite(found[b]):  # a lower body would fit
        points = low.points[_trace(before, a, b)]
        away, node = level.tree.query(points)
        lost = (away > 1.5 * level.height) | ~np.isfinite(cost[node])
        k = int(np.argmax(lost)) if lost.any() else len(points) - 1
        why = f"a passage is narrower than the {2.0 * level.height:.2g} m that the body needs"
        return SurfaceOutcome.narrow.because(why), points[k], level.points[node[max(k - 1, 0)]]
    own, other = low.points[np.isfinite(found)], low.points[~np.isfinite(found)]
    apart, at = cKDTree(other).query(own)
    close = np.flatnonzero(apart <= apart.min() + level.field.spacing)  # of these, the nearest to the goal
    k = int(close[np.linalg.norm(own[close] - goal, axis=1).argmin()])
    gap = float(apart[k]) + 2.0 * low.height
    return SurfaceOutcome.gap.because(f"a gap of {gap:.2g} m"), (own[k] + other[at[k]]) / 2.0, own[k]


def pulled(
    field: SurfaceField, points: Array, height: float, leg: float, options: WayOptions, avoid: Sequence[Vector] = ()
) -> Array:  # fmt: skip
    """A path through `points` (n, 3) on a level of the field, pulled straight on it; its ends stay.

    height: the level [m]
    leg: length of a leg [m]
    options: spacings and rounds of pulling
    avoid: places from which it stays away [m]
    """
    for spacing, rounds in options.pulls:
        points = spaced(points, spacing * leg)
        for _ in range(rounds if len(points) > 2 else 0):
            points[1:-1] += 0.5 * ((points[2:] + points[:-2]) / 2.0 - points[1:-1])
            for bad in avoid:
                points[1:-1] = _outside(points[1:-1], np.asarray(bad), options.around * leg)
            points[1:-1] = field.onto_level(points[1:-1], height, 1)
    return field.onto_level(points, height)


def _outside(points: Array, centre: Array, radius: float) -> Array:
    """Points (n, 3), those inside a ball moved to its surface."""
    arm = points - centre
    far = np.maximum(np.linalg.norm(arm, axis=1, keepdims=True), 1e-9)
    return np.asarray(np.where(far < radius, centre + radius / far * arm, points))


def spaced(points: Array, spacing: float) -> Array:
    """Points about `spacing` [m] apart along the polygon through `points` (n, 3), both ends included."""
    long = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    at = np.linspace(0.0, long[-1], max(round(float(long[-1]) / spacing), 1) + 1)
    return np.stack([np.interp(at, long, points[:, k]) for k in range(3)], 1)


def continued(field: SurfaceField, x: Array, along: Array, height: float, length: float, spacing: float) -> Array:
    """Points (n, 3) `spacing` apart from `x` (3,) straight on over the surface, for a `length`, in the direction `along` (3,).

    field: distances from the surface
    height: the level on which the points are [m]
    """
    out = []
    for _ in range(int(np.ceil(length / spacing))):
        _, normal = field.field(x)
        normal = normal / max(float(np.linalg.norm(normal)), 1e-12)
        along = along - normal * float(normal @ along)
        along = along / max(float(np.linalg.norm(along)), 1e-12)
        x = field.onto_level(x + spacing * along, height, 3)
        out.append(x)
    return np.array(out)
