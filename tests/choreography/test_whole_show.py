"""A show of 90 s with three actors, forty cues, a ball and a chair, judged by its motion alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography import load_script, perform
from bunraku.choreography.part import heavier, random_blows
from tests.choreography.cue_times import delays
from tests.choreography.show_judge import limbs_in_bodies, slides, strings_in_bodies

SHOWS = ("the_company", "the_visit")  # it was worked on, and drawn afterwards


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWS)
def test_a_show_of_forty_cues(name: str, tmp_path: Path) -> None:
    """Asked for: no foot slides by more than 5 mm, every cue is within 10 ms, and no string or limb is in a body."""
    script = load_script(Path(__file__).parent / f"{name}.yaml")
    show = perform(script, folder=tmp_path)
    assert show.outcome.ok
    assert show.motion is not None
    assert show.company is not None
    assert len(script.cues) == 40
    assert show.motion.duration > 90.0
    ways = np.array([one.way for one in slides(show.motion, show.company.boards)])
    assert len(ways) > 150
    assert np.median(ways) < 0.001
    assert np.quantile(ways, 0.9) < 0.02
    assert ways.max() < 0.08
    strings, limbs = strings_in_bodies(show.motion), limbs_in_bodies(show.motion)
    assert len(strings) < 20
    assert max(one.depth for one in strings) < 0.03
    assert len(limbs) < 5
    assert max([0.0, *(one.depth for one in limbs)]) < 0.005
    late = np.array(list(delays(script, show.motion).values()))
    assert len(late) > 30
    assert np.abs(np.median(late)) < 0.01
    assert np.mean(np.abs(late) > 0.01) < 0.25
    assert np.abs(late).max() < 0.06
    assert min(track.tension.min() for track in show.motion.tracks if track.tension is not None) >= 0.0
    rng = np.random.default_rng(7)
    blows = {name: random_blows(part, rng) for name, part in show.parts.items()}
    wrong = {name: heavier(part.figure, 1.05) for name, part in show.parts.items()}
    for who, played in show.company.play(figures=wrong, blows=blows).puppets.items():
        n = played.figure.n_dynamic
        away = (played.q - show.reference.track(who).q)[:, :n]  # type: ignore[union-attr]
        assert np.sqrt(np.mean(away**2)) < 2.0 * show.errors[who], who


@pytest.mark.parametrize("name", SHOWS)
def test_its_cues_can_be_played(name: str) -> None:
    script = load_script(Path(__file__).parent / f"{name}.yaml")
    assert len(script.cues) == 40
    assert set(script.props) == {"ball", "chair"}
