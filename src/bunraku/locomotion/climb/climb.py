"""The verb `climb`: plans the motion of a gecko along a path over surfaces, and reports accelerations, clearance and adhesion."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arguments import require_common, require_kind, require_list, require_number
from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.figure.figure import Figure
from bunraku.locomotion.climb.adhesion import AdhesionAlong
from bunraku.locomotion.climb.any_course import AnyCourse
from bunraku.locomotion.climb.carried_tail import TailOptions, carry_tail
from bunraku.locomotion.climb.climb_checks import check_climb
from bunraku.locomotion.climb.climb_failures import (
    ClimbFailure,
    ankles_beyond_limits,
    course_failures,
    first_failure,
    joints_beyond_limits,
    slips,
    tips_over,
)
from bunraku.locomotion.climb.climb_outcomes import BODY_TOUCHES, CLIMBED, FOOT_OUT_OF_REACH
from bunraku.locomotion.climb.climb_pace import PaceOptions, climb_pace
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES, ClimberRoles
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.course_options import CourseOptions
from bunraku.locomotion.climb.course_slabs import scene_of
from bunraku.locomotion.climb.foot_swing import FootPaths, foot_paths
from bunraku.locomotion.climb.footsteps import Footsteps, Gait, footsteps
from bunraku.locomotion.climb.gecko import GaitGains, Gecko, Wish, gait, stand, wish, with_feet
from bunraku.locomotion.climb.light_climb import LightOptions, bearable, lighter, swayed
from bunraku.locomotion.climb.motion_accelerations import MotionAccelerations, motion_accelerations
from bunraku.locomotion.climb.path_segments import Arc, PathSegment, Slope, Step, Straight
from bunraku.locomotion.climb.smooth_motion import SmoothOptions, refined, smooth
from bunraku.locomotion.climb.surface_course import SurfaceCourse, SurfacePath
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
    tail: TailOptions = TailOptions()
    """How the tail is carried."""
    lift: float = 1.0 / 6.0
    """Height of a swing, raised where a foot would come too near to the surface [leg lengths]."""
    clear: float = 0.05
    """Smallest height of a swinging foot over the surface in the middle of its swing [leg lengths]."""
    foot_tolerance: float = 1e-4
    """The gait has failed if a foot is farther than this from its foothold [leg lengths]."""
    seen: float = 0.1
    """Clearances are computed up to this distance [leg lengths]."""
    firmer: float = 1.7
    """If anything touches the surface, the motion is optimised once more with the rate of the clearances multiplied by this."""
    other_ways: int = 3
    """If a climb over a mesh fails, so many other ways around the places of failure are tried."""
    fine: int = 2
    """Samples of the motion for each one that is optimised: between samples a motion is interpolated, and standing feet drift."""
    pace: PaceOptions = PaceOptions()
    """Defaults of gait, stride and duration of a step."""
    tips: float = 0.2
    """Largest angle by which the body may turn about the line between two feet while only they stand [rad]."""


@dataclass(frozen=True, eq=False, repr=False)
class Climb(Result):
    """The result of `climb`: a motion, truncated at the first failure, with measurements."""

    outcome: Outcome
    motion: Motion
    scene: Scene
    """The surface, as slabs or as the mesh."""
    seconds: Mapping[str, float]
    """Processor time by stage [s]."""
    course: AnyCourse
    """The path, laid out in space."""
    where: float
    """How far along the path of the body the motion ends [m]."""
    segment: int | None
    """Index of the segment in which it failed; None if it did not."""
    feet: FootPaths
    """Where the feet stand and swing."""
    adhesion: AdhesionAlong
    """The smallest adhesion that holds the climber at every sample, as if it stood still there."""
    moving: AdhesionAlong
    """The smallest adhesion for the motion at its pace, with the forces that accelerate the bodies."""
    ours: MotionAccelerations
    """Accelerations of this motion, by differences over the same time as those of the paper's gait, at every sample."""
    paper: MotionAccelerations
    """Accelerations of the paper's gait, with its fixed gains, on the same course."""
    clearance: Array
    """Distance of everything but feet and lower legs from the surface at every sample (T,) [m], at most a tenth of a leg."""
    leg_clearance: Array
    """Distance of the lower legs, which end in the feet, from the surface at every sample (T,) [m]."""
    leans: Array
    """Angle between the link above each ankle and the normal of its foot at every sample (T, ankles) [rad]."""
    torques: Array
    """Torques of the motors, those of the tail last, with `shared_forces` on the feet (T, motors) [N·m]."""
    tips: Array
    """Angle by which the body turns about the line between two feet while only they stand, in a trot (T,) [rad]."""
    roles: ClimberRoles = GECKO_ROLES
    """Which parts of the figure are feet, trunk and tail."""
    seed: int | None = None
    """The seed that was passed; the climb uses no random numbers."""

    @property
    def has_no_way(self) -> bool:
        """Whether the planner found no way over a mesh to the goal."""
        return isinstance(self.course, SurfaceCourse) and self.course.planned.failure is not None

    @property
    def accelerations(self) -> Array:
        """Magnitudes of the accelerations of the motors (samples, n) [rad/s²]."""
        return self.ours.joints

    @property
    def before(self) -> Array:
        """Magnitudes of the accelerations of the motors in the paper's gait, at samples `paper.dt` apart (samples, n) [rad/s²]."""
        return self.paper.joints

    @property
    def cycle(self) -> float:
        """Duration of a cycle, in which every foot steps once [s]."""
        return float(self.feet.cycle)

    @property
    def paused(self) -> float:
        """Time spent in pauses on all feet [s]."""
        return float(self.motion.t[-1] * self.feet.pause / self.feet.quarter)

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, way and clearance [m], adhesion at rest and in motion [weights], and peaks of the
        accelerations of joints, ankles [rad/s²] and trunk [m/s²]."""
        found: dict[str, float] = {"way": self.where, "clearance": float(self.clearance.min())}
        found |= {"adhesion": float(self.adhesion.adhesion.max()), "adhesion_moving": float(self.moving.adhesion.max())}
        if len(self.accelerations):
            found |= {"acceleration_max": float(self.accelerations.max()), "trunk_max": float(self.ours.trunk.max())}
            found |= {"ankle_max": float(self.ours.ankles.max())} if self.ours.ankles.size else {}
        return super().columns() | found

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, duration, accelerations against the paper's gait, clearance, adhesion."""
        yield from super().report()
        cycles = self.motion.t[-1] / self.cycle
        yield "motion", f"{self.motion.t[-1]:.2f} s, {cycles:.1f} cycles, {len(self.motion)} samples"
        if self.paused:
            yield "pauses", f"{self.feet.pause:.2g} s on all feet after every step, {self.paused:.2f} s in all"
        if self.tips.any():
            yield "tipping", f"at most {math.degrees(np.abs(self.tips).max()):.1f}° about the line between two feet"
        rows = list(self.ours.against(self.paper))
        for peak, total in zip(rows[::2], rows[1::2], strict=True):
            yield peak[0], f"{_change(*peak[2:])} of the paper's gait; sum {_change(*total[2:])}"
        if not rows:
            yield "paper", "its gait does not get that far"
        body, legs = (f"{1e3 * a.min():.1f} mm" for a in (self.clearance, self.leg_clearance))
        yield "clearance", f"at least {body}, that of the lower legs {legs}"
        if self.leans.size:
            lean, allowed = math.degrees(self.leans.max()), math.degrees(self.roles.lean)
            yield "leaning", f"legs lean over their feet by at most {lean:.0f}° of {allowed:.0f}°"
        worst = self.adhesion.worst
        value, t = self.adhesion.adhesion[worst], self.motion.t[worst]
        foot, most = self.adhesion.foot(worst).replace("_", " "), self.moving.adhesion.max()
        yield "adhesion", f"at most {value:.3f} of the weight, at {t:.2f} s, {foot} foot; {most:.3f} in motion"
        if np.isfinite(self.torques).all():
            gecko = Gecko(self.motion.figure, self.roles)
            k = int(np.abs(self.torques).max(0).argmax())
            motor = gecko.figure.variables[[*gecko.active.tolist(), *gecko.tail.tolist()][k]]
            limit = f" of {motor.effort:.3g} N·m" if math.isfinite(motor.effort) else " N·m"
            yield "torques", f"at most {np.abs(self.torques).max():.3g}{limit}, {motor.name.replace('_', ' ')}"


def _change(after: float, before: float, unit: str) -> str:
    return f"{after:.4g} {unit}, {100.0 * (after / before - 1.0):+.1f} % from {before:.4g}"


def climb(
    path: Sequence[PathSegment] | SurfacePath, *, figure: Figure | None = None, gait: Gait | None = None,
    speed: float | None = None, stride: float | None = None, quarter: float | None = None, dt: float | None = None,
    friction: float = 1.0, grip: float = math.inf, light: bool = False, pause: float | None = None, optimized: bool = True,
    roles: ClimberRoles = GECKO_ROLES, options: ClimbOptions = ClimbOptions(), seed: int | None = None,
    progress: Listener | None = None,
) -> Climb:  # fmt: skip
    """Plans how a gecko, or another figure with four or more legs, climbs a path.

    path: segments, in order: `Straight`, `Arc`, `Slope`, `Step`; or a `SurfacePath` from one place on a mesh to another
    figure: the figure that climbs, by default the gecko of the library
    gait: "crawl", one foot at a time, or "trot", half of the feet at a time: faster, but it tips if it is slow; by default a
        crawl, unless the `speed` asks for a trot
    speed: of the body, in place of `quarter` [m/s]
    stride: distance per cycle, in which every foot steps once [m]; by default half the length of a leg, three quarters in a trot;
        less in tight curves
    quarter: duration of a step [s]; by default in proportion to the square root of the length of a leg, 0.25 s for the gecko
    dt: time between two samples that are optimised [s], at most an eighth of `quarter`, by default a fiftieth; the motion has
        `options.fine` times as many
    friction: coefficient of friction of the feet
    grip: adhesion per unit of force along the toes (the tangent of the angle at which a foot lets go); infinite if feet
        stick in every direction
    light: lower the adhesion that feet need, by leaning the body, a narrower stance, and pauses, which take time
    pause: how long all feet stand after each step [s]; by default as long as a step of a crawl if `light`, otherwise 0
    optimized: smooth the whole motion; otherwise return the gait that the optimisation starts from
    roles: which parts of the figure are feet, trunk and tail; by default those of the gecko
    options: numbers that tune the algorithms
    seed: stored in the result; the climb uses no random numbers
    progress: called with the stages "gait", "smoothing" and "checks"

    Returns a `Climb`. If the path cannot be climbed, its outcome says why, and its motion is truncated at the first failure.
    Ctrl-C returns the best motion so far. Raises BunrakuError if an option is out of range or the figure is not a gecko.
    """
    if not isinstance(path, SurfacePath):
        require_list("path", path, (Straight, Arc, Slope, Step), expected="a list of segments", advice="give [Straight(0.3)]")
    if figure is not None:
        require_kind("figure", figure, Figure, expected="a Figure", advice="bunraku.load(…) and bunraku.library.named(…) give one")
    require_kind("roles", roles, ClimberRoles, expected="ClimberRoles", advice="give ClimberRoles(feet=…, trunk=…)")
    gecko = Gecko(figure if figure is not None else library.named("gecko"), roles)
    given = {"stride": stride, "quarter": quarter, "dt": dt, "speed": speed}
    for name, number in (*((n, x) for n, x in given.items() if x is not None), ("friction", friction)):
        require_number(name, number)
    require_number("grip", grip, finite=False)
    if pause is not None:
        require_number("pause", pause, unit="s", zero=True)
    require_common(seed, progress)
    leg = gecko.measures["leg"]
    still = pause if pause is not None else options.light.pause * math.sqrt(leg / 9.81) if light else 0.0
    _check(path, friction=friction, grip=grip, pause=still, **{name: x for name, x in given.items() if x is not None})
    pace = climb_pace(
        leg, len(roles.feet), gait=gait, speed=speed, stride=stride, quarter=quarter, dt=dt, pause=still, options=options.pace
    )  # fmt: skip
    _check(path, quarter=pace.quarter, dt=pace.dt)
    listen = progress or (lambda _: None)
    common = (gecko, pace.stride, pace.quarter, pace.gait, pace.dt, friction, grip, light, still, options, listen)
    first = done = _Work(path, *common).climbed(optimized, seed)
    seconds, tried = dict(done.seconds), 0
    while tried < options.other_ways and (around := _another_way(done)) is not None:
        done, tried = _Work(around, *common).climbed(optimized, seed), tried + 1
        seconds = {stage: seconds.get(stage, 0.0) + more for stage, more in done.seconds.items()}
    if tried and not done.outcome.ok and done.outcome.kind != STOPPED.kind:
        done = replace(first, outcome=first.outcome.because(f"{first.outcome.why}; other ways fail, too ({tried} tried)"))
    return replace(done, seconds=seconds)


@dataclass(eq=False)
class _Work:
    """A climb in progress: the options, and the best motion so far."""

    path: Sequence[PathSegment] | SurfacePath
    gecko: Gecko
    stride: float
    quarter: float
    gait: Gait
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
    plan: Footsteps | None = None
    _laid: tuple[AnyCourse, FootPaths, Wish] | None = None

    @property
    def laid(self) -> tuple[AnyCourse, FootPaths, Wish]:
        """The course, the paths of the feet, and what the body should follow."""
        if self._laid is None:
            m, light = self.gecko.measures, self.options.light
            spread = m["spread"] * (light.stance if self.light else 1.0)
            course = self._course(m, spread)
            self.plan = footsteps(course, front=m["front"], rear=m["rear"], feet=len(self.gecko.roles.feet), gait=self.gait)
            feet = self.swung()
            want = wish(self.gecko, course, feet)
            self._laid = course, feet, swayed(want, feet, self.friction, light, m["leg"]) if self.light else want
        return self._laid

    def _course(self, m: Mapping[str, float], spread: float) -> AnyCourse:
        common: dict[str, Any] = {"height": m["height"], "spread": spread, "stride": self.stride, "leg": m["leg"]}
        if isinstance(self.path, SurfacePath):
            legs: dict[str, Any] = {"sole": m["sole"], "soles": self.gecko.soles, "shape": self.gecko.leg_shape}
            return SurfaceCourse(self.path, **legs, options=self.options.course, **common)
        return Course(tuple(self.path), foot=m["foot"], options=self.options.course, **common)

    def climbed(self, optimized: bool, seed: int | None) -> Climb:
        """Plans the climb; `optimized` or not."""
        try:
            self.walk()
            if optimized:
                self.optimize(self.options.smooth)
                done = self.result(seed)
                if done.outcome.kind != BODY_TOUCHES.kind:
                    return done
                firm, last = self.options.firmer * self.options.smooth.clearance, self.options.smooth.stages[-1:]
                self.optimize(replace(self.options.smooth, clearance=firm, stages=last))
        except KeyboardInterrupt:
            self.stopped = True
        try:
            return self.result(seed)
        except KeyboardInterrupt:
            self.stopped = True
            return self.result(seed)

    def swung(self, *, soft: bool = True, fine: int = 1) -> FootPaths:
        """The paths of the feet at `fine` samples per sample; `soft` ones land without jerk, those of the paper's gait do not."""
        assert self.plan is not None
        m, o, dt = self.gecko.measures, self.options, self.dt
        quarter, pause = max(round(self.quarter / dt), 4) * dt, round(self.pause / dt) * dt
        return foot_paths(
            self.plan, centre=m["sole"], lift=o.lift * m["leg"], clear=o.clear * m["leg"], quarter=quarter, dt=dt / fine,
            pause=pause, soft=soft, soles=self.gecko.soles,
        )  # fmt: skip

    def walk(self) -> None:
        """Computes the gait that the optimisation starts from, up to the first foothold that a foot cannot reach."""
        self.progress(Progress("gait", 0.0))
        start, (course, feet, want) = time.process_time(), self.laid
        q, _ = stand(self.gecko, course, feet, want)
        Q, error = gait(self.gecko, q, feet, want, gains=self.options.guess)
        late = np.flatnonzero(error > self.options.foot_tolerance * self.gecko.measures["leg"])
        reached = int(late[0]) if len(late) else len(Q)
        if reached < len(feet.t):
            swings = np.flatnonzero(feet.aloft[min(reached + 1, len(feet.t) - 1)]).tolist()
            self.failures = [ClimbFailure(reached, FOOT_OUT_OF_REACH.because(_out_of_reach(self.gecko, swings)))]
            whole = max((reached - 1) // feet.steps * feet.steps + 1, 1)  # keeps completed steps only
            Q = Q[:whole] if reached else q[None]
        self.Q, self.seconds["gait"] = Q, time.process_time() - start
        self.progress(Progress("gait", 1.0))

    def optimize(self, options: SmoothOptions) -> None:
        """Smooths the motion, with these `options`."""
        assert self.Q is not None
        if len(self.Q) < 5:
            return
        start, (course, feet, want) = time.process_time(), self.laid
        holding = lighter if self.light else bearable
        terms = None  # two feet hold nothing at rest
        if self.gait == "crawl":
            terms = holding(self.gecko, friction=self.friction, grip=self.grip, options=self.options.light)
        smoothed = smooth(
            self.gecko, course, self.Q, feet, want, options=options, further=terms, progress=self.progress
        )  # fmt: skip
        self.Q, self.stopped = smoothed.Q, smoothed.stopped
        self.seconds["smoothing"] = self.seconds.get("smoothing", 0.0) + time.process_time() - start

    def result(self, seed: int | None) -> Climb:
        """The result, checked and truncated at the first failure."""
        self.progress(Progress("checks", 0.0))
        start, (course, coarse, want), options = time.process_time(), self.laid, self.options
        gecko, front = self.gecko, self.gecko.measures["front"]
        Q = self.Q if self.Q is not None else stand(gecko, course, coarse, want)[0][None]
        feet, dt = self.swung(fine=options.fine), self.dt / options.fine
        Q, scene = (
            refined(gecko, Q, coarse, feet, options.smooth),
            course.scene if isinstance(course, SurfaceCourse) else scene_of(course),
        )
        u = course.pace.at(feet.t[: len(Q)] / feet.cycle)
        full = with_feet(gecko, carry_tail(gecko, course, Q, u, dt, options.tail), feet)
        seen = options.seen * gecko.measures["leg"]
        checks = check_climb(gecko, scene, full, feet, friction=self.friction, grip=self.grip, seen=seen)
        failures = [replace(failure, sample=options.fine * failure.sample) for failure in self.failures]
        failures += [*course_failures(course, feet), *joints_beyond_limits(gecko, full), *checks.contacts]
        failures += [*slips(checks.held, self.friction), *slips(checks.moving, self.friction)]
        failures += [*ankles_beyond_limits(gecko, checks.leans), *tips_over(checks.tips, options.tips)]
        first = first_failure(failures)
        at = len(feet.t) if first is None else first.sample
        kept = full[: max(min(at, len(full)), 1)]
        where = float(course.pace.at(feet.t[min(at if first else len(kept), len(feet.t) - 1)] / feet.cycle))
        segment, outcome = None, STOPPED if self.stopped else CLIMBED
        if first is not None:
            segment, place = _placed(course, first, where, front)
            if not self.stopped:  # a motion that was not smoothed to the end says nothing about the path
                outcome = first.outcome.because(f"{first.outcome.why}, {where:.3f} m along{place}")
        marks = _marks(course, front, feet.cycle, len(kept) * dt)
        motion = Motion.of(gecko.figure, feet.t[: len(kept)], kept, marks=marks)
        ours, paper = motion_accelerations(gecko, kept, dt, options.fine), self.papers(course, (len(kept) - 1) // options.fine + 1)
        if outcome.ok:
            outcome = _rougher(outcome, ours, paper)
        self.seconds["checks"] = self.seconds.get("checks", 0.0) + time.process_time() - start
        self.progress(Progress("checks", 1.0))
        return Climb(
            outcome, motion, scene, dict(self.seconds), course, where, segment, feet, checks.held.until(len(kept)),
            checks.moving.until(len(kept)), ours, paper, checks.clearance[: len(kept)], checks.leg_clearance[: len(kept)],
            checks.leans[: len(kept)], checks.torques[: len(kept)], checks.tips[: len(kept)],
            gecko.roles, seed,
        )  # fmt: skip

    def papers(self, course: AnyCourse, count: int) -> MotionAccelerations:
        """Accelerations of the first `count` samples of the paper's gait with its fixed gains, on its own paths of the feet."""
        feet = self.swung(soft=False)
        want = wish(self.gecko, course, feet, paper=True)
        Q, _ = gait(self.gecko, stand(self.gecko, course, feet, want)[0], feet, want)
        return motion_accelerations(self.gecko, with_feet(self.gecko, Q[:count], feet), self.dt)


def _another_way(done: Climb) -> SurfacePath | None:
    """The path around the place where a climb over a mesh failed; None if there is nothing to go around."""
    if done.outcome.ok or done.outcome.kind == STOPPED.kind or not isinstance(done.course, SurfaceCourse) or done.has_no_way:
        return None
    course = done.course
    at, ends = course.body(np.array([done.where]))[0][0], course.body(np.array([0.0, course.length]))[0]
    if (np.linalg.norm(ends - at, axis=1) < course.around).any():
        return None
    path = course.segments[0]
    x, y, z = at.tolist()
    return replace(path, avoid=(*path.avoid, (x, y, z)))


def _placed(course: AnyCourse, failure: ClimbFailure, where: float, front: float) -> tuple[int | None, str]:
    """The index of the segment in which a climb fails, and words for the place."""
    if isinstance(course, SurfaceCourse):
        at = failure.place if failure.place is not None else course.body(np.array([where]))[0][0]
        return None, f", at ({', '.join(f'{x:.3f}' for x in at)})"
    on = max((k for k, u in enumerate(course.starts) if u <= where + front), default=None)
    segment = on if failure.segment is None else failure.segment
    return segment, "" if segment is None else f", in segment {segment + 1} ({course.segments[segment]})"


def _check(path: Sequence[PathSegment] | SurfacePath, **options: float) -> None:
    def refused(name: str, said: str, advice: str) -> FigureError:
        return FigureError(said, kind="climb", field=name, advice=advice)

    if not isinstance(path, SurfacePath) and not path:
        raise refused("path", "a path without segments", "give at least one, such as Straight(0.3)")
    for name, x in options.items():
        if not (x > 0.0 or (name == "pause" and x == 0.0)) or (x == math.inf and name != "grip"):
            raise refused(name, f"a {name} of {x:g}", f"give a number, {'zero or more' if name == 'pause' else 'more than zero'}")
    if "quarter" in options and "dt" in options and options["dt"] > options["quarter"] / 8.0 + 1e-12:
        raise refused("dt", f"{options['quarter'] / options['dt']:.1f} samples in a step", "make dt at most an eighth of quarter")


def _marks(course: AnyCourse, front: float, cycle: float, end: float) -> tuple[Mark, ...]:
    """A mark at the time when the front feet reach a slope, a curve or a step."""
    if isinstance(course, SurfaceCourse):
        return ()
    times = [cycle * float(course.pace.cycles_to(max(u - front, 0.0))) for u in course.starts]
    named = [(t, s) for t, s in zip(times, course.segments, strict=True) if not isinstance(s, Straight) and t < end]
    return tuple(Mark(t, str(segment)) for t, segment in named)


def _out_of_reach(gecko: Gecko, swings: list[int]) -> str:
    return f"{' or '.join(gecko.roles.feet[k] for k in swings).replace('_', ' ') or 'a foot'} is out of reach"


def _rougher(outcome: Outcome, ours: MotionAccelerations, paper: MotionAccelerations) -> Outcome:
    """The outcome, which says so if anything accelerates more than in the paper's gait."""
    worse = [(name, what, 100.0 * (a / b - 1.0)) for name, what, a, b, _ in ours.against(paper) if a > b]
    if not worse:
        return outcome
    told = ", ".join(f"{what} of the accelerations of the {name} {more:+.0f} %" for name, what, more in worse)
    return outcome.because(f"rougher than the paper's gait: {told}")
