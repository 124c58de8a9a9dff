"""carry: people and robots carry a bulky object through clutter (*carrying*, Section IV).

    done = carry(load_errand("factory"), seed=1)
    done.outcome, done.motion, done.seconds

A roadmap is learnt for the reduced team (simple shapes instead of full figures). A path through it is found, shortened and timed.
People walk along it, robots roll, and arms hold the object. Remaining collisions are removed by tuning, and the rechecker checks
the result. If a stage fails, the place where it failed is barred, and another path is searched for (Section IV-D).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter1d

from bunraku.arguments import require_common, require_kind, require_number
from bunraku.collision.way_curve import WayCurve
from bunraku.ensemble.animate import AnimateOptions, Animation, animate
from bunraku.ensemble.barriers import Barriers
from bunraku.ensemble.carry_result import CARRIED, CARRY_STAGES, NO_WAY, NOT_HELD, REFUSED, TOUCHES, Carry
from bunraku.ensemble.carry_with_changes import ChangingRun
from bunraku.ensemble.change_options import ChangeHoldsOptions
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.holdable import Holdable, HoldableOptions
from bunraku.ensemble.load import too_heavy
from bunraku.ensemble.no_way import WhyNotOptions, in_reach, why_not
from bunraku.ensemble.recheck_team import TeamRecheckOptions, TeamVerdict, recheck
from bunraku.ensemble.team_sampling import TeamSampler
from bunraku.ensemble.tune import TunedMotion, TuneOptions, tune
from bunraku.ensemble.world_limits import JointLimits, haste, unhurried
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.outcome import STOPPED, Outcome
from bunraku.planning.planning_outcomes import GOAL_BLOCKED, START_BLOCKED
from bunraku.planning.ways.path import Path, rounded, shortcut
from bunraku.planning.ways.path_timing import PathTiming
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.rrt_connect import Growth, connect
from bunraku.planning.ways.steer import Bezier
from bunraku.planning.ways.visibility import learn
from bunraku.progress import Listener, Progress

__all__ = ["CARRY_STAGES", "Carry", "CarryOptions", "carry"]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class CarryOptions:
    """Numbers that tune carrying, including those of its stages."""

    guards: int = 0
    """Guards of the roadmap that are learnt before the first search for a path. They serve errands that use the roadmap again;
    one errand alone is done sooner without."""
    failures: int = 40
    """Learning ends after this many free samples in a row that add no guard."""
    plain: int = 1
    """Number of pairs of trees that grow toward random configurations; those after them are guided along routes (see `routes`)."""
    plain_nodes: int = 600
    """Maximum number of nodes of such a pair; on uneven ground, where nothing guides, later pairs get more."""
    plain_targets: int = 1200
    """Maximum number of targets of a pair that steers along curves, which takes long."""
    nodes: int = 3000
    """Maximum number of nodes of a guided pair; every second pair may have three times as many. If somebody walks along
    curves, such pairs sidestep, and take turns with smaller ones that do not."""
    trees: int = 60
    """Maximum number of pairs of trees; if one pair does not meet, a new pair starts with other random numbers."""
    shortcuts: int = 200
    """Number of attempts to shorten a path, again and again while it gets shorter by a twentieth."""
    detours: int = 8
    """As many other paths are searched for, and the one with the shortest ways of all agents is taken."""
    detour_pairs: int = 3
    """Maximum number of pairs of trees for each of these."""
    aside: float = 10.0
    """A metre sideways of somebody who walks forward counts so much more, when one of several paths is chosen."""
    short: float = 1.1
    """No other path is searched for if everybody's ways on one are not longer than straight ones by this factor."""
    shortened: int = 4
    """As many of these, the shortest ones, are shortened further before one is chosen."""
    worth: float = 1.3
    """Only those that are not longer than the shortest by this factor."""
    detour_nodes: int = 3000
    """No other path is searched for after the trees have had so many nodes since the last path that was tried."""
    slower: int = 4
    """How many times a motion that is too fast somewhere, or of a walker who loses hold, is made again, slower there."""
    slowing: float = 1.5
    """Such a walker is slower from about this time before to as much after losing hold [s]."""
    hurried: float = 1.2
    """What is faster than its limits by less than this factor is slowed down without making the motion again."""
    rounds: int = 12
    """Maximum number of paths that are tried."""
    barrier: float = 0.3
    """The next path keeps this distance from the place where one failed, and more each time [weighted m]; twice as much from
    where an agent cannot pass in any posture."""
    tuning_share: float = 0.25
    """Share of the budget that tuning of one motion may take; another path is often faster."""
    holdable: HoldableOptions = HoldableOptions()
    animate: AnimateOptions = AnimateOptions()
    tune: TuneOptions = TuneOptions()
    joints: JointLimits = JointLimits()
    recheck: TeamRecheckOptions = TeamRecheckOptions()
    why_not: WhyNotOptions = WhyNotOptions()
    changes: ChangeHoldsOptions = ChangeHoldsOptions()


def carry(
    errand: Errand, *, samples: int | None = None, roadmap: Roadmap | None = None, options: CarryOptions = CarryOptions(),
    seed: int | None = None, progress: Listener | None = None,
) -> Carry:  # fmt: skip
    """Plans and animates an errand (a carrying task). The same seed gives the same result.

    errand: the team, the object, start, goal and scene
    samples: number of samples that are kept in files and on the stage (`Carry.kept`); by default that of the errand
    roadmap: a roadmap from an earlier call; it is used and extended in place
    options: numbers that tune it
    seed: seed of the random numbers; by default that of the errand
    progress: called with the progress of each of CARRY_STAGES

    Returns the outcome and the motion; after a failure, why, and the motion up to there. Ctrl-C returns the last motion, with an
    outcome of the kind "stopped".
    """
    require_kind("errand", errand, Errand, expected="an Errand", advice="bunraku.load(…) of a carry file gives one as .errand")
    if samples is not None:
        require_number("samples", samples)
    require_common(seed, progress)
    seed, samples = errand.seed if seed is None else seed, samples or errand.samples
    if errand.may_change:
        part = replace(options, detours=min(options.detours, options.changes.detours))
        carrier = partial(_carried, options=part, progress=progress)
        return ChangingRun(errand, seed, samples, carrier, options.recheck, options.changes).run()
    run = _Run(errand, seed, samples, roadmap, options, progress)
    try:
        return run.run()
    except KeyboardInterrupt:
        return run.ended(STOPPED, motion=run.last_motion)


def _carried(errand: Errand, seed: int, *, options: CarryOptions, progress: Listener | None) -> Carry:
    return carry(errand, options=options, seed=seed, progress=progress)


class _Run:
    """One errand in progress."""

    def __init__(
        self,
        errand: Errand,
        seed: int,
        samples: int | None,
        roadmap: Roadmap | None,
        options: CarryOptions,
        progress: Listener | None,
    ) -> None:
        self.errand, self.seed, self.samples, self.options, self.progress = errand, seed, samples, options, progress
        self.known: Roadmap | None = roadmap  # returned in the result; Ctrl-C may come before there is one
        self.seconds = dict.fromkeys(CARRY_STAGES, 0.0)
        self.stage, self.round = CARRY_STAGES[0], 0
        self.path: Path | None = None
        self.timing: PathTiming | None = None
        self.animation: Animation | None = None
        self.tuned: TunedMotion | None = None
        self.verdict: TeamVerdict | None = None
        self.failures: list[str] = []
        self.grown = 0  # nodes of trees since the last path that was tried
        self.begun = worked()

    def run(self) -> Carry:
        errand = self.errand
        space = errand.space if self.known is None else self.known.space
        self.barriers = Barriers(space.weights)
        # On level ground it is seldom worth the time, until an arm fails; but the reach of an arm without a closed form is a guess.
        self.careful = errand.team.terrain is not None or any(hold.arm for agent in errand.team.agents for hold in agent.holds)
        holdable = Holdable(errand.team, np.stack([errand.start, errand.goal]), space.weights, options=self.options.holdable)

        def allowed(curve: WayCurve) -> bool:
            return self.barriers.passed_by(curve) and (not self.careful or holdable.along(curve))

        self.guided, self.space = errand.space.restricted(allowed), space.restricted(allowed)
        if isinstance(self.space.sampler, TeamSampler):
            self.space = self.space.sampled_by(self.space.sampler.plain(), None)
        self.walked = any(issubclass(agent.moves, Bezier) for agent in errand.team.agents)
        self.known = self.roadmap = Roadmap(self.space) if self.known is None else self.known
        if why := too_heavy(errand.team, options=self.options.recheck.load):
            advice = "add agents, let helpers join (helps: true), or move the holds"
            return self.ended(Outcome(False, "too heavy", why, advice=advice))
        for q, outcome, end in ((errand.start, START_BLOCKED, "start"), (errand.goal, GOAL_BLOCKED, "goal")):
            if why := self.space.objection(self.space.configuration(q, f"the {end} of the errand")):
                advice = f"move the {end}: it must be collision-free, and within limits and reach"
                return self.ended(outcome.because(why + in_reach(errand, q), advice=advice))
        self.learn()
        return self.rounds()

    @property
    def left(self) -> float:
        """Processor time left [s]."""
        return self.errand.budget - (worked() - self.begun)

    @contextmanager
    def working(self, stage: str) -> Iterator[None]:
        self.stage = stage
        self.tell(0.0)
        begun = worked()
        try:
            yield
        finally:
            self.seconds[stage] += worked() - begun
        self.tell(1.0)

    def tell(self, done: float, text: str = "") -> None:
        if self.progress is not None:
            self.progress(Progress(self.stage, done, text or (f"path {self.round + 1}" if self.round else "")))

    def ended(self, outcome: Outcome, *, motion: Motion | None = None, stage: str = "") -> Carry:
        own = self.animation
        return Carry(
            self.errand, outcome, stage or self.stage, motion, self.seconds, self.seed, self.known, self.path, self.timing,
            self.round + 1, closure=0.0 if own is None else own.closure, jump=0.0 if own is None else own.jump, tuned=self.tuned,
            verdict=self.verdict, failures=tuple(self.failures), samples=self.samples,
        )  # fmt: skip

    @property
    def last_motion(self) -> Motion | None:
        """The last motion, checked or not."""
        if self.tuned is not None:
            return self.tuned.motion
        return None if self.animation is None else self.animation.motion

    # -- planning ----------------------------------------------------------------------------------------------------

    def learn(self) -> None:
        """Learns guards and connectors, before the first search for a path."""
        options = self.options
        with self.working("roadmap"):
            learnt = learn(
                self.roadmap, seed=self.seed, guards=options.guards if len(self.roadmap.guards) < options.guards else 0,
                failures=options.failures, seconds=0.5 * self.errand.budget, progress=lambda word: self.tell(word.done, word.text),
            )  # fmt: skip
        _stop_if(learnt.outcome)

    def way(self) -> Growth | None:
        """Finds a path in the roadmap or with trees, and stores it; returns the trees if there is none."""
        space = self.space
        start, goal = (space.configuration(q, "an end of the errand") for q in (self.errand.start, self.errand.goal))
        straight = self._cost(Path(space, (WayCurve(np.stack([start, goal])),)), aside=False)
        found: list[tuple[float, Path]] = []
        with self.working("roadmap"):
            known = self.roadmap.search(start, goal)
        if known is not None:
            found.append(self._measured(known))
        self.grown = 0
        for k in range(1 + self.options.detours):
            if found and (self.grown > self.options.detour_nodes or self.left < 0.5 * self.errand.budget):
                break
            if found and min(cost for cost, _ in found) < self.options.short * straight:
                break
            with self.working("roadmap"):
                growth = self._grown(start, goal, k, another=bool(found))
                if growth.path is None and not found:
                    return growth
                if growth.path is not None:
                    self.roadmap.add_path(growth.path)
            if growth.path is not None:
                found.append(self._measured(growth.path))
        with self.working("query"):
            found.sort(key=lambda own: own[0])
            most = self.options.worth * found[0][0]
            best = [self._shorter(path) for cost, path in found[: self.options.shortened] if cost <= most]
            self.path = rounded(min(best, key=self._cost))
        return None

    def _measured(self, path: Path) -> tuple[float, Path]:
        """A path, shortened a little, after its cost."""
        with self.working("query"):
            path = shortcut(path, seed=self.seed + self.round, tries=self.options.shortcuts // 4)
            return self._cost(path), path

    def _cost(self, path: Path, *, aside: bool = True) -> float:
        """Length of everybody's way along a path [m]; metres `aside` of those who walk forward count much more."""
        bases, held = self.errand.team.in_world(path.sample(np.linspace(0.0, path.length, 200)))
        total = float(np.linalg.norm(np.diff(held[:, :2], axis=0), axis=1).sum())
        for agent in self.errand.team.agents:
            base = bases[agent.name]
            step, middle = np.diff(base[:, :2], axis=0), 0.5 * (base[1:, 2] + base[:-1, 2])
            total += float(np.linalg.norm(step, axis=1).sum())
            if aside and issubclass(agent.moves, Bezier):
                across = np.abs(np.cos(middle) * step[:, 1] - np.sin(middle) * step[:, 0])
                total += self.options.aside * float(across.sum())
        return total

    def _shorter(self, path: Path) -> Path:
        """A path shortened again and again, while that helps and the budget lasts: not by the clock, so that a seed is a motion."""
        for k in range(20):
            before = path.length
            path = shortcut(path, seed=self.seed + self.round + 1000 * k, tries=self.options.shortcuts)
            if path.length > 0.95 * before or self.left <= 0.0:
                break
        return path

    def _grown(self, start: Array, goal: Array, number: int = 0, *, another: bool = False) -> Growth:
        """A pair of trees that meet; if none does, the pair that came nearest. Another `number` gives other trees.

        For `another` path after the first, fewer pairs are tried, and nobody sidesteps.
        """
        best, near = None, np.inf
        for pair in range(self.options.detour_pairs if another else self.options.trees):
            k = pair * (1 + self.walked) if another else pair
            guided = k >= self.options.plain and self.guided.vary is not None
            aside = guided and self.walked and (k - self.options.plain) % 2 == 0
            nodes = self.options.plain_nodes * (1 + k // 8)
            if aside or (guided and not self.walked):  # some spaces need many nodes, in others most trees get stuck
                nodes = self.options.nodes * (3 if (k - self.options.plain) // (1 + self.walked) % 2 else 1)
            seed = int(np.random.SeedSequence((self.seed, self.round, k, *([number] if number else []))).generate_state(1)[0])
            space = self.guided.sidestepping() if aside else self.guided if guided else self.space
            targets = self.options.plain_targets * (1 + k // 8) if self.walked and not aside else math.inf
            growth = connect(space, start, goal, seed=seed, seconds=max(self.left, 0.0), nodes=nodes, targets=targets)
            self.grown += growth.nodes
            if growth.path is not None:
                return replace(growth, path=Path(self.space, growth.path.curves))
            _stop_if(growth.outcome)
            away = float(self.space.distances(goal, growth.trees[0].nodes).min())
            if away < near:
                best, near = growth, away
            self.tell(1.0 - max(self.left, 0.0) / self.errand.budget, f"{k + 1} pairs of trees, {near:.2g} m from the goal")
            if self.left <= 0.0:
                break
        assert best is not None
        return best

    # -- round by round ----------------------------------------------------------------------------------------------

    def rounds(self) -> Carry:
        """Tries paths until one can be held and is collision-free (Section IV-D)."""
        outcome = NO_WAY
        while self.round < self.options.rounds and (self.left > 0.0 or self.round == 0):
            stuck = self.way()
            if stuck is not None:
                if self.round:  # the failure of the first path says more than that there is no other
                    break
                return self._no_way(stuck)
            failed = self._tried()
            if failed is None:
                assert self.tuned is not None
                return self.ended(CARRIED, motion=self.tuned.motion)
            outcome = failed
        return self.ended(outcome, motion=self._as_far())

    def _tried(self, slower: Array | None = None) -> Outcome | None:
        """Follows the path, `slower` at some places. If that fails, bars the place and returns the outcome."""
        assert self.path is not None
        with self.working("timing"):
            self.timing = self.errand.timed(self.path, slower=slower)
        animation = self._animated(self.timing)
        for _ in range(self.options.slower):
            if animation.motion is None:
                if not animation.walks:
                    break
                t, hurry = self._halting(animation.at)
            else:
                t = animation.motion.t - animation.lead
                hurry = haste(self.errand.team, animation.motion, self.errand.limits, self.options.joints)
                if hurry.max() <= self.options.hurried:
                    break
            with self.working("timing"):
                self.timing = self.errand.timed(self.path, slower=self._slower(t, hurry))
            animation = self._animated(self.timing)
        if animation.motion is None:
            return self._barred(NOT_HELD, animation.trouble, animation.at)
        self.tuned = self._tuned(animation)
        t = animation.motion.t - animation.lead
        if not self.tuned.free:
            return self._barred(TOUCHES, self.tuned.trouble, float(t[self.tuned.sample]), self.tuned.fixed)
        with self.working("timing"):
            motion = unhurried(self.errand.team, self.tuned.motion, self.errand.limits, self.options.joints)
            self.tuned = replace(self.tuned, motion=motion)
        self.verdict = self._judged(motion)
        if not self.verdict.accepted:
            first = self.verdict.objections[0]
            why = f"{first.what}: {first.where}, {first.t:.3g} s after the start"
            at = float(t[min(first.sample, len(t) - 1)])
            if first.what == "feet" and slower is None and self.left > 0.0:  # shorter steps may do
                self.failures.append(why)
                return self._tried(self._slower(*self._halting(at)))
            return self._barred(REFUSED, why, at)
        return None

    def _halting(self, at: float) -> tuple[Array, Array]:
        """Times of the motion, and how much slower to be at each, to walk half as fast at one of them.

        People who walk slowly sway less, and climb stairs in shorter steps, so that their arms may reach.
        """
        assert self.timing is not None
        t = np.linspace(0.0, self.timing.duration, max(int(10.0 * self.timing.duration), 2))
        return t, 1.0 + np.exp(-(((t - at) / self.options.slowing) ** 2))

    def _slower(self, t: Array, hurry: Array) -> Array:
        """Places of the path, and the rates there at which joints are no longer in a hurry, from a motion at times t."""
        assert self.timing is not None
        places = self.timing.places(np.clip(t, 0.0, self.timing.duration))
        rate = np.gradient(places, t)
        wide = max(round(0.3 / float(t[1] - t[0])), 1)
        need = maximum_filter1d(hurry, 2 * wide + 1)
        every = np.concatenate([[True], np.diff(places) > 0.0])
        return np.asarray(np.stack([places, np.maximum(rate, 0.02) / np.maximum(1.05 * need, 1.0)], 1)[every])

    def _animated(self, timing: PathTiming) -> Animation:
        """The motion of all joints along the timed path.

        For each agent first the legs (locomotion), then the arms (manipulation) are computed, so the processor times of both are
        known, and reported, only at the end.
        """
        self.stage = "locomotion"
        self.tell(0.0)
        out = animate(self.errand.team, timing, heights=self.errand.heights, options=self.options.animate)
        for stage in ("locomotion", "manipulation"):
            self.stage = stage
            self.seconds[stage] += out.seconds.get(stage, 0.0)
            self.tell(1.0)
        self.animation = out
        return out

    def _tuned(self, animation: Animation) -> TunedMotion:
        errand = self.errand
        seconds = min(max(self.left, 0.1), self.options.tuning_share * errand.budget)
        with self.working("tuning"):
            return tune(
                errand.team, animation, errand.scene, margin=errand.margin, seed=self.seed, seconds=seconds, ground=errand.ground,
                give_up=True, options=self.options.tune,
            )  # fmt: skip

    def _judged(self, motion: Motion) -> TeamVerdict:
        errand = self.errand
        with self.working("recheck"):
            return recheck(
                errand.team, motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
                allowed=errand.allowed, ends=(errand.start, errand.goal), area=errand.area, options=self.options.recheck,
            )  # fmt: skip

    def _barred(self, outcome: Outcome, why: str, t: float, fixed: str = "") -> Outcome:
        """Bars the configuration at which the path failed, at the time t [s], and removes the edges of the roadmap near it.

        If `fixed` names an agent that cannot pass in any posture, the position of that agent is barred, wherever the others are.
        """
        assert self.timing is not None
        self.failures.append(why)
        self.careful = self.careful or outcome is NOT_HELD
        q = self.timing.at(np.clip(np.array([t]), 0.0, self.timing.duration))[0]

        def distance(Q: Array) -> Array:
            if not fixed:
                return self.space.distances(q, Q)
            own, there = (self.errand.team.in_world(at)[0][fixed][..., :2] for at in (Q, q))
            return np.asarray(np.linalg.norm(own - there, axis=-1))

        ends = distance(np.stack([self.errand.start, self.errand.goal]))
        self.barriers.add(
            distance, min((2.0 if fixed else 1.0) * self.options.barrier * 1.4**self.round, 0.5 * float(ends.min()))
        )  # keeps both ends free
        if isinstance(self.guided.sampler, TeamSampler) and self.guided.vary is not None:
            sampler = self.guided.sampler.avoiding(self.errand.team.in_world(q)[1][:2])
            self.guided = self.guided.sampled_by(sampler, sampler.varied)
        for i, j in self.roadmap.edges:
            if not self.barriers.passed_by(self.roadmap.edge_curve(i, j)):
                self.roadmap.remove_edge(i, j)
        self.round += 1
        return outcome.because(why)

    # -- if there is no way ---------------------------------------------------------------------------------------

    def _no_way(self, growth: Growth) -> Carry:
        """The result if no path exists: how far the tree from the start came, and what is in the way."""
        start, goal = growth.trees[0].nodes[0], growth.trees[1].nodes[0]
        nearest = int(np.argmin(self.space.distances(goal, growth.trees[0].nodes)))
        why = why_not(self.errand, start, goal, seed=self.seed, options=self.options.why_not)
        if nearest:
            self.path = Path(self.space, tuple(growth.trees[0].branch(nearest)))
            self.timing = self.errand.timed(rounded(shortcut(self.path, seed=self.seed)))
        got = self.errand.at(growth.trees[0].nodes[nearest])
        return self.ended(NO_WAY.because(f"{why}; it got as far as the {got}"), motion=self._as_far(), stage="roadmap")

    def _as_far(self) -> Motion | None:
        """The motion along the timed path, up to where the object can no longer be held."""
        if self.timing is None:
            return None
        heights, options = self.errand.heights, self.options.animate
        animation = animate(self.errand.team, self.timing, heights=heights, options=options)
        if animation.held or animation.sample < 2:
            return animation.motion
        kept = self.timing.t < animation.at - 1.0 / options.rate
        if kept.sum() < 2:
            return None
        part = PathTiming(self.timing.path, self.timing.t[kept], self.timing.place[kept], self.timing.rate[kept])
        return animate(self.errand.team, part, heights=heights, options=options).motion


def _stop_if(outcome: Outcome) -> None:
    """Raises KeyboardInterrupt again if a search has caught it."""
    if outcome.kind == STOPPED.kind:
        raise KeyboardInterrupt
