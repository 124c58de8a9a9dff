"""Outcomes of the search for switching times, and of a performance."""

from __future__ import annotations

from bunraku.outcome import Outcome

TIMES_OPTIMAL = Outcome(True, "optimal", "no shift of the switching times lowers the cost")
TIMES_AT_ROUNDING = Outcome(True, "at rounding", "any further decrease is within rounding error")
TIMES_STILL_FALLING = Outcome(False, "out of iterations", "the cost still falls", advice="allow more iterations")

PERFORMED = Outcome(True, "performed", "every stretch was rehearsed and played")
NOT_REHEARSED = Outcome(
    False, "out of iterations", "the rehearsal of a stretch did not converge", advice="make the motion there smaller or slower"
)
