"""The outcomes of `optimize`. Ctrl-C gives `bunraku.outcome.STOPPED`."""

from __future__ import annotations

from bunraku.outcome import Outcome

OPTIMAL = Outcome(True, "converged", "no motion nearby costs less")
OPTIMAL_AT_A_SWITCH = Outcome(
    True, "at a switch", "no motion nearby costs less, but strings change between taut and slack there: the cost has a kink"
)
OUT_OF_ITERATIONS = Outcome(
    False, "out of iterations", "the search was still finding better motions", advice="raise iterations, or loosen the tolerance"
)
DESCENT_STALLED = Outcome(
    False, "stalled", "no step along the descent direction lowers the cost",
    advice="start from another guess, or weigh the inputs more; strings that change between taut and slack may be the cause",
)  # fmt: skip
BEYOND_LIMITS = Outcome(
    False, "beyond limits", "no motion nearby keeps all limits", advice="loosen one of them, or start from another guess"
)
