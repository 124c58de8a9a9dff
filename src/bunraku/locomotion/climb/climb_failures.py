"""Failures that end a climb early: the first bad sample, and the outcome."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.locomotion.climb.adhesion import AdhesionAlong
from bunraku.locomotion.climb.any_course import AnyCourse
from bunraku.locomotion.climb.climb_outcomes import (
    BODY_TOUCHES,
    CURVE_TOO_TIGHT,
    FEET_SLIP,
    JOINT_AT_LIMIT,
    TIPS_OVER,
    SurfaceOutcome,
)
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Arc
from bunraku.locomotion.climb.surface_course import SurfaceCourse
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
    place: Array | None = None
    """Where on a mesh (3,) [m]; None means where the body is."""
    no_way: bool = False
    """Whether no way leads to the goal, however one climbs."""


def first_failure(failures: Sequence[ClimbFailure]) -> ClimbFailure | None:
    """The first of the `failures`, or None. If no way leads to the goal, this is the reason, wherever the climber gets stuck."""
    first = min(failures, key=lambda failure: failure.sample, default=None)
    lost = next((failure for failure in failures if failure.no_way), None)
    return first if first is None or lost is None else replace(lost, sample=first.sample)


def course_failures(course: AnyCourse, feet: FootPaths) -> list[ClimbFailure]:
    """What is wrong with a `course` before anybody climbs it with these paths of the `feet`; an empty list if nothing is."""
    if not isinstance(course, SurfaceCourse):
        return tight_curves(course, feet)
    found = []
    if course.planned.failure is not None:
        found.append(ClimbFailure(len(feet.t) - 1, course.planned.failure, place=course.planned.place, no_way=True))
    for lost in course.missing[:1]:
        at = int(np.searchsorted(feet.t, feet.cycle * course.pace.cycles_to(max(lost.u - course.spread, 0.0))))
        gap = f"the best foothold has a gap of {1e3 * lost.gap:.0f} mm under the sole"
        why = gap if math.isfinite(lost.gap) else "nowhere near does the foot fit"
        found.append(ClimbFailure(min(at, len(feet.t) - 1), SurfaceOutcome.foothold.because(why), place=lost.place))
    return found


def tight_curves(course: Course, feet: FootPaths) -> list[ClimbFailure]:
    """The first curve of a `course` in which the inner `feet` would hardly move; an empty list if there is none."""
    for k, (u, segment) in enumerate(zip(course.starts, course.segments, strict=True)):
        if isinstance(segment, Arc) and segment.radius < 1.1 * course.spread:
            at = int(np.searchsorted(feet.t, feet.cycle * course.pace.cycles_to(max(u - course.spread, 0.0))))
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


def ankles_beyond_limits(gecko: Gecko, leans: Array) -> list[ClimbFailure]:
    """The first leg of a `gecko` that leans over its foot farther than its role allows, from `leans` (T, ankles) [rad]; or an
    empty list."""
    late = np.flatnonzero((leans > gecko.roles.lean).any(1))
    if not len(late):
        return []
    foot = gecko.roles.feet[int(leans[late[0]].argmax())].replace("_", " ")
    why = f"the leg above {foot} leans farther over it than {math.degrees(gecko.roles.lean):.0f}°"
    return [ClimbFailure(int(late[0]), JOINT_AT_LIMIT.because(why))]


def tips_over(tips: Array, most: float) -> list[ClimbFailure]:
    """The first sample at which the angle of `tips` (T,) [rad] is beyond `most` [rad]; or an empty list."""
    late = np.flatnonzero(np.abs(tips) > most)
    if not len(late):
        return []
    why = f"it turns by {math.degrees(float(np.abs(tips).max())):.0f}° about the line between two feet before others land"
    return [ClimbFailure(int(late[0]), TIPS_OVER.because(why))]


def contacts(gecko: Gecko, scene: Scene, Q: Array) -> list[ClimbFailure]:
    """The first contact of a `gecko` with itself or the `scene` in configurations `Q` (T, n_q); or an empty list.

    Parts that overlap where it stands, as simple shapes around the motors of a robot do, may always touch.
    """
    near = World(gecko.figure, scene, allowed=World(gecko.figure).touching_at(gecko.start)).clearances_along(Q, within=0.0)
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


def clearances(gecko: Gecko, scene: Scene, Q: Array, within: float) -> tuple[Array, Array]:
    """Exact distances of a `gecko` from a `scene` at configurations `Q` (T, n_q), at most `within` [m].

    The first array (T,) is of everything but the feet and the links that end in them, the second of these links.
    """
    world = World(gecko.figure, scene, allowed=[(foot, obstacle.name) for foot in gecko.roles.feet for obstacle in scene.obstacles])
    near = world.clearances_along(Q, within=within)
    moving = len(world.flat.joint)
    carriers, index = gecko.body.carrier[: len(gecko.roles.feet)], gecko.figure.frame_index
    leg = np.array([gecko.figure.compiled.frame_joint[index[thing.part]] in carriers for thing in world.things[:moving]])
    out = np.full((2, len(Q)), within)
    surface = (near.things[:, 0] < moving) & (near.things[:, 1] >= moving)
    for k, own in enumerate((~leg, leg)):
        chosen = np.flatnonzero(surface)[own[near.things[surface, 0]]]
        np.minimum.at(out[k], near.sample[chosen], near.value[chosen])
    return out[0], out[1]
