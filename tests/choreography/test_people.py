"""People's motions as pieces of puppets, and in a show."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from bunraku import load, save
from bunraku.choreography import load_script, perform
from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.people import played_by
from bunraku.choreography.rehearse import Hung
from bunraku.control import gestures
from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.kinematics.loci import point_along

SHOW = """
perform: Hello
tempo: 60
figures: {anna: marionette22}
motions:
  hello: {file: person.bvh, from: 0.5, to: 4.5, exaggerate: 0.8, simplify: 2}
script:
  - anna: hello
"""
CLIPS = sorted(Path(os.environ.get("MOCAP_CLIPS", "none")).glob("*.bvh"))  # real ones, where there are any


def test_a_walk_is_played_on_the_spot_from_rest_to_rest() -> None:
    puppet = repertoire_of(library.marionette22()).puppet
    piece = played_by(puppet, gestures.walk(5.0), exaggerate=1.0)
    np.testing.assert_allclose(piece.q[[0, -1]], np.stack([puppet.rest, puppet.rest]), atol=1e-6)
    root = piece.q[:, list(puppet.root[:2])]
    assert np.ptp(root, axis=0).max() < 1e-9
    assert np.ptp(piece.column("lhip_rx")) > 0.2  # but it walks


@pytest.mark.slow
def test_a_person_waves_in_a_show(tmp_path: Path) -> None:
    save(gestures.wave(5.0), tmp_path / "person.bvh")
    (tmp_path / "show.yaml").write_text(SHOW)
    made = perform(load_script(tmp_path / "show.yaml"), folder=tmp_path)
    hand = [point_along(motion, "rhand", (0.0, 0.1, 0.0))[:, 2] for motion in (made.motion, made.reference)]
    assert np.ptp(hand[1]) > 0.2  # it is asked to raise its hand
    assert np.ptp(hand[0]) > 0.8 * np.ptp(hand[1])  # and does
    assert made.motion.tension.min() >= 0.0


@pytest.mark.parametrize(
    ("wrong", "line", "words"),
    [
        ("from: 3, to: 3.5", 6, "at least one second"),
        ("from: 2, to: 99", 6, "inside the motion"),
        ("exaggerate: 50", 6, "between 0.1 and 3"),
        ("simplify: fast", 6, "number"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, wrong: str, line: int, words: str) -> None:
    save(gestures.wave(5.0), tmp_path / "person.bvh")
    (tmp_path / "show.yaml").write_text(SHOW.replace("from: 0.5, to: 4.5, exaggerate: 0.8, simplify: 2", wrong))
    with pytest.raises(FileError, match=words) as told:
        load_script(tmp_path / "show.yaml")
    assert f":{line}:" in str(told.value)


def test_words_for_people_are_refused_for_takes(tmp_path: Path) -> None:
    save(repertoire_of(library.marionette22())["nod"].motion, tmp_path / "take.npz")
    (tmp_path / "show.yaml").write_text(SHOW.replace("person.bvh", "take.npz"))
    with pytest.raises(FileError, match="only for motions of people"):
        load_script(tmp_path / "show.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("clip", CLIPS, ids=lambda path: path.stem)
def test_real_captures_are_rehearsed(clip: Path) -> None:
    """Six seconds of whatever it is, simplified: the puppet makes it with all strings pulling."""
    motion = load(clip)
    hung = Hung(repertoire_of(library.marionette22()).puppet)
    piece = played_by(hung.puppet, motion.slice(motion.t[1], min(motion.t[-1], motion.t[1] + 6.0)), exaggerate=0.4, simplify=1.0)
    wanted = piece.resample(0.02).q
    best = hung.surest(wanted)
    assert best.outcome.kind == "converged"
    off = np.sqrt(np.mean((best.run.x[:, 6:22] - wanted[:, 6:22]) ** 2))
    print(clip.stem, best, f"off by {off:.3f}")
    assert off < 0.2
