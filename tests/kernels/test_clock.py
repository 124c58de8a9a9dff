"""The clock of budgets: work counts, what is put aside does not, and compiling is put aside."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from bunraku.kernels import clock
from bunraku.kernels.clock import aside, worked
from bunraku.kernels.compile import INTERPRETED, kernel


class Work:
    """Takes as much of the processor's time as it says."""

    spent = 0.0

    def __call__(self, seconds: float) -> None:
        self.spent += seconds


@pytest.fixture
def work(monkeypatch):
    own = Work()
    monkeypatch.setattr(clock, "time", SimpleNamespace(process_time=lambda: own.spent))
    monkeypatch.setattr(clock, "_Aside", SimpleNamespace(seconds=0.0, since=None))
    return own


def test_only_what_is_not_put_aside_counts(work):
    begun = worked()
    work(0.05)
    with aside():
        work(0.2)
        with aside():
            work(0.1)
        work(0.1)
    work(0.05)
    assert worked() - begun == pytest.approx(0.1)


def test_an_error_ends_what_is_put_aside(work):
    with pytest.raises(ZeroDivisionError), aside():
        work(1.0 / 0.0)
    begun = worked()
    work(0.05)
    assert worked() - begun == pytest.approx(0.05)


def total(x):
    out = 0.0
    for value in x:
        out += value
    return out


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_neither_compiling_nor_loading_counts(monkeypatch, work):
    made = CPUDispatcher.compile

    def slowly(*args):
        work(20.0)
        return made(*args)

    monkeypatch.setattr(CPUDispatcher, "compile", slowly)
    begun = worked()
    assert kernel(total)(np.ones(3)) == 3.0
    assert work.spent >= 20.0
    assert worked() == begun
