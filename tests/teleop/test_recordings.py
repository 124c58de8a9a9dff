"""Recordings of the opening show are what the code of today computes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bunraku.figure.library import named
from bunraku.kinematics import pose
from bunraku.motion import Motion
from bunraku.teleop.opening import carrying, climbing, control
from bunraku.teleop.opening.recordings import FOLDER_OF_RECORDINGS, Recording, keep, recorded
from tests.slow_cases import cases
from tools.opening import MAKERS, small


def test_every_recording_has_its_files_and_no_other_is_there() -> None:
    known = {
        path.stem.removesuffix("_reference").removesuffix("_lines").removesuffix("_scene")
        for path in FOLDER_OF_RECORDINGS.iterdir()
    }
    assert known == set(MAKERS)
    assert sum(path.stat().st_size for path in FOLDER_OF_RECORDINGS.iterdir()) < 2_000_000  # each wheel carries them


def test_a_recording_comes_back_as_it_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bunraku.teleop.opening.recordings.FOLDER_OF_RECORDINGS", tmp_path)
    figure, rng = named("pendulum"), np.random.default_rng(1)
    motion = Motion.of(figure, [0.0, 0.5, 1.0], [[0.1], [0.2], [0.3]])
    lines = {"way": [rng.normal(size=(3, 3))], "roadmap": [rng.normal(size=(n, 3)) for n in (2, 5, 1)]}
    keep("it", Recording(motion, motion.resample(0.5), lines=lines))
    back = recorded("it")
    assert back.motion == motion
    assert back.reference == motion.resample(0.5)
    assert back.scene is None
    for name, own in lines.items():
        assert [len(line) for line in back.lines[name]] == [len(line) for line in own]
        assert all(np.allclose(a, b, atol=1e-6) for a, b in zip(back.lines[name], own, strict=True))


@pytest.mark.parametrize("name", ["wave", "walk"])
def test_strings_hold_in_what_imitates(name: str) -> None:
    motion = recorded(name).motion
    assert motion.tension.min() > -1e-3
    away = [pose(motion.figure, q).gaps.max() for q in motion.q[::10]]
    assert max(away) < 1e-5  # digits of the file


REMADE: dict[str, Callable[[], Recording]] = {
    "swing_up": control.swung_up,
    "wave": lambda: control.imitated("wave"),
    "up_the_wall": climbing.up_the_wall,
    "factory": lambda: carrying.carried("factory", 268),
}


@pytest.mark.parametrize("name", cases(REMADE, slow=("wave", "up_the_wall", "factory")))
def test_the_code_of_today_computes_the_same(name: str) -> None:
    kept, made = recorded(name).motion, small(REMADE[name]().motion)
    assert len(kept) == len(made)
    for a, b in zip(kept.tracks, made.tracks, strict=True):
        assert a.figure.names == b.figure.names
        assert np.abs(a.q - b.q).max() < 1e-3
