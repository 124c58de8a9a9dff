"""What can end a climb: where, with which outcome, and why."""

from __future__ import annotations

import enum

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.locomotion.climb.adhesion import AdhesionAlong
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.footsteps import FEET
from bunraku.locomotion.climb.gecko import SOFT, Gecko
from bunraku.locomotion.climb.path_segments import Curve
from bunraku.scene import Scene

Array = NDArray[np.float64]


class Outcome(enum.Enum):
    """How a climb ended; its value is the advice."""

    ARRIVED = "the whole course is climbed"
    STOPPED = "the motion is whole, but could be smoother: let the optimisation finish"
    TOO_TIGHT = "the feet inside of the curve would have to stand on its centre: give the curve a larger radius"
    UNREACHABLE = "a foot does not get to its place: shorten the stride, or make the slope or the step smaller"
    LIMITS = "a joint would have to turn beyond its limits: shorten the stride, or make the slope, step or turn smaller"
    SLIPS = "no adhesion holds the feet: give them friction, or a grip in more directions"
    COLLIDES = "the body does not fit through: make the slope or the step smaller, or the straights between them longer"

    @property
    def advice(self) -> str:
        return self.value


Failure = tuple[int, Outcome, str]
"""The sample from which on it goes wrong, how, and why."""


def tight(course: Course, feet: FootPaths) -> list[Failure]:
    """The first curve in which inner feet would hardly move."""
    for u, segment in zip(course.starts, course.segments, strict=True):
        if isinstance(segment, Curve) and segment.radius < 1.1 * course.spread:
            at = int(np.searchsorted(feet.t, max(u - course.spread, 0.0) * 4.0 * feet.quarter / course.stride))
            why = f"a radius of {1e3 * segment.radius:.0f} mm with feet {1e3 * course.spread:.0f} mm to the side"
            return [(at, Outcome.TOO_TIGHT, why)]
    return []


def limits(gecko: Gecko, Q: Array) -> list[Failure]:
    """The first joint beyond its limits."""
    lower, upper = gecko.limits()
    joints = Q[:, gecko.active]
    beyond = np.maximum(lower - joints, joints - upper)
    late = np.flatnonzero(beyond.max(1) > 1e-6)
    if not len(late):
        return []
    worst = gecko.active[int(beyond[late[0]].argmax())]
    return [(int(late[0]), Outcome.LIMITS, f"{gecko.figure.names[worst]} reaches its limit")]


def collides(gecko: Gecko, scene: Scene, Q: Array) -> list[Failure]:
    """The first contact of parts that may not touch."""
    near = climbing_world(gecko, scene).clearances_along(Q, within=1e-9)
    if not len(near.sample):
        return []
    k = int(np.argmin(near.sample))
    a, b = (near.names[i] for i in near.things[k])
    return [(int(near.sample[k]), Outcome.COLLIDES, f"{a} touches {b}")]


def slips(held: AdhesionAlong, friction: float) -> list[Failure]:
    """The first posture that no adhesion holds."""
    lost = np.flatnonzero(~np.isfinite(held.adhesion))
    why = f"with a friction of {friction:g}, feet slip however well they stick"
    return [(int(lost[0]), Outcome.SLIPS, why)] if len(lost) else []


def climbing_world(gecko: Gecko, scene: Scene) -> World:
    """A world in which feet, lower legs and the tail may touch what is climbed on."""
    names = {shape.name for shape in gecko.figure.shapes} & set(SOFT)
    parts = [*names, *(f"{leg}_foot" for leg in FEET)]
    return World(gecko.figure, scene, allowed=[(part, obstacle.name) for part in parts for obstacle in scene.obstacles])
