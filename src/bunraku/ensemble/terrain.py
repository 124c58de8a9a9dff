"""Terrain: heights of the ground on a grid; and how rolling and walking agents follow it.

    terrain = Terrain.of(scene, ("ramp", "platform"), area)
    team = Team(agents, carried, terrain=terrain)

Height, pitch and roll of an agent follow from its position: they are tied. They are variables of the reduced team nevertheless: a
curve has their true values at its knots and interpolates between. So the proven curve is exactly the driven curve, and heights and
slopes differ from those of the ground by at most `TiedOptions.tolerance`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

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
    """Heights of the ground on a grid; beyond the grid, those of its rim."""

    corner: tuple[float, float]
    """Position of the first height [m]."""
    cell: float
    """Spacing of the grid [m]."""
    grid: Array
    """Heights (ny, nx) [m]."""
    ground: tuple[str, ...] = ()
    """Names of the obstacles that form it."""
    axle: float = 0.48
    """Distance between front and rear wheels of rolling agents [m]."""
    track: float = 0.55
    """Distance between left and right wheels [m]."""
    stride: float = 0.15
    """Standard deviation of the Gaussian with which people's hips follow the ground [m]."""

    __repr__ = brief

    def __post_init__(self) -> None:
        if self.grid.ndim != 2 or min(self.grid.shape) < 2 or not np.isfinite(self.grid).all() or not self.cell > 0.0:
            raise BunrakuError(
                f"a terrain of {self.grid.shape} heights\n  advice: give a table of finite numbers, at least two by two"
            )

    @classmethod
    def of(cls, scene: Scene, ground: Iterable[str], area: Area, *, cell: float = 0.05) -> Terrain:
        """The top surface of the obstacles `ground` of a `scene`, over the floor, in an `area` [m], with spacing `cell` [m].

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
        """The largest slope: heights of two points differ by at most this times their distance."""
        x, y = (np.abs(np.diff(self.grid, axis=axis)).max() / self.cell for axis in (1, 0))
        return float(np.hypot(x, y))

    def heights(self, points: ArrayLike) -> Array:
        """The heights (…) [m] of `points` (…, 2) [m], interpolated bilinearly."""
        P = np.asarray(points, float)
        u, v = ((P[..., k] - self.corner[k]) / self.cell for k in range(2))
        ny, nx = self.grid.shape
        u, v = np.clip(u, 0.0, nx - 1.0), np.clip(v, 0.0, ny - 1.0)
        i, j = np.minimum(u.astype(int), nx - 2), np.minimum(v.astype(int), ny - 2)
        a, b = u - i, v - j
        low = (1.0 - a) * self.grid[j, i] + a * self.grid[j, i + 1]
        high = (1.0 - a) * self.grid[j + 1, i] + a * self.grid[j + 1, i + 1]
        return np.asarray((1.0 - b) * low + b * high)

    @cached_property
    def smooth(self) -> Terrain:
        """The ground as people's hips follow it: over stairs they rise evenly, on slopes as the ground does."""
        grid = gaussian_filter(self.grid, self.stride / self.cell, mode="nearest")
        return replace(self, grid=np.asarray(grid))

    def stand(self, base: ArrayLike) -> Array:
        """(height [m], pitch, roll [rad]) (…, 3) of a four-wheeled agent at `base` (…, 3) (x, y [m], heading [rad])."""
        B = np.asarray(base, float)
        c, s = np.cos(B[..., 2]), np.sin(B[..., 2])
        ahead, left = 0.5 * self.axle * np.stack([c, s], -1), 0.5 * self.track * np.stack([-s, c], -1)
        feet = [self.heights(B[..., :2] + a * ahead + b * left) for a in (1, -1) for b in (1, -1)]
        rise = (feet[0] + feet[1] - feet[2] - feet[3]) / (2.0 * self.axle)
        lean = (feet[0] - feet[1] + feet[2] - feet[3]) / (2.0 * self.track)
        pitch = -np.arctan(rise)
        twist = np.abs(feet[0] - feet[1] - feet[2] + feet[3]) / 4.0  # where slopes meet, only two wheels touch the ground
        return np.stack([sum(feet) / 4.0 + twist, pitch, np.arctan(lean * np.cos(pitch))], -1)


@dataclass(frozen=True)
class TiedOptions:
    """How closely curves follow the ground."""

    tolerance: float = 5e-3
    """Largest deviation of heights and slopes along a curve from those of the ground, between knots [m and rad]."""
    spacing: float = 0.08
    """Distance between knots [weighted m]."""


class Tied(Steering):
    """Curves of a `figure` whose tied variables follow from the others.

    `parts` steer the others. `tie` maps configurations (T, n) to the same with tied variables set. `follow` changes those of
    a curve at its parameters (T,) such that what is carried follows the ground, too. `weights` (n,) measure lengths. `options` tune
    how closely curves follow.
    """

    def __init__(
        self,
        figure: Figure,
        *parts: Planar,
        tie: Callable[[Array], Array],
        follow: Callable[[Array, Array], Array],
        weights: Array,
        options: TiedOptions = TiedOptions(),
    ) -> None:
        super().__init__(figure, *parts)
        self._tie, self._follow, self._weights, self.options = tie, follow, weights, options

    @property
    def straight(self) -> bool:
        """Always False: curves follow the ground."""
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
        Q = self._follow(self._tie(along), knots)
        for k, control in zip(free.bends, free.control, strict=True):  # bends are given by their control points
            del control
            Q[:, k[:3]] = np.stack([np.interp(knots, free.knots, free.Q[:, i]) for i in k[:3]], 1)
        if len(free.knots) == 2:
            even = Q[0] + knots[:, None] * (Q[-1] - Q[0])
            if np.abs(Q - even).max() < 0.1 * self.options.tolerance:  # constant slope: two knots are enough
                knots, Q = free.knots, Q[[0, -1]]
        return WayCurve(np.ascontiguousarray(Q), knots, free.bends, free.control)

    def _ends(self, curve: WayCurve) -> Array:
        """Both ends of the curve, with tied variables set."""
        return np.ascontiguousarray(self._tie(curve.Q))


def _triangles(obstacle: Obstacle) -> Array:
    """Upward-facing triangles of an obstacle, in the world (n, 3, 3)."""
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
    """Raises grid points below a triangle to its surface."""
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
