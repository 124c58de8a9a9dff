"""Terrain: the height of the ground, as a grid; and how agents that roll and walk on it are tied to it.

    terrain = Terrain.of(scene, ("ramp", "platform"), area)
    team = Team(agents, carried, terrain=terrain)

Height, pitch and roll of an agent follow from where it stands. They are variables of the reduced team nevertheless: a curve has
their true values at its knots and changes them evenly between. So what is proven free is exactly what is driven, and heights and
slopes are off those of the ground by no more than `TiedOptions.tolerance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.collision.triangle_meshes import load
from bunraku.collision.way_curve import WayCurve
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.shape import Box, Mesh
from bunraku.planning.ways.steer import Planar, Steering, length, samples
from bunraku.scene import Heightfield, Obstacle, Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
Area = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Terrain:
    """The height of the ground on a grid; beyond the grid it is as high as at its rim."""

    corner: tuple[float, float]
    """The place of the first height [m]."""
    cell: float
    """From one height to the next [m]."""
    grid: Array
    """Heights (ny, nx) [m]."""
    ground: tuple[str, ...] = ()
    """The obstacles that it is made of."""
    axle: float = 0.48
    """From the front to the rear wheels of what rolls on it [m]."""
    track: float = 0.55
    """From the left to the right wheels [m]."""

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.grid.ndim != 2 or min(self.grid.shape) < 2 or not np.isfinite(self.grid).all() or not self.cell > 0.0:
            raise BunrakuError(
                f"a terrain of {self.grid.shape} heights\n  advice: give a table of finite numbers, two or more each way"
            )

    @classmethod
    def of(cls, scene: Scene, ground: Iterable[str], area: Area, *, cell: float = 0.05) -> Terrain:
        """The upper side of the obstacles of a `scene` that `ground` names, over the floor, in an `area` [m], every `cell` [m].

        Raises BunrakuError if one is neither a box, a mesh nor a heightfield.
        """
        names = tuple(ground)
        x, y = (np.arange(low, high + cell, cell) for low, high in area)
        grid = np.full((len(y), len(x)), 0.0 if scene.floor is None else scene.floor)
        for name in names:
            for corners in _triangles(scene.obstacle(name)):
                _raise(grid, x, y, corners)
        return cls((float(x[0]), float(y[0])), cell, grid, names)

    @cached_property
    def span(self) -> tuple[float, float]:
        """The lowest and the highest height [m]."""
        return float(self.grid.min()), float(self.grid.max())

    @cached_property
    def steepest(self) -> float:
        """The largest slope: the heights of two points differ by no more than this times their distance."""
        x, y = (np.abs(np.diff(self.grid, axis=axis)).max() / self.cell for axis in (1, 0))
        return float(np.hypot(x, y))

    def heights(self, points: ArrayLike) -> Array:
        """The heights (…) [m] of `points` (…, 2) [m], bilinear between those of the grid."""
        P = np.asarray(points, float)
        u, v = ((P[..., k] - self.corner[k]) / self.cell for k in range(2))
        ny, nx = self.grid.shape
        u, v = np.clip(u, 0.0, nx - 1.0), np.clip(v, 0.0, ny - 1.0)
        i, j = np.minimum(u.astype(int), nx - 2), np.minimum(v.astype(int), ny - 2)
        a, b = u - i, v - j
        low = (1.0 - a) * self.grid[j, i] + a * self.grid[j, i + 1]
        high = (1.0 - a) * self.grid[j + 1, i] + a * self.grid[j + 1, i + 1]
        return np.asarray((1.0 - b) * low + b * high)

    def stand(self, base: ArrayLike) -> Array:
        """(height [m], pitch, roll [rad]) (…, 3) of what stands on four wheels at `base` (…, 3) (x, y [m], heading [rad])."""
        B = np.asarray(base, float)
        c, s = np.cos(B[..., 2]), np.sin(B[..., 2])
        ahead, left = 0.5 * self.axle * np.stack([c, s], -1), 0.5 * self.track * np.stack([-s, c], -1)
        feet = [self.heights(B[..., :2] + a * ahead + b * left) for a in (1, -1) for b in (1, -1)]
        rise = (feet[0] + feet[1] - feet[2] - feet[3]) / (2.0 * self.axle)
        lean = (feet[0] - feet[1] + feet[2] - feet[3]) / (2.0 * self.track)
        pitch = -np.arctan(rise)
        twist = np.abs(feet[0] - feet[1] - feet[2] + feet[3]) / 4.0  # where slopes meet, two stand and two are in the air
        return np.stack([sum(feet) / 4.0 + twist, pitch, np.arctan(lean * np.cos(pitch))], -1)


@dataclass(frozen=True)
class TiedOptions:
    """How closely curves follow the ground."""

    tolerance: float = 5e-3
    """Heights and slopes along a curve may be this far off those of the ground, between knots [m and rad]."""
    spacing: float = 0.08
    """From one knot to the next [weighted m]."""


class Tied(Steering):
    """Curves of a `figure` whose tied variables follow the others.

    `parts` steer the others. `tie` maps configurations (T, n) to the same with tied variables set. `weights` (n,) measure lengths.
    `options` say how closely curves follow.
    """

    def __init__(
        self,
        figure: Figure,
        *parts: Planar,
        tie: Callable[[Array], Array],
        weights: Array,
        options: TiedOptions = TiedOptions(),
    ) -> None:
        super().__init__(figure, *parts)
        self._tie, self._weights, self.options = tie, weights, options

    @property
    def straight(self) -> bool:
        """Curves bend with the ground."""
        return False

    def tied(self, Q: Array) -> Array:
        """Configurations `Q` (T, n) with their tied variables set."""
        return self._tie(Q)

    def curve(self, q_a: Array, q_b: Array) -> WayCurve:
        """From `q_a` to `q_b`."""
        free = super().curve(q_a, q_b)
        count = max(int(np.ceil(length(free, self._weights) / self.options.spacing)), 1) + 1
        knots = np.union1d(free.knots, np.linspace(0.0, 1.0, count))
        if len(knots) == 2:
            return WayCurve(self._ends(free), free.knots, free.bends, free.control)
        along = samples(free, knots)
        Q = self._tie(along)
        for k, control in zip(free.bends, free.control, strict=True):  # what bends is told by its control points
            del control
            Q[:, k[:3]] = np.stack([np.interp(knots, free.knots, free.Q[:, i]) for i in k[:3]], 1)
        if len(free.knots) == 2:
            even = Q[0] + knots[:, None] * (Q[-1] - Q[0])
            if np.abs(Q - even).max() < 0.1 * self.options.tolerance:  # level ground, or one slope: two knots are enough
                knots, Q = free.knots, Q[[0, -1]]
        return WayCurve(np.ascontiguousarray(Q), knots, free.bends, free.control)

    def _ends(self, curve: WayCurve) -> Array:
        """Both ends, tied."""
        return np.ascontiguousarray(self._tie(curve.Q))


def _triangles(obstacle: Obstacle) -> Array:
    """Of an obstacle in the world (n, 3, 3), those that look up."""
    geometry: Any = obstacle.geometry
    if isinstance(geometry, Mesh):
        surface = load(geometry)
        vertices, faces = np.asarray(surface.vertices), np.asarray(surface.faces)
    elif isinstance(geometry, Box):
        import trimesh

        made: Any = trimesh.creation.box(geometry.size)
        vertices, faces = np.asarray(made.vertices), np.asarray(made.faces)
    elif isinstance(geometry, Heightfield):
        vertices, faces = geometry.vertices, geometry.faces
    else:
        raise BunrakuError(f"{obstacle.name} cannot be ground\n  advice: make ground of boxes, meshes and heightfields")
    X = se3.pose(obstacle.position, obstacle.rotation)
    corners = (vertices @ X[:3, :3].T + X[:3, 3])[faces]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    return np.asarray(corners[up > 1e-12])


def _raise(grid: Array, x: Array, y: Array, corners: Array) -> None:
    """Lifts the points of the grid under a triangle to it."""
    low, high = corners[:, :2].min(0) - 1e-9, corners[:, :2].max(0) + 1e-9
    i, j = np.flatnonzero((x >= low[0]) & (x <= high[0])), np.flatnonzero((y >= low[1]) & (y <= high[1]))
    if not len(i) or not len(j):
        return
    u, v = corners[1] - corners[0], corners[2] - corners[0]
    area = u[0] * v[1] - u[1] * v[0]
    X, Y = np.meshgrid(x[i] - corners[0, 0], y[j] - corners[0, 1])
    a, b = (X * v[1] - Y * v[0]) / area, (Y * u[0] - X * u[1]) / area
    inside = (a >= -1e-9) & (b >= -1e-9) & (a + b <= 1.0 + 1e-9)
    z = np.where(inside, corners[0, 2] + a * u[2] + b * v[2], -np.inf)
    block = np.ix_(j, i)
    grid[block] = np.maximum(grid[block], z)
