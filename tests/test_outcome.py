from __future__ import annotations

import pytest

from bunraku.outcome import STOPPED, Outcome

LATE = Outcome(False, "out of time", "the budget ran out", advice="give more seconds")


def test_reads_as_a_sentence_with_advice() -> None:
    assert str(LATE) == "out of time: the budget ran out\n  advice: give more seconds"
    assert str(Outcome(True, "converged", advice="nothing to do")) == "converged"


def test_the_reason_of_a_case_keeps_kind_and_advice() -> None:
    here = LATE.because("12 mm from the goal")
    assert (here.kind, here.why, here.advice) == (LATE.kind, "12 mm from the goal", LATE.advice)
    assert LATE.because("") == LATE
    assert LATE.because("x", advice="y").advice == "y"


def test_is_no_truth_value() -> None:
    with pytest.raises(TypeError, match=r"outcome\.ok"):
        bool(STOPPED)
