"""Stops of ball joints for live figures: hips, shoulders and a neck that do not turn further than their limits.

The step stops hinges by itself; a ball joint has no angles that last (its charts change), so its limits become planes that points
of the moving frame do not pass. With R = Rz Ry Rx, the axis u = R e_x of the last rotation does not depend on its angle:

    u = (cos ry cos rz, cos ry sin rz, −sin ry)

so that limits of ry are planes across the parent's z axis, and limits of rz planes that contain it, both exact. The last angle is
kept by a cone around the middle of its range, in which R e_z stays: exact where ry = rz = 0. A cone wider than half of space lets
the limb wind round and round where u points along it; such a joint is given less of rz, so that u does not get there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bunraku.figure import Contact, Figure, Joint, Point
from bunraku.figure.frame import Vector
from bunraku.kinematics import pose
from bunraku.spatial.so3 import matrix


@dataclass(frozen=True)
class StopOptions:
    """Numbers that tune the stops of ball joints."""

    reach: float = 0.1
    """Distance from the joint to the points that meet planes [m]: about a limb."""
    wide_twist: float = 0.8
    """Limit of rz for a joint whose last angle has more than half a turn [rad]."""


def with_ball_stops(figure: Figure, *, options: StopOptions = StopOptions()) -> Figure:
    """The `figure` with stops at the limits of its ball joints, as `options` say; those that its start is beyond are left out."""
    joints = [joint for joint in figure.groups if joint.kind == "ball"]
    stops = [stop for joint in joints for stop in _stops(figure, joint, options)]
    here = pose(figure)

    def height(stop: Contact) -> float:
        point, plane = (here.point(at.frame, at.position) for at in (stop.point, stop.plane))
        return float((here.X(stop.plane.frame)[:3, :3] @ stop.normal) @ (point - plane))

    return figure.replace(contacts=(*figure.contacts, *(stop for stop in stops if height(stop) > 0.0)))


def _stops(figure: Figure, joint: Joint, own: StopOptions) -> Iterator[Contact]:
    base, last = figure.frame(joint.frames[0]), joint.frames[-1]
    turns = [figure.frame(name).variable for name in joint.frames]
    rz, ry, rx = ((turn.lower, turn.upper) for turn in turns if turn is not None)
    R_PB, at = matrix(base.rotation), np.array(base.position)

    def stop(name: str, axis: str, normal: Vector, least: float) -> Contact:
        """Keeps `normal` · R e ≥ `least`, e along an `axis` of the last frame; the normal is in the axes of the joint's base."""
        n = R_PB @ normal
        point = tuple(own.reach * (axis == each) for each in "xyz")
        plane = tuple(float(x) for x in at + own.reach * least * n)
        return Contact(f"{joint.name} {name}", Point(last, _vector(point)), Point(base.parent, _vector(plane)), _vector(n))

    for side, bound in zip((1.0, -1.0), (ry[1], -ry[0]), strict=True):
        if bound < math.pi / 2:
            yield stop(f"ry {side:+.0f}", "x", (0.0, 0.0, side), -math.sin(bound))
    middle, half = (rx[0] + rx[1]) / 2, (rx[1] - rx[0]) / 2
    twist = own.wide_twist if half > math.pi / 2 else math.pi
    for side, bound in zip((1.0, -1.0), (rz[1], -rz[0]), strict=True):
        if min(bound, twist) < math.pi:
            bound = min(bound, twist)
            yield stop(f"rz {side:+.0f}", "x", (math.sin(bound), -side * math.cos(bound), 0.0), 0.0)
    if half < math.pi:
        yield stop("rx", "z", (0.0, -math.sin(middle), math.cos(middle)), math.cos(half))


def _vector(values: Iterable[float]) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)
