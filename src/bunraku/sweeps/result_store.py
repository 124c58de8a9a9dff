"""ResultStore: a folder with one file per finished run, named by the key of its content. Any number of processes may share it.

sweeps/
  store.json            {"format": 1, "id": "9c41…"}
  claims                locked, byte by byte, by the processes that are running something
  3f/3fa4….json         the row of a finished run
  3f/3fa4….npz          its motion, if motions are kept
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.errors import FileError
from bunraku.sweeps.order_document import RESULT_FORMAT
from bunraku.writing import writing

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

Row = dict[str, Any]
"""A finished run: key, seed, ok, outcome, why, advice, numbers, seconds, whether it moved, the version of bunraku."""


def default_folder() -> Path:
    """Where results are stored if no folder is given: in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "bunraku" / "sweeps"


@dataclass(frozen=True)
class ResultStore:
    """A folder of finished runs; `ResultStore.opened` makes or checks it."""

    folder: Path

    @classmethod
    def opened(cls, folder: str | os.PathLike[str] | None = None) -> ResultStore:
        """The store in a `folder`, made if it does not exist; by default one in the user's cache folder.

        Raises FileError if the folder holds something else, or results of a format that this version cannot read.
        """
        store = cls((default_folder() if folder is None else Path(folder)).absolute())
        label = store.folder / "store.json"
        try:
            store.folder.mkdir(parents=True, exist_ok=True)
            if not label.exists():
                if any(path.name != "claims" and not path.name.startswith(".") for path in store.folder.iterdir()):
                    raise FileError("is not a store of results", path=str(store.folder), advice="name an empty or a new folder")
                with writing(label) as temporary:
                    temporary.write_text(json.dumps({"format": RESULT_FORMAT, "id": secrets.token_hex(8)}), encoding="utf-8")
            _check_format(label)
        except OSError as error:
            raise FileError(f"cannot be used: {error.strerror}", path=str(store.folder), advice="name another folder") from None
        return store

    @property
    def label(self) -> str:
        """Content of its file `store.json`, which is different for every store; "" where it cannot be read."""
        try:
            return (self.folder / "store.json").read_text(encoding="utf-8")
        except OSError:
            return ""

    def path(self, key: str, suffix: str = ".json") -> Path:
        """The file of a `key`: its row, or with `.npz` as `suffix` its motion."""
        return self.folder / key[:2] / f"{key}{suffix}"

    def row(self, key: str, *, motion: bool = False) -> Row | None:
        """The finished run with this `key`; None if there is none, or if its `motion` is wanted and was not kept.

        Raises FileError if the file is damaged.
        """
        path = self.path(key)
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise FileError(f"cannot be read: {error}", path=str(path), advice="delete it; the run is then repeated") from None
        words = {"key", "seed", "ok", "outcome", "why", "advice", "numbers", "seconds", "moved"}
        if not isinstance(row, dict) or not row.keys() >= words or row["key"] != key:
            raise FileError("is not the row of a run", path=str(path), advice="delete it; the run is then repeated")
        return None if motion and row["moved"] and not self.path(key, ".npz").exists() else row

    def keep(self, row: Row, motion: bytes | None = None) -> None:
        """Stores the `row` of a finished run, and its `motion` (the content of an NPZ file) first.

        Raises FileError if it cannot be written.
        """
        path = self.path(row["key"])
        try:
            path.parent.mkdir(exist_ok=True)
            if motion is not None:
                with writing(path.with_suffix(".npz")) as temporary:
                    temporary.write_bytes(motion)
            with writing(path) as temporary:
                temporary.write_text(json.dumps(row), encoding="utf-8")
        except (OSError, FileError) as error:
            cause = error if isinstance(error, OSError) else error.__cause__
            why = getattr(cause, "strerror", None) or str(error).partition("\n")[0]
            advice = "make room or check permissions, then repeat the sweep: it goes on where it stopped"
            raise FileError(f"no more results can be stored: {why}", path=str(self.folder), advice=advice) from None

    def tidy(self, claims: Claims) -> None:
        """Removes incomplete files of runs that nobody does any more; `claims` tells which runs others do."""
        for part in self.folder.glob("??/.*.part.*"):
            key = part.name[1:].partition(".")[0]
            if claims.take(key):
                part.unlink(missing_ok=True)

    def rows(self) -> Iterator[Row]:
        """All finished runs."""
        for path in sorted(self.folder.glob("??/*.json")):
            if (row := self.row(path.stem)) is not None:
                yield row


def _check_format(label: Path) -> None:
    try:
        given = json.loads(label.read_text(encoding="utf-8"))["format"]
    except (OSError, ValueError, KeyError, TypeError):
        raise FileError("is damaged", path=str(label), advice="name another folder as the store") from None
    if given != RESULT_FORMAT:
        age = "an older" if isinstance(given, int) and given < RESULT_FORMAT else "a newer"
        what = f"the store was written by {age} version of bunraku (format {given}; this one reads {RESULT_FORMAT})"
        raise FileError(what, path=str(label.parent), advice="name another folder as the store, or use that version")


# -- claims ----------------------------------------------------------------------------------------------------------


class Claims:
    """Which runs are under way, so that two sweeps on one store do not do the same run at the same time.

    A claim is a lock on one byte of the file `claims`; the system releases it when its process ends, however it ends.
    """

    _files: dict[Path, Any] = {}  # noqa: RUF012 (one file of each store in a process: closing it would release all its locks)
    _held: set[tuple[Path, int]] = set()  # noqa: RUF012
    _lock = threading.Lock()

    def __init__(self, store: ResultStore) -> None:
        self._path = store.folder / "claims"
        self._mine: set[int] = set()

    def take(self, key: str) -> bool:
        """Claims the run with this `key`; False if another sweep has claimed it."""
        byte = int(key[:12], 16)
        with self._lock:
            if (self._path, byte) in self._held:
                return byte in self._mine
            if not self._locked(byte):
                return False
            self._held.add((self._path, byte))
            self._mine.add(byte)
            return True

    def release(self, key: str) -> None:
        """Gives up the claim of a `key`."""
        byte = int(key[:12], 16)
        with self._lock:
            if byte in self._mine:
                self._mine.discard(byte)
                self._held.discard((self._path, byte))
                with contextlib.suppress(OSError, KeyError):
                    self._set(self._files[self._path], byte, lock=False)

    def release_all(self) -> None:
        """Gives up all claims of this sweep."""
        for byte in list(self._mine):
            self.release(f"{byte:012x}")

    def _locked(self, byte: int) -> bool:
        try:
            if self._path not in self._files:
                self._files[self._path] = self._path.open("ab+")
        except OSError:  # a store that cannot be written to, as `ResultStore.keep` says
            return True
        try:
            self._set(self._files[self._path], byte, lock=True)
        except (BlockingIOError, PermissionError):
            return False
        except OSError:  # a file system without locks: two sweeps may do the same run, and store the same result
            return True
        return True

    @staticmethod
    def _set(file: Any, byte: int, *, lock: bool) -> None:
        if sys.platform == "win32":
            file.seek(byte)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK if lock else msvcrt.LK_UNLCK, 1)
        else:
            fcntl.lockf(file, (fcntl.LOCK_EX | fcntl.LOCK_NB) if lock else fcntl.LOCK_UN, 1, byte)
