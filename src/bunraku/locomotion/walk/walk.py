"""Walking: the base of a person follows a given path over a floor exactly, on feet that do not slide.

    walked = walk(figure, t, base)           # base (T, 3): x, y, heading of the pelvis over the floor
    walked.motion                            # all variables at all times
    walked.footfalls                         # foot, position, start and end of every stance

Steps are planned along the path (`footfalls`). Feet stand on the ground and swing as in the blended cycles (`feet`). Legs are
solved in closed form between pelvis and feet, trunk and arms move as in the cycles, and the head turns to where the path leads
(`walking_body`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from bunraku.brief import brief
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk.base_motion import BaseMotion, BaseMotionOptions, base_motion
from bunraku.locomotion.walk.cycles import Cycles, load_cycles
from bunraku.locomotion.walk.feet import Foot, FootOptions, feet
from bunraku.locomotion.walk.foot_ground import FootGroundOptions, Heights, rest
from bunraku.locomotion.walk.footfalls import FootfallOptions, footfalls
from bunraku.locomotion.walk.legs import SIDES, Leg, legs_of
from bunraku.locomotion.walk.walking_body import WalkingBody, WalkingBodyOptions
from bunraku.motion import Motion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WalkOptions:
    """Numbers that tune a walk, by the module that uses them.

    A walk is first generated with an ease of 0. If a joint changes by more than `gentle` from one sample to the next, it is
    generated again with more ease: shorter steps, lower feet, knees that are bent more.
    """

    base: BaseMotionOptions = BaseMotionOptions()
    steps: FootfallOptions = FootfallOptions()
    ground: FootGroundOptions = FootGroundOptions()
    feet: FootOptions = FootOptions()
    body: WalkingBodyOptions = WalkingBodyOptions()
    gentle_bend: float = 0.2
    """Extra bend of the knees at full ease (1) [rad]."""
    tries: int = 5
    """How many times a walk is generated again with more ease."""
    enough_ease: float = 1.5
    """Above this ease, the first try that hardly helps is the last."""
    most_ease: float = 2.4
    raises: int = 4
    """How many times heels are raised where ankles bend too far."""
    ankle_margin: float = 0.08
    """Distance of ankles from the limit of their bend [rad]."""


@dataclass(frozen=True, eq=False)
class Footfall:
    """One stance of a foot."""

    foot: str
    """Which foot: "left" or "right"."""
    place: Array
    """Point of the ground under the ankle (3,) [m]."""
    heading: float
    """[rad]."""
    touch: float
    """Time of touchdown [s]."""
    leave: float
    """Time of lift-off [s]."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk, sample by sample."""

    figure: Figure
    t: Array
    """(T,) [s]."""
    Q: Array
    """All variables (T, n)."""
    footfalls: tuple[Footfall, ...]
    """Stances, in the order in which they begin."""
    slide: float
    """Largest distance of a standing sole from where it was set down [m]."""
    height: Array
    """Height of the ground under the person, smoothed, at every sample (T,) [m]."""

    __repr__ = brief

    @property
    def motion(self) -> Motion:
        """The walk as a motion of the figure."""
        return Motion.of(self.figure, self.t, self.Q)

    @property
    def jump(self) -> float:
        """The largest change of a joint from one sample to the next [rad]."""
        joints = [k for k, own in enumerate(self.figure.variables) if own.motion == "rotate" and own.name != "pelvis_rz"]
        return float(np.abs(np.diff(self.Q[:, joints], axis=0)).max(initial=0.0))


def walk(
    figure: Figure, t: ArrayLike, base: ArrayLike, *, cycles: Cycles | None = None, heights: Heights | None = None,
    sway: float = 1.0, gentle: float | None = None, options: WalkOptions = WalkOptions(),
) -> Walk:  # fmt: skip
    """The walk of a `figure` whose pelvis is exactly over `base` (T, 3) (x, y [m], heading [rad]) at times `t` (T,) [s].

    cycles: cycles to blend; by default those that come with bunraku
    heights: maps points (n, 2) [m] to the height of the ground [m]; without it the ground is flat at 0
    sway: factor on the motion of trunk and arms relative to standing
    gentle: largest change of a joint from one sample to the next [rad]; steps become shorter, knees more bent and feet lower
        until it holds, as far as possible; None sets no bound
    options: numbers that tune the walk

    Raises BunrakuError if `t` and `base` are inconsistent, FigureError if the figure cannot walk.
    """
    t, base = _checked(t, base)
    cycles = load_cycles() if cycles is None else cycles
    walker = _Walker(figure, base_motion(t, base, options=options.base), t, base, cycles, legs_of(figure), heights, sway, options)
    best, ease = walker.walked(0.0), 0.0
    for _ in range(options.tries):
        if gentle is None or best.jump <= gentle or ease >= options.most_ease:
            break
        # Full ease about halves joint speeds; take a little more than needed, so that the next try usually succeeds.
        ease = min(ease + max(2.2 * (1.0 - gentle / best.jump), 0.2), options.most_ease)
        made, before = walker.walked(ease), best.jump
        best = min(best, made, key=lambda own: own.jump)
        if ease > options.enough_ease and made.jump > 0.99 * before:  # more ease would not help
            break
    return best


@dataclass(frozen=True, eq=False)
class _Walker:
    """The figure, its path, its ground and the options."""

    figure: Figure
    way: BaseMotion
    t: Array
    base: Array
    cycles: Cycles
    legs: tuple[Leg, Leg]
    heights: Heights | None
    sway: float
    options: WalkOptions

    def walked(self, ease: float) -> Walk:
        """The walk with a given ease."""
        figure, way, legs, heights, options = self.figure, self.way, self.legs, self.heights, self.options
        steps = footfalls(way, self.cycles, legs, heights, ease=ease, options=options.steps, ground=options.ground)
        left, right = (rest(steps.place[steps.of(foot)], legs[foot], heights, options=options.ground) for foot in (0, 1))
        heels: tuple[Array, Array] | None = None
        for _ in range(1 + options.raises):
            both = feet(
                way, steps, self.cycles, legs, (left, right), heights, gap=options.steps.gap, ease=ease, heels=heels,
                options=options.feet,
            )  # fmt: skip
            body = WalkingBody(figure, way, steps, self.cycles, both, options.gentle_bend * ease, self.sway, options.body)
            Q, height = body.at(self.t, self.base)
            raised = self.strained(Q, both)
            if raised is None:
                break
            heels = raised if heels is None else (heels[0] + raised[0], heels[1] + raised[1])
        falls = [
            Footfall(SIDES[k], foot.ground.at[i], float(foot.yaw[i]), float(foot.touch[i]), float(foot.leave[i]))
            for k, foot in enumerate(both) for i in range(len(foot.touch))
        ]  # fmt: skip
        falls.sort(key=lambda fall: (fall.touch, fall.foot))
        return Walk(figure, self.t, Q, tuple(falls), _slide(figure, self.t, Q, both), height)

    def strained(self, Q: Array, both: tuple[Foot, Foot]) -> tuple[Array, Array] | None:
        """How much to raise the heels at each sample of the base's motion, so that ankles avoid their limits; None for nothing."""
        lower, options, way, out = self.figure.limits[0], self.options, self.way, []
        for foot in both:
            k = foot.leg.columns[5]
            over = np.maximum(lower[k] + options.ankle_margin - Q[:, k], 0.0)
            width = 2 * int(options.body.sinking_time / way.dt) + 1
            wide = maximum_filter1d(np.interp(way.t, self.t, over), width, mode="nearest")
            out.append(1.2 * uniform_filter1d(wide, width, mode="nearest"))
        return (out[0], out[1]) if max(own.max() for own in out) > 1e-3 else None


def _checked(t: ArrayLike, base: ArrayLike) -> tuple[Array, Array]:
    t, base = np.array(t, float), np.array(base, float)
    if t.ndim != 1 or len(t) < 2 or base.shape != (len(t), 3):
        raise BunrakuError(f"t {t.shape} and base {base.shape}\n  advice: give t (T,) and base (T, 3) with x, y, heading, T ≥ 2")
    if not (np.isfinite(t).all() and np.isfinite(base).all()):
        raise NotFinite("times or base are not finite\n  advice: give finite numbers")
    if not (np.diff(t) > 0.0).all():
        raise BunrakuError("times do not increase\n  advice: sort them and remove duplicates")
    base[:, 2] = np.unwrap(base[:, 2])
    return t, base


def _slide(figure: Figure, t: Array, Q: Array, both: tuple[Foot, Foot]) -> float:
    """By forward kinematics: how far the end on which a standing sole rolls is from where it was set down."""
    frames, worst = frames_along(figure, Q), 0.0
    for foot in both:
        own = foot.standing(t)
        X, k = frames[own, figure.frame_index[f"{foot.leg.side}_ankle"]], foot.stance_at(t)[own]
        off = []
        for x in (foot.leg.heel, foot.leg.toe):
            corner = X[:, :3, :3] @ np.array([x, 0.0, -foot.leg.ankle]) + X[:, :3, 3]
            off.append(np.linalg.norm(corner - foot.ground.at[k] - foot.ground.R[k] @ np.array([x, 0.0, 0.0]), axis=1))
        worst = max(worst, float(np.minimum(*off).max(initial=0.0)))
    return worst
