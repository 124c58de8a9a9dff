"""The actor in shows: its steps lead where the script says, and it follows its reference on strings that go slack."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography import perform
from bunraku.choreography.compose import reference
from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.score import Score, score
from bunraku.choreography.script_file import script_of
from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.io.yaml import yaml_reader
from bunraku.kinematics import frames_along


def scored(cues: str) -> Score:
    text = f"perform: Steps\ntempo: 90\nfigures:\n  anna: {{figure: actor, at: [0.2, -1.2]}}\nscript:\n{cues}"
    return score(script_of(yaml_reader.parse(text), Path()))


@pytest.mark.parametrize(("metres", "counts"), [(0.6, 7), (1.05, 7), (1.9, 15)])
def test_feet_stand_while_the_trunk_goes_on(metres: float, counts: int) -> None:
    """A foot that is down goes far less than the trunk meanwhile, for steps of any length and number."""
    made = scored(f"  - anna: walk\n    to: [0.2, {metres - 1.2}]\n    counts: {counts}\n")
    t = np.linspace(0.0, counts * made.script.count, 300)
    q = reference(made, "anna", t, np.zeros(0)).value
    figure = made.script.role("anna").figure
    X = frames_along(figure, q)
    trunk = X[:, figure.frame_index["torso"], 1, 3]
    assert trunk[-1] - trunk[0] == pytest.approx(metres, abs=1e-9)
    for side in "lr":
        foot = X[:, figure.frame_index[f"{side}foot"], :3, 3]
        assert foot[-1, 1] - foot[0, 1] == pytest.approx(metres, abs=1e-6)
        speeds = [np.gradient(y, t) for y in (foot[:, 1], trunk)]
        stands = (foot[:, 2] < foot[0, 2] + 0.01) & (speeds[1] > 0.5 * metres / t[-1])
        there, on = (np.median(np.abs(speed[stands])) for speed in speeds)
        assert there < 0.6 * on, side


def test_turns_to_both_sides_lift_feet_alike() -> None:
    ends = {}
    for side in (1, -1):
        made = scored(f"  - anna: turn\n    facing: {80 * side} deg\n    counts: 10\n")
        t = np.linspace(0.0, 20.0 / 3.0, 300)
        q = reference(made, "anna", t, np.zeros(0)).value
        figure = made.script.role("anna").figure
        feet = [frames_along(figure, q)[:, figure.frame_index[f"{s}foot"], 2, 3] for s in ("l", "r")[::side]]
        assert q[-1, figure.index("torso_rz")] - q[0, figure.index("torso_rz")] == pytest.approx(math.radians(80 * side), abs=1e-6)
        ends[side] = np.array([foot.max() - foot[0] for foot in feet])
    assert ends[1].min() > 0.02
    np.testing.assert_allclose(ends[1], ends[-1], rtol=1e-4)


def test_ways_that_feet_cannot_go_are_refused() -> None:
    with pytest.raises(FileError, match="90° to the left of where anna faces") as aside:
        scored("  - anna: walk\n    to: [-0.6, -1.2]\n")
    assert "facing: 90 deg" in str(aside.value)
    with pytest.raises(FileError, match=r"not by 2\.2") as far:
        scored("  - anna: walk\n    to: [0.2, 1.0]\n    counts: 7\n")
    needed = int(str(far.value).rsplit("give it ", 1)[1].split()[0])
    scored(f"  - anna: walk\n    to: [0.2, 1.0]\n    counts: {needed}\n")  # what is advised works


def test_loops_lengthen_the_way() -> None:
    piece = repertoire_of(library.actor())["walk"]
    for loops in (1, 2, 4):
        assert piece.led(loops) == pytest.approx(0.99 + 0.44 * (loops - 1), abs=0.02)  # two steps more each time
        share = piece.progress(loops)(np.linspace(0, 1, 400))
        assert share[0] == pytest.approx(0.0, abs=1e-12)
        assert share[-1] == pytest.approx(1.0)
        assert np.diff(share).min() > -1e-3


@pytest.mark.slow
def test_the_actor_performs(tmp_path: Path) -> None:
    """Strings go slack in its motions, so it follows: near the reference, and brought back when pushed."""
    cues = "  - anna: wave\n    name: hello\n  - anna: nod\n    with: hello\n  - anna: bow\n    after: hello\n"
    made = perform(scored(cues).script, folder=tmp_path)
    assert made.outcome.ok, made.outcome
    assert made.errors["anna"] < 0.04
    (track,) = made.motion.tracks
    assert track.tension.min() >= 0.0
    carry = [k for k, string in enumerate(track.figure.strings) if "leg" not in string.name]  # legs stand on the boards
    assert np.mean(track.tension[:, carry] == 0.0) < 0.1
    assert made.recoveries["anna"].held < 0.03


def test_motions_end_where_they_begin() -> None:
    for name, piece in repertoire_of(library.actor()).pieces.items():
        np.testing.assert_allclose(piece.motion.q[-1], piece.motion.q[0], atol=1e-12, err_msg=name)
