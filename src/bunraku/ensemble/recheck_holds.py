"""recheck_holds: verifies a motion on which holds change, part by part.

Every part is rechecked as the motion of a team whose hands are those that hold in it. All stand still where one part ends and the
next begins. At every sample the object is held, or lies at rest on something that bears it. Hands that take hold or let go, and
what it is lowered to or lifted from, may touch it in that part only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.errand import Errand
from bunraku.ensemble.hold_parts import HoldPart
from bunraku.ensemble.members import Grasp
from bunraku.ensemble.recheck_team import TeamObjection, TeamRecheckOptions, TeamVerdict, away_from_ends, recheck
from bunraku.ensemble.resting import RestingOptions, lies
from bunraku.ensemble.team import OBJECT, Team
from bunraku.ensemble.whole_team import together
from bunraku.motion import Motion, Track

Array = NDArray[np.float64]


def recheck_holds(
    errand: Errand, motion: Motion, parts: Sequence[HoldPart], *, options: TeamRecheckOptions = TeamRecheckOptions()
) -> TeamVerdict:
    """Checks the `motion` of an `errand` in which different hands hold in different `parts`; `options` are tolerances."""
    found, verdicts = list(_joined(errand, motion, parts)), []
    for part in parts:
        own = _piece(motion, part.first, part.last)
        verdict = _checked(errand, own, part, options)
        verdicts.append(verdict)
        found += [replace(o, t=o.t + float(motion.t[part.first]), sample=o.sample + part.first) for o in verdict.objections]
        found += [*_alone(errand, own, part, float(motion.t[part.first]))]
    found += away_from_ends(errand.team, motion, (errand.start, errand.goal), options.arrival)
    found.sort(key=lambda objection: objection.t)
    most = {name: max(getattr(v, name) for v in verdicts) for name in ("closure", "closure_between", "slip", "slide")}
    gaps: dict[str, float] = {}
    for verdict in verdicts:
        gaps |= {name: min(value, gaps.get(name, np.inf)) for name, value in verdict.parts.items()}
    count, clearance = sum(v.samples for v in verdicts), min(v.clearance for v in verdicts)
    return TeamVerdict(tuple(found), count, clearance, parts=gaps, **most)


def _checked(errand: Errand, own: Motion, part: HoldPart, options: TeamRecheckOptions) -> TeamVerdict:
    """The verdict on one part, by the hands that hold in it."""
    agents = tuple(replace(agent, holds=part.holding.get(agent.name, ())) for agent in errand.team.agents)
    team = Team(agents, errand.team.carried, idle=True)
    touching = [(OBJECT, name) for name in part.rests]
    if part.taking is not None:
        name, hold = part.taking
        figure = next(agent.figure for agent in agents if agent.name == name)
        touching += [(f"{name}.{frame}", OBJECT) for frame in together(figure, hold.tool)]
    return recheck(
        team, own, errand.scene, margin=errand.margin, ground=errand.ground, allowed=errand.allowed, touching=tuple(touching),
        options=options,
    )  # fmt: skip


def _piece(motion: Motion, first: int, last: int) -> Motion:
    every = slice(first, last + 1)
    tracks = tuple(Track(track.figure, track.q[every], name=track.name) for track in motion.tracks)
    return Motion(motion.t[every] - motion.t[first], tracks)


def _joined(errand: Errand, motion: Motion, parts: Sequence[HoldPart]) -> Iterator[TeamObjection]:
    """Parts that leave something out, and hands that hold in another way than the errand allows."""
    ends = [0, *(part.first for part in parts[1:]), len(motion) - 1]
    if not parts or parts[0].first != 0 or [part.last for part in parts] != ends[1:]:
        yield TeamObjection("holds", "the parts do not cover the motion", 0.0, 1.0, 0)
    for agent in errand.team.agents:
        known: list[tuple[Grasp, ...]] = [agent.holds, *agent.regrasps]
        for part in parts:
            hands = part.holding.get(agent.name, ())
            if not any(all(hold in own for hold in hands) for own in known):
                yield _objection("holds", f"{agent.name} holds where the errand has no hold", motion, part)


def _alone(errand: Errand, own: Motion, part: HoldPart, begun: float) -> Iterator[TeamObjection]:
    """Objections to an object that nobody holds, or that is put down or taken up."""
    held = own.track(OBJECT).q
    if part.holding and not part.rests:
        return
    if not part.rests:
        yield TeamObjection("holds", f"nobody holds the {OBJECT}, and it rests on nothing", begun, 1.0, part.first)
        return
    low, options = held[int(np.argmin(held[:, 2]))], RestingOptions()
    on, why = lies(errand.team.carried, low, errand.scene, options=options)
    if why or not set(part.rests) <= set(on):
        text = why or f"it does not lie on {' and '.join(part.rests)}"
        yield TeamObjection("rest", f"the {OBJECT} falls: {text}", begun, 1.0, part.first)
    off = np.abs(held - low)
    beyond = float(np.delete(off, 2, axis=1).max() if part.holding else off.max())
    if beyond > 1e-6 or (part.holding and float(off[:, 2].max()) > options.lifted):
        word = "is put down askew" if part.holding else "moves by itself"
        yield TeamObjection("rest", f"the {OBJECT} {word}", begun, beyond, part.first)


def _objection(what: str, text: str, motion: Motion, part: HoldPart) -> TeamObjection:
    return TeamObjection(what, text, float(motion.t[part.first]), 1.0, part.first)
