"""A folder of takes: one NPZ file each, named after its title."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote, unquote

from bunraku.errors import FileError
from bunraku.stage.entry import Recorded
from bunraku.stage.takes import Version


def user_takes() -> Path:
    """Where this user's takes are kept."""
    if sys.platform == "darwin":
        root = Path.home() / "Library" / "Application Support"
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return root / "bunraku" / "takes"


class TakeFolder:
    """A shelf of the stage: takes as NPZ files in a `folder`, which is created for the first one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def titles(self) -> list[str]:
        """The titles of all takes, oldest first; none if there is no such folder."""
        try:
            files = sorted(self.folder.glob("*.npz"), key=lambda file: file.stat().st_mtime)
        except OSError:
            return []
        return [unquote(file.stem) for file in files if not file.name.startswith(".")]

    def load(self, title: str) -> Version:
        """The take with this `title`, and its layers. Raises FileError if its file is gone or damaged."""
        from bunraku.io.tables.npz_file import load_npz_layers

        motion, layers = load_npz_layers(self._file(title))
        return Version(Recorded(motion), layers)

    def keep(self, title: str, version: Version) -> None:
        """Writes the motion of a `version` and its layers under a `title`. Raises FileError if that fails."""
        from bunraku.io.tables.npz_file import save_npz

        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._problem(self.folder, error) from None
        save_npz(version.recording.motion, self._file(title), version.layers)

    def rename(self, title: str, new: str) -> None:
        """Changes a `title` to a `new` one. Raises FileError if that fails."""
        try:
            self._file(title).rename(self._file(new))
        except OSError as error:
            raise self._problem(self._file(title), error) from None

    def remove(self, title: str) -> None:
        """Deletes the take with this `title`. Raises FileError if that fails."""
        try:
            self._file(title).unlink(missing_ok=True)
        except OSError as error:
            raise self._problem(self._file(title), error) from None

    def _file(self, title: str) -> Path:
        """The file of a `title`. Every character that could lead elsewhere is written as its code."""
        return self.folder / f"{quote(title, safe=' ').replace('.', '%2E')}.npz"

    @staticmethod
    def _problem(path: Path, error: OSError) -> FileError:
        return FileError(f"cannot be written: {error.strerror or error}", path=str(path), advice="check permissions and free space")
