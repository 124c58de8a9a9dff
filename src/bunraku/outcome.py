"""Outcome: how a verb, a search or a solve ended. One class for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Outcome:
    """How a verb, a search or a solve ended, and what to do about it.

    A module lists its possible outcomes as constants, and `because` adds what happened in the case at hand:

        OUT_OF_TIME = Outcome(False, "out of time", "the budget ran out", advice="give more seconds")
        outcome = OUT_OF_TIME.because("the nearest node is 12 mm from the goal")

    Two outcomes are of the same kind where their `kind`s are equal, whatever was added.
    """

    ok: bool
    """Whether what was asked for has been reached."""
    kind: str
    """A few words, always the same for the same ending: "converged", "out of time", "stopped"."""
    why: str = ""
    """What happened in this case."""
    advice: str = ""
    """What to change for a better outcome; empty where nothing needs to change."""

    def because(self, why: str, *, advice: str | None = None) -> Outcome:
        """The same kind of outcome with the reason of this case.

        `why` replaces the reason (nothing changes where it is empty), `advice` replaces the advice where it is given.
        """
        return replace(self, why=why or self.why, advice=self.advice if advice is None else advice)

    def __bool__(self) -> bool:
        raise TypeError("an Outcome is neither true nor false: ask for outcome.ok")

    def __str__(self) -> str:
        text = f"{self.kind}: {self.why}" if self.why else self.kind
        return text if self.ok or not self.advice else f"{text}\n  advice: {self.advice}"


DONE = Outcome(True, "done")
"""The end of work that cannot fail."""
STOPPED = Outcome(False, "stopped", "stopped by hand; the best so far is kept", advice="let it run to the end")
"""The outcome of every verb after Ctrl-C."""
