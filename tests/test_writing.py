from __future__ import annotations

import os
from pathlib import Path

import pytest

from bunraku.errors import FileError
from bunraku.writing import writing


def test_appears_whole_and_leaves_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    with writing(target) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
        temporary.write_text("half")
        assert not target.exists()
    assert target.read_text() == "half"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("trouble", [ValueError, KeyboardInterrupt, SystemExit])
def test_trouble_keeps_the_old_file(tmp_path: Path, trouble: type[BaseException]) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail() -> None:
        with writing(target) as temporary:
            temporary.write_text("new")
            raise trouble

    with pytest.raises(trouble):
        fail()
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_keeps_links_and_rights(tmp_path: Path) -> None:
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with writing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_refuses_what_is_no_file(tmp_path: Path) -> None:
    cases = [
        (tmp_path, "it is a folder"),
        (tmp_path / "no" / "a.txt", "folder"),
        (Path(os.devnull), "not a regular file"),
    ]
    for path, message in cases:
        with pytest.raises(FileError, match=message), writing(path):
            pass


def test_nothing_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError), writing(tmp_path / "a.txt"):
        pass
    assert list(tmp_path.iterdir()) == []
