"""Show files: what is right is read as it was meant; what is wrong is told at its line and column, with advice."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography.score import score
from bunraku.choreography.script_file import load_script, script_of
from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.io import save
from bunraku.io.yaml import yaml_reader
from bunraku.motion import Motion

GOOD = """\
perform: The meeting
tempo: 100
stage: [5 m, 3 m]
places: {door: [-1.2, 0], table: [1.2, 0]}
figures:
  anna: {figure: marionette22, at: door}
  bert: {figure: marionette22, at: table, facing: 10 deg}
script:
  - anna: walk
    to: [-0.6, 0]
    counts: 6
    name: enters
  - bert: wave
    with: enters
    wait: 2
    until: greets
  - anna: bow
    name: greets
    wait: 1
    give: 0.5
  - bert: polka
    after: greets
    counts: 4
  - everyone: bow
    at: 24
    size: 0.8
    mirrored: true
"""

# A piece of the good script, what is written instead (› stands before the word that is blamed), and what is said about it.
BROKEN = [
    ("perform: The meeting\n", "›", "has no 'perform'"),
    ("perform: The meeting", "›show: The meeting", "a show file begins with 'perform'"),
    ("perform: The meeting", "perform: ›12", "expected the name of the show"),
    ("tempo: 100", "tempo: ›fast", "expected a number"),
    ("tempo: 100", "tempo: ›1000", "counts per minute"),
    ("tempo: 100", "tempo: ›.nan", "not a number"),
    ("tempo: 100", "›tempi: 100", "unknown word 'tempi'"),
    ("stage: [5 m, 3 m]", "stage: ›[5 m]", "expected 2 numbers, got 1"),
    ("stage: [5 m, 3 m]", "stage: ›[0, 3]", "a stage of 0 m"),
    ("stage: [5 m, 3 m]", "stage: [›5 kg, 3 m]", "expected a length, got a mass (kg)"),
    ("places: {door: [-1.2, 0]", "places: {door: ›[-9, 0]", "off the stage"),
    ("places: {door: [-1.2, 0], table: [1.2, 0]}", "places: ›12", "a mapping of places"),
    ("anna: {figure: marionette22", "anna: {figure: ›marionette2", "no figure is called"),
    ("anna: {figure: marionette22", "anna: {figure: ›pendulum", "is not a marionette"),
    ("anna: {figure: marionette22, at: door}", "anna: {figure: marionette22, at: ›dor}", "no place is called 'dor'"),
    ("anna: {figure: marionette22, at: door}", "anna: ›{at: door}", "has no 'figure'"),
    ("anna: {figure: marionette22, at: door}", "anna: {figure: marionette22, ›color: red}", "unknown word 'color'"),
    ("  anna: {figure", "  ›everyone: {figure", "is a keyword of scripts"),
    ("- anna: walk", "- anna: ›wlak", "knows no motion 'wlak'"),
    ("- anna: walk", "- ›ana: walk", "must say what it is"),
    ("- anna: walk", "- anna: walk\n    ›bert: wave", "not both"),
    ("- anna: walk", "- anna: walk\n    ›cuonts: 6", "unknown word 'cuonts'"),
    ("- anna: walk", "- anna: ›[walk]", "expected the name of a motion"),
    ("    to: [-0.6, 0]", "    to: ›[-0.6, 9]", "off the stage"),
    ("    to: [-0.6, 0]", "    to: ›[2.4, 0]", "faster than a puppet walks"),
    ("    counts: 6", "    counts: ›-6", "counts"),
    ("    counts: 6", "    counts: ›1", "too fast"),
    ("    counts: 4", "    counts: ›6 s", "got a time (s)"),
    ("    with: enters", "    with: ›enter", "no cue is called 'enter'"),
    ("    with: enters", "    with: enters\n    ›after: enters", "both say when it begins"),
    ("    until: greets", "    until: ›enters", "no later than this cue"),
    ("    until: greets", "    until: ›gretes", "no cue is called 'gretes'"),
    ("    until: greets", "    counts: 6\n    until: ›greets", "both say when the cue ends"),
    ("    name: greets", "    name: ›enters", "a second cue called 'enters'"),
    ("    give: 0.5", "    give: ›-1", "counts to give"),
    ("    after: greets", "    to: ›[1, 0]", "'polka' does not travel"),
    ("  - bert: polka\n    after: greets", "  - ›bert: polka\n    at: 4", "needs right_arm until count"),
    (
        "  - bert: polka\n    after: greets\n    counts: 4",
        "  - bert: turn\n    after: greets\n    facing: ›190 deg\n    counts: 2.5", "tangle",
    ),
    ("  - bert: polka", "  - bert: ›turn", "a turn needs 'facing'"),
    ("  - bert: polka\n    after: greets\n    counts: 4", "  - bert: turn\n    to: ›40 deg", "expected a place, got '40 deg'"),
    ("    at: 24", "    at: 24\n    wait: ›2", "which says the count"),
    ("    size: 0.8", "    size: ›30", "times its size"),
    ("    mirrored: true", "    mirrored: ›maybe", "expected true or false"),
    ("  - anna: walk\n", "  - ›anna: walk\n    after: greets\n", "wait for each other"),
    ("    wait: 2", "    wait: ›-5", "before the show"),
    ("script:\n", "script: ›[]\nmore:\n", ""),
    ("- bert: wave", "- bert: salute\n    counts: ›20\n  - bert: wave", "too slow"),
]  # fmt: skip


def test_a_show_without_figures(tmp_path: Path) -> None:
    told = str(said("perform: Nobody\ntempo: 90\nfigures: {}\nscript: []\n", tmp_path))
    assert "expected a mapping of who plays, got an empty mapping" in told


def test_a_marionette_without_motions_is_told_where_to_get_some(tmp_path: Path) -> None:
    told = str(said(GOOD.replace("anna: {figure: marionette22", "anna: {figure: marionette25"), tmp_path))
    assert "the library has none for marionette25" in told
    assert "motions" in told


def said(text: str, tmp_path: Path) -> FileError:
    file = tmp_path / "show.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        score(load_script(file))
    return caught.value


@pytest.mark.parametrize(("old", "new", "message"), BROKEN, ids=[f"{k:02d} {m or n}" for k, (_, n, m) in enumerate(BROKEN)])
def test_a_broken_script_is_told_where_and_what_to_do(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert GOOD.count(old) == 1
    marked = GOOD.replace(old, new)
    before, _, after = marked.partition("›")
    error = said(before + after, tmp_path)
    assert message in str(error)
    assert "advice: " in str(error)
    if message:
        assert (error.line, error.column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
    assert str(tmp_path) in str(error)


def test_the_broken_scripts_are_many() -> None:
    assert len(BROKEN) >= 30


def test_the_good_one_is_read_as_it_was_meant() -> None:
    script = script_of(yaml_reader.parse(GOOD), Path())
    assert (script.title, script.tempo, script.count) == ("The meeting", 100.0, 0.6)
    assert [role.name for role in script.roles] == ["anna", "bert"]
    assert script.role("anna").place == (-1.2, 0.0)
    np.testing.assert_allclose(script.role("bert").facing, math.radians(10))
    assert [cue.name for cue in script.cues] == ["enters", "cue 2", "greets", "cue 4", "cue 5 (anna)", "cue 5 (bert)"]
    assert script.cue("enters").to == (-0.6, 0.0)
    assert script.cue("cue 5 (bert)").mirrored
    assert script.cue("cue 5 (bert)").size == 0.8


def test_a_motion_of_ones_own(tmp_path: Path) -> None:
    figure = library.marionette22()
    piece = script_of(yaml_reader.parse(GOOD), Path()).roles[0].repertoire["wave"]
    save(piece.motion, tmp_path / "take.npz")
    own = "motions: {hello: {file: take.npz, parts: [right_arm], loop: [1.0, 2.0]}}\nscript:"
    (tmp_path / "show.yaml").write_text(GOOD.replace("script:", own).replace("bert: wave", "bert: hello"))
    script = load_script(tmp_path / "show.yaml")
    hello = script.role("bert").repertoire["hello"]
    assert (hello.parts, hello.loop) == (("right_arm",), (1.0, 2.0))
    assert score(script).cues[1].piece is hello

    limp = Motion.of(figure, [0.0, 3.0], np.stack([piece.motion.q[0], piece.motion.q[0] + 0.1]))
    save(limp, tmp_path / "take.npz")
    error = said((tmp_path / "show.yaml").read_text(), tmp_path)
    assert "does not end where it begins" in str(error)
