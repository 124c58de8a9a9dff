from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.choreography import Performance, load_script, perform
from bunraku.choreography.part import Blow, heavier, play, recovery
from bunraku.choreography.perform import PerformOptions, Stretch, stretches_of
from bunraku.choreography.rehearse import RehearsalOptions
from bunraku.choreography.script_file import script_of
from bunraku.errors import FileError
from bunraku.io.yaml import yaml_reader
from bunraku.kinematics import pose
from bunraku.progress import Progress

SHOW = """\
perform: A short one
tempo: 100
figures:
  anna: {figure: marionette22, at: [-0.8, 0]}
  bert: {figure: marionette22, at: [0.8, 0], facing: 30 deg}
script:
  - anna: nod
    counts: 4
    name: yes
  - bert: hop
    with: "yes"
    counts: 4
  - anna: march
    with: "yes"
    wait: 2
    counts: 4
"""
DT = PerformOptions().rehearsal.dt


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rehearsals")


@pytest.fixture(scope="module")
def made(kept: Path) -> Performance:
    return perform(script_of(yaml_reader.parse(SHOW), Path()), folder=kept, threads=1)


def test_puppets_do_what_was_asked_as_far_as_strings_allow(made: Performance) -> None:
    assert made.motion.names == ("anna", "bert")
    for track, asked in zip(made.motion.tracks, made.reference.tracks, strict=True):
        n = track.figure.n_dynamic
        assert np.sqrt(np.mean((track.q - asked.q)[:, :n] ** 2)) < 0.03
        moved = np.abs(asked.q - asked.q[0])[:, :n].max()
        assert moved > 0.03
        assert np.abs(track.q[-1] - asked.q[-1])[:n].max() < 0.02  # at rest again
        assert track.tension is not None
        assert track.gap is not None
        assert track.tension.min() >= 0.0
        assert track.gap.max() < 1e-10


def test_hands_set_out_and_arrive_without_a_jerk(made: Performance) -> None:
    for track in made.motion.tracks:
        assert track.tension is not None
        assert np.abs(np.diff(track.tension, axis=0))[:2].max() < 4.0  # [N] from one sample to the next
        last = round(3.6 / DT) if track.name == "anna" else round(2.4 / DT)
        assert np.abs(np.diff(track.tension, axis=0))[last - 3 : last + 10].max() < 6.0


def test_gaps_are_those_of_every_pose(made: Performance) -> None:
    run = play(made.parts["bert"])
    some = [0, 40, 77]
    np.testing.assert_allclose(run.gap[some], [pose(run.figure, run.q[k]).gaps for k in some], atol=1e-12)


def test_cues_are_marks_on_the_timeline(made: Performance) -> None:
    assert [(round(mark.t, 6), mark.text, mark.kind) for mark in made.motion.marks] == [
        (0.0, "anna: nod", "cue"), (0.0, "bert: hop", "cue"), (1.2, "anna: march", "cue"),
    ]  # fmt: skip


def test_cues_that_overlap_are_rehearsed_together(made: Performance) -> None:
    assert list(stretches_of(made.score, "anna", len(made.motion), dt=DT)) == [Stretch("anna", 0, round(3.6 / DT))]
    assert made.rehearsed_anew == 2


def test_change_a_cue_and_only_what_depends_on_it_is_rehearsed(made: Performance, kept: Path) -> None:
    again = perform(script_of(yaml_reader.parse(SHOW), Path()), folder=kept, threads=1)
    assert again.rehearsed_anew == 0
    for one, two in zip(made.motion.tracks, again.motion.tracks, strict=True):
        np.testing.assert_array_equal(one.q, two.q)
    elsewhere = SHOW.replace("at: [-0.8, 0]", "at: [-1.4, 0.3]")
    assert perform(script_of(yaml_reader.parse(elsewhere), Path()), folder=kept, threads=1).rehearsed_anew == 0
    changed = SHOW.replace("bert: hop", "bert: nod")
    assert perform(script_of(yaml_reader.parse(changed), Path()), folder=kept, threads=1).rehearsed_anew == 1


def test_a_broken_file_is_made_anew(made: Performance, kept: Path, tmp_path: Path) -> None:
    for file in kept.glob("*.npz"):
        (tmp_path / file.name).write_bytes(file.read_bytes()[:100])
    again = perform(script_of(yaml_reader.parse(SHOW), Path()), folder=tmp_path, threads=1)
    assert again.rehearsed_anew == 2


def test_feedback_brings_a_puppet_back(made: Performance) -> None:
    part = made.parts["bert"]
    n = part.figure.n_dynamic
    blow = np.zeros(n)
    blow[0] = 0.1 * sum(body.mass for body in part.figure.bodies)
    off = {}
    for feedback in (True, False):
        run = play(part, figure=heavier(part.figure, 1.05), blows=[Blow(40, blow)], feedback=feedback)
        off[feedback] = np.abs(run.q - part.x[:, : part.figure.n_q])[:, :n].max(1)
    assert off[True][45:60].max() > 0.02  # it was felt
    assert off[True][-20:].max() < 0.5 * off[False][-20:].max()
    found = recovery(part, every=1.0)
    assert found.held < found.open
    assert found.least_tension >= 0.0


def test_the_report_says_how_it_went(made: Performance) -> None:
    assert made.outcome.ok
    assert made.outcome.kind == "performed"
    assert set(made.seconds) == {"score", "timing", "rehearsal", "play"}
    lines = dict(made.report())
    assert next(iter(made.report()))[0] == "outcome"
    assert "A short one: 4.2 s, 3 cues, played by anna, bert" in lines["show"]
    assert "without feedback" in lines["bert"]
    assert made.scene is not None
    assert made.scene.name == "theatre"
    assert made.seed == 0


@pytest.mark.parametrize("stage", ["score", "timing", "rehearsal", "play"])
def test_ctrl_c_keeps_what_is_rehearsed(stage: str, made: Performance, kept: Path, tmp_path: Path) -> None:
    """Before any stretch is rehearsed there is no motion; nothing is left on disk but whole rehearsals."""

    def stop(word: Progress) -> None:
        if word.stage == stage:
            raise KeyboardInterrupt

    stopped = perform(script_of(yaml_reader.parse(SHOW), Path()), folder=tmp_path / stage, threads=1, progress=stop)
    assert stopped.outcome.kind == "stopped"
    assert stopped.motion is None
    assert stopped.scene is None
    assert str(stopped).startswith("outcome     stopped")
    names = {file.name for file in kept.iterdir()}
    assert all(file.name in names for file in (tmp_path / stage).glob("*"))


def test_after_ctrl_c_nothing_is_played(made: Performance, kept: Path, tmp_path: Path) -> None:
    later = SHOW + "  - anna: bow\n    at: 8\n    counts: 5\n"

    def stop(word: Progress) -> None:
        if word.stage == "rehearsal" and word.done > 0.0:
            raise KeyboardInterrupt

    for file in kept.iterdir():  # what the show before it rehearsed
        (tmp_path / file.name).write_bytes(file.read_bytes())
    stopped = perform(script_of(yaml_reader.parse(later), Path()), folder=tmp_path, threads=1, progress=stop)
    assert stopped.outcome.kind == "stopped"
    assert stopped.motion is None
    assert "play" not in stopped.seconds


def test_a_rehearsal_that_does_not_converge_is_reported_with_its_cue(tmp_path: Path) -> None:
    hasty = PerformOptions(rehearsal=RehearsalOptions(iterations=1, near_enough=0.0, growth=(1.0,)))
    done = perform(script_of(yaml_reader.parse(SHOW), Path()), folder=tmp_path, threads=1, options=hasty)
    assert not done.outcome.ok
    assert "anna's nod (yes, line 7)" in done.outcome.why
    assert done.outcome.kind == "out of iterations"
    assert done.motion is not None


def test_strings_that_would_cross_are_refused_at_the_cue() -> None:
    text = SHOW.replace("at: [0.8, 0], facing: 30 deg", "at: [0.8, 0]") + "  - anna: walk\n    to: [0.75, 0]\n    counts: 8\n"
    with pytest.raises(FileError, match="strings cross at count") as caught:
        perform(script_of(yaml_reader.parse(text), Path()))
    assert caught.value.line == text[: text.index("anna: walk")].count("\n") + 1


def test_the_shipped_show_is_whole() -> None:
    from bunraku.choreography.crossing import nearest
    from bunraku.choreography.score import score
    from bunraku.io.shipped import found, shipped_motion

    made = score(load_script(found("the_meeting")))
    motion = shipped_motion("the_meeting")
    assert len(made.cues) >= 20
    assert len(motion.tracks) == 2
    assert 58.0 <= motion.duration <= 62.0
    assert len(motion.marks) == len(made.cues)
    near = nearest({track.name: (track.figure, track.q) for track in motion.tracks})
    assert near is not None
    assert near.distance > PerformOptions().string_distance
    for track in motion.tracks:
        assert track.tension is not None
        assert track.tension.min() >= 0.0
        assert max(pose(track.figure, q).gaps.max() for q in track.q[::25]) < 1e-3
        torso = track.tension[:, :2]  # these carry four fifths of the puppet, and hands do not jerk at them
        rest = np.median(torso)
        assert np.sqrt(np.mean(np.diff(torso, axis=0) ** 2)) < 2.0
        assert 0.5 * rest < torso.min() < torso.max() < 1.6 * rest
