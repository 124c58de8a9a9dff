"""Converts vectors, rotations and points from the forms that the notation accepts."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.figure.frame import AXES, Point, Vector
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

PointLike = str | Point | tuple[str, Sequence[float]]


def vector(values: Sequence[float]) -> Vector:
    """Three `values` as a tuple of floats; raises ValueError where there are more or fewer."""
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def quaternion_of(rpy: Sequence[float] | None, quaternion: Sequence[float] | None) -> Quaternion:
    """The rotation given by `rpy` (roll, pitch, yaw) [rad], or by a `quaternion` (w, x, y, z), which overrides it."""
    if quaternion is not None:
        w, x, y, z = (float(v) for v in quaternion)
        return (w, x, y, z)
    if rpy is None or not any(rpy):
        return IDENTITY
    w, x, y, z = so3.quaternion(so3.rpy(*rpy)).tolist()
    return (w, x, y, z)


def axis_of(axis: str | Sequence[float]) -> Vector:
    """The direction that `axis` stands for: a letter, or three numbers."""
    return AXES[axis] if isinstance(axis, str) else vector(axis)


def at_point(at: PointLike) -> Point:
    """The point that `at` stands for; the name of a frame stands for its origin."""
    if isinstance(at, Point):
        return at
    if isinstance(at, str):
        return Point(at)
    frame, position = at
    return Point(frame, vector(position))
