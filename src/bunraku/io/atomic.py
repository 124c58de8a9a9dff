"""`writing`: a file appears whole under its name, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bunraku.errors import FileError


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path in the same folder: renamed to `path` when the block ends well, deleted otherwise.

        with writing("motion.npz") as temporary:
            temporary.write_bytes(data)

    The temporary name keeps the suffix, so that libraries which look at it choose the same format.
    """
    target = Path(path)
    if target.is_symlink():  # the file behind a link is replaced, not the link
        target = target.resolve()
    if target.exists() and not target.is_file():
        raise FileError("not a file", path=str(path), advice="give the name of a file")
    if not target.parent.is_dir():
        raise FileError("the folder does not exist", path=str(path), advice=f"make {target.parent} first")
    temporary = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(4)}.part{target.suffix}")
    try:
        yield temporary
        _flush(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        why = f"cannot be written: {error.strerror or error}"
        raise FileError(why, path=str(path), advice="check space and rights") from error
    finally:
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """To the disk before the rename, so that a power cut leaves the old file or the new one."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
