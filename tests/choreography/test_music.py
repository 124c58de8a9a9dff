"""Music of shows: counts by tempo or by the beats of a recording, mistakes with their line, and what sounds when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography import Performance
from bunraku.choreography.score import score
from bunraku.choreography.script import Script
from bunraku.choreography.script_file import load_script
from bunraku.choreography.show_outcomes import PERFORMED
from bunraku.errors import FileError
from bunraku.motion import Motion, Track
from bunraku.verbs.perform.file import PerformOrder
from tests.sound.pieces import Piece, piece, sound_of

SHOW = """\
perform: A nod
tempo: 100
music: song.wav
figures: {anna: marionette22}
script:
  - anna: nod
    counts: 8
"""


@pytest.fixture(scope="module")
def song() -> Piece:
    return piece("clicks", 21, tempo=112.0, duration=10.0, noise=0.01)  # without jitter: this is about words


@pytest.fixture(scope="module")
def folder(song: Piece, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("music")
    (out / "song.wav").write_bytes(song.sound.wav())
    (out / "hiss.wav").write_bytes(sound_of(np.random.default_rng(1).normal(size=160000), 16000).wav())
    (out / "empty.wav").write_bytes(song.sound.part(0.0, 0.0).wav())
    (out / "song.mp3").write_bytes(b"ID3")
    (out / "fake.wav").write_bytes(b"ID3\x04\x00")
    return out


def script(folder: Path, tempo: str, music: str) -> Script:
    (folder / "show.yaml").write_text(SHOW.replace("tempo: 100\n", tempo).replace("song.wav", music))
    return load_script(folder / "show.yaml")


def test_counts_by_a_given_tempo_begin_where_the_music_does(folder: Path, song: Piece) -> None:
    for music, begin in (("song.wav", 0.0), ("{file: song.wav, from: 500 ms}", 0.5), ("{file: song.wav, beats: tempo}", 0.0)):
        read = script(folder, "tempo: 100\n", music)
        assert (read.tempo, read.count) == (100.0, 0.6)
        assert read.music is not None
        assert (read.music.begin, read.music.beats) == (begin, None)
        first = round(begin * song.sound.rate)
        np.testing.assert_array_equal(read.music.sound.samples, song.sound.samples[first:])


@pytest.mark.parametrize(
    ("tempo", "music", "counts"),
    [
        ("", "song.wav", 112.0), ("", "{file: song.wav, from: 1.3 s, to: 9 s}", 112.0),
        ("tempo: 115\n", "{file: song.wav, beats: found}", 112.0), ("tempo: 56\n", "{file: song.wav, beats: found}", 56.0),
    ],
)  # fmt: skip
def test_counts_by_the_beats_of_the_recording(tempo: str, music: str, counts: float, folder: Path, song: Piece) -> None:
    read = script(folder, tempo, music)
    assert read.music is not None
    assert read.tempo == pytest.approx(counts, rel=1e-3)
    asked = 1.3 if "1.3" in music else 0.0
    first = song.beats[song.beats >= asked - 0.005][0]  # the first that is heard
    assert read.music.begin == pytest.approx(first, abs=0.012)
    # Count k is on a beat, by the recipe of the piece.
    times = read.music.begin + read.count * np.arange(8)
    times = times[(times > song.beats[0] - 0.1) & (times < song.beats[-1] + 0.1)]
    assert np.abs(times[:, None] - song.beats).min(1).max() < 0.012
    first = round(read.music.begin * song.sound.rate)
    assert abs(len(read.music.sound.samples) + first - round((9.0 if asked else 10.0) * song.sound.rate)) <= 1
    np.testing.assert_array_equal(read.music.sound.samples[:100], song.sound.samples[first : first + 100])


# tempo, music (› stands before the word that is blamed), what is said, what is advised
BROKEN = [
    ("tempo: 100\n", "›sing.wav", "the file 'sing.wav' does not exist", "path that starts at the folder"),
    ("tempo: 100\n", "›song.mp3", "expected a WAV file, got 'song.mp3'", 'ffmpeg -i "song.mp3"'),
    ("tempo: 100\n", "›fake.wav", "not a WAV file", 'ffmpeg -i "fake.wav"'),
    ("tempo: 100\n", "›empty.wav", "the recording is empty", "choose another recording"),
    ("tempo: 100\n", "›song.txt", "expected a WAV file", "end in .wav"),
    ("tempo: 100\n", "›[song.wav]", "expected the name of a WAV file", "write"),
    ("tempo: 100\n", "{file: song.wav, ›form: 2 s}", "unknown word 'form' in music", "from"),
    ("tempo: 100\n", "{file: song.wav, from: ›2 m}", "expected a time, got a length (m)", "ms"),
    ("tempo: 100\n", "{file: song.wav, from: ›-1 s}", "s into the recording", "between 0"),
    ("tempo: 100\n", "{file: ›song.wav, from: 11 s}", "the recording lasts 10 s", "earlier part"),
    ("tempo: 100\n", "{file: song.wav, from: 2 s, to: ›1 s}", "the music ends (1 s) before it begins", "later 'to'"),
    ("tempo: 100\n", "›{from: 2 s}", "has no 'file'", "add file"),
    ("tempo: 100\n", "{file: song.wav, beats: ›heard}", "unknown kind of beats 'heard'", "found"),
    ("", "{file: song.wav, beats: ›tempo}", "there is no 'tempo' to count by", "beats: found"),
    ("", "›hiss.wav", "no clear beat", "count by a given tempo"),
    ("", "{file: ›song.wav, to: 2 s}", "no clear beat", "clear beat"),
    ("tempo: ›140\n", "{file: song.wav, beats: found}", "has 112 beats a minute, not 140", "tempo: 112"),
    ("tempo: 100\n", "›{file: song.wav, from: 7 s}", "the music is too short: 3 s", "shorten the script"),
]


@pytest.mark.parametrize(("tempo", "music", "message", "advice"), BROKEN, ids=[row[2] for row in BROKEN])
def test_mistakes_are_told_where_they_are(tempo: str, music: str, message: str, advice: str, folder: Path) -> None:
    text = SHOW.replace("tempo: 100\n", tempo).replace("song.wav", music)
    before, _, _ = text.partition("›")
    with pytest.raises(FileError) as caught:
        score(script(folder, tempo.replace("›", ""), music.replace("›", "")))
    said = str(caught.value)
    assert message in said
    assert advice in said.partition("advice: ")[2]
    assert (caught.value.line, caught.value.column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert str(folder / "show.yaml") in said


def test_without_music_a_show_needs_a_tempo(folder: Path) -> None:
    (folder / "show.yaml").write_text(SHOW.replace("tempo: 100\nmusic: song.wav\n", ""))
    with pytest.raises(FileError, match="the show has no 'tempo'"):
        load_script(folder / "show.yaml")


def test_a_changed_recording_is_read_again(folder: Path, song: Piece) -> None:
    file = folder / "other.wav"
    file.write_bytes(song.sound.wav())
    first = script(folder, "tempo: 100\n", "other.wav")
    again = script(folder, "tempo: 100\n", "other.wav")
    assert first.music is not None
    assert again.music is not None
    assert again.music.sound is first.music.sound  # edits do not read it again
    file.write_bytes(song.sound.part(0.0, 8.0).wav())
    changed = script(folder, "tempo: 100\n", "other.wav")
    assert changed.music is not None
    assert changed.music.sound.duration == pytest.approx(8.0, abs=0.001)


def test_a_performance_sounds_as_long_as_it_lasts_and_tells_what_was_found(folder: Path) -> None:
    order = PerformOrder.load(str(_saved(folder)))
    figure = order.script.roles[0].figure
    motion = Motion(np.array([0.0, 5.5]), (Track(figure, np.tile(figure.start, (2, 1)), name="anna", tension=np.ones((2, 6))),))
    done = Performance(replace(order.script), PERFORMED, motion, None, {}, 0)
    assert done.sound is not None
    assert done.sound.duration == pytest.approx(5.5, abs=1e-4)
    told = dict(done.report())["music"]
    assert told.startswith("song.wav from ")
    assert "111.99 a minute" in told or "112.00 a minute" in told
    assert "nine of ten within" in told
    assert "song.wav" in str(order)
    notes = list(order.notes())
    assert told in notes[0]
    assert "tempo: 56" in notes[1]


def _saved(folder: Path) -> Path:
    (folder / "found.yaml").write_text(SHOW.replace("tempo: 100\n", ""))
    return folder / "found.yaml"
