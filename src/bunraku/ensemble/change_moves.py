"""The moves of a change of holds: the object is put down and lifted, hands let go and take hold, agents go to other places.

Parts that are carried, and what happens between them, become one motion. One agent moves at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.change_options import ChangeHoldsOptions
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.free_moves import FreeMover, standing
from bunraku.ensemble.grips import around, names_of
from bunraku.ensemble.hold_parts import HoldTimeline
from bunraku.ensemble.lowered_arms import lowered
from bunraku.ensemble.members import Agent, Grasp
from bunraku.ensemble.team import OBJECT, Team
from bunraku.ensemble.world_limits import JointLimits, is_joint
from bunraku.motion import Motion
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
Places = dict[str, Array]
Holding = dict[str, tuple[Grasp, ...]]


@dataclass(frozen=True, eq=False)
class HoldStop:
    """A change of holds: where the object is, and where those before and after it stand."""

    held: Array
    before: Places
    after: Places
    rests: tuple[str, ...] = ()
    """What it is put down on; empty if it is handed over."""


@dataclass(frozen=True, eq=False)
class HoldLeg:
    """A carried part: the grip and the motion."""

    grip: Team
    motion: Motion


class ChangeMoves:
    """Joins carried parts of an `errand`; `failures` collects why it cannot be done.

    `seed` is that of random numbers, `options` tune it.
    """

    def __init__(self, errand: Errand, seed: int, failures: list[str], options: ChangeHoldsOptions) -> None:
        self.errand, self.seed, self.failures, self.options = errand, seed, failures, options
        self.agents = {agent.name: agent for agent in errand.team.agents}
        self.start, self.goal = (errand.team.in_world(q) for q in (errand.start, errand.goal))

    def joined(self, legs: list[HoldLeg], stops: list[HoldStop]) -> HoldTimeline | None:
        """The carried parts with the changes between them; None if somebody finds no way.

        legs: the carried parts
        stops: the changes between them
        """
        q = {name: standing(agent, self.start[0][name]) for name, agent in self.agents.items()} | {OBJECT: self.start[1]}
        q |= {track.name: track.q[0] for track in legs[0].motion.tracks}
        line = HoldTimeline(self.errand, q)
        for k, leg in enumerate(legs):
            motion = leg.motion
            line.add(
                f"carried by {' and '.join(names_of(leg.grip))}", np.diff(motion.t), {t.name: t.q for t in motion.tracks},
                _holding(leg.grip),
            )  # fmt: skip
            later = {name for other in legs[k + 1 :] for name in names_of(other.grip)}
            if k < len(stops) and not self._changed(line, leg, legs[k + 1], stops[k], later):
                return None
        idle = [name for name in self.agents if name not in names_of(legs[-1].grip)]
        return line if self._send(line, idle, _holding(legs[-1].grip)) else None

    def _changed(self, line: HoldTimeline, a: HoldLeg, b: HoldLeg, stop: HoldStop, later: set[str]) -> bool:
        """Everything from the end of one carried part to the begin of the next."""
        first = {track.name: track.q[0] for track in b.motion.tracks}
        gone = [name for name in names_of(a.grip) if name not in later]
        if not stop.rests:
            return (
                self._take(line, b.grip, stop.after, first, _holding(a.grip), ())
                and self._leave(line, a.grip, _holding(b.grip), ())
                and self._send(line, gone, _holding(b.grip))
            )
        low = self._all_lowered(a.grip, line.q, stop.held)
        high = self._all_lowered(b.grip, first, stop.held)
        if low is None or high is None:
            self.failures.append("an arm cannot follow the object down")
            return False
        gaps, way = self._descent(line.q[OBJECT], stop.held)
        line.add("put down", gaps, low | {OBJECT: way}, _holding(a.grip), rests=stop.rests)
        bottom = {name: own[-1] for name, own in high.items()}
        if not (
            self._leave(line, a.grip, {}, stop.rests)
            and self._send(line, gone, {}, stop.rests)
            and self._take(line, b.grip, stop.after, bottom, {}, stop.rests)
        ):
            return False
        gaps, way = self._descent(first[OBJECT], stop.held)
        line.add(
            "lifted",
            gaps[::-1],
            {n: own[::-1] for n, own in high.items()} | {OBJECT: way[::-1]},
            _holding(b.grip),
            rests=stop.rests,
        )
        return True

    def _descent(self, up: Array, down: Array) -> tuple[Array, Array]:
        """Times between samples, and poses of the object on the way down."""
        rate, errand = self.options.free.rate, self.errand
        far = float(up[2] - down[2])
        seconds = max(self.options.lowering, 2.5 * far / errand.speed, 2.8 * (far / errand.acceleration) ** 0.5)
        count = int(np.ceil(seconds * rate))
        way = up + eased(np.linspace(0.0, 1.0, count + 1))[:, None] * np.append((down - up)[:3], np.zeros(3))
        return np.full(count, 1.0 / rate), way

    def puts_down(self, leg: HoldLeg, stop: HoldStop) -> bool:
        """Whether arms can follow the object down at the end of a carried part `leg`, to where it rests at `stop`."""
        last = {track.name: track.q[-1] for track in leg.motion.tracks}
        if self._all_lowered(leg.grip, last, stop.held) is None:
            self.failures.append("an arm cannot follow the object down")
            return False
        return True

    def _all_lowered(self, grip: Team, q: Places, down: Array) -> Places | None:
        """Configurations of all of a grip on the way down of the object, from `q` on; None if an arm cannot follow."""
        out, (_, way) = {}, self._descent(q[OBJECT], down)
        for agent in grip.agents:
            own = lowered(agent, q[agent.name], way)
            if own is None:
                return None
            out[agent.name] = own
        return out

    def _mover(self, line: HoldTimeline, agent: Agent) -> FreeMover:
        others = [(n, self.agents[n].figure, line.q[n]) for n in self.agents if n != agent.name]
        scene = around(self.errand.scene, others, (self.errand.team.carried.shapes, line.q[OBJECT]))
        return FreeMover(agent, scene, self.errand, self.seed, self.options.free)

    def _gaps(self, agent: Agent, Q: Array) -> Array:
        """Times between samples `Q` (T, n) of an agent: even, and such that no joint is too fast."""
        own = [(k, v.speed) for k, v in enumerate(agent.figure.variables) if is_joint(v.name, agent.base)]
        dt, limits = 1.0 / self.options.free.rate, JointLimits()
        steps = np.diff(Q[:, [k for k, _ in own]], axis=0)
        fast = np.abs(steps) / dt / np.minimum([speed for _, speed in own], limits.speed)
        hard = np.abs(np.diff(steps, axis=0, prepend=0.0, append=0.0)) / dt**2 / limits.acceleration
        return np.full(len(Q) - 1, dt * max(1.0, float(fast.max()), float(np.sqrt(hard.max()))))

    def _leave(self, line: HoldTimeline, grip: Team, holding: Holding, rests: tuple[str, ...]) -> bool:
        """All hands of a grip let go, one after another; `holding` are those of others."""
        for agent in grip.agents:
            mover, free = self._mover(line, agent), standing(agent, line.q[agent.name][agent.figure.indices(agent.base[:3])])
            for hold in agent.holds:
                left = agent.holds[agent.holds.index(hold) + 1 :]
                Q = mover.let_go(hold, line.q[agent.name], free, left)
                if Q is None:
                    self.failures.append(f"{agent.name}'s {hold.tool} cannot let go without touching something")
                    return False
                still = _holding(grip, agent.name) | holding | ({agent.name: left} if left else {})
                line.add(
                    f"{agent.name}'s {hold.tool} lets go",
                    self._gaps(agent, Q),
                    {agent.name: Q},
                    still,
                    rests=rests,
                    taking=(agent.name, hold),
                )
            Q = mover.straighten(line.q[agent.name], free)
            if Q is None:
                self.failures.append(f"{agent.name} cannot stand up straight")
                return False
            if len(Q) > 1:
                line.add(
                    f"{agent.name} stands", self._gaps(agent, Q), {agent.name: Q}, _holding(grip, agent.name) | holding, rests=rests
                )
        return True

    def _take(
        self, line: HoldTimeline, grip: Team, places: Places, goals: Places,
        holding: Holding, rests: tuple[str, ...],
    ) -> bool:  # fmt: skip
        """All of a grip go to their places and take hold as in the configurations `goals`; `holding` are the hands of others."""
        before: Holding = {}
        for agent in grip.agents:
            if not self._gone(line, agent, places[agent.name], before | holding, rests):
                return False
            mover, free = self._mover(line, agent), line.q[agent.name]
            # Taken backward: from the hold, one hand after the other, to standing.
            q, held = _like(agent, goals[agent.name], free), agent.holds
            back: list[tuple[str, Array, tuple[Grasp, ...], tuple[str, Grasp] | None]] = []
            for hold in agent.holds:
                held = held[1:]
                Q = mover.let_go(hold, q, free, held)
                if Q is None:
                    self.failures.append(f"{agent.name}'s {hold.tool} cannot take hold without touching something")
                    return False
                back.append((f"{agent.name}'s {hold.tool} takes hold", Q, held, (agent.name, hold)))
                q = Q[-1]
            Q = mover.straighten(q, free)
            if Q is None:
                self.failures.append(f"{agent.name} cannot bend to take hold")
                return False
            back.append((f"{agent.name} bends", Q, (), None))
            for what, Q, own, taking in reversed(back):
                if len(Q) > 1:
                    now = before | holding | ({agent.name: own} if own else {})
                    line.add(what, self._gaps(agent, Q), {agent.name: Q[::-1]}, now, rests=rests, taking=taking)
            before[agent.name] = agent.holds
        return True

    def _send(
        self, line: HoldTimeline, names: list[str], holding: Holding, rests: tuple[str, ...] = ()
    ) -> bool:  # fmt: skip
        """Those who are not needed any more go to their goals."""
        return all(self._gone(line, self.agents[name], self.goal[0][name][:3], holding, rests) for name in names)

    def _gone(
        self, line: HoldTimeline, agent: Agent, place: Array, holding: Holding, rests: tuple[str, ...]
    ) -> bool:  # fmt: skip
        here = line.q[agent.name][agent.figure.indices(agent.base[:3])]
        Q = self._mover(line, agent).go(here, place)
        if Q is None:
            self.failures.append(f"{agent.name} finds no way to ({place[0]:.2f}, {place[1]:.2f}) m")
            return False
        if len(Q) > 1:
            line.add(f"{agent.name} goes", self._gaps(agent, Q), {agent.name: Q}, holding, rests=rests)
        return True


def _holding(grip: Team, without: str = "") -> Holding:
    """Who holds how in a grip; of those before and including `without` nobody any more."""
    names = names_of(grip)
    after = names.index(without) + 1 if without else 0
    return {agent.name: agent.holds for agent in grip.agents[after:]}


def _like(agent: Agent, q: Array, now: Array) -> Array:
    """A configuration `q` with base and wheels as `now`: they differ by full turns only, and by how far wheels have rolled."""
    out = q.copy()
    for k, name in enumerate(agent.figure.names):
        if "wheel" in name or name == agent.base[2]:
            out[k] = now[k]
    return out
