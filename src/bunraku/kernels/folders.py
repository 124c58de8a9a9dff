"""The folder of machine code on disk, and whether its content can be trusted.

A cached kernel is unpickled and run, so it must have been written by this user: a folder that another user made, or can
write into, is not used.
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import sys
import tempfile
import time
import warnings
from pathlib import Path

from bunraku.errors import BunrakuWarning


def user_cache() -> Path:
    """This user's folder for files that programs can make again."""
    if _Given.cache is not None:
        return _Given.cache
    if sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "bunraku"


def cache_root() -> Path:
    """Where compiled kernels are kept: the user's cache; else a private folder in the temporary directory, with a warning."""
    return _Given.root or _found_root()


def use_root(root: Path) -> None:
    """Keeps compiled kernels in the folder `root`, which another process of this user has chosen."""
    _Given.root = root


def cache_roots() -> tuple[Path, ...]:
    """Where compiled kernels are looked for: `cache_root`, and after `keep_apart` also the user's cache."""
    return (cache_root(), *_Given.read_only)


def keep_apart(folder: Path) -> Path:
    """From now on this process keeps in `folder` what it would keep in the user's cache; kernels are still read from there.

    Returns the folder that is only read.
    """
    user = cache_root()
    _Given.read_only, _Given.root, _Given.cache = (user,), folder / "kernels", folder
    return user


class _Given:
    root: Path | None = None
    read_only: tuple[Path, ...] = ()
    cache: Path | None = None
    said: set[str] = set()  # noqa: RUF012 (one for the process)


@functools.cache
def _found_root() -> Path:
    first = user_cache() / "kernels"
    try:
        return _opened(first)
    except (OSError, RuntimeError) as problem:  # RuntimeError: there is no home folder
        why = problem.strerror or problem if isinstance(problem, OSError) else problem
    own = f"bunraku-{os.getuid()}" if hasattr(os, "getuid") else "bunraku"
    spare = Path(tempfile.gettempdir()) / own
    try:
        root = _opened(spare)
    except OSError:
        root = Path(tempfile.mkdtemp(prefix="bunraku-kernels-"))
    complain(f"{first} cannot be used ({why}): compiled kernels are kept in {root}")
    return root


def _opened(folder: Path) -> Path:
    """The folder, created or made private; raises OSError if it belongs to another user or cannot be written to."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    require_own(folder.lstat(), "the folder belongs to somebody else")
    if sys.platform != "win32" and folder.lstat().st_mode & 0o077:
        folder.chmod(0o700)
    with tempfile.TemporaryFile(dir=folder):
        pass
    _forget_old(folder)
    return folder


def require_own(status: os.stat_result, why: str) -> None:
    """Raises PermissionError if `status` is that of a link, or (with `why`) of a file that another user owns."""
    if stat.S_ISLNK(status.st_mode):
        raise PermissionError(None, "it is a link")
    if sys.platform != "win32" and status.st_uid != os.geteuid():
        raise PermissionError(None, why)


def _forget_old(root: Path, *, days: float = 30.0) -> None:
    """Removes the folders of machine code that were not used for so many days."""
    with contextlib.suppress(OSError):
        for folder in root.iterdir():
            if folder.is_dir() and time.time() - folder.stat().st_mtime > days * 86400:
                shutil.rmtree(folder, ignore_errors=True)


def complain(text: str) -> None:
    """Warns with `text` that the cache cannot be used as it is; once, although numba resets the filters of warnings."""
    if text not in _Given.said:
        _Given.said.add(text)
        warnings.warn(text, BunrakuWarning, stacklevel=2)
