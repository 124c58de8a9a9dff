from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography.compose import reference
from bunraku.choreography.score import Score, score
from bunraku.choreography.script_file import script_of
from bunraku.io.yaml import yaml_reader
from bunraku.kinematics import pose
from tests.differences import difference_quotient, relative_error

from .test_script_file import GOOD

T = np.arange(0.0, 16.8, 0.0371)  # no sample falls on an edge of a cue


@pytest.fixture(scope="module")
def good() -> Score:
    return score(script_of(yaml_reader.parse(GOOD), Path()))


def test_derivatives_by_the_shifts(good: Score) -> None:
    for role in ("anna", "bert"):
        at = np.array([0.1])
        here = reference(good, role, T, at)
        assert (
            relative_error(here.first, difference_quotient(lambda s, r=role: reference(good, r, T, s).value, at, step=1e-4)) < 1e-6
        )
        assert (
            relative_error(here.second, difference_quotient(lambda s, r=role: reference(good, r, T, s).first, at, step=1e-4)) < 1e-4
        )
    assert np.abs(here.first).max() > 0.1


def test_before_and_after_a_puppet_rests_in_its_place(good: Score) -> None:
    anna = reference(good, "anna", np.array([0.0, 30 * 0.6]), np.zeros(1)).value
    rest = good.script.role("anna").repertoire.puppet.rest
    puppet = good.script.role("anna").repertoire.puppet
    for row, x in zip(anna, (-1.2, -0.6), strict=True):
        np.testing.assert_allclose(row, puppet.placed(rest[None], np.array([x]), np.zeros(1), np.zeros(1))[0], atol=1e-6)


def test_cues_on_different_parts_add_up() -> None:
    both = GOOD.replace(
        "    counts: 6\n    name: enters", "    counts: 6\n    name: enters\n  - anna: wave\n    with: enters\n    counts: 6"
    )
    made = score(script_of(yaml_reader.parse(both), Path()))
    t = np.array([1.8])
    figure = made.script.role("anna").figure
    together = reference(made, "anna", t, np.zeros(1)).value[0]
    alone = reference(score(script_of(yaml_reader.parse(GOOD), Path())), "anna", t, np.zeros(1)).value[0]
    moved = {figure.names[i] for i in np.flatnonzero(np.abs(together - alone) > 1e-6)}
    assert "rshoulder_rx" in moved
    assert not any("leg" in name or "hip" in name for name in moved)


def test_exaggerated_and_mirrored() -> None:
    plain = GOOD.replace("    size: 0.8\n    mirrored: true\n", "").replace("everyone: bow", "everyone: point")
    other = GOOD.replace("size: 0.8", "size: 1.2").replace("everyone: bow", "everyone: point")
    t = np.array([26 * 0.6])
    scores = [score(script_of(yaml_reader.parse(text), Path())) for text in (plain, other)]
    one, two = (reference(own, "anna", t, np.zeros(1)).value[0] for own in scores)
    figure = script_of(yaml_reader.parse(GOOD), Path()).roles[0].figure
    rise = [pose(figure, q).X(hand)[2, 3] for q, hand in ((one, "rhand"), (two, "lhand"))]
    resting = pose(figure, one).X("lhand")[2, 3]
    assert rise[0] > resting + 0.1
    assert rise[1] > rise[0] + 0.02
