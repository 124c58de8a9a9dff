"""carry: people and robots move something bulky through clutter (*carrying*, Section IV).

    done = carry(load_errand("factory"), seed=1)
    done.outcome, done.motion, done.seconds

A roadmap is learnt for the reduced team, a path is found in it, made short, and given times; agents walk, roll and hold; what
still touches is tuned away; the rechecker judges. Where one of these fails, the way past that place is barred, and another is
looked for (Section IV-D).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.animate import Animation, animate
from bunraku.ensemble.barred_space import Barred
from bunraku.ensemble.carry_result import STAGES, Carry, CarryOutcome, Progress
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.manipulate import SMOOTH
from bunraku.ensemble.no_way import in_reach, why_not
from bunraku.ensemble.pace import jumps, paced
from bunraku.ensemble.recheck_team import Verdict, recheck
from bunraku.ensemble.tune import Tuned, tune
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.outcome import STOPPED
from bunraku.planning.ways.path import Path, rounded, shortcut
from bunraku.planning.ways.path_timing import PathTiming
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.rrt_connect import Growth, connect
from bunraku.planning.ways.visibility import learn

__all__ = ["STAGES", "Carry", "CarryOutcome", "Progress", "carry"]
Array = NDArray[np.float64]
GUARDS, FAILURES = 24, 40  # of the roadmap that is learnt before anybody asks
NODES, TRIES = 600, 60  # of trees that look for a way; where they do not meet, others are sown, as some seeds never get anywhere
SHORTCUTS = 200  # tries
PACES = 4  # times that a motion whose joints jump is given other times
ROUNDS = 12  # of looking for another way
ASIDE = 0.3  # [weighted m] that the next way keeps from where one failed; more each time


def carry(
    errand: Errand, *, seed: int | None = None, samples: int | None = None, roadmap: Roadmap | None = None,
    watch: Callable[[Progress], None] | None = None,
) -> Carry:  # fmt: skip
    """The motion of an errand, or at which stage it failed, why, and how far it got. The same seed gives the same result.

    A roadmap that is given is used and made larger. `watch` hears how far each stage is. Ctrl-C ends it with what there is.
    """
    run = _Run(errand, errand.seed if seed is None else seed, samples or errand.samples, watch, roadmap)
    for q, outcome in ((errand.start, CarryOutcome.START_BLOCKED), (errand.goal, CarryOutcome.GOAL_BLOCKED)):
        if why := run.space.objection(run.space.configuration(q, "an end of the errand")):
            return run.ended(outcome, why=why + in_reach(errand, q))
    try:
        run.learn()
        return run.rounds()
    except KeyboardInterrupt:
        return run.ended(CarryOutcome.STOPPED)


class _Run:
    """One errand under way."""

    def __init__(
        self, errand: Errand, seed: int, samples: int, watch: Callable[[Progress], None] | None, roadmap: Roadmap | None
    ) -> None:
        self.errand, self.seed, self.samples, self.watch = errand, seed, samples, watch
        self.space = Barred(errand.space if roadmap is None else roadmap.space)
        self.roadmap = Roadmap(self.space) if roadmap is None else roadmap
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.stage, self.round = STAGES[0], 0
        self.path: Path | None = None
        self.timing: PathTiming | None = None
        self.animation: Animation | None = None
        self.tuned: Tuned | None = None
        self.verdict: Verdict | None = None
        self.failures: list[str] = []
        self.begun = worked()

    @property
    def left(self) -> float:
        """Processor time that is left [s]."""
        return self.errand.seconds - (worked() - self.begun)

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
        if self.watch is not None:
            self.watch(Progress(self.stage, done, text, self.round))

    def ended(self, outcome: CarryOutcome, *, why: str = "", motion: Motion | None = None) -> Carry:
        own = self.animation
        return Carry(
            self.errand, outcome, self.stage, motion, why, self.seconds, self.roadmap, self.path, self.timing, self.round + 1,
            closure=0.0 if own is None else own.closure, jump=0.0 if own is None else own.jump, tuned=self.tuned,
            verdict=self.verdict, failures=tuple(self.failures),
        )  # fmt: skip

    # -- planning ----------------------------------------------------------------------------------------------------

    def learn(self) -> None:
        """Guards and connectors, before anybody asks for a way."""

        with self.working("roadmap"):
            wanted = GUARDS if len(self.roadmap.guards) < GUARDS else 0
            learn(
                self.roadmap,
                seed=self.seed,
                guards=wanted,
                failures=FAILURES,
                seconds=0.5 * self.errand.seconds,
                progress=lambda word: self.tell(word.done, word.text),
            )

    def way(self) -> Growth | None:
        """A path that the roadmap knows, or comes to know; how far trees got where there is none."""
        space = self.space
        start, goal = (space.configuration(q, "an end of the errand") for q in (self.errand.start, self.errand.goal))
        with self.working("roadmap"):
            growth = self._grown(start, goal)
            if growth.path is not None:
                self.roadmap.add_path(growth.path)
        if growth.path is None:
            return growth
        with self.working("query"):
            known = self.roadmap.search(start, goal)
            raw = growth.path if known is None or known.length > growth.path.length else known
            self.path = rounded(shortcut(raw, seed=self.seed + self.round, tries=SHORTCUTS))
        return None

    def _grown(self, start: Array, goal: Array) -> Growth:
        """Trees that meet, or of those that were sown the one that came nearest."""
        best, near = None, np.inf
        for k in range(TRIES):
            nodes = NODES * (1 + k // 8)
            seed = int(np.random.SeedSequence((self.seed, self.round, k)).generate_state(1)[0])
            growth = connect(self.space, start, goal, seed=seed, seconds=max(self.left, 0.0), nodes=nodes)
            if growth.path is not None:
                return growth
            away = float(self.space.distances(goal, growth.trees[0].nodes).min())
            if away < near:
                best, near = growth, away
            self.tell(1.0 - max(self.left, 0.0) / self.errand.seconds, f"{k + 1} pairs of trees, {near:.2g} m from the goal")
            if self.left <= 0.0 or growth.outcome.kind == STOPPED.kind:
                break
        assert best is not None
        return best

    # -- the whole ---------------------------------------------------------------------------------------------------

    def rounds(self) -> Carry:
        """Ways, until one can be held and touches nothing (Section IV-D)."""
        outcome, why = CarryOutcome.NO_WAY, ""
        while self.round < ROUNDS and (self.left > 0.0 or self.round == 0):
            stuck = self.way()
            if stuck is not None:
                if self.round:  # the reason why the first way failed is the better one
                    break
                return self._no_way(stuck)
            assert self.path is not None
            with self.working("timing"):
                self.timing = self.errand.timed(self.path)
            self.animation = self._animated(self.timing)
            for _ in range(PACES):
                if self.animation.motion is None or jumps(self.animation.motion).max() < SMOOTH:
                    break
                with self.working("timing"):
                    self.timing = paced(self.timing, self.animation.motion)
                self.animation = self._animated(self.timing)
            if not self.animation.held:
                outcome, why = CarryOutcome.NOT_HELD, self.animation.trouble
                self._bar(self.animation.sample, why)
                continue
            assert self.animation.motion is not None
            jump = jumps(self.animation.motion)
            if jump.max() > SMOOTH:
                outcome, why = CarryOutcome.REFUSED, f"jump: a joint moves {jump.max():.3g} rad from one sample to the next"
                self._bar(int(jump.argmax()), why)
                continue
            self.tuned = self._tuned(self.animation)
            if not self.tuned.free:
                outcome, why = CarryOutcome.TOUCHES, self.tuned.trouble
                self._bar(self.tuned.sample, why, self.tuned.fixed)
                continue
            self.verdict = self._judged(self.tuned.motion)
            if not self.verdict.accepted:
                first = self.verdict.objections[0]
                outcome, why = CarryOutcome.REFUSED, f"{first.text}, {first.t:.3g} s after the start"
                self._bar(first.sample, why)
                continue
            return self.ended(CarryOutcome.CARRIED, motion=self.tuned.motion)
        return self.ended(outcome, why=why, motion=self._as_far())

    def _animated(self, timing: PathTiming) -> Animation:
        """Both at once, person by person; the time of each is told apart afterwards."""
        self.stage = "locomotion"
        self.tell(0.0)
        out = animate(self.errand.team, timing, samples=self.samples, heights=self.errand.heights)
        for stage in ("locomotion", "manipulation"):
            self.stage = stage
            self.seconds[stage] += out.seconds.get(stage, 0.0)
            self.tell(1.0)
        return out

    def _tuned(self, animation: Animation) -> Tuned:
        errand = self.errand
        seconds = min(max(self.left, 0.1), 0.25 * errand.seconds)  # another way is often the quicker one
        with self.working("tuning"):
            options = {"margin": errand.margin, "seed": self.seed, "seconds": seconds, **errand.ground}
            return tune(errand.team, animation, errand.scene, **options)

    def _judged(self, motion: Motion) -> Verdict:
        errand = self.errand
        with self.working("recheck"):
            return recheck(errand.team, motion, errand.scene, margin=errand.margin, heights=errand.heights, **errand.ground)

    def _bar(self, sample: int, why: str, fixed: str = "") -> None:
        """The next way keeps aside of where this one failed; edges of the roadmap that pass there are taken out.

        Where an agent is that cannot pass in any posture, nobody looks at what the others do.
        """
        assert self.timing is not None
        self.failures.append(why)
        t = np.array([self.timing.duration * sample / (self.samples - 1)])
        q = self.timing.at(t)[0]

        def away(Q: Array) -> Array:
            if not fixed:
                return self.space.distances(q, Q)
            own, there = (self.errand.team.in_world(at)[0][fixed][..., :2] for at in (Q, q))
            return np.asarray(np.linalg.norm(own - there, axis=-1))

        ends = away(np.stack([self.errand.start, self.errand.goal]))
        self.space.bar(away, min(ASIDE * 1.4**self.round, 0.5 * float(ends.min())))  # the ends must stay free
        for i, j in self.roadmap.edges:
            if not self.space.aside(self.roadmap.edge_curve(i, j)):
                self.roadmap.remove_edge(i, j)
        self.round += 1

    def _no_way(self, growth: Growth) -> Carry:
        """How far the tree from the start came, and what is in the way."""
        start, goal = growth.trees[0].nodes[0], growth.trees[1].nodes[0]
        nearest = int(np.argmin(self.space.distances(goal, growth.trees[0].nodes)))
        why = why_not(self.errand, start, goal, seed=self.seed)
        if nearest:
            self.path = Path(self.space, tuple(growth.trees[0].branch(nearest)))
            self.timing = self.errand.timed(rounded(shortcut(self.path, seed=self.seed)))
        got = self.errand.at(growth.trees[0].nodes[nearest])
        done = self.ended(CarryOutcome.NO_WAY, why=f"{why}; it got as far as the {got}", motion=self._as_far())
        return replace(done, stage="roadmap")

    def _as_far(self) -> Motion | None:
        """The part of the timed path that can be held."""
        if self.timing is None:
            return None
        animation = animate(self.errand.team, self.timing, samples=self.samples, heights=self.errand.heights)
        if animation.held or animation.sample < 2:
            return animation.motion
        until = self.timing.duration * (animation.sample - 1) / (self.samples - 1)
        kept = self.timing.t < until
        if kept.sum() < 2:
            return None
        part = PathTiming(self.timing.path, self.timing.t[kept], self.timing.place[kept], self.timing.rate[kept])
        return animate(self.errand.team, part, samples=animation.sample, heights=self.errand.heights).motion
