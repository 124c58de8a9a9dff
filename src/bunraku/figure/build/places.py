"""Where something is: vectors, rotations and points as people write them."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.figure.frame import Point, Vector
from bunraku.spatial import so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

PointLike = str | Point | tuple[str, Sequence[float]]


def vector(values: Sequence[float]) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def quaternion_of(rpy: Sequence[float] | None, quaternion: Sequence[float] | None) -> Quaternion:
    """Roll, pitch and yaw [rad], or a quaternion (w, x, y, z) that goes before them."""
    if quaternion is not None:
        w, x, y, z = (float(v) for v in quaternion)
        return (w, x, y, z)
    if rpy is None or not any(rpy):
        return IDENTITY
    w, x, y, z = so3.quaternion(so3.rpy(*rpy)).tolist()
    return (w, x, y, z)


def at_point(at: PointLike) -> Point:
    """A frame's name stands for its origin."""
    if isinstance(at, Point):
        return at
    if isinstance(at, str):
        return Point(at)
    frame, position = at
    return Point(frame, vector(position))
