"""Failures that end a climb early: the first bad sample, and the outcome."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.locomotion.climb.adhesion import AdhesionAlong
from bunraku.locomotion.climb.climb_outcomes import BODY_TOUCHES, CURVE_TOO_TIGHT, FEET_SLIP, JOINT_AT_LIMIT
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.footsteps import GECKO_FEET
from bunraku.locomotion.climb.gecko import MAY_TOUCH, Gecko
from bunraku.locomotion.climb.path_segments import Arc
from bunraku.outcome import Outcome
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClimbFailure:
    """The climb is impossible from `sample` on, for the reason in `outcome`."""

    sample: int
    outcome: Outcome
    segment: int | None = None
    """Index of the segment that causes it; None means the one that the front feet are on."""


def tight_curves(course: Course, feet: FootPaths) -> list[ClimbFailure]:
    """The first curve of a `course` in which the inner `feet` would hardly move; an empty list if there is none."""
    for k, (u, segment) in enumerate(zip(course.starts, course.segments, strict=True)):
        if isinstance(segment, Arc) and segment.radius < 1.1 * course.spread:
            at = int(np.searchsorted(feet.t, max(u - course.spread, 0.0) * 4.0 * feet.quarter / course.stride))
            why = f"a radius of {1e3 * segment.radius:.0f} mm with feet {1e3 * course.spread:.0f} mm to the side"
            return [ClimbFailure(at, CURVE_TOO_TIGHT.because(why), k)]
    return []


def joints_beyond_limits(gecko: Gecko, Q: Array) -> list[ClimbFailure]:
    """The first joint of a `gecko` beyond its limits in configurations `Q` (T, n_q); an empty list if all are within."""
    lower, upper = gecko.limits()
    joints = Q[:, gecko.active]
    beyond = np.maximum(lower - joints, joints - upper)
    late = np.flatnonzero(beyond.max(1) > 1e-6)
    if not len(late):
        return []
    worst = gecko.active[int(beyond[late[0]].argmax())]
    return [ClimbFailure(int(late[0]), JOINT_AT_LIMIT.because(f"{gecko.figure.names[worst]} reaches its limit"))]


def contacts(gecko: Gecko, scene: Scene, Q: Array) -> list[ClimbFailure]:
    """The first forbidden contact of a `gecko` with itself or the `scene` in configurations `Q` (T, n_q); or an empty list."""
    near = climbing_world(gecko, scene).clearances_along(Q, within=1e-9)
    if not len(near.sample):
        return []
    k = int(np.argmin(near.sample))
    a, b = (near.names[i] for i in near.things[k])
    return [ClimbFailure(int(near.sample[k]), BODY_TOUCHES.because(f"{a} touches {b}"))]


def slips(held: AdhesionAlong, friction: float) -> list[ClimbFailure]:
    """The first sample at which no adhesion is enough, from `held`, computed with coefficient `friction`; or an empty list."""
    lost = np.flatnonzero(~np.isfinite(held.adhesion))
    why = f"with a friction of {friction:g}, feet slip whatever their adhesion"
    return [ClimbFailure(int(lost[0]), FEET_SLIP.because(why))] if len(lost) else []


def climbing_world(gecko: Gecko, scene: Scene) -> World:
    """The world of a `gecko` in a `scene`; feet, lower legs and the tail may touch the surface."""
    names = {shape.name for shape in gecko.figure.shapes} & set(MAY_TOUCH)
    parts = [*names, *(f"{leg}_foot" for leg in GECKO_FEET.names)]
    return World(gecko.figure, scene, allowed=[(part, obstacle.name) for part in parts for obstacle in scene.obstacles])
