from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku import io
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.stage import Entry, Recorded
from bunraku.stage.stage import Stage
from bunraku.teleop import opening_show
from bunraku.teleop.dropped_files import entries_of, exporters, shown
from bunraku.teleop.opening import CHAPTERS
from bunraku.teleop.viewing_places import ground
from tests.slow_cases import cases

SHOW = opening_show()
SLOW = ("A finger on two tendons",)


@pytest.mark.parametrize("entry", cases(SHOW, slow=SLOW, name=lambda entry: entry.title))
def test_every_entry_can_be_shown(entry: Entry) -> None:
    stage = Stage([entry])
    plain, samples = stage.described("e0")
    assert plain["figures"]
    thing = stage.opened("e0")  # made once
    if isinstance(thing, Recorded):
        assert samples
        assert thing.motion.duration > 1.0
        assert np.ptp(thing.motion.tracks[0].q, axis=0).max() > 0.1  # something moves
    else:
        sample = thing.step()
        assert all(np.isfinite(q).all() for q in sample.q)


def test_there_is_something_recorded_and_something_live_and_every_figure() -> None:
    titles = [entry.title for entry in SHOW]
    assert len(set(titles)) >= len(titles) - len(library.names())
    assert len({entry.group for entry in SHOW}) == len(CHAPTERS)
    assert {"Strings", "Your hands", "Physics", "Library"} <= {entry.group for entry in SHOW}
    assert len([e for e in SHOW if e.group == "Library"]) == len(library.names())


def test_the_floor_is_where_feet_are() -> None:
    assert ground(library.named("mannequin")).floor == pytest.approx(0.0, abs=0.02)
    assert -1.1 < (ground(library.named("marionette22")).floor or 0.0) < -0.5


def motion() -> Motion:
    figure = library.named("pendulum")
    return Motion.of(figure, [0.0, 0.5, 1.0], [[0.1], [0.2], [0.3]])


def test_files_become_entries(tmp_path: Path) -> None:
    io.save(library.named("arm3d"), tmp_path / "arm.yaml")
    io.save(Scene("room"), tmp_path / "room.yaml")
    io.save(motion(), tmp_path / "swing.npz")
    for name, count in (("arm.yaml", 2), ("room.yaml", 1), ("swing.npz", 1)):
        entries = entries_of(tmp_path / name)
        assert len(entries) == count
        for key in (stage := Stage(entries)).entries:
            stage.described(key)


def test_a_figure_opens_live_and_then_at_rest() -> None:
    first, second = shown(library.named("arm3d"), "arm3d")
    assert not isinstance(first.open(), Recorded)
    assert isinstance(second.open(), Recorded)


def test_every_entry_says_what_to_look_at_and_try_and_has_a_floor_or_a_stage() -> None:
    for entry in SHOW:
        assert 20 < len(entry.about) < 120, entry.title
    assert ground(motion()).floor is not None


def test_a_floor_lies_under_what_swings() -> None:
    assert ground(library.named("pendulum")).floor == pytest.approx(-1.09, abs=0.01)
    assert ground(motion()).floor == pytest.approx(-1.09, abs=0.02)


def test_a_troupe_has_costumes() -> None:
    live = next(entry for entry in SHOW if entry.title == "A troupe").open()
    colors = {tuple(shape.color for shape in figure.shapes) for figure in live.figures}
    assert len(colors) == len(live.figures) == 5


def test_a_broken_file_says_where(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("figure: arm\nframes: 3\n")
    with pytest.raises(BunrakuError, match=r"bad\.yaml:\d+"):
        entries_of(bad)


@pytest.mark.parametrize("suffix", ["npz", "csv", "glb", "bvh", "mp4"])
def test_exports_are_files_of_their_kind(tmp_path: Path, suffix: str) -> None:
    file, told = tmp_path / f"swing.{suffix}", list[float]()
    exporters()[suffix](Recorded(motion()), file, progress=lambda word: told.append(word.done))
    start = {"npz": b"PK", "glb": b"glTF", "bvh": b"HIERARCHY", "mp4": b"\0\0\0", "csv": b""}[suffix]
    assert file.read_bytes().startswith(start)
    assert file.stat().st_size > 30
    assert told == sorted(told)
    assert told[-1:] == ([1.0] if suffix == "mp4" else [])  # a film takes long


def test_the_list_needs_no_physics() -> None:
    """What an entry takes is imported when somebody looks at it, and what a dropped file takes when one is dropped."""
    heavy = "{'scipy.linalg', 'coal', 'matplotlib', 'daqp', 'bunraku.dynamics', 'bunraku.control', 'bunraku.verbs.entries'}"
    code = (
        "import sys; from bunraku.cli import app; from bunraku.stage.serving import play; from bunraku.teleop import opening_show\n"
        "from bunraku.teleop.dropped_files import exporters; opening_show(); exporters()\n"
        f"print({heavy} & set(sys.modules) or 'none')"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "none\n"
