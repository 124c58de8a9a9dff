"""`writing`: writes a file so that it appears complete under its name, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bunraku.cleanup import at_end
from bunraku.errors import FileError


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the same folder: renamed to `path` when the block succeeds, deleted otherwise.

        with writing("motion.npz") as temporary:
            temporary.write_bytes(data)

    The temporary name keeps the suffix, from which some libraries choose the format. Raises FileError.
    """
    target = writable(path)
    temporary = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(4)}.part{target.suffix}")
    finished = at_end(lambda: temporary.unlink(missing_ok=True))  # a thread may still be writing then
    try:
        yield temporary
        _flush(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)
        finished()


def writable(path: str | os.PathLike[str]) -> Path:
    """The file that writing to `path` would create or replace. Raises FileError if it cannot be written; called before any work."""
    target = Path(path)
    try:
        if target.is_symlink():  # the file behind a link is replaced, not the link
            target = target.resolve()
        if target.exists() and not target.is_file():
            what = "a folder" if target.is_dir() else "not a regular file"
            raise FileError(f"cannot be written: it is {what}", path=str(path), advice="give the name of a file")
    except OSError as error:  # a name that is too long, a folder without permission to read
        raise _unwritable(path, error) from None
    if not target.parent.is_dir():
        raise FileError("the folder does not exist", path=str(path), advice=f"create {target.parent} first")
    if not os.access(target.parent, os.W_OK):
        raise FileError("the folder cannot be written to", path=str(path), advice="check its permissions, or choose another")
    return target


def _unwritable(path: str | os.PathLike[str], error: OSError) -> FileError:
    return FileError(
        f"cannot be written: {error.strerror or error}", path=str(path), advice="check name, permissions and free space"
    )


def _flush(path: Path) -> None:
    """Writes the file to the disk before it is renamed, so that a power cut leaves the old file or the new one."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def safe_name(name: str) -> str:
    """The last part of `name`, in plain characters: a file name that cannot lead out of its folder."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in last).lstrip(".")
    return plain[-100:] or "file"
