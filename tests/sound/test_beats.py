"""Beats of pieces that were put together from sounds at known times. `beat_trials` judges many more."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.sound.beats import NoBeat, find_beats
from tests.sound.beat_trials import judged
from tests.sound.pieces import Tape, kick, note, piece, scale, sound_of


@pytest.mark.parametrize(
    ("kind", "seed", "phase"),
    [("clicks", 101, 0.006), ("offbeat hats", 102, 0.006), ("swing", 103, 0.006), ("soft melody", 104, 0.035)],
)
def test_tempo_and_phase(kind: str, seed: int, phase: float) -> None:
    made = piece(kind, seed, tempo=float(np.random.default_rng(seed).uniform(80.0, 140.0)), duration=12.0)
    found = find_beats(made.sound)
    judgement = judged(made, found)
    assert judgement.octave == 1.0
    assert judgement.tempo < 2e-3
    assert judgement.worst < phase
    assert abs(found.first - made.beats[0]) < phase  # silence before it has no beats
    assert found.spread < 0.02


def test_a_recording_that_begins_on_a_beat() -> None:
    made = piece("rock", 11, tempo=100.0, duration=12.0)
    for early in (0.0, 0.002):
        cut = made.sound.part(made.beats[2] - early, 9.0)
        assert find_beats(cut).first == pytest.approx(early, abs=0.008)  # its drummer is off by 4 ms, as a standard deviation


def test_a_tempo_chooses_among_octaves() -> None:
    made = piece("rock", 7, tempo=160.0, duration=10.0)
    for tempo in (80.0, 160.0):
        assert find_beats(made.sound, tempo=tempo).tempo == pytest.approx(tempo, rel=1e-3)
    with pytest.raises(NoBeat, match=r"the recording has 160.* beats a minute, not 112"):
        find_beats(made.sound, tempo=112.0)


def test_what_has_no_beat_is_told() -> None:
    rng = np.random.default_rng(3)
    tape = Tape(10.0)
    at = 0.1
    while at < 10.0:
        tape.add(at, note(tape, scale(rng), 0.5, 0.03))
        at += rng.gamma(3.0, 0.15)
    t = np.arange(220500) / 22050
    for x in (rng.normal(size=220500), tape.x, np.zeros(220500), np.sin(2764.6 * t), np.ones(3)):
        with pytest.raises(NoBeat, match="no clear beat"):
            find_beats(sound_of(x))


def test_a_beat_that_wanders_is_refused_and_one_that_drifts_a_little_is_told() -> None:
    rng = np.random.default_rng(5)

    def drummed(times: np.ndarray) -> Tape:
        tape = Tape(12.0)
        for t in times:
            tape.add(t, kick(tape))
        return tape

    wandering = drummed(np.arange(0.3, 12.0, 0.5) + 0.045 * rng.normal(size=24))
    with pytest.raises(NoBeat, match=r"no clear beat|not steady"):
        find_beats(sound_of(wandering.x))
    k = np.arange(23)
    drifting = drummed(0.3 + 0.5 * k + 2e-4 * (k - 11) ** 2)  # by 24 ms from the middle to an end
    found = find_beats(sound_of(drifting.x))
    late = 2e-4 * (k - 11) ** 2
    late -= np.polyval(np.polyfit(k, late, 1), k)
    assert found.spread == pytest.approx(np.quantile(np.abs(late), 0.9), abs=0.005)
