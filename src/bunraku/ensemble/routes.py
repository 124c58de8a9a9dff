"""Routes: ways of a point from start to goal through the middle of passages, along which a team is worth trying.

A map on the floor has the distance of a vertical segment from everything around it. A route is the cheapest way in this map, where
narrow places cost more than wide ones. A second route keeps away from the first, because the team may be too wide for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d, label
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from bunraku.collision import World
from bunraku.collision.pair_rows import rows
from bunraku.collision.world_arrays import MODE
from bunraku.ensemble.team import Area
from bunraku.figure.build import Attached, figure, tx, ty
from bunraku.figure.shape import Capsule, Shape
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RouteOptions:
    """Numbers that tune the search for routes."""

    spacing: float = 0.1
    """Distance between points of the map [m]; larger in large areas."""
    points: int = 30_000
    """Largest number of points of the map."""
    wide: float = 0.6
    """Where the nearest obstacle is as far as this, a metre costs twice as much as in the open [m]."""
    narrow: float = 0.05
    """Routes do not pass where an obstacle is nearer than this [m]."""
    count: int = 2
    """Number of routes."""
    apart: float = 0.8
    """A metre of another route that is nearer than this to one before costs `again` times as much [m]."""
    again: float = 4.0
    """See `apart`."""
    smooth: float = 0.2
    """Standard deviation of the Gaussian that smooths routes [m]."""


def routes(
    scene: Scene, area: Area, start: Array, goal: Array, heights: tuple[float, float], *, options: RouteOptions = RouteOptions()
) -> tuple[Array, ...]:  # fmt: skip
    """Routes in a `scene` from `start` to `goal` (x, y), each (n, 3): x, y [m] and the direction there [rad], every 5 cm.

    area: bounds of the map, ((x_low, x_high), (y_low, y_high)) [m]
    heights: lower and upper end of the vertical segment that moves [m]
    options: numbers that tune the search

    Fewer than asked for, or none, if there is no way.
    """
    size = [high - low for low, high in area]
    step = max(options.spacing, float(np.sqrt(size[0] * size[1] / options.points)))
    x, y = (np.arange(low, high + step, step) for low, high in area)
    places = np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)
    clear = _clearances(scene, places, heights)
    cost = 1.0 + (options.wide / np.maximum(clear, 1e-3)) ** 2
    cost[clear < options.narrow] = np.inf
    ends = [int(np.argmin(np.linalg.norm(places - end[:2], axis=1))) for end in (start, goal)]
    out: list[Array] = []
    for _ in range(options.count):
        way = _cheapest((len(x), len(y)), step, cost, *ends)
        if way is None:
            break
        points = np.concatenate([start[None, :2], places[way[1:-1]], goal[None, :2]])
        out.append(_smoothed(points, options.smooth))
        near = np.zeros(len(places), np.bool_)
        for point in out[-1][::4, :2]:
            near |= np.linalg.norm(places - point, axis=1) < options.apart
        cost[near] *= options.again
    return tuple(out)


@dataclass(frozen=True, eq=False)
class FloorRegions:
    """Which places of an area are connected, for an upright body: a map of numbers, 0 where it does not fit."""

    corner: Array
    step: float
    number: NDArray[np.int32]

    def at(self, places: Array) -> NDArray[np.int32]:
        """The number of the region of each of `places` (n, 2) [m]; 0 outside of the map, and where the body does not fit."""
        k = np.rint((places - self.corner) / self.step).astype(int)
        inside = ((k >= 0) & (k < self.number.shape)).all(1)
        out = np.zeros(len(places), np.int32)
        out[inside] = self.number[tuple(k[inside].T)]
        return out


def regions(scene: Scene, area: Area, heights: tuple[float, float], narrow: float, *, step: float = 0.1) -> FloorRegions:
    """The connected regions of an `area` in a `scene`, for a body between two `heights` [m] whose half width is `narrow` [m].

    step: distance between points of the map [m]
    """
    x, y = (np.arange(low, high + step, step) for low, high in area)
    places = np.stack(np.meshgrid(x, y, indexing="ij"), -1).reshape(-1, 2)
    clear = _clearances(scene, places, heights).reshape(len(x), len(y))
    return FloorRegions(np.array([x[0], y[0]]), step, label(clear > narrow, np.ones((3, 3)))[0])


def _clearances(scene: Scene, places: Array, heights: tuple[float, float]) -> Array:
    """A lower bound of the distance of a vertical segment at each of the `places` (n, 2) from the scene, without the floor [m]."""
    low, high = heights
    thin = 1e-3
    probe = Shape("world", Capsule(thin, max(high - low, thin)), (0.0, 0.0, 0.5 * (low + high)), name="probe")
    world = World(figure("probe", tx("x", ty("y", Attached(shapes=(probe,))))), Scene("around", scene.obstacles, floor=None))
    out = np.full(len(places), 10.0)
    found = rows(world.flat, np.ascontiguousarray(places), within=2.0, mode=MODE.nearest)
    np.minimum.at(out, found.sample, found.value)
    return out


def _cheapest(shape: tuple[int, int], step: float, cost: Array, start: int, goal: int) -> list[int] | None:
    """The cheapest way from one point of a grid to another, by steps to its eight neighbours."""
    index = np.arange(shape[0] * shape[1]).reshape(shape)
    parts = []
    for di, dj in ((1, 0), (0, 1), (1, 1), (1, -1)):
        a = index[: shape[0] - di, max(-dj, 0) : shape[1] - max(dj, 0)].ravel()
        b = a + di * shape[1] + dj
        price = 0.5 * (cost[a] + cost[b]) * step * np.hypot(di, dj)
        ok = np.isfinite(price)
        parts.append((a[ok], b[ok], price[ok]))
    a, b, price = (np.concatenate(part) for part in zip(*parts, strict=True))
    graph = csr_matrix((price, (a, b)), shape=(len(cost), len(cost)))
    away, before = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
    if not np.isfinite(away[goal]):
        return None
    way = [goal]
    while way[-1] != start:
        way.append(int(before[way[-1]]))
    return way[::-1]


def _smoothed(points: Array, deviation: float, *, every: float = 0.05) -> Array:
    """(x, y, direction) along a polyline, smoothed, at even distances."""
    keep = np.concatenate([[True], np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9])
    points = points[keep]
    if len(points) < 2:
        return np.append(points[0], 0.0)[None]
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    s = np.linspace(0.0, along[-1], max(int(along[-1] / every), 1) + 1)
    xy = np.stack([np.interp(s, along, column) for column in points.T], 1)
    xy = gaussian_filter1d(xy, deviation / every, axis=0, mode="nearest")
    way = np.gradient(xy, axis=0)
    return np.column_stack([xy, np.arctan2(way[:, 1], way[:, 0])])
