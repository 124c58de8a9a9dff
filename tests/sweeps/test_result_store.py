"""Stores of results: complete files only, shared by processes, refused in words where they cannot be read."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import FileError
from bunraku.sweeps.result_store import Claims, ResultStore, default_folder
from tests.patience import until

KEY = "ab" + 38 * "0"


def row(key: str = KEY, **more: Any) -> dict[str, Any]:
    told = {"ok": True, "outcome": "done", "why": "", "advice": "", "numbers": {"cost": 0.1 + 0.2}, "seconds": {"run": 1e-3}}
    return {"key": key, "seed": 3, **told, "moved": True, **more}


def test_what_is_kept_is_found(tmp_path: Path) -> None:
    store = ResultStore.opened(tmp_path / "store")
    assert store.row(KEY) is None
    store.keep(row())
    assert store.row(KEY) == row()
    assert store.row(KEY, motion=True) is None  # its motion was not kept
    store.keep(row(), b"motion")
    assert store.row(KEY, motion=True) == row()
    assert ResultStore.opened(tmp_path / "store").label == store.label != ResultStore.opened(tmp_path / "other").label
    assert list(store.rows()) == [row()]
    store.keep(row("cd" + KEY[2:], moved=False))
    assert store.row("cd" + KEY[2:], motion=True) is not None  # a run without a motion is done
    assert sorted(path.name for path in (tmp_path / "store").rglob("*") if path.is_file()) == sorted(
        ["store.json", f"{KEY}.json", f"{KEY}.npz", f"cd{KEY[2:]}.json"]
    )


@pytest.mark.parametrize(("given", "told"), [(0, "an older version"), (99, "a newer version"), ("x", "a newer version")])
def test_another_format_is_refused_in_words(given: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text(json.dumps({"format": given}))
    with pytest.raises(FileError, match=told) as error:
        ResultStore.opened(tmp_path)
    assert "advice:" in str(error.value)


def test_folders_that_are_no_stores(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("…")
    with pytest.raises(FileError, match="not a store"):
        ResultStore.opened(tmp_path)
    with pytest.raises(FileError, match="cannot be used"):
        ResultStore.opened(tmp_path / "thesis.tex" / "store")
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "store.json").write_text("{")
    with pytest.raises(FileError, match="damaged"):
        ResultStore.opened(damaged)


@pytest.mark.parametrize("content", ["", "[]", '{"key": "x"}', json.dumps({**row(), "key": "other"})])
def test_damaged_rows_are_refused_in_words(content: str, tmp_path: Path) -> None:
    store = ResultStore.opened(tmp_path)
    store.keep(row())
    store.path(KEY).write_text(content)
    with pytest.raises(FileError, match="delete it"):
        store.row(KEY)


def test_incomplete_files_of_others_stay(tmp_path: Path) -> None:
    store = ResultStore.opened(tmp_path)
    store.keep(row())
    mine, theirs = (tmp_path / key[:2] / f".{key}.12ab.part.json" for key in (KEY, "ab" + 38 * "1"))
    for part in (mine, theirs):
        part.touch()
    other = Claims(store)
    assert other.take("ab" + 38 * "1")
    store.tidy(Claims(store))
    assert (mine.exists(), theirs.exists()) == (False, True)
    other.release_all()


def test_the_default_is_in_the_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "bunraku" / "sweeps"


# -- claims ----------------------------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from bunraku.sweeps.result_store import Claims, ResultStore
claims = Claims(ResultStore(Path(sys.argv[1])))
print(claims.take(sys.argv[2]), flush=True)
time.sleep(600)
"""


def test_claims_within_a_process(tmp_path: Path) -> None:
    store = ResultStore.opened(tmp_path)
    mine, yours = Claims(store), Claims(store)
    assert mine.take(KEY)
    assert mine.take(KEY)
    assert not yours.take(KEY)
    assert yours.take("cd" + KEY[2:])
    yours.release(KEY)  # which is not theirs
    assert not yours.take(KEY)
    mine.release_all()
    assert yours.take(KEY)
    yours.release_all()


def test_a_killed_process_gives_up_its_claims(tmp_path: Path) -> None:
    store = ResultStore.opened(tmp_path)
    other = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path), KEY], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == b"True"
        claims = Claims(store)
        assert not claims.take(KEY)
        assert claims.take("cd" + KEY[2:])
        other.kill()
        until(lambda: claims.take(KEY))
        claims.release_all()
    finally:
        other.kill()
        other.wait()
        if other.stdout is not None:
            other.stdout.close()


def test_a_store_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ResultStore.opened(tmp_path / "store")
    store.keep(row())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "open", refuse)
    claims = Claims(store)
    assert claims.take("ab" * 20)  # there is nobody to share it with
    claims.release("ab" * 20)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FileError, match="no more results can be stored: Read-only file system") as error:
        store.keep(row("cd" * 20))
    assert "repeat the sweep" in str(error.value)
