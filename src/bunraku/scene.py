"""Scene: the obstacles around the figures, frozen. They are fixed in the world, z up, in metres."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError, UnknownName
from bunraku.figure.frame import ORIGIN, Vector
from bunraku.figure.shape import Color, Geometry, check_geometry
from bunraku.spatial.so3 import IDENTITY, Quaternion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Plane:
    """A half-space: solid on the side that `normal` points away from."""

    normal: Vector = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        size = math.sqrt(sum(x * x for x in self.normal))
        if not 1e-9 < size < math.inf:
            raise FigureError("the normal has no direction", kind="plane", field="normal", advice="up is [0, 0, 1]")
        if abs(size - 1.0) > 1e-15:
            object.__setattr__(self, "normal", tuple(x / size for x in self.normal))


@dataclass(frozen=True)
class Heightfield:
    """Ground over a rectangle of this `size` [m] around the origin: heights[j][i] [m], i along x and j along y, evenly spaced."""

    heights: tuple[tuple[float, ...], ...]
    size: tuple[float, float]

    def __post_init__(self) -> None:
        def refuse(message: str, field: str, advice: str) -> None:
            raise FigureError(message, kind="heightfield", field=field, advice=advice)

        rows, columns = len(self.heights), len(self.heights[0]) if self.heights else 0
        if rows < 2 or columns < 2 or any(len(row) != columns for row in self.heights):
            refuse("not a table of numbers", "heights", "give two rows or more, all of the same length")
        if not all(math.isfinite(h) for row in self.heights for h in row):
            refuse("not a finite number", "heights", "heights are in metres")
        if not all(0.0 < s < math.inf for s in self.size):
            refuse("must be two positive numbers", "size", "the extent along x and y, in metres")

    @cached_property
    def vertices(self) -> Array:
        """Points of the surface (n, 3), row after row."""
        z = np.array(self.heights)
        x, y = (np.linspace(-s / 2, s / 2, n) for s, n in zip(self.size, z.shape[::-1], strict=True))
        return np.stack([*np.meshgrid(x, y), z], -1).reshape(-1, 3)

    @cached_property
    def faces(self) -> NDArray[np.int64]:
        """Triangles (m, 3) of the surface, counterclockwise from above."""
        rows, columns = len(self.heights), len(self.heights[0])
        corner = np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]
        return np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])


Surface = Geometry | Plane | Heightfield


@dataclass(frozen=True)
class Obstacle:
    """A geometry placed in the world. Obstacles of one `group` belong together: a shelf, a staircase."""

    name: str
    geometry: Surface
    position: Vector = ORIGIN
    rotation: Quaternion = IDENTITY
    color: Color = (0.62, 0.61, 0.6)  # stone
    group: str = ""

    def __post_init__(self) -> None:
        def refuse(message: str, field: str, advice: str) -> None:
            raise FigureError(message, kind="obstacle", name=self.name, field=field, advice=advice)

        if not self.name:
            refuse("an obstacle has no name", "name", "give it one, such as table")
        if not isinstance(self.geometry, Plane | Heightfield):
            check_geometry(self.geometry, kind="obstacle", name=self.name)
        if not all(map(math.isfinite, (*self.position, *self.rotation, *self.color))):
            refuse("not a finite number", "at", "at, rpy, quaternion and color must be finite")
        size = math.sqrt(sum(x * x for x in self.rotation))
        if size < 1e-9:
            refuse("the quaternion is zero", "quaternion", "no rotation is [1, 0, 0, 0]")
        if abs(size - 1.0) > 1e-15:
            object.__setattr__(self, "rotation", tuple(x / size for x in self.rotation))


@dataclass(frozen=True)
class Scene:
    """Obstacles, and the height of the floor [m], or None where there is none."""

    name: str
    obstacles: tuple[Obstacle, ...] = ()
    floor: float | None = 0.0

    def __post_init__(self) -> None:
        if not self.name:
            raise FigureError("the scene has no name", kind="scene", field="scene", advice="give it one, such as workshop")
        if self.floor is not None and not math.isfinite(self.floor):
            raise FigureError("the floor is not finite", kind="scene", field="floor", advice="a height in metres, or none")
        seen: set[str] = set()
        for obstacle in self.obstacles:
            if obstacle.name in seen:
                advice = "every obstacle has a name of its own"
                raise FigureError("the name is taken", kind="obstacle", name=obstacle.name, field="name", advice=advice)
            seen.add(obstacle.name)

    @cached_property
    def _obstacle(self) -> dict[str, Obstacle]:
        return {obstacle.name: obstacle for obstacle in self.obstacles}

    def obstacle(self, name: str) -> Obstacle:
        """The obstacle with this `name`; raises UnknownName if there is none."""
        try:
            return self._obstacle[name]
        except KeyError:
            raise UnknownName("obstacle", name, tuple(self._obstacle)) from None

    @cached_property
    def groups(self) -> dict[str, tuple[Obstacle, ...]]:
        """Obstacles that belong together, by the name of their group."""
        names = dict.fromkeys(obstacle.group for obstacle in self.obstacles if obstacle.group)
        return {name: tuple(o for o in self.obstacles if o.group == name) for name in names}

    def replace(self, **changes: Any) -> Scene:
        """A copy of this scene in which the fields named by `changes` have new values; it is checked as a new scene is."""
        return replace(self, **changes)

    def __repr__(self) -> str:
        floor = "no floor" if self.floor is None else f"floor at {self.floor:g} m"
        return f"<Scene {self.name}: {len(self.obstacles)} obstacles, {floor}>"
