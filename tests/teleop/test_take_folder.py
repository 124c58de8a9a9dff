"""Takes outlive the stage: they are kept in a folder, under their titles."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BunrakuError, FileError
from bunraku.io.tables.npz_file import load_npz
from bunraku.stage.entry import Recorded
from bunraku.stage.stage import Stage
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.takes import Version
from bunraku.teleop.take_folder import TakeFolder
from tests.stage.conftest import entries
from tests.stage.toys import Swinging, puppet, waving

PIECE = Version(Recorded(waving(puppet(), seconds=0.2)))


@settings(max_examples=30)
@given(st.text(st.characters(categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=20))
def test_any_title_names_a_file_in_the_folder(title: str) -> None:
    with tempfile.TemporaryDirectory() as root:
        shelf = TakeFolder(Path(root) / "takes")
        shelf.keep(title, PIECE)
        assert shelf.titles() == [title]
        assert [file.parent for file in Path(root).rglob("*.npz")] == [Path(root) / "takes"]
        np.testing.assert_array_equal(shelf.load(title).seen.motion.q, PIECE.seen.motion.q)


def test_titles_are_changed_and_removed(tmp_path: Path) -> None:
    shelf = TakeFolder(tmp_path)
    assert TakeFolder(tmp_path / "none").titles() == []
    shelf.keep("a", PIECE)
    shelf.rename("a", "../b")
    assert shelf.titles() == ["../b"]
    shelf.remove("../b")
    shelf.remove("never there")
    assert shelf.titles() == []
    with pytest.raises(FileError):
        shelf.load("../b")
    with pytest.raises(FileError, match="cannot be written"):
        shelf.rename("../b", "c")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        TakeFolder(tmp_path / "file").keep("a", PIECE)


def taken(stage: Stage) -> str:
    live = Swinging()
    stage.keep_take(live, [live.step() for _ in range(20)])
    return list(stage.takes)[-1]


def test_takes_outlive_the_stage(tmp_path: Path) -> None:
    first = Stage(entries(), shelf=TakeFolder(tmp_path))
    key = taken(first)
    first.edit_take(key, {"edit": "trim", "start": 0.0, "stop": 0.1})
    first.edit_take(key, {"edit": "rename", "title": "  The  bow "})
    taken(first)
    again = Stage(entries(), shelf=TakeFolder(tmp_path))
    assert [line["title"] for line in again.listed()][:2] == ["Take 1", "The bow"]  # the newest first, before all others
    kept = again.opened(next(key for key in again.takes if again.entries[key].title == "The bow"))
    assert isinstance(kept, Recorded)
    assert len(kept.motion) == len(first.takes[key].piece.motion) < 20
    again.edit_take(next(iter(again.takes)), {"edit": "delete"})
    assert len(Stage(entries(), shelf=TakeFolder(tmp_path)).takes) == 1


def test_layers_outlive_the_stage(tmp_path: Path) -> None:
    first = Stage(entries(), shelf=TakeFolder(tmp_path))
    key = taken(first)
    first.edit_take(key, {"edit": "set keys", "layer": 0, "track": 0, "t": 0.1, "values": {"left_arm_rz": 0.7}})
    first.edit_take(key, {"edit": "change layer", "layer": 0, "name": "Wave", "weight": 0.5, "muted": False})
    again = Stage(entries(), shelf=TakeFolder(tmp_path))
    (kept,) = again.takes.values()
    assert kept.version.layers == first.takes[key].version.layers
    np.testing.assert_array_equal(kept.version.recording.motion.q, first.takes[key].version.recording.motion.q)
    np.testing.assert_array_equal(kept.piece.motion.q, first.takes[key].piece.motion.q)
    # Whoever reads the file sees what the stage showed.
    np.testing.assert_array_equal(load_npz(next(tmp_path.glob("*.npz"))).q, kept.piece.motion.q)
    again.edit_take(next(iter(again.takes)), {"edit": "remove layer", "layer": 0})
    assert next(iter(Stage(entries(), shelf=TakeFolder(tmp_path)).takes.values())).version.layers == ()


def test_titles_that_cannot_be(tmp_path: Path) -> None:
    stage = Stage(entries(), shelf=TakeFolder(tmp_path), limits=StageLimits(title_letters=8))
    taken(stage)
    key = taken(stage)
    for title in ("", "   ", "123456789", "a\x07b"):
        with pytest.raises(BunrakuError, match="1 to 8 letters"):
            stage.edit_take(key, {"edit": "rename", "title": title})
    with pytest.raises(BunrakuError, match="another take"):
        stage.edit_take(key, {"edit": "rename", "title": "Take 1"})
    stage.edit_take(key, {"edit": "rename", "title": "Take 2"})


def test_a_full_shelf_is_told_and_the_take_stays(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    stage = Stage(entries(), shelf=TakeFolder(tmp_path / "file"))
    told: list[str] = []
    stage.notice_all = told.append  # type: ignore[method-assign]
    assert stage.entries[taken(stage)].title == "Take 1"
    assert "not kept on disk" in told[0]
