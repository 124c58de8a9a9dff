"""Motions spoilt on purpose, each in its own way: the rechecker and the independent judge both refuse them, for the same reason."""

from __future__ import annotations

import functools

import pytest

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from tests.ensemble.agreement import opinions
from tests.ensemble.spoiling import WAYS
from tests.ensemble.trials import errands

pytestmark = pytest.mark.slow


@functools.cache
def carried():
    errand = load_errand(errands()["short"])
    done = carry(errand, seed=5)
    assert done.outcome.ok, done
    return errand, done.motion


def test_what_is_right_is_accepted():
    own = opinions(*carried())
    assert not own.mine
    assert not own.other
    assert own.apart < 1e-3


@pytest.mark.parametrize("name", WAYS)
def test_both_refuse(name):
    spoilt = WAYS[name].of(*carried())
    assert spoilt is not None
    own = opinions(*spoilt)
    assert WAYS[name].why in own.mine
    assert WAYS[name].why in own.other


def test_there_are_thirty_ways():
    assert len(WAYS) >= 30
