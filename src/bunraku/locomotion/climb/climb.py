"""The verb `climb`: plans the motion of a gecko along a path over surfaces, and reports accelerations, clearance and adhesion."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.arguments import require_common, require_kind, require_list, require_number
from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.figure.figure import Figure
from bunraku.locomotion.climb.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.climb.climb_failures import ClimbFailure, contacts, joints_beyond_limits, slips, tight_curves
from bunraku.locomotion.climb.climb_outcomes import CLIMBED, FOOT_OUT_OF_REACH
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.course_options import CourseOptions
from bunraku.locomotion.climb.course_slabs import scene_of
from bunraku.locomotion.climb.foot_swing import FootPaths, foot_paths
from bunraku.locomotion.climb.footsteps import GECKO_FEET, footsteps
from bunraku.locomotion.climb.gain_search import accelerations
from bunraku.locomotion.climb.gecko import GaitGains, Gecko, Wish, gait, stand, wish, with_feet
from bunraku.locomotion.climb.light_climb import LightOptions, bearable, lighter, swayed
from bunraku.locomotion.climb.path_segments import Arc, PathSegment, Slope, Step, Straight
from bunraku.locomotion.climb.smooth_motion import SmoothOptions, skin_clearance, smooth
from bunraku.motion import Mark, Motion
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener, Progress
from bunraku.result import Result
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClimbOptions:
    """Options of all algorithms of a climb."""

    course: CourseOptions = CourseOptions()
    """Geometry of the course."""
    guess: GaitGains = GaitGains(0.5, 5.0, 0.05)
    """Gains of the gait that the optimisation starts from."""
    smooth: SmoothOptions = SmoothOptions()
    """The optimisation of the whole motion."""
    light: LightOptions = LightOptions()
    """Options of lean, stance and pauses, which lower the adhesion that feet need."""
    foot_tolerance: float = 1e-5
    """The gait has failed if a foot is farther than this from its foothold [m]."""


@dataclass(frozen=True, eq=False, repr=False)
class Climb(Result):
    """The result of `climb`: a motion, truncated at the first failure, with measurements."""

    outcome: Outcome
    motion: Motion
    scene: Scene
    """The surface, as slabs."""
    seconds: Mapping[str, float]
    """Processor time by stage [s]."""
    course: Course
    """The path, laid out in space."""
    where: float
    """How far along the path of the body the motion ends [m]."""
    segment: int | None
    """Index of the segment in which it failed; None if it did not."""
    feet: FootPaths
    """Where the feet stand and swing."""
    adhesion: AdhesionAlong
    """The smallest adhesion that holds the gecko at every sample."""
    before: Array
    """Joint accelerations (T − 2, n) [rad/s²] of the paper's gait, with its fixed gains, on the same course."""
    seed: int | None = None
    """The seed that was passed; the climb uses no random numbers."""

    @property
    def accelerations(self) -> Array:
        """Accelerations of the active joints (T − 2, n) [rad/s²]."""
        return accelerations(Gecko(self.motion.figure), self.motion.q, float(self.feet.t[1]))

    @property
    def clearance(self) -> Array:
        """Distance of the skin from the surface at every sample [m]; feet, lower legs and the tail do not count."""
        along = self.course.stride * self.motion.t / self.cycle
        return np.asarray(skin_clearance(Gecko(self.motion.figure), self.course, self.motion.q, along).min(1))

    @property
    def cycle(self) -> float:
        """Duration of a cycle of four steps [s]."""
        return float(4.0 * self.feet.quarter)

    @property
    def paused(self) -> float:
        """Time spent in pauses on all four feet [s]."""
        return float(self.motion.t[-1] * self.feet.pause / self.feet.quarter)

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, way [m], clearance [m], adhesion [weights], peak of the accelerations [rad/s²]."""
        found: dict[str, float] = {"way": self.where, "clearance": float(self.clearance.min())}
        found |= {"adhesion": float(self.adhesion.adhesion[self.adhesion.worst])}
        if len(self.accelerations):
            found |= {"acceleration_max": float(np.abs(self.accelerations).max())}
        return super().columns() | found

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, duration, accelerations against the paper's gait, clearance, adhesion."""
        yield from super().report()
        cycles = self.motion.t[-1] / self.cycle
        yield "motion", f"{self.motion.t[-1]:.2f} s, {cycles:.1f} cycles, {len(self.motion)} samples"
        if self.paused:
            yield "pauses", f"{self.feet.pause:.2g} s on all four feet after every step, {self.paused:.2f} s in all"
        after, before, dt = np.abs(self.accelerations), np.abs(self.before), float(self.feet.t[1])
        if len(after) and len(before) == len(after):
            yield "peak", _change(before.max(), after.max(), "rad/s²")
            yield "sum", _change(dt * before.sum(), dt * after.sum(), "rad/s")
        yield "clearance", f"at least {1e3 * self.clearance.min():.1f} mm"
        worst = self.adhesion.worst
        value, t = self.adhesion.adhesion[worst], self.motion.t[worst]
        yield "adhesion", f"at most {value:.3f} of the weight, at {t:.2f} s, {self.adhesion.foot(worst).replace('_', ' ')} foot"


def _change(before: float, after: float, unit: str) -> str:
    return f"joint accelerations {after:.4g} {unit}, {100.0 * (after / before - 1.0):+.1f} % from {before:.4g} of the paper's gait"


def climb(
    path: Sequence[PathSegment], *, figure: Figure | None = None, stride: float = 0.06, quarter: float = 0.25, dt: float = 0.005,
    friction: float = 1.0, grip: float = math.inf, light: bool = False, pause: float | None = None, optimized: bool = True,
    options: ClimbOptions = ClimbOptions(), seed: int | None = None, progress: Listener | None = None,
) -> Climb:  # fmt: skip
    """Plans how a gecko climbs a path.

    path: segments, in order: `Straight`, `Arc`, `Slope`, `Step`
    figure: the figure that climbs, by default the gecko of the library
    stride: distance per cycle of four steps [m]
    quarter: duration of the step of one foot [s]
    dt: time between two samples [s], at most an eighth of `quarter`
    friction: coefficient of friction of the feet
    grip: adhesion per unit of force along the toes (the tangent of the angle at which a foot lets go); infinite if feet
        stick in every direction
    light: lower the adhesion that feet need, by leaning the body, a narrower stance, and pauses, which take time
    pause: how long all four feet stand after each step [s]; by default 0.25 s if `light`, otherwise 0
    optimized: smooth the whole motion; otherwise return the gait that the optimisation starts from
    options: numbers that tune the algorithms
    seed: stored in the result; the climb uses no random numbers
    progress: called with the stages "gait", "smoothing" and "checks"

    Returns a `Climb`. If the path cannot be climbed, its outcome says why, and its motion is truncated at the first failure.
    Ctrl-C returns the best motion so far. Raises BunrakuError if an option is out of range or the figure is not a gecko.
    """
    require_list("path", path, (Straight, Arc, Slope, Step), expected="a list of segments", advice="give [Straight(0.3)]")
    if figure is not None:
        require_kind("figure", figure, Figure, expected="a Figure", advice="bunraku.load(…) and bunraku.library.named(…) give one")
    for name, given in (("stride", stride), ("quarter", quarter), ("dt", dt), ("friction", friction)):
        require_number(name, given)
    require_number("grip", grip, finite=False)
    if pause is not None:
        require_number("pause", pause, unit="s", zero=True)
    require_common(seed, progress)
    still = pause if pause is not None else options.light.pause if light else 0.0
    _check(path, stride=stride, quarter=quarter, dt=dt, friction=friction, grip=grip, pause=still)
    work = _Work(
        path, Gecko(figure if figure is not None else library.named("gecko")), stride, quarter, dt, friction, grip, light, still,
        options, progress or (lambda _: None),
    )  # fmt: skip
    try:
        work.walk()
        if optimized:
            work.optimize()
    except KeyboardInterrupt:
        work.stopped = True
    try:
        return work.result(seed)
    except KeyboardInterrupt:
        work.stopped = True
        return work.result(seed)


@dataclass(eq=False)
class _Work:
    """A climb in progress: the options, and the best motion so far."""

    path: Sequence[PathSegment]
    gecko: Gecko
    stride: float
    quarter: float
    dt: float
    friction: float
    grip: float
    light: bool
    pause: float
    options: ClimbOptions
    progress: Listener
    stopped: bool = False
    Q: Array | None = None
    failures: list[ClimbFailure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    _laid: tuple[Course, FootPaths, Wish] | None = None

    @property
    def laid(self) -> tuple[Course, FootPaths, Wish]:
        """The course, the paths of the feet, and what the body should follow."""
        if self._laid is None:
            m, light = self.gecko.measures, self.options.light
            spread = m["spread"] * (light.stance if self.light else 1.0)
            course = Course(tuple(self.path), height=m["height"], spread=spread, stride=self.stride, options=self.options.course)
            plan = footsteps(course, front=m["front"], rear=m["rear"])
            feet = foot_paths(plan, centre=m["sole"], quarter=self.quarter, dt=self.dt, pause=self.pause)
            want = wish(self.gecko, course, feet)
            self._laid = course, feet, swayed(want, feet, self.friction, light) if self.light else want
        return self._laid

    def walk(self) -> None:
        """Computes the gait that the optimisation starts from, up to the first foothold that a foot cannot reach."""
        self.progress(Progress("gait", 0.0))
        start, (course, feet, want) = time.process_time(), self.laid
        q, _ = stand(self.gecko, course, feet, want)
        Q, error = gait(self.gecko, q, feet, want, gains=self.options.guess)
        late = np.flatnonzero(error > self.options.foot_tolerance)
        reached = int(late[0]) if len(late) else len(Q)
        if reached < len(feet.t):
            foot = int(feet.swings[min(reached + 1, len(feet.t) - 1)])
            self.failures = [ClimbFailure(reached, FOOT_OUT_OF_REACH.because(_out_of_reach(foot)))]
            whole = max((reached - 1) // feet.steps * feet.steps + 1, 1)  # keeps completed steps only
            Q = Q[:whole] if reached else q[None]
        self.Q, self.seconds["gait"] = Q, time.process_time() - start
        self.progress(Progress("gait", 1.0))

    def optimize(self) -> None:
        """Smooths the motion."""
        assert self.Q is not None
        if len(self.Q) < 5:
            return
        start, (course, feet, want) = time.process_time(), self.laid
        terms = (lighter if self.light else bearable)(
            self.gecko, friction=self.friction, grip=self.grip, options=self.options.light
        )  # fmt: skip
        smoothed = smooth(
            self.gecko, course, self.Q, feet, want, options=self.options.smooth, further=terms, progress=self.progress
        )  # fmt: skip
        self.Q, self.stopped = smoothed.Q, smoothed.stopped
        self.seconds["smoothing"] = time.process_time() - start

    def result(self, seed: int | None) -> Climb:
        """The result, checked and truncated at the first failure."""
        self.progress(Progress("checks", 0.0))
        start, (course, feet, want) = time.process_time(), self.laid
        gecko, front = self.gecko, self.gecko.measures["front"]
        Q = self.Q if self.Q is not None else stand(gecko, course, feet, want)[0][None]
        full, scene = with_feet(gecko, Q, feet), scene_of(course)
        held = adhesion_along(gecko, full, feet, friction=self.friction, grip=self.grip)
        failures = [*self.failures, *tight_curves(course, feet), *joints_beyond_limits(gecko, full)]
        failures += [*contacts(gecko, scene, full), *slips(held, self.friction)]
        first = min(failures, key=lambda failure: failure.sample, default=None)
        at = len(feet.t) if first is None else first.sample
        kept = full[: max(min(at, len(full)), 1)]
        where = self.stride * float(feet.t[min(at if first else len(kept), len(feet.t) - 1)]) / (4.0 * feet.quarter)
        segment, outcome = None, STOPPED if self.stopped else CLIMBED
        if first is not None:
            on = max((k for k, u in enumerate(course.starts) if u <= where + front), default=None)
            segment = on if first.segment is None else first.segment
            place = "" if segment is None else f", in segment {segment + 1} ({course.segments[segment]})"
            if not self.stopped:  # a motion that was not smoothed to the end says nothing about the path
                outcome = first.outcome.because(f"{first.outcome.why}, {where:.3f} m along{place}")
        marks = _marks(course, front, 4.0 * feet.quarter, len(kept) * self.dt)
        motion = Motion.of(gecko.figure, feet.t[: len(kept)], kept, marks=marks)
        before = _paper(gecko, course, feet, len(kept))
        seconds = self.seconds | {"checks": time.process_time() - start}
        self.progress(Progress("checks", 1.0))
        return Climb(
            outcome, motion, scene, seconds, course, where, segment, feet, held.until(len(kept)), before, seed
        )  # fmt: skip


def _check(path: Sequence[PathSegment], **options: float) -> None:
    def refused(name: str, said: str, advice: str) -> FigureError:
        return FigureError(said, kind="climb", field=name, advice=advice)

    if not path:
        raise refused("path", "a path without segments", "give at least one, such as Straight(0.3)")
    for name, x in options.items():
        if not (x > 0.0 or (name == "pause" and x == 0.0)) or (x == math.inf and name != "grip"):
            raise refused(name, f"a {name} of {x:g}", f"give a number, {'zero or more' if name == 'pause' else 'more than zero'}")
    if options["dt"] > options["quarter"] / 8.0 + 1e-12:
        raise refused("dt", f"{options['quarter'] / options['dt']:.1f} samples in a step", "make dt at most an eighth of quarter")


def _marks(course: Course, front: float, cycle: float, end: float) -> tuple[Mark, ...]:
    """A mark at the time when the front feet reach a slope, a curve or a step."""
    times = [max(u - front, 0.0) * cycle / course.stride for u in course.starts]
    named = [(t, s) for t, s in zip(times, course.segments, strict=True) if not isinstance(s, Straight) and t < end]
    return tuple(Mark(t, str(segment)) for t, segment in named)


def _out_of_reach(foot: int) -> str:
    return "a foot is out of reach" if foot < 0 else f"{GECKO_FEET.names[foot].replace('_', ' ')} foot is out of reach"


def _paper(gecko: Gecko, course: Course, feet: FootPaths, count: int) -> Array:
    """Accelerations of the paper's gait with its fixed gains."""
    want = wish(gecko, course, feet, paper=True)
    Q, _ = gait(gecko, stand(gecko, course, feet, want)[0], feet, want)
    return accelerations(gecko, Q[:count], float(feet.t[1]))
