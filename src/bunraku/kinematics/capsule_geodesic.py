"""The way of a string along a capsule as points to draw: from where it meets the capsule to where it leaves it, none inside it.

The string meets the capsule along its tangent, and from there on follows a geodesic: a great circle on a cap, on the mantle a helix
with the slope at which it came. Where one goes over into the other its direction stays. So point and direction at the beginning
give all of it (bunraku.kinematics.draping derives where it begins and ends).

Straight lines between points of the geodesic would be inside the capsule. So the points in between are moved out, by 1/cos h where
the normal turns by 2h from one to the next, and each lies in the middle of its piece: then the first and the last line of every
stretch run along its tangents, and the others touch the capsule half-way.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3

Array = NDArray[np.float64]


class _Stretch(NamedTuple):
    """A part of a geodesic: a helix on the mantle, or a great circle on a cap."""

    centre: Array
    """Of the circle at its beginning [m]."""
    out: Array
    """From there to the beginning, of length 1."""
    on: Array
    """In the plane of the circle, square to `out`, in the sense of the way."""
    rate: float
    """By how much it turns [rad/m]."""
    climb: Array
    """By how much it climbs [m/m]; zero on a cap."""
    reach: float
    """How long it is before the next stretch begins [m]; inf where none follows."""

    def point(self, s: float, radius: float) -> Array:
        """The place `s` after the beginning [m], at a `radius` [m]."""
        angle = self.rate * s
        return self.centre + s * self.climb + radius * (math.cos(angle) * self.out + math.sin(angle) * self.on)

    def direction(self, s: float, radius: float) -> Array:
        """Of the way there, of length 1."""
        angle = self.rate * s
        return self.climb + radius * self.rate * (math.cos(angle) * self.on - math.sin(angle) * self.out)

    def length_to(self, last: Array, radius: float) -> float:
        """Where it comes to the point `last` [m]; inf if it does not."""
        away, steep = last - self.centre, float(self.climb @ self.climb)
        s = float(away @ self.climb) / steep if steep > 0.0 else 0.0
        if steep < 0.5:  # by the angle, whose turns are told by the height
            flat = away - s * self.climb
            angle = math.atan2(float(flat @ self.on), float(flat @ self.out)) % (2.0 * math.pi)
            angle = 0.0 if angle > 2.0 * math.pi - 1e-9 else angle
            s = (angle + 2.0 * math.pi * max(0, round((self.rate * s - angle) / (2.0 * math.pi)))) / self.rate
        return s if s >= 0.0 and np.linalg.norm(self.point(s, radius) - last) < 1e-3 * radius else math.inf


def along_capsule(first: Array, toward: Array, last: Array, core: Array, radius: float, *, pieces: int = 16) -> Array:
    """Points (n, 3) [m] of a string along a capsule; n is the same wherever it lies on the same parts of it.

    first: where it meets the capsule (3,) [m]
    toward: its direction there (3,), of length 1
    last: where it leaves the capsule (3,) [m]
    core: both ends of the core of the capsule (2, 3) [m]; the same twice for a sphere
    radius: of the capsule [m]
    pieces: points on each great circle or helix, besides its ends
    """
    axis = core[1] - core[0]
    size = float(np.linalg.norm(axis))
    axis = axis / size if size > 1e-12 else np.zeros(3)
    out, at, direction = [first], first, toward
    for _ in range(3):  # at most a cap, the mantle and the other cap
        stretch = _on_mantle(at, direction, core[0], axis, size, radius) or _on_cap(at, direction, core, axis, size, radius)
        length = stretch.length_to(last, radius)
        ends = length <= stretch.reach + 1e-9 * radius
        length = min(length, stretch.reach)
        if not math.isfinite(length):
            break
        half = 0.5 * length / pieces
        wide = radius / math.cos(half * stretch.rate)
        out += [stretch.point((2 * k + 1) * half, wide) for k in range(pieces)]
        if ends:
            return np.array([*out, last])
        at, direction = stretch.point(length, radius), stretch.direction(length, radius)
        out.append(at)
    return _above_chord(first, last, core, radius, pieces)


def _above_chord(first: Array, last: Array, core: Array, radius: float, pieces: int) -> Array:
    """The straight line between two points, moved out of the capsule: where the string does not come along a tangent.

    That is so in a crease between two bodies that overlap.
    """
    chord = first + np.linspace(0.0, 1.0, pieces + 2)[:, None] * (last - first)
    axis = core[1] - core[0]
    share = np.clip((chord - core[0]) @ axis / max(float(axis @ axis), 1e-300), 0.0, 1.0)
    foot = core[0] + share[:, None] * axis
    away = chord - foot
    return np.asarray(foot + away * np.maximum(1.0, radius / np.maximum(np.linalg.norm(away, axis=1), 1e-9))[:, None])


def _on_mantle(at: Array, direction: Array, start: Array, axis: Array, size: float, radius: float) -> _Stretch | None:
    """The helix from a point on, if it is on the mantle, or at the edge of it and goes there."""
    height, rise, edge = float((at - start) @ axis), float(direction @ axis), 1e-9 * radius
    if not -edge <= height <= size + edge or (height <= edge and rise <= 0.0) or (height >= size - edge and rise >= 0.0):
        return None
    foot = start + height * axis
    out = (at - foot) / np.linalg.norm(at - foot)
    on = so3.cross(axis, out)
    turn = float(direction @ on)
    size_of = math.hypot(rise, turn)  # 1, but for rounding
    rise, turn = rise / size_of, turn / size_of
    reach = (size - height if rise > 0.0 else height) / abs(rise) if rise else math.inf
    return _Stretch(foot, out, on if turn >= 0.0 else -on, abs(turn) / radius, rise * axis, reach)


def _on_cap(at: Array, direction: Array, core: Array, axis: Array, size: float, radius: float) -> _Stretch:
    """The great circle from a point on."""
    centre = core[0] if size < 1e-12 or (at - core[0]) @ axis < 0.5 * size else core[1]
    out = (at - centre) / np.linalg.norm(at - centre)
    on = direction - (direction @ out) * out
    on = on / np.linalg.norm(on)
    if size < 1e-12:
        return _Stretch(centre, out, on, 1.0 / radius, np.zeros(3), math.inf)
    # Its height beyond the edge, out·a cos s + on·a sin s, is zero where it reaches the mantle, at most half a turn ahead.
    back = math.atan2(-float(out @ axis), float(on @ axis)) % math.pi
    return _Stretch(centre, out, on, 1.0 / radius, np.zeros(3), radius * (back if back > 1e-9 else math.pi))
