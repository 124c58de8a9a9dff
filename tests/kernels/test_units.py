"""Units: parts of kernels that are compiled on their own, when they are first called."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from bunraku.kernels.compile import borrow, inline, keep, kernel
from tests.kernels.fresh import Forks
from tests.kernels.units_at_work import uses_others, uses_total

ROOT = Path(__file__).parents[2]


class Pair(NamedTuple):
    first: Any
    second: Any


@inline
def _sum(pair):
    return pair.first[0] + 10.0 * pair.second[0]


@kernel
def _by_turns(a, b, often):
    one, other, out = borrow(a), borrow(b), 0.0
    for k in range(often):
        again = borrow(Pair(one.second, one.first))
        out = 100.0 * out + (_sum(again) if k == 1 else _sum(one))
        one, other = other, one
    keep(a)
    keep(b)
    return out


def at_work(forks: Forks, name: str, cache: Path) -> list[str]:
    words = ["units_at_work", name]
    program = f"import runpy, sys; sys.path[:0], sys.argv = {[str(ROOT)]}, {words}\n"
    program += "runpy.run_module('tests.kernels.units_at_work', run_name='__main__', alter_sys=True)"
    done = forks.run(program, cache, {"XDG_CACHE_HOME": str(cache)})
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_arguments_and_results_pass() -> None:
    x = np.arange(5.0)
    assert uses_total(x, 4) == 10.0 * (0 + 1 + 2 + 3)
    assert uses_others(x, Pair(np.ones(3), np.zeros(2))) == (4.0, 3, True)
    assert list(x) == [4.0, 3.0, 2.0, 1.0, 0.0]
    z = np.array([1j, 2j])
    assert uses_others(z, Pair(np.zeros(1), np.zeros(2))) == (2j, 1, False)


def test_borrowed_tuples_are_those_that_they_were() -> None:
    """Also where two are exchanged, and where one is borrowed anew each time round a loop."""
    a, b = Pair(np.array([1.0]), np.array([2.0])), Pair(np.array([3.0]), np.array([4.0]))
    assert _by_turns(a, b, 3) == 21.0 * 1e4 + 34.0 * 1e2 + 21.0


def test_a_unit_is_compiled_when_it_is_first_called_and_once(forks: Forks, tmp_path: Path) -> None:
    assert at_work(forks, "lazily", tmp_path) == ["0.0 1", "18.0 True", "36.0 False"]  # its stub, then itself
    assert at_work(forks, "lazily", tmp_path) == ["0.0 0", "18.0 False", "36.0 False"]  # from disk


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to oneself")
def test_an_interrupt_while_a_unit_is_compiled_reaches_the_caller(forks: Forks, tmp_path: Path) -> None:
    assert at_work(forks, "interrupted", tmp_path) == ["interrupted", "18.0"]
