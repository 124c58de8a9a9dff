"""Searches a foothold on a rough surface: near where the foot should stand, and where most of its sole touches."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.climb.body_way import turned
from bunraku.locomotion.climb.surface_field import SurfaceField

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FootholdOptions:
    """The search of a foothold, in lengths of the climber's leg."""

    reach: float = 0.4
    """How far from where the foot should stand footholds are sought."""
    spacing: float = 0.08
    """Distance between two candidates."""
    far: float = 0.2
    """A foothold this far from where the foot should stand counts as bad as one with a gap of `gap`."""
    gap: float = 0.02
    """Gap under the part of the sole that is farthest from the surface; see `far`."""
    tilt: float = 0.6
    """Angle between a foothold and the surface under the body [rad] beyond which it counts as worse."""
    widest: float = 0.08
    """No foothold has a larger gap."""


@dataclass(frozen=True, eq=False)
class Foothold:
    """A pose X (4, 4) with columns ahead, left, normal, and the largest gap under the sole [m]."""

    X: Array
    gap: float


def foothold(
    field: SurfaceField, p: Array, R: Array, *, soles: tuple[Array, Array], sole: float, leg: float,
    options: FootholdOptions = FootholdOptions(),
) -> Foothold:  # fmt: skip
    """The best foothold near a point.

    field: distances from the surface
    p: where the foot should stand (3,) [m]; it may be off the surface
    R: axes of the body there (3, 3)
    soles: centres (balls, 3) and radii (balls,) [m] of balls that fill the foot, in its axes
    sole: height of the foot's centre over a flat surface [m]
    leg: length of a leg [m]
    options: how far and how finely to search, and what is good
    """
    n = int(options.reach / options.spacing)
    grid = options.spacing * leg * np.arange(-n, n + 1)
    a, b = (x.ravel() for x in np.meshgrid(grid, grid, indexing="ij"))
    inner = np.hypot(a, b) <= options.reach * leg
    a, b = a[inner], b[inner]
    wanted = p + a[:, None] * R[:, 0] + b[:, None] * R[:, 1]
    _, place, _ = field.nearest(wanted)
    size = float((np.linalg.norm(soles[0][:, :2], axis=1) + soles[1]).max())
    normal = _fitted(field, place, R, size)
    turn = turned(np.broadcast_to(R[:, 0], normal.shape), normal)
    balls = np.einsum("nij,bj->nbi", turn, soles[0])
    centre, wanted_low = place + sole * normal, 1e-4 * leg
    for _ in range(3):
        low = field.over(centre[:, None] + balls) - soles[1]
        centre = centre + (wanted_low - low.min(1))[:, None] * normal
    gap = (field.over(centre[:, None] + balls) - soles[1]).max(1)
    _, origin, _ = field.nearest(p)
    away = np.linalg.norm(place - origin, axis=1) / (options.far * leg)
    tilt = np.maximum(np.arccos(np.clip(normal @ R[:, 2], -1.0, 1.0)) / options.tilt - 1.0, 0.0)
    k = int((away**2 + (gap / (options.gap * leg)) ** 2 + tilt**2).argmin())
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = turn[k], centre[k] - sole * normal[k]
    return Foothold(X, float(gap[k]))


def _fitted(field: SurfaceField, place: Array, R: Array, size: float) -> Array:
    """Normals (n, 3) of planes through the surface within `size` of places (n, 3)."""
    _, normal = field.field(place)
    ring = np.arange(8) * math.pi / 4.0
    for _ in range(2):
        axes = turned(np.broadcast_to(R[:, 0], normal.shape), normal)
        around = size * (np.cos(ring)[:, None, None] * axes[:, :, 0] + np.sin(ring)[:, None, None] * axes[:, :, 1])
        points = np.concatenate([place[None], field.nearest(place + around)[1]])
        points = points - points.mean(0)
        _, _, axes = np.linalg.svd(np.moveaxis(points, 0, 1))
        normal = axes[:, 2] * np.sign(np.einsum("ni,ni->n", axes[:, 2], normal))[:, None]
    return normal
