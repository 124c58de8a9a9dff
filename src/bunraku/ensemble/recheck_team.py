"""recheck: verifies the motion of a whole team, independently of planning and tuning.

It checks every full figure against the scene, the others and itself, at samples so dense that no point moves farther than `spacing`
between them; that tools stay at their grasps, at samples and between; that joints keep their limits; that nothing is faster than
allowed, in the world; that bases with differential drive and wheels do not slip; that feet do not slide, at samples and between;
that the object keeps the allowed heights and tilts; if it has a mass, that nobody bears too much or falls over; and that all
begin at the start, end at the goal and stay in the area.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.between_samples import denser
from bunraku.ensemble.footing import FootingOptions, Heights, floor, footing, slides
from bunraku.ensemble.load import LoadOptions, overloads, unbalanced
from bunraku.ensemble.recheck_speeds import SpeedOptions, WorldSpeeds, slips, too_fast, wheel_slips
from bunraku.ensemble.team import OBJECT, Area, Team
from bunraku.ensemble.whole_team import WholeTeam, whole_team
from bunraku.errors import BunrakuError
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion, Track
from bunraku.planning.objection import Objection, Verdict
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TeamRecheckOptions:
    """Tolerances of the rechecker."""

    spacing: float = 0.005
    """No point moves farther than this between two samples at which distances are measured [m]."""
    closure: float = 1e-6
    """Largest error of a tool relative to its grasp, at samples [m or rad]."""
    closure_between: float = 2e-3
    """The same between samples, where motions are straight in their variables [m or rad]."""
    between: int = 4
    """Into how many parts the time between two samples is divided, to look at hands and feet there."""
    slide: float = 0.006
    """Largest slide of a standing sole [m]."""
    arrival: float = 0.005
    """Largest distance of bases and object from their places at start and goal, and beyond the area [m or rad]."""
    rounding: float = 1e-6
    """Tolerance of limits and margins [m or rad]."""
    look: float = 0.02
    """Clearances are measured up to this distance, or up to twice the margin [m]."""
    footing: FootingOptions = FootingOptions()
    load: LoadOptions = LoadOptions()
    speeds: SpeedOptions = SpeedOptions()


@dataclass(frozen=True)
class TeamObjection(Objection):
    """One fault of a team's motion, and the sample at which it begins."""

    sample: int


@dataclass(frozen=True, eq=False, repr=False)
class TeamVerdict(Verdict):
    """The rechecker's measurements and objections, earliest objection first."""

    objections: tuple[TeamObjection, ...]
    samples: int
    """Number of samples at which distances were measured."""
    clearance: float
    """Smallest distance of agents and object from the scene, and between agents [m]; at most 0.02, or twice the margin."""
    closure: float
    """Largest error of a tool relative to its grasp, at samples [m or rad]."""
    closure_between: float
    """The same between samples [m or rad]."""
    slip: float
    """Largest sideways speed of a base with differential drive, or of a wheel against its rolling [m/s]."""
    slide: float
    """Largest slide of a point of a standing foot, at samples and between [m]."""
    parts: dict[str, float] = field(default_factory=dict)
    """Clearance [m] of each pair that came near, by the names of both."""

    def numbers(self) -> str:
        """The measured numbers, in one line."""
        return (
            f"{self.samples} samples, {1e3 * self.clearance:.3g} mm clear, held to {self.closure:.2g}, "
            f"between samples to {self.closure_between:.2g}, feet slide {1e3 * self.slide:.3g} mm"
        )


def recheck(
    team: Team, motion: Motion, scene: Scene, *, margin: float = 0.0, heights: Heights | None = None,
    ground: tuple[str, ...] = ("floor",), allowed: WorldSpeeds | None = None, ends: tuple[Array, Array] | None = None,
    area: Area | None = None, touching: tuple[tuple[str, str], ...] = (), options: TeamRecheckOptions = TeamRecheckOptions(),
) -> TeamVerdict:  # fmt: skip
    """Checks the `motion` of all agents of a `team` and of the object in a `scene`.

    margin: distance that the team must keep from the scene, and agents from each other, up to rounding [m]
    heights: of the ground at points (n, 2) [m]; by default those of the floor
    ground: names of the obstacles that agents may stand on
    allowed: the largest speeds and accelerations; None leaves out all but those of joints
    ends: configurations of the reduced team at the start and at the goal, (n_q,) each; None does not check where the motion leads
    area: bounds of the leader, or of the object if nobody leads, ((x_low, x_high), (y_low, y_high)) [m]; None does not check them
    touching: other pairs of names that may touch, as ("object", "table")
    options: tolerances

    Raises BunrakuError if the margin is negative or the spacing is not positive.
    """
    if not 0.0 < options.spacing < np.inf or not 0.0 <= margin < np.inf:
        raise BunrakuError(
            f"spacing {options.spacing} m, margin {margin} m\n  advice: give a positive spacing, and a margin of zero or more"
        )
    whole, heights = whole_team(team, scene, ground, touching), heights or floor(scene)
    Q = whole.rows(motion)
    found = [*_limits(whole, motion, options.rounding), *_carried(team, motion, options.rounding)]
    found += [*away_from_ends(team, motion, ends, options.arrival), *_beyond(team, motion, area, options.arrival)]
    place, dense = denser(whole.world.flat, Q, step=options.spacing)
    hits, clearance, parts = _touches(whole, motion.t, place, dense, margin, options)
    finer = _finer(motion, options.between)
    closure, between = _closure(team, motion), _closure(team, finer)
    every = np.minimum(np.arange(len(finer)) // options.between, len(motion) - 1)
    slide, slip, wheel = slides(team, finer, heights, options=options.footing), slips(team, motion), wheel_slips(team, motion)
    found += hits
    found += [
        TeamObjection("footing", text, float(finer.t[k]), amount, int(every[k]))
        for k, text, amount in footing(team, finer, heights, options=options.footing)
    ]
    found += [
        TeamObjection("speed", text, float(motion.t[k]), amount, k)
        for k, text, amount in too_fast(team, motion, allowed, options=options.speeds)
    ]
    loads = (
        ("load", overloads(team, motion, options=options.load)),
        ("balance", unbalanced(team, motion, heights, options=options.load)),
    )
    found += [TeamObjection(what, text, float(motion.t[k]), size, k) for what, own in loads for k, text, size in own]
    found += _over(motion.t, closure, options.closure, "closure", "a tool is {:.3g} m or rad off its hold")
    found += _over(
        finer.t, between, options.closure_between, "closure", "between samples, a tool is {:.3g} m or rad off its hold", every
    )
    found += _over(finer.t, slide, options.slide, "feet", "a standing foot slides {:.3g} m", every)
    found += _over(motion.t, slip, options.speeds.slip, "slip", "wheels slip sideways with {:.3g} m/s")
    found += _over(motion.t, wheel, options.speeds.slip, "slip", "a wheel turns {:.3g} m/s too fast or too slow")
    slip = np.maximum(slip, wheel)
    held, held_between, slipped, slid = (float(values.max(initial=0.0)) for values in (closure, between, slip, slide))
    found.sort(key=lambda objection: objection.t)
    return TeamVerdict(tuple(found), len(dense), clearance, held, held_between, slipped, slid, parts)


def _finer(motion: Motion, parts: int) -> Motion:
    """A motion with places between its samples, straight in all variables."""
    every = np.linspace(0.0, len(motion) - 1.0, parts * (len(motion) - 1) + 1)
    at = np.arange(len(motion))
    tracks = [
        Track(track.figure, np.stack([np.interp(every, at, column) for column in track.q.T], 1), name=track.name)
        for track in motion.tracks
    ]
    return Motion(np.interp(every, at, motion.t), tuple(tracks))


def _over(t: Array, values: Array, most: float, what: str, text: str, every: Ints | None = None) -> list[TeamObjection]:
    """One objection, at the first place whose value exceeds `most` or is NaN; `every` gives the samples of places between them."""
    over = np.flatnonzero(~(values <= most))
    if not len(over):
        return []
    worst, k = float(values.max()), int(over[0])
    return [TeamObjection(what, text.format(worst), float(t[k]), worst, k if every is None else int(every[k]))]


# -- what touches ----------------------------------------------------------------------------------------------------


def _touches(
    whole: WholeTeam, t: Array, place: Array, dense: Array, margin: float, options: TeamRecheckOptions
) -> tuple[list[TeamObjection], float, dict[str, float]]:  # fmt: skip
    look = max(options.look, 2.0 * margin)
    near = whole.near(dense, look)
    clearance = float(near.value[near.apart].min(initial=look))
    short = near.short_of(margin - options.rounding)
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
        out.append(TeamObjection("collision", f"{a} {deep} {b}", at, value, int(place[k])))
    return out, clearance, parts


# -- what is held ----------------------------------------------------------------------------------------------------


def _closure(team: Team, motion: Motion) -> Array:
    """Error of the worst tool relative to its grasp at each sample, in position [m] or rotation [rad]."""
    held = motion.track(OBJECT)
    X_WO = frames_along(held.figure, held.q)[:, held.figure.frame_index[OBJECT]]
    out = np.zeros(len(motion))
    for agent in team.agents:
        track = motion.track(agent.name)
        X = frames_along(track.figure, track.q)
        for hold in agent.holds:
            off = se3.inverse(X_WO @ hold.X_OT) @ X[:, track.figure.frame_index[hold.tool]]
            skew = off[:, :3, :3] - np.swapaxes(off[:, :3, :3], 1, 2)
            sine = 0.5 * np.sqrt(skew[:, 2, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 0] ** 2)
            turn = np.arctan2(sine, 0.5 * (np.trace(off[:, :3, :3], axis1=1, axis2=2) - 1.0))
            out = np.maximum(out, np.maximum(np.linalg.norm(off[:, :3, 3], axis=1), turn))
    return out


def _carried(team: Team, motion: Motion, rounding: float) -> Iterator[TeamObjection]:
    x = motion.track(OBJECT).q
    tilt = np.abs(x[:, 4:]).max(1)
    (low, high), z = team.carried.heights, x[:, 2]
    yield from _over(motion.t, tilt, team.carried.tilt + rounding, "object", "tilted by {:.4g} rad")
    yield from _over(motion.t, np.maximum(low - z, z - high), rounding, "object", "{:.3g} m beyond the heights that are allowed")


# -- where it leads --------------------------------------------------------------------------------------------------


def away_from_ends(team: Team, motion: Motion, ends: tuple[Array, Array] | None, most: float) -> Iterator[TeamObjection]:
    """Who of a `team` begins or ends a `motion` farther than `most` [m or rad] from its place in the configurations `ends`."""
    for word, k, q in () if ends is None else (("start", 0, ends[0]), ("goal", len(motion) - 1, ends[1])):
        bases, held = team.in_world(q)
        off = {OBJECT: motion.track(OBJECT).q[k] - held}
        for agent in team.agents:
            off[agent.name] = motion.track(agent.name).q[k, agent.figure.indices(agent.base[:3])] - bases[agent.name][:3]
        for name, own in off.items():
            turn = slice(3, None) if name == OBJECT else slice(2, None)
            own[turn] = np.remainder(own[turn] + np.pi, 2.0 * np.pi) - np.pi
            away = float(np.abs(own).max())
            if not away <= most:
                yield TeamObjection("arrival", f"{name} is {away:.3g} m or rad from its {word}", float(motion.t[k]), away, k)


def _beyond(team: Team, motion: Motion, area: Area | None, most: float) -> Iterator[TeamObjection]:
    if area is None:
        return
    leader = team.leader
    name, columns = (OBJECT, [0, 1]) if leader is None else (leader.name, leader.figure.indices(leader.base[:2]).tolist())
    x, (low, high) = motion.track(name).q[:, columns], np.array(area).T
    yield from _over(motion.t, np.maximum(low - x, x - high).max(1), most, "area", f"{name} is {{:.3g}} m outside of the area")


# -- joints ----------------------------------------------------------------------------------------------------------


def _limits(whole: WholeTeam, motion: Motion, rounding: float) -> Iterator[TeamObjection]:
    for figure in whole.figures:
        q = motion.track(figure.name).q
        lower, upper = figure.limits
        beyond = np.maximum(lower - q, q - upper)
        for k in np.flatnonzero((beyond > rounding).any(0)).tolist():
            since, most = int(np.argmax(beyond[:, k] > rounding)), float(beyond[:, k].max())
            text = f"{figure.name}'s {figure.names[k]} is {most:.3g} beyond its limit"
            yield TeamObjection("limits", text, float(motion.t[since]), most, since)
