from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography.score import Score, score
from bunraku.choreography.script_file import script_of
from bunraku.io.yaml import yaml_reader

from .test_script_file import GOOD


@pytest.fixture(scope="module")
def good() -> Score:
    return score(script_of(yaml_reader.parse(GOOD), Path()))


def test_times_follow_what_was_written(good: Score) -> None:
    times = {t.cue.name: (t.begin[0], t.end[0]) for t in good.cues}
    assert times == {
        "enters": (0, 6), "cue 2": (2, 7), "greets": (7, 12), "cue 4": (12, 16), "cue 5 (anna)": (24, 29), "cue 5 (bert)": (24, 29),
    }  # fmt: skip
    assert good.counts == 29


def test_what_hangs_on_a_flexible_cue_shifts_with_it(good: Score) -> None:
    shifts = {t.cue.name: (t.begin[1], t.end[1]) for t in good.cues}
    assert shifts["greets"] == (1, 1)
    assert shifts["cue 2"] == (0, 1)  # it lasts until greets begins
    assert shifts["cue 4"] == (1, 1)
    assert shifts["enters"] == shifts["cue 5 (bert)"] == (0, 0)
    np.testing.assert_array_equal(good.give, [0.5])


def test_limits_keep_shifts_within_what_can_be_played(good: Score) -> None:
    limits = good.limits
    assert limits.broken(np.zeros(1)) == 0.0
    for shift in np.linspace(-1.0, 1.0, 21):
        ok = abs(shift) <= 0.5 + 1e-12
        for a, b in good.pairs():
            ok &= a.end[0] + a.end[1] * shift <= b.begin[0] + b.begin[1] * shift + 1e-9
        for t in good.cues:
            ok &= t.piece.fits((t.end[0] - t.begin[0] + (t.end[1] - t.begin[1]) * shift) * good.script.count)
        assert (limits.broken(np.array([shift])) < 1e-9) == ok, shift


def test_puppets_stay_where_they_went(good: Score) -> None:
    assert [t.goal[:2] for t in good.of("anna")] == [(-0.6, 0.0)] * 3
    assert good.of("anna")[0].origin[:2] == (-1.2, 0.0)


def test_a_turn_takes_the_short_way() -> None:
    text = GOOD.replace(
        "  - bert: polka\n    after: greets\n    counts: 4",
        "  - bert: turn\n    after: greets\n    facing: -170 deg\n    counts: 6",
    )
    made = score(script_of(yaml_reader.parse(text.replace("facing: 10 deg", "facing: 150 deg")), Path()))
    turned = next(t for t in made.cues if t.piece.name == "turn")
    np.testing.assert_allclose(np.degrees(turned.goal[2] - turned.origin[2]), 40.0)


def test_on_samples_a_cue_is_as_long_wherever_it_stands(good: Score) -> None:
    dt, count = 0.0217, good.script.count
    for shift in (-0.31, 0.0, 0.27):
        made = good.on_samples(np.array([shift]), dt)
        lengths: dict[str, set[int]] = {}
        for timed, before in zip(made.cues, good.cues, strict=True):
            first, last = timed.begin[0] * count / dt, timed.end[0] * count / dt
            assert abs(first - round(first)) < 1e-9
            assert abs(first * dt / count - (before.begin[0] + before.begin[1] * shift)) < 0.51 * dt / count
            lengths.setdefault(f"{timed.piece.name} {before.counts:g} {before.begin[1] - before.end[1]}", set()).add(
                round(last - first)
            )
        assert all(len(found) == 1 for found in lengths.values())
        for a, b in made.pairs():
            assert a.end[0] <= b.begin[0] + 1e-9
