"""Carrying an errand on which holds may change: carried parts, changes between them, and the recheck of the whole."""

from __future__ import annotations

from bunraku.ensemble.carry_result import CARRIED, CARRY_STAGES, NO_WAY, REFUSED, Carry
from bunraku.ensemble.change_holds import Carrier, HoldChanger
from bunraku.ensemble.change_options import ChangeHoldsOptions
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.hold_parts import HoldTimeline
from bunraku.ensemble.recheck_holds import recheck_holds
from bunraku.ensemble.recheck_team import TeamRecheckOptions, TeamVerdict
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.outcome import STOPPED, Outcome


class ChangingRun:
    """An errand with changes of holds in progress.

    errand: the task
    seed: seed of the random numbers
    samples: number of samples that are kept; None keeps all
    carrier: carries the object between two changes
    recheck: tolerances of the rechecker
    options: numbers that tune changes
    """

    def __init__(
        self, errand: Errand, seed: int, samples: int | None, carrier: Carrier, recheck: TeamRecheckOptions,
        options: ChangeHoldsOptions,
    ) -> None:  # fmt: skip
        self.errand, self.seed, self.samples, self.carrier = errand, seed, samples, carrier
        self.recheck, self.options = recheck, options
        self.legs: list[Carry] = []
        self.failures: list[str] = []
        self.verdict: TeamVerdict | None = None
        self.line: HoldTimeline | None = None
        self.checked, self.begun = 0.0, worked()

    def run(self) -> Carry:
        """The result; after Ctrl-C the last whole motion, with an outcome of the kind "stopped"."""
        try:
            for attempt in range(self.options.attempts):
                if attempt and self.left() <= 0.0:
                    break
                ended = self._attempt(attempt)
                if ended is not None:
                    return ended
        except KeyboardInterrupt:
            return self._ended(STOPPED)
        return self._ended((NO_WAY if self.line is None else REFUSED).because("; ".join(dict.fromkeys(self.failures[-3:]))))

    def _attempt(self, attempt: int) -> Carry | None:
        changer = HoldChanger(self.errand, self.seed + 1000 * attempt, self.carrier, self.left, self.options)
        try:
            line = changer.run()
        finally:
            self.legs += changer.legs
            self.failures += changer.failures
        if line is None:
            return None
        self.line, begun = line, worked()
        self.verdict = recheck_holds(self.errand, line.motion(), line.parts, options=self.recheck)
        self.checked += worked() - begun
        if self.verdict.accepted:
            return self._ended(CARRIED)
        first = self.verdict.objections[0]
        self.failures.append(f"{first.what}: {first.where}, {first.t:.3g} s after the start")
        return None

    def left(self) -> float:
        """Processor time left [s]."""
        return self.errand.budget - (worked() - self.begun)

    def _ended(self, outcome: Outcome) -> Carry:
        seconds = {stage: sum(leg.seconds.get(stage, 0.0) for leg in self.legs) for stage in CARRY_STAGES}
        seconds["recheck"] += self.checked
        seconds["manipulation"] += max(worked() - self.begun - sum(seconds.values()), 0.0)
        motion = self._motion()
        return Carry(
            self.errand, outcome, "recheck" if self.line is not None else "roadmap", motion, seconds, self.seed,
            rounds=max(len(self.legs), 1), verdict=self.verdict, failures=tuple(self.failures), samples=self.samples,
            parts=() if self.line is None else tuple(self.line.parts),
        )  # fmt: skip

    def _motion(self) -> Motion | None:
        return None if self.line is None else self.line.motion()
