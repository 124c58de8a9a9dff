"""Changes of holds on the way: the object is put down and taken up again in another way, or handed from some to others.

Where no set of holds does the whole way, a chain of grips is tried, with one change or two. At each change, everybody's place is
drawn at random around the object: where it can be put down, or, to hand it over, where both grips hold it at once. Between changes
the object is carried as usual; who does not hold stands around. At a change one agent moves at a time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.carry_result import Carry
from bunraku.ensemble.change_moves import ChangeMoves, HoldLeg, HoldStop, Places
from bunraku.ensemble.change_options import ChangeHoldsOptions
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.free_moves import FreeMover, standing
from bunraku.ensemble.grips import around, grips, holds_at, names_of
from bunraku.ensemble.hold_parts import HoldTimeline
from bunraku.ensemble.members import Agent
from bunraku.ensemble.resting import lies
from bunraku.ensemble.routes import FloorRegions, regions
from bunraku.ensemble.team import OBJECT, Team
from bunraku.ensemble.team_sampling import TeamSampler
from bunraku.errors import BunrakuError
from bunraku.outcome import STOPPED
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.scene import Scene

Array = NDArray[np.float64]


Carrier = Callable[[Errand, int], Carry]
"""Carries out an errand without changes, with a seed."""


class HoldChanger:
    """Plans an `errand` with changes of holds, with random numbers from a `seed`.

    `carrier` carries the object between changes; `left` tells the processor time left [s]; `options` tune it.
    """

    def __init__(
        self, errand: Errand, seed: int, carrier: Carrier, left: Callable[[], float],
        options: ChangeHoldsOptions = ChangeHoldsOptions(),
    ) -> None:  # fmt: skip
        self.errand, self.seed, self.carrier, self.left, self.options = errand, seed, carrier, left, options
        self.rng = np.random.default_rng([seed, 77])
        self.start, self.goal = (errand.team.in_world(q) for q in (errand.start, errand.goal))
        self.agents = {agent.name: agent for agent in errand.team.agents}
        self.legs: list[Carry] = []
        self.failures: list[str] = []
        self.moves = ChangeMoves(errand, seed, self.failures, options)
        self._floors: dict[float, FloorRegions] = {}

    def chains(self) -> Iterator[tuple[Team, ...]]:
        """Chains of grips from start to goal, shorter ones first."""
        known = grips(self.errand.team)
        first, last = ([g for g in known if holds_at(g, _as(g, *end))] for end in (self.start, self.goal))
        if not first or not last:
            word = "goal" if first else "start"
            self.failures.append(f"at the {word}, nobody's hands reach their holds")
            return
        for count in range(self.options.changes + 1):
            for chain in itertools.product(*([known] * (count + 1))):
                if chain[0] in first and chain[-1] in last and all(self._may_follow(a, b) for a, b in itertools.pairwise(chain)):
                    yield chain

    def _may_follow(self, a: Team, b: Team) -> bool:
        return a is not b and (bool(self.errand.rests) or not set(names_of(a)) & set(names_of(b)))

    def run(self) -> HoldTimeline | None:
        """The motion, or None; then `failures` say why."""
        for chain in self.chains():
            legs = self._followed(chain, 0, {n: base[:3] for n, base in self.start[0].items()}, self.start[1], [], [])
            if legs is not None:
                return legs
            if self.left() <= 0.0:
                self.failures.append("the budget ran out")
                break
        return None

    # -- carried parts -----------------------------------------------------------------------------------------------

    def _followed(
        self, chain: tuple[Team, ...], k: int, places: Places, held: Array, legs: list[HoldLeg], stops: list[HoldStop]
    ) -> HoldTimeline | None:  # fmt: skip
        """Follows a chain from its grip `k` on; `places` are everybody's when the grip begins."""
        grip, last = chain[k], k == len(chain) - 1
        if last:
            goal = {name: self.goal[0][name][:3] for name in names_of(grip)}
            leg = self._carried(grip, places, held, goal, self.goal[1])
            return None if leg is None else self.moves.joined([*legs, leg], stops)
        for stop in self._stops(grip, chain[k + 1], places):
            up = stop.held + (np.array([0, 0, self.options.hover, 0, 0, 0]) if stop.rests else 0.0)
            leg = self._carried(grip, places, held, stop.before, up)
            if leg is None or (stop.rests and not self.moves.puts_down(leg, stop)):
                continue
            later = {name for other in chain[k + 1 :] for name in names_of(other)}
            goals = {name: self.goal[0][name][:3] for name in names_of(grip) if name not in later}
            there = places | stop.before | goals | stop.after
            done = self._followed(chain, k + 1, there, up, [*legs, leg], [*stops, stop])
            if done is not None:
                return done
            if self.left() <= 0.0:
                break
        return None

    def _carried(self, grip: Team, places: Places, held: Array, goals: Places, there: Array) -> HoldLeg | None:
        """Carries the object with one grip, while all others stand at their places."""
        if self.left() <= 0.0:
            return None
        errand, idle = self.errand, [name for name in self.agents if name not in names_of(grip)]
        scene = around(errand.scene, [(n, self.agents[n].figure, standing(self.agents[n], places[n])) for n in idle])
        start, goal = _as(grip, places, held), _as(grip, goals, there)
        budget = min(self.left(), self.options.share * errand.budget)
        own = replace(errand, team=grip, scene=scene, start=start, goal=goal, budget=budget, rests=())
        done = self.carrier(own, self.seed + len(self.legs))
        self.legs.append(done)
        if done.outcome.kind == STOPPED.kind:
            raise KeyboardInterrupt
        if not done.outcome.ok:
            self.failures.append(f"{' and '.join(names_of(grip))}: {done.outcome.kind}: {done.outcome.why}")
            return None
        assert done.motion is not None
        return HoldLeg(grip, done.motion)

    # -- places for a change -----------------------------------------------------------------------------------------

    def _stops(self, a: Team, b: Team, places: Places) -> Iterator[HoldStop]:
        """Places at which grip `b` can follow grip `a`."""
        idle = [name for name in self.agents if name not in (*names_of(a), *names_of(b))]
        scene = around(self.errand.scene, [(n, self.agents[n].figure, standing(self.agents[n], places[n])) for n in idle])
        for rest in self.errand.rests:
            on, why = lies(self.errand.team.carried, rest, self.errand.scene, options=self.options.resting)
            if why:
                self.failures.append(f"the {OBJECT} does not rest at ({rest[0]:.2f}, {rest[1]:.2f}, {rest[2]:.2f}) m: {why}")
                continue
            both = (self._around(grip, scene, rest) for grip in (a, b))
            for before, after in itertools.islice(zip(*both, strict=False), self.options.stops):
                yield HoldStop(rest, before, after, on)
        if not set(names_of(a)) & set(names_of(b)):
            yield from self._handed(a, b, scene, places)

    def _connected(self, grip: Team, places: Places, Q: Array) -> NDArray[np.bool_]:
        """Whether everybody of a grip can get to its place in configurations `Q` (n, n_q) on the floor, judged by a map."""
        bases, _ = grip.in_world(Q)
        out = np.ones(len(Q), np.bool_)
        for agent in grip.agents:
            here = self._floor(agent).at(places[agent.name][None, :2])[0]
            out &= (here == 0) | (self._floor(agent).at(bases[agent.name][:, :2]) == here)
        return out

    def _floor(self, agent: Agent) -> FloorRegions:
        narrow = agent.half_width
        if narrow not in self._floors:
            (a, b), (c, d) = self.errand.area
            more = self.options.beyond
            self._floors[narrow] = regions(
                self.errand.scene, ((a - more, b + more), (c - more, d + more)), self.options.body, narrow
            )
        return self._floors[narrow]

    def _around(self, grip: Team, scene: Scene, rest: Array) -> Iterator[Places]:
        """Places of a grip around an object that rests, from which all hold it, and can lift it."""
        up = rest + np.array([0.0, 0.0, self.options.hover, 0.0, 0.0, 0.0])
        space = self._space(grip, scene)
        if space is None:
            return
        sampler = TeamSampler(grip, self.errand.area)
        around_it = around(scene, (), (self.errand.team.carried.shapes, rest))
        alone = {
            a.name: FreeMover(a, around_it, self.errand).floor_space(
                np.array([[x, y, 0.0] for x, y in zip(*self.errand.area, strict=True)])
            )
            for a in grip.agents
        }
        for _ in range(self.options.batches):
            if self.left() <= 0.0:
                return
            Q = sampler.around(self.rng, np.repeat(up[None], self.options.batch, 0))
            for q in Q[space.free(Q)][: self.options.stops]:
                bases, _ = grip.in_world(q)
                stand = all(space.free(bases[name][:3])[0] for name, space in alone.items())
                if stand and holds_at(grip, q) and holds_at(grip, _as(grip, bases, rest)):
                    yield bases

    def _handed(self, a: Team, b: Team, scene: Scene, places: Places) -> Iterator[HoldStop]:
        """Places at which both grips hold the object at once."""
        space = self._space(both := Team((*a.agents, *b.agents), self.errand.team.carried), scene)
        if space is None:
            return
        found: list[Array] = []
        for _ in range(self.options.batches):
            Q = space.sample(self.rng, self.options.batch)
            Q = Q[space.free(Q)]
            found += [q for q in Q[self._connected(both, places, Q)] if holds_at(both, q)]
            if len(found) >= self.options.choice or self.left() <= 0.0:
                break
        found.sort(key=lambda q: -space.world.distance(q).value)  # where there is more room, ways are found sooner
        for q in found[: self.options.stops]:
            bases, held = both.in_world(q)
            yield HoldStop(held, {n: bases[n] for n in names_of(a)}, {n: bases[n] for n in names_of(b)})

    def _space(self, grip: Team, scene: Scene) -> FreeSpace | None:
        start, goal = (_as(grip, *end) for end in (self.start, self.goal))
        try:
            return replace(self.errand, team=grip, scene=scene, start=start, goal=goal, rests=()).space
        except BunrakuError:  # no height at which all reach
            return None


def _as(grip: Team, bases: Places, held: Array) -> Array:
    """The configuration of a grip whose agents are at `bases` (some of everybody's)."""
    return grip.configuration({name: bases[name] for name in names_of(grip)}, held)
