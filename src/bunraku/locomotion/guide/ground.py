"""The ground of a scene: its height under a foot, and obstacles for the body and the hands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Sphere
from bunraku.kernels.compile import kernel
from bunraku.render.triangles import triangles
from bunraku.scene import Heightfield, Obstacle, Plane, Scene
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@kernel
def _heights(boxes, floor, points, out):
    """Height of the ground under points (k, 2). A box is (x, y, cos, sin, half length, half width, bottom, top)."""
    for k in range(points.shape[0]):
        out[k] = floor
        for b in range(boxes.shape[0]):
            dx, dy = points[k, 0] - boxes[b, 0], points[k, 1] - boxes[b, 1]
            u, v = boxes[b, 2] * dx + boxes[b, 3] * dy, boxes[b, 2] * dy - boxes[b, 3] * dx
            if abs(u) <= boxes[b, 4] and abs(v) <= boxes[b, 5] and boxes[b, 7] > out[k]:
                out[k] = boxes[b, 7]


@kernel
def _under(boxes, floor, sole, foot):
    """The highest box top under a sole, found by the separating-axis test."""
    c, s, top = np.cos(foot[3]), np.sin(foot[3]), floor
    n = sole.shape[0]
    P = np.empty((n, 2))
    for k in range(n):
        P[k, 0] = foot[0] + c * sole[k, 0] - s * sole[k, 1]
        P[k, 1] = foot[1] + s * sole[k, 0] + c * sole[k, 1]
    for b in range(boxes.shape[0]):
        if boxes[b, 7] <= top:
            continue
        apart = False
        for a in range(2):  # the axes of the box
            e, f = (boxes[b, 2], boxes[b, 3]) if a == 0 else (-boxes[b, 3], boxes[b, 2])
            low, high = 1e9, -1e9
            for k in range(n):
                u = e * (P[k, 0] - boxes[b, 0]) + f * (P[k, 1] - boxes[b, 1])
                low, high = min(low, u), max(high, u)
            apart = apart or low > boxes[b, 4 + a] or high < -boxes[b, 4 + a]
        for k in range(n):  # the edge normals of the sole
            j = (k + 1) % n
            e, f = P[j, 1] - P[k, 1], P[k, 0] - P[j, 0]
            low, high = 1e9, -1e9
            for i in range(n):
                u = e * P[i, 0] + f * P[i, 1]
                low, high = min(low, u), max(high, u)
            centre = e * boxes[b, 0] + f * boxes[b, 1]
            reach = boxes[b, 4] * abs(e * boxes[b, 2] + f * boxes[b, 3]) + boxes[b, 5] * abs(f * boxes[b, 2] - e * boxes[b, 3])
            apart = apart or low > centre + reach or high < centre - reach
        if not apart:
            top = boxes[b, 7]
    return top


@kernel
def _depth(boxes, floor, x, radius):
    """Penetration depth of a ball into the floor or a box [m]; if negative, minus the distance to the nearest."""
    deepest = floor - (x[2] - radius)
    for b in range(boxes.shape[0]):
        dx, dy = x[0] - boxes[b, 0], x[1] - boxes[b, 1]
        u = abs(boxes[b, 2] * dx + boxes[b, 3] * dy) - boxes[b, 4]
        v = abs(boxes[b, 2] * dy - boxes[b, 3] * dx) - boxes[b, 5]
        w = max(x[2] - boxes[b, 7], boxes[b, 6] - x[2])
        if max(u, v, w) <= 0.0:
            depth = radius - max(u, v, w)
        else:
            depth = radius - np.sqrt(max(u, 0.0) ** 2 + max(v, 0.0) ** 2 + max(w, 0.0) ** 2)
        deepest = max(deepest, depth)
    return deepest


@dataclass(frozen=True, eq=False)
class SceneGround:
    """The ground of a `scene` for feet. An obstacle that is not a box is replaced by its upright bounding box; a height field, by
    one box per cell."""

    scene: Scene
    even: float = 0.003
    """Largest difference in height of the ground under a sole [m]."""

    @cached_property
    def boxes(self) -> Array:
        """Rows (x, y, cos, sin, half length, half width, bottom, top) [m]."""
        found = [box for obstacle in self.scene.obstacles for box in _boxes(obstacle)]
        return np.array(found, float).reshape(-1, 8)

    @cached_property
    def floor(self) -> float:
        """Height of the floor [m]."""
        planes = [o.position[2] for o in self.scene.obstacles if isinstance(o.geometry, Plane) and o.geometry.normal[2] > 0.999]
        floors = [self.scene.floor] if self.scene.floor is not None else []
        return max([*planes, *floors], default=-1e3)

    def heights(self, points: Array) -> Array:
        """Heights of the ground under `points` (k, 2) [m]."""
        out = np.empty(len(points))
        _heights(self.boxes, self.floor, np.ascontiguousarray(points[:, :2]), out)
        return out

    def under(self, sole: Array, foot: Array) -> tuple[float, bool]:
        """Height of the ground [m] under a `foot` (x, y, z, yaw) with this `sole` (corners); and whether it is even."""
        if not len(self.boxes):
            return self.floor, True
        c, s = math.cos(foot[3]), math.sin(foot[3])
        points = _spread(sole) @ np.array([[c, s], [-s, c]]) + foot[:2]
        z = float(_under(self.boxes, self.floor, sole, foot))
        return z, bool(self.heights(points).min() > z - self.even)

    def depth(self, x: Array, radius: float) -> float:
        """Penetration depth of a ball at `x` (3,) with `radius` [m]; if negative, minus the distance to the nearest obstacle."""
        return float(_depth(self.boxes, self.floor, np.ascontiguousarray(x, float), radius))


def _spread(sole: Array) -> Array:
    """Corners, edge midpoints and centre of a sole."""
    return np.concatenate([sole, 0.5 * (sole + np.roll(sole, -1, axis=0)), sole.mean(0, keepdims=True)])


def _boxes(obstacle: Obstacle) -> list[tuple[float, ...]]:
    R, geometry, at = so3.matrix(obstacle.rotation), obstacle.geometry, np.array(obstacle.position)
    match geometry:
        case Plane():
            return []
        case Box(size) if abs(R[2, 2]) > 0.9999:
            x, y, z = (s / 2 for s in size)
            return [(at[0], at[1], R[0, 0], R[1, 0], x, y, at[2] - z, at[2] + z)]
        case Heightfield():
            return _cells(geometry, se3.pose(at, R))
        case Box() | Sphere() | Capsule() | Cylinder() | Mesh():
            P = se3.transform(se3.pose(at, R), triangles(geometry).vertices)
            return [_around(P)]


def _cells(field: Heightfield, X: Array) -> list[tuple[float, ...]]:
    P = se3.transform(X, field.vertices).reshape(len(field.heights), len(field.heights[0]), 3)
    rows, columns = P.shape[:2]
    return [_around(P[j : j + 2, i : i + 2].reshape(-1, 3), down=True) for j in range(rows - 1) for i in range(columns - 1)]


def _around(P: Array, *, down: bool = False) -> tuple[float, ...]:
    low, high = P.min(0), P.max(0)
    (x, y, _), (u, v, _) = (low + high) / 2, (high - low) / 2
    return (x, y, 1.0, 0.0, u, v, -1e3 if down else low[2], high[2])
