from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography.played_steps import Played
from bunraku.choreography.score import score
from bunraku.choreography.script_file import script_of
from bunraku.choreography.show_outcomes import TIMES_OPTIMAL
from bunraku.choreography.switching_derivatives import expand
from bunraku.choreography.switching_times import TimesOptions, optimize_times
from bunraku.errors import BunrakuError
from bunraku.io.yaml import yaml_reader
from tests.differences import difference_quotient, relative_error

SHOW = """\
perform: Two gestures
tempo: 100
figures: {anna: marionette22}
script:
  - anna: nod
    name: first
  - anna: sway
    give: 0.8
  - anna: nod
    give: 0.8
    wait: 1
"""


def played(text: str = SHOW) -> Played:
    """Of gestures in which no string goes slack, free to come when they like."""
    return Played(score(script_of(yaml_reader.parse(text), Path())), "anna", loyal=1e-3)


def test_derivatives_through_the_puppets_dynamics() -> None:
    anna, at = played(), np.array([0.21, -0.13])
    here = expand(anna, at)

    def beside(s: np.ndarray) -> np.ndarray:
        there = expand(anna, s, second=False)
        return np.array([there.cost, *there.gradient])

    slope, *bend = difference_quotient(beside, at, step=1e-4)
    assert relative_error(here.gradient, slope) < 1e-6
    assert relative_error(here.hessian, bend) < 1e-5


@pytest.mark.slow
def test_timing_finds_when_it_fits() -> None:
    """A puppet that was turned swings on for a while: what comes next waits for that."""
    anna = played(SHOW.replace("sway", "twist"))
    found = optimize_times(anna, times=[0.5, -0.4], limits=anna.score.limits, options=TimesOptions(tolerance=1e-9))
    other = optimize_times(anna, times=np.zeros(2), limits=anna.score.limits, options=TimesOptions(tolerance=1e-9))
    np.testing.assert_allclose(other.times, found.times, atol=0.005)
    assert found.outcome is TIMES_OPTIMAL
    assert found.iterations <= 12
    assert found.cost < 0.95 * found.costs[0]
    assert np.abs(found.times).max() > 0.1
    assert anna.score.limits.broken(found.times) < 1e-9
    for nearby in np.eye(2)[[0, 0, 1, 1]] * np.array([[0.02], [-0.02], [0.02], [-0.02]]):
        at = anna.score.limits.nearest(found.times + nearby)
        assert anna.cost(at, anna.run(at)) >= found.cost - 1e-9


def test_what_the_strings_cannot_do_is_said() -> None:
    wild = SHOW.replace("tempo: 100", "tempo: 140")
    wild = wild.replace("  - anna: nod\n    name", "  - anna: cheer\n    size: 2.0\n    counts: 5\n    name")
    anna = played(wild)
    with pytest.raises(BunrakuError, match="cannot follow its strings"):
        anna.run(np.zeros(2))
