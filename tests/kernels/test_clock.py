"""The clock of budgets: work counts, what is put aside does not, and compiling is put aside."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bunraku.kernels.clock import aside, worked
from bunraku.kernels.compile import INTERPRETED, kernel


def work(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_only_what_is_not_put_aside_counts():
    begun = worked()
    work(0.05)
    with aside():
        work(0.2)
        with aside():
            work(0.1)
        work(0.1)
    work(0.05)
    assert 0.1 <= worked() - begun < 0.5  # what it would be with what was put aside


def test_an_error_ends_what_is_put_aside():
    with pytest.raises(ZeroDivisionError), aside():
        work(1.0 / 0.0)
    begun = worked()
    work(0.05)
    assert worked() - begun >= 0.05


def total(x):
    out = 0.0
    for value in x:
        out += value
    return out


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_compiling_does_not_count():
    compiled = kernel(total)
    begun, spent = worked(), time.process_time()
    assert compiled(np.ones(3)) == 3.0
    assert time.process_time() - spent > 3.0 * (worked() - begun)  # loading counts as little as compiling
