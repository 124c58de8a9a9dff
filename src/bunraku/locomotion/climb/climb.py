"""`climb`: a gecko along a course, to a motion, with what it took."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.figure.figure import Figure
from bunraku.locomotion.climb.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.course_slabs import scene_of
from bunraku.locomotion.climb.foot_swing import FootPaths, foot_paths
from bunraku.locomotion.climb.footsteps import FEET, footsteps
from bunraku.locomotion.climb.gain_search import accelerations
from bunraku.locomotion.climb.gecko import Gains, Gecko, Wish, gait, stand, wish, with_feet
from bunraku.locomotion.climb.light_climb import PAUSE, STANCE, bearable, lighter, swayed
from bunraku.locomotion.climb.obstruction import Failure, Outcome, collides, limits, slips, tight
from bunraku.locomotion.climb.path_segments import Segment, Straight
from bunraku.locomotion.climb.smooth_motion import skin_clearance, smooth
from bunraku.motion import Mark, Motion
from bunraku.scene import Scene

Array = NDArray[np.float64]
GUESS = Gains(0.5, 5.0, 0.05)  # body first: what the whole-motion optimisation starts from
EXACT = 1e-5  # of a foot [m]


@dataclass(frozen=True, eq=False)
class Climb:
    """A motion, up to where it went well; `where` [m] along the way of the body it ended, and `why`.

    `before` are the joint accelerations (T − 2, n) [rad/s²] of the paper's gait with its fixed gains on the same course.
    """

    motion: Motion
    scene: Scene
    course: Course
    outcome: Outcome
    where: float
    why: str
    segment: int | None
    feet: FootPaths
    adhesion: AdhesionAlong
    before: Array

    __repr__ = brief

    @property
    def accelerations(self) -> Array:
        """Of the active joints, (T − 2, n) [rad/s²]."""
        return accelerations(Gecko(self.motion.figure), self.motion.q, float(self.feet.t[1]))

    @property
    def clearance(self) -> Array:
        """How far the skin is from the surface at every sample [m]; feet, lower legs and the tail may touch it."""
        along = self.course.stride * self.motion.t / self.cycle
        return np.asarray(skin_clearance(Gecko(self.motion.figure), self.course, self.motion.q, along).min(1))

    @property
    def cycle(self) -> float:
        """How long a cycle of four steps takes [s]."""
        return float(4.0 * self.feet.quarter)

    @property
    def paused(self) -> float:
        """How much of the time went by in pauses on all four feet [s]."""
        return float(self.motion.t[-1] * self.feet.pause / self.feet.quarter)

    def __str__(self) -> str:
        lines = [self.outcome.name.lower().replace("_", " ")]
        if self.why:
            place = "" if self.segment is None else f", in segment {self.segment + 1}"
            lines[0] += f": {self.why}, {self.where:.3f} m along{place}"
        if self.outcome is not Outcome.ARRIVED:
            lines.append(f"  advice: {self.outcome.advice}")
        paused = f" ({self.paused:.2f} s of it in pauses on all four feet)" if self.paused else ""
        lines.append(f"{self.motion.t[-1]:.2f} s{paused}, {_compared(self)}")
        return "\n".join([*lines, f"clearance at least {1e3 * self.clearance.min():.1f} mm", str(self.adhesion)])


def _compared(done: Climb) -> str:
    after, before = np.abs(done.accelerations), np.abs(done.before)
    most = f"joint accelerations at most {after.max(initial=0.0):.1f} rad/s²"
    if not len(after) or len(before) != len(after):
        return most
    dt = float(done.feet.t[1])
    changes = [f"{100.0 * (b / a - 1.0):+.0f} %" for a, b in ((before.max(), after.max()), (before.sum(), after.sum()))]
    return (
        f"{most} ({changes[0]} of {before.max():.1f} in the paper's gait), "
        f"{dt * after.sum():.0f} rad/s in all ({changes[1]} of {dt * before.sum():.0f})"
    )


def climb(
    segments: Sequence[Segment], *, figure: Figure | None = None, stride: float = 0.06, quarter: float = 0.25, dt: float = 0.005,
    friction: float = 1.0, grip: float = math.inf, optimized: bool = True, light: bool = False, pause: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Climb:  # fmt: skip
    """The climb of a course [m]: a step of one foot takes `quarter` [s], a whole cycle gets `stride` [m] ahead.

    `light` leans the body so that feet need to stick less: with a narrower stance, and a `pause` [s] on all four feet after each
    step, which takes time. `optimized=False` is the gait that the optimisation starts from. Ctrl-C ends the optimisation with
    what there is.
    """
    still = pause if pause is not None else PAUSE if light else 0.0
    _check(segments, stride=stride, quarter=quarter, dt=dt, friction=friction, grip=grip, pause=still)
    gecko = Gecko(figure if figure is not None else library.named("gecko"))
    m = gecko.measures
    course = Course(tuple(segments), height=m["height"], spread=m["spread"] * (STANCE if light else 1.0), stride=stride)
    plan = footsteps(course, front=m["front"], rear=m["rear"])
    feet = foot_paths(plan, centre=m["sole"], quarter=quarter, dt=dt, pause=still)
    want = wish(gecko, course, feet)
    want = swayed(want, feet, friction) if light else want
    Q, failures = _guess(gecko, course, feet, want)
    stopped = False
    if optimized and len(Q) >= 5:
        further = (lighter if light else bearable)(gecko, friction=friction, grip=grip)
        smoothed = smooth(gecko, course, Q, feet, want, further=further, progress=progress)
        Q, stopped = smoothed.Q, smoothed.stopped
    full, scene = with_feet(gecko, Q, feet), scene_of(course)
    held = adhesion_along(gecko, full, feet, friction=friction, grip=grip)
    failures += [*tight(course, feet), *limits(gecko, full), *collides(gecko, scene, full), *slips(held, friction)]
    at, outcome, why = min(failures, key=lambda failure: failure[0], default=(len(feet.t), Outcome.ARRIVED, ""))
    if stopped and not failures:
        outcome = Outcome.STOPPED
    kept = full[: max(min(at, len(full)), 1)]
    where = stride * float(feet.t[min(at, len(feet.t) - 1)]) / (4.0 * feet.quarter)
    segment = max((k for k, u in enumerate(course.starts) if u <= where + m["front"]), default=None) if why else None
    marks = _marks(course, m["front"], 4.0 * feet.quarter, len(kept) * dt)
    motion = Motion.of(gecko.figure, feet.t[: len(kept)], kept, marks=marks)
    before = _paper(gecko, course, feet, len(kept))
    return Climb(motion, scene, course, outcome, where, why, segment, feet, held.until(len(kept)), before)


def _check(segments: Sequence[Segment], **options: float) -> None:
    def refused(field: str, said: str, advice: str) -> FigureError:
        return FigureError(said, kind="climb", field=field, advice=advice)

    if not segments:
        raise refused("path", "a path without segments", "give at least one, such as Straight(0.3)")
    for name, x in options.items():
        if not (x > 0.0 or (name == "pause" and x == 0.0)) or (x == math.inf and name != "grip"):
            raise refused(name, f"a {name} of {x:g}", f"give a number, {'zero or more' if name == 'pause' else 'more than zero'}")
    if options["dt"] > options["quarter"] / 8.0 + 1e-12:
        raise refused("dt", f"{options['quarter'] / options['dt']:.1f} samples in a step", "make dt at most an eighth of quarter")


def _marks(course: Course, front: float, cycle: float, end: float) -> tuple[Mark, ...]:
    """Where the front feet come to a slope, a curve or a step."""
    times = [max(u - front, 0.0) * cycle / course.stride for u in course.starts]
    named = [(t, s) for t, s in zip(times, course.segments, strict=True) if not isinstance(s, Straight) and t < end]
    return tuple(Mark(t, str(segment)) for t, segment in named)


def _guess(gecko: Gecko, course: Course, feet: FootPaths, want: Wish) -> tuple[Array, list[Failure]]:
    """A gait as far as feet get to their places."""
    q, _ = stand(gecko, course, feet, want)
    Q, error = gait(gecko, q, feet, want, gains=GUESS)
    late = np.flatnonzero(error > EXACT)
    reached = int(late[0]) if len(late) else len(Q)
    if reached == len(feet.t):
        return Q, []
    whole = max((reached - 1) // feet.steps * feet.steps + 1, 1)  # the steps that were finished
    foot = int(feet.swings[min(reached + 1, len(feet.t) - 1)])
    return (Q[:whole] if reached else q[None]), [(reached, Outcome.UNREACHABLE, _out_of_reach(foot))]


def _out_of_reach(foot: int) -> str:
    return "a foot is out of reach" if foot < 0 else f"{FEET[foot].replace('_', ' ')} foot is out of reach"


def _paper(gecko: Gecko, course: Course, feet: FootPaths, count: int) -> Array:
    """Accelerations of the paper's gait with its fixed gains."""
    want = wish(gecko, course, feet, paper=True)
    Q, _ = gait(gecko, stand(gecko, course, feet, want)[0], feet, want)
    return accelerations(gecko, Q[:count], float(feet.t[1]))
