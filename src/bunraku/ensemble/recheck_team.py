"""recheck: is the motion of a whole team what it says it is?

By other means than those of planning and tuning: every full figure against the scene, the others and itself, at samples so
dense that no point moves farther than `spacing` from one to the next; tools where they should hold the object; joints within
their limits and without jumps; feet that do not slide; the object held as it must be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision.between_samples import denser
from bunraku.ensemble.footing import Heights, floor, footing, slides
from bunraku.ensemble.team import OBJECT, Team
from bunraku.ensemble.whole_team import Whole
from bunraku.errors import BunrakuError
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
CLOSED, JUMP, SLIDE = 1e-6, 0.2, 0.01  # [m or rad], [rad], [m]
ROUNDING = 1e-6
LOOK = 0.02  # [m], or twice the margin: what is farther apart is far enough


@dataclass(frozen=True)
class Objection:
    """What is wrong, and when it begins [s]."""

    t: float
    text: str
    sample: int


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the rechecker measured, and what it objects to, the earliest first."""

    objections: tuple[Objection, ...]
    samples: int
    """That were looked at."""
    clearance: float
    """Of agents and object from the scene, and of one agent from another [m]; 0.02, or twice the margin, is any more."""
    closure: float
    """The farthest that a tool is from where it should hold [m or rad]."""
    jump: float
    """The largest change of a joint from one sample to the next [rad]."""
    slide: float
    """The farthest that a point of a foot that stands gets [m]."""
    parts: dict[str, float] = field(default_factory=dict)
    """The clearance of each thing that came near, by the names of both."""

    __repr__ = brief

    @property
    def accepted(self) -> bool:
        return not self.objections

    def __str__(self) -> str:
        numbers = (
            f"{self.samples} samples, {1e3 * self.clearance:.3g} mm clear, held to {self.closure:.2g}, "
            f"joints jump {self.jump:.3g} rad, feet slide {1e3 * self.slide:.3g} mm"
        )
        told = [f"{objection.t:.3g} s: {objection.text}" for objection in self.objections]
        return "\n".join([f"{'accepted' if self.accepted else 'refused'}: {numbers}", *told])


def recheck(
    team: Team, motion: Motion, scene: Scene, *, spacing: float = 0.005, margin: float = 0.0, heights: Heights | None = None,
    ground: tuple[str, ...] = ("floor",),
) -> Verdict:  # fmt: skip
    """Checks the motion of all agents and the object. Feet stand on the `ground`, which has these `heights`, or the floor's.

    `margin` [m] is what the team must keep from the scene and agents from each other, up to the rounding of distances.
    """
    if not 0.0 < spacing < np.inf or not 0.0 <= margin < np.inf:
        raise BunrakuError(f"spacing {spacing} m, margin {margin} m\n  advice: a positive spacing, a margin of zero or more")
    whole = Whole(team, scene, ground)
    Q = whole.rows(motion)
    found = [*_limits(whole, motion), *_carried(team, motion)]
    found += [Objection(float(motion.t[k]), text, k) for k, text in footing(team, motion, heights or floor(scene))]
    place, dense = denser(whole.world.flat, Q, step=spacing)
    hits, clearance, parts = _touches(whole, motion.t, place, dense, margin)
    closure, (jump, which) = _closure(team, motion), _jumps(whole, Q)
    slide = slides(team, motion, heights or floor(scene))
    found += hits
    found += _over(motion.t, closure, CLOSED, "closure: a tool is {:.3g} m or rad off its hold")
    found += _over(motion.t, jump, JUMP, f"jump: {which} moves {{:.3g}} rad from one sample to the next")
    found += _over(motion.t, slide, SLIDE, "feet: one that stands slides {:.3g} m")
    found.sort(key=lambda objection: objection.t)
    held, jumped, slid = (float(values.max(initial=0.0)) for values in (closure, jump, slide))
    return Verdict(tuple(found), len(dense), clearance, held, jumped, slid, parts)


def _over(t: Array, values: Array, most: float, text: str) -> list[Objection]:
    """One objection, when values first pass what is allowed; NaN does."""
    over = np.flatnonzero(~(values <= most))
    return [Objection(float(t[over[0]]), text.format(values.max()), int(over[0]))] if len(over) else []


# -- what touches ----------------------------------------------------------------------------------------------------


def _touches(
    whole: Whole, t: Array, place: Array, dense: Array, margin: float
) -> tuple[list[Objection], float, dict[str, float]]:  # fmt: skip
    look = max(LOOK, 2.0 * margin)
    near = whole.near(dense, look)
    clearance = float(near.value[near.apart].min(initial=look))
    short = near.short_of(margin - ROUNDING)
    first: dict[tuple[str, str], tuple[int, float]] = {}
    parts: dict[str, float] = {}
    for k in np.flatnonzero(near.apart | short).tolist():
        pair, value = whole.names(near.things[k]), float(near.value[k])
        if near.apart[k]:
            text = " – ".join(pair)
            parts[text] = min(parts.get(text, np.inf), value)
        if short[k]:
            since, least = first.get(pair, (int(near.sample[k]), value))
            first[pair] = since, min(least, value)
    out = []
    for (a, b), (k, value) in first.items():
        at = float(np.interp(place[k], np.arange(len(t)), t))
        deep = f"is {-1e3 * value:.3g} mm deep in" if value < 0.0 else f"comes as near as {1e3 * value:.3g} mm to"
        out.append(Objection(at, f"collision: {a} {deep} {b}", int(place[k])))
    return out, clearance, parts


# -- what is held ----------------------------------------------------------------------------------------------------


def _closure(team: Team, motion: Motion) -> Array:
    """How far the worst tool is from its hold at each sample, in place [m] or turn [rad]."""
    held = motion.track(OBJECT)
    X_WO = frames_along(held.figure, held.q)[:, held.figure.frame_index[OBJECT]]
    out = np.zeros(len(motion))
    for agent in team.agents:
        track = motion.track(agent.name)
        X = frames_along(track.figure, track.q)
        for hold in agent.holds:
            off = se3.inverse(X_WO @ hold.X_OT) @ X[:, track.figure.frame_index[hold.tool]]
            turn = np.array([np.linalg.norm(so3.log(R)) for R in off[:, :3, :3]])
            out = np.maximum(out, np.maximum(np.linalg.norm(off[:, :3, 3], axis=1), turn))
    return out


def _carried(team: Team, motion: Motion) -> Iterator[Objection]:
    x = motion.track(OBJECT).q
    tilt = np.abs(x[:, 4:]).max(1)
    (low, high), z = team.carried.heights, x[:, 2]
    yield from _over(motion.t, tilt, team.carried.tilt + ROUNDING, "object: tilted by {:.4g} rad")
    yield from _over(motion.t, np.maximum(low - z, z - high), ROUNDING, "object: {:.3g} m beyond the heights that it may have")


# -- joints ----------------------------------------------------------------------------------------------------------


def _jumps(whole: Whole, Q: Array) -> tuple[Array, str]:
    """The largest change of an angle from each sample to the next, and which angle changes most."""
    every = [(figure.name, variable) for figure in whole.figures for variable in figure.variables]
    turns = np.array([variable.motion == "rotate" for _, variable in every])
    steps = np.where(turns, np.abs(np.diff(Q, axis=0)), 0.0)
    name, variable = every[int(steps.max(0, initial=0.0).argmax())]
    return np.append(steps.max(1, initial=0.0), 0.0), f"{name}'s {variable.name}"


def _limits(whole: Whole, motion: Motion) -> Iterator[Objection]:
    for figure in whole.figures:
        q = motion.track(figure.name).q
        lower, upper = figure.limits
        beyond = np.maximum(lower - q, q - upper)
        for k in np.flatnonzero((beyond > ROUNDING).any(0)).tolist():
            since = int(np.argmax(beyond[:, k] > ROUNDING))
            text = f"limits: {figure.name}'s {figure.names[k]} is {beyond[:, k].max():.3g} beyond its limit"
            yield Objection(float(motion.t[since]), text, since)
