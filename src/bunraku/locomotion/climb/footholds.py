"""Searches a foothold on a rough surface: near where the foot should stand, where most of its sole touches, and where the leg above
it has room."""

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
    beside: float = 0.06
    """Distance from the surface that the foot has when it comes to a foothold or leaves it along its normal: no foothold is in a
    crack, or too close to a wall."""
    above: tuple[float, ...] = (0.08, 0.16, 0.24)
    """Heights over a foothold at which this is looked at."""
    look: float = 0.5
    """Height from which one looks down at the surface for places."""
    stretched: tuple[float, float] = (0.92, 0.05)
    """Share of the length of a leg beyond which a foothold is too far from the shoulder; so much more is as bad as `gap`."""
    steep: tuple[float, float] = (0.35, 0.15)
    """Least cosine of the angle between the lower leg and the normal of a foothold: 70°, less than what an ankle allows; so much
    less is as bad as `gap`."""
    room: float = 0.06
    """Distance from the surface that the lower leg should have."""


@dataclass(frozen=True)
class LegShape:
    """Two links from shoulder to foot [m]."""

    upper: float
    lower: float
    thick: float
    """Radius of the lower link."""
    aside: float
    """How far the shoulder is to the side of the body's reference point."""
    above: float
    """How far above it."""


@dataclass(frozen=True, eq=False)
class Foothold:
    """A pose X (4, 4) with columns ahead, left, normal, and the largest gap under the sole [m]."""

    X: Array
    gap: float


def foothold(
    field: SurfaceField, p: Array, R: Array, *, soles: tuple[Array, Array], sole: float, leg: float,
    shape: LegShape | None = None, shoulders: Array = np.empty((0, 3)), options: FootholdOptions = FootholdOptions(),
) -> Foothold:  # fmt: skip
    """The best foothold near a point.

    field: distances from the surface
    p: where the foot should stand (3,) [m]; it may be off the surface
    R: axes of the body there (3, 3)
    soles: centres (balls, 3) and radii (balls,) [m] of balls that fill the foot, in its axes
    sole: height of the foot's centre over a flat surface [m]
    leg: length of a leg [m]
    shape: the shape of the leg; None if nothing is known of it
    shoulders: where the shoulder is while the foot stands there (k, 3) [m]
    options: how far and how finely to search, and what is good
    """
    n = int(options.reach / options.spacing)
    grid = options.spacing * leg * np.arange(-n, n + 1)
    a, b = (x.ravel() for x in np.meshgrid(grid, grid, indexing="ij"))
    inner = np.hypot(a, b) <= options.reach * leg
    a, b = a[inner], b[inner]
    wanted = p + a[:, None] * R[:, 0] + b[:, None] * R[:, 1]
    place = _below(field, wanted, R[:, 2], options.look * leg)
    size = float((np.linalg.norm(soles[0][:, :2], axis=1) + soles[1]).max())
    normal = _fitted(field, place, R, size)
    turn = turned(np.broadcast_to(R[:, 0], normal.shape), normal)
    balls = np.einsum("nij,bj->nbi", turn, soles[0])
    centre, wanted_low = place + sole * normal, 1e-4 * leg
    for _ in range(6):
        low = field.over(centre[:, None] + balls) - soles[1]
        centre = centre + (wanted_low - low.min(1))[:, None] * normal
    low = field.over(centre[:, None] + balls) - soles[1]
    gap = np.where(low.min(1) > 0.0, low.max(1), np.inf)  # a toe that is still inside is in a wall
    rises = leg * np.array(options.above)[:, None, None, None] * normal[:, None]
    shut = options.beside - (field.over(centre[:, None] + balls + rises) - soles[1]).min((0, 2)) / leg
    _, origin, _ = field.nearest(p)
    away = np.linalg.norm(place - origin, axis=1) / (options.far * leg)
    tilt = np.maximum(np.arccos(np.clip(normal @ R[:, 2], -1.0, 1.0)) / options.tilt - 1.0, 0.0)
    cost = away**2 + (gap / (options.gap * leg)) ** 2 + tilt**2 + (np.maximum(shut, 0.0) / options.gap) ** 2
    if shape is not None:
        cost = cost + _leg_cost(field, centre, normal, shape, shoulders, R[:, 2], leg, options)
    k = int(cost.argmin())
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = turn[k], centre[k] - sole * normal[k]
    return Foothold(X, float(gap[k]))


def _leg_cost(
    field: SurfaceField, foot: Array, normal: Array, shape: LegShape, shoulders: Array, up: Array, leg: float,
    options: FootholdOptions,
) -> Array:  # fmt: skip
    """How bad footholds (n,) are for the leg above them, whose elbow points `up` (3,) as far as it can: too far from the shoulder,
    a lower leg that lies too flat, or one that is too near to the surface."""
    v = shoulders[:, None] - foot
    far = np.linalg.norm(v, axis=2)
    d = np.clip(far, abs(shape.upper - shape.lower) + 1e-9, shape.upper + shape.lower)
    along = v / far[..., None]
    a = np.clip((d**2 + shape.lower**2 - shape.upper**2) / (2.0 * d), -shape.lower, shape.lower)
    side = up - (along @ up)[..., None] * along
    side = side / np.maximum(np.linalg.norm(side, axis=2), 1e-9)[..., None]
    lower = a[..., None] * along + np.sqrt(shape.lower**2 - a**2)[..., None] * side
    (straight, stretch), (steep, lie) = options.stretched, options.steep
    flat = steep - np.einsum("kni,ni->kn", lower, normal) / shape.lower
    points = foot + np.array([0.5, 0.75, 1.0])[:, None, None, None] * lower
    close = options.room - (field.over(points).min(0) - shape.thick) / leg
    stretched = far / (shape.upper + shape.lower) - straight
    bad = (stretched / stretch, flat / lie, close / options.gap)
    return np.asarray(sum(np.maximum(x, 0.0).max(0) ** 2 for x in bad))


def _below(field: SurfaceField, wanted: Array, up: Array, height: float) -> Array:
    """Places (n, 3) on the surface: what is seen when one looks down from `height` over the `wanted` points (n, 3); where nothing
    is, or where that is inside the surface, the nearest place."""
    _, place, _ = field.nearest(wanted)
    x, fell = wanted + height * up, np.zeros(len(wanted))
    open_ = field.over(x) > 0.0
    for _ in range(40):  # spheres that touch the surface, one below the other
        fell = np.where(open_, fell + np.maximum(field.over(x - fell[:, None] * up), 0.0), fell)
    x = x - fell[:, None] * up
    seen = open_ & (np.abs(field.over(x)) < 1e-3 * height) & (fell < 2.0 * height)
    return np.where(seen[:, None], x, place)


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
