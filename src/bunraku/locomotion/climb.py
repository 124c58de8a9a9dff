"""`climb`: a gecko along a course, to a motion, with what it took."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.figure import library
from bunraku.figure.figure import Figure
from bunraku.locomotion.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.course import Course, Curve, Segment
from bunraku.locomotion.footsteps import FEET, footsteps
from bunraku.locomotion.gecko import SOFT, Gains, Gecko, gait, stand, wish, with_feet
from bunraku.locomotion.smooth import smooth
from bunraku.locomotion.swing import FootPaths, foot_paths
from bunraku.motion import Motion
from bunraku.scene import Scene

Array = NDArray[np.float64]
GUESS = Gains(0.05, 5.0, 0.05)  # body first: what the whole-motion optimisation starts from
EXACT = 1e-5  # of a foot [m]


class Outcome(enum.Enum):
    """How a climb ended; its value is the advice."""

    ARRIVED = "the whole course is climbed"
    TOO_TIGHT = "the feet inside of the curve would have to stand on its centre: give the curve a larger radius"
    UNREACHABLE = "a foot does not get to its place: shorten the stride, or make the slope or the step smaller"
    LIMITS = "a joint would have to turn beyond its limits: shorten the stride, or make the slope, step or turn smaller"
    COLLIDES = "the body does not fit through: make the slope or the step smaller, or the straights between them longer"

    @property
    def advice(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Climb:
    """A motion, up to where it went well; `where` [m] along the way of the body it ended, and `why`."""

    motion: Motion
    scene: Scene
    outcome: Outcome
    where: float
    why: str
    segment: int | None
    feet: FootPaths
    adhesion: AdhesionAlong

    @property
    def accelerations(self) -> Array:
        """Of the active joints, (T − 2, n) [rad/s²]."""
        joints = self.motion.q[:, Gecko(self.motion.figure).active]
        return np.asarray(np.diff(joints, 2, axis=0) / np.diff(self.motion.t)[1:, None] ** 2)

    def __str__(self) -> str:
        lines = [self.outcome.name.lower()]
        if self.outcome is not Outcome.ARRIVED:
            place = "" if self.segment is None else f", in segment {self.segment + 1}"
            lines[0] += f": {self.why}, {self.where:.3f} m along{place}"
            lines.append(f"  advice: {self.outcome.advice}")
        size = np.abs(self.accelerations)
        lines.append(f"{self.motion.t[-1]:.2f} s, joint accelerations at most {size.max(initial=0.0):.1f} rad/s²")
        return "\n".join([*lines, str(self.adhesion)])


def climb(
    segments: Sequence[Segment], *, figure: Figure | None = None, stride: float = 0.06, quarter: float = 0.25, dt: float = 0.005,
    friction: float = 1.0, optimized: bool = True, heard: Callable[[int, float], None] | None = None,
) -> Climb:  # fmt: skip
    """The climb of a course [m]: a step of one foot takes `quarter` [s], a whole cycle gets `stride` [m] ahead."""
    gecko = Gecko(figure if figure is not None else library.named("gecko"))
    m = gecko.measures
    course = Course(tuple(segments), height=m["height"], spread=m["spread"], stride=stride)
    plan = footsteps(course, front=m["front"], rear=m["rear"])
    feet = foot_paths(plan, centre=m["sole"], quarter=quarter, dt=dt)
    want = wish(gecko, course, feet, quarter=quarter)
    q, _ = stand(gecko, course, feet, want)
    Q, error = gait(gecko, q, feet, want, gains=GUESS)
    late = np.flatnonzero(error > EXACT)
    reached = int(late[0]) if len(late) else len(Q)
    failures: list[tuple[int, Outcome, str]] = []
    if reached < len(feet.t):
        failures.append((reached, Outcome.UNREACHABLE, "a foot is out of reach"))
    Q = Q[:reached] if reached else q[None]
    if optimized and len(Q) >= 5:
        Q = smooth(gecko, course, Q, feet, want, quarter=quarter, heard=heard)
    full, scene = with_feet(gecko, Q, feet), course.scene()
    failures += [*_tight(course, feet, quarter), *_limits(gecko, full), *_collides(gecko, scene, full)]
    at, outcome, why = min(failures, key=lambda failure: failure[0], default=(len(feet.t), Outcome.ARRIVED, ""))
    kept = full[: max(min(at, len(full)), 1)]
    where = stride * float(feet.t[min(at, len(feet.t) - 1)]) / (4.0 * quarter)
    segment = max((k for k, u in enumerate(course.starts) if u <= where + m["front"]), default=None) if why else None
    motion = Motion.of(gecko.figure, feet.t[: len(kept)], kept)
    return Climb(motion, scene, outcome, where, why, segment, feet, adhesion_along(gecko, kept, feet, friction=friction))


def _tight(course: Course, feet: FootPaths, quarter: float) -> list[tuple[int, Outcome, str]]:
    for u, segment in zip(course.starts, course.segments, strict=True):
        if isinstance(segment, Curve) and segment.radius < 1.1 * course.spread:
            at = int(np.searchsorted(feet.t, max(u - course.spread, 0.0) * 4.0 * quarter / course.stride))
            why = f"a radius of {1e3 * segment.radius:.0f} mm with feet {1e3 * course.spread:.0f} mm to the side"
            return [(at, Outcome.TOO_TIGHT, why)]
    return []


def _limits(gecko: Gecko, Q: Array) -> list[tuple[int, Outcome, str]]:
    lower, upper = gecko.limits()
    joints = Q[:, gecko.active]
    beyond = np.maximum(lower - joints, joints - upper)
    late = np.flatnonzero(beyond.max(1) > 1e-6)
    if not len(late):
        return []
    worst = gecko.active[int(beyond[late[0]].argmax())]
    return [(int(late[0]), Outcome.LIMITS, f"{gecko.figure.names[worst]} reaches its limit")]


def _collides(gecko: Gecko, scene: Scene, Q: Array) -> list[tuple[int, Outcome, str]]:
    world = climbing_world(gecko, scene)
    near = world.clearances_along(Q, within=1e-9)
    if not len(near.sample):
        return []
    k = int(np.argmin(near.sample))
    a, b = (near.names[i] for i in near.things[k])
    return [(int(near.sample[k]), Outcome.COLLIDES, f"{a} touches {b}")]


def climbing_world(gecko: Gecko, scene: Scene) -> World:
    """A world in which feet, lower legs and the tail may touch what is climbed on."""
    names = {shape.name for shape in gecko.figure.shapes} & set(SOFT)
    parts = [*names, *(f"{leg}_foot" for leg in FEET)]
    return World(gecko.figure, scene, allowed=[(part, obstacle.name) for part in parts for obstacle in scene.obstacles])
