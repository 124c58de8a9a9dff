"""The cache of machine code on disk: where it lies, and what makes it stale.

Numba keys a cached function on its own file alone, so an edit in a module that it calls would go unseen. The machine code of
a module therefore lies in the user's cache folder under a hash of its source, of all kernel sources that it imports, however
far down, and of the versions. An edit of a comment, a docstring or the layout does not change the hash and recompiles nothing.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import os
import pickle
import platform
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching


def user_cache() -> Path:
    """The folder that this user's programs may fill and anyone may empty."""
    if sys.platform == "darwin":
        root = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "bunraku"


# At the margin only: what functions import, or types alone need, is no part of any machine code.
IMPORT = re.compile(r"^from\s+(bunraku[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
HOLDS = re.compile(rb"^@(kernel|inline|bare|woven)\b", re.MULTILINE)


@functools.cache
def _imports(package: Path, module: str) -> tuple[bytes, tuple[str, ...]]:
    """The source of `module` and the modules of the package that it imports from."""
    path = package.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not path.is_file():
        return b"", ()
    source = path.read_bytes()
    found = []
    for origin, names in IMPORT.findall(source.decode("utf-8")):
        found += [origin, *(f"{origin}.{name}" for name in re.findall(r"\w+", names))]
    return source, tuple(found)


def kernel_sources(package: Path, module: str) -> dict[str, bytes]:
    """What the machine code of `module` depends on: all modules beneath it that hold a kernel, and what these import.

    Those that only speak of kernels do not count: an edit of a figure's class recompiles nothing.
    """
    seen, todo, chosen = {}, [module], {module}
    while todo:
        if (name := todo.pop()) not in seen:
            seen[name], further = _imports(package, name)
            todo += further
            if HOLDS.search(seen[name]):
                chosen |= {name, *further}
    return {name: seen[name] for name in sorted(chosen) if seen[name]}


def code_digest(source: bytes) -> str:
    """A hash of what a module says to the compiler, without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@functools.cache
def _known_digests() -> dict[str, str]:
    """Digests of earlier processes by the hash of the text, since parsing sixty modules would take half a second."""
    try:
        lines = _digest_file().read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    return dict(line.split() for line in lines if re.fullmatch(r"[0-9a-f]{64} [0-9a-f]{64}", line))


def _digest_file() -> Path:
    return cache_root() / "digests.txt"


def _digest(source: bytes) -> str:
    text = hashlib.sha256(sys.version.encode() + source).hexdigest()
    known = _known_digests()
    if text not in known:
        known[text] = code_digest(source)
        with contextlib.suppress(OSError), _digest_file().open("a", encoding="ascii") as file:
            file.write(f"{text} {known[text]}\n")
    return known[text]


def fingerprint(package: Path, module: str) -> str:
    """Changes when any kernel source beneath `module`, or any version that the machine code depends on, changes."""
    digest = hashlib.sha256()
    versions = (sys.version, np.__version__, numba.__version__, llvmlite.__version__, platform.machine())
    digest.update(repr(versions).encode())
    for name, source in kernel_sources(package, module).items():
        digest.update(f"{name} {_digest(source)}\n".encode())
    return digest.hexdigest()[:16]


@functools.cache
def cache_root() -> Path:
    """Where compiled kernels are kept; a temporary folder where the user's cache cannot be written."""
    for root in (user_cache(), Path(tempfile.gettempdir()) / f"bunraku-{os.environ.get('USER', 'user')}"):
        folder = root / "kernels"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        _forget_old(folder)
        return folder
    return Path(tempfile.mkdtemp(prefix="bunraku-kernels-"))


@functools.cache
def cache_folder(module: str) -> str:
    """The folder of one module's machine code."""
    folder = cache_root() / f"{module.removeprefix('bunraku.')}-{fingerprint(Path(__file__).parents[1], module)}"
    if folder.exists():
        os.utime(folder)  # in use
    return str(folder)


def _forget_old(root: Path, *, days: float = 30.0) -> None:
    """Code of sources that nobody has used for a month is only in the way."""
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > days * 86400:
            shutil.rmtree(folder, ignore_errors=True)


class Locator(caching._CacheLocator):
    """Tells numba where machine code lies: under the fingerprint of its sources, wherever these are and however old."""

    def __init__(self, function: Any) -> None:
        self.function = function

    @classmethod
    def from_function(cls, function: Any, _file: str) -> Locator:
        return cls(function)

    def get_cache_path(self) -> str:
        return cache_folder(self.function.__module__)

    def get_source_stamp(self) -> str:
        return "the path has it"

    def get_disambiguator(self) -> str:
        return ""  # an edit above a function moves its line, and nothing else


class Index(caching.IndexDataCacheFile):
    """What of a function lies on disk. It may name types of modules that are not in this clone, or be broken: then it starts anew.

    It starts with names that are not taken, since another process may be reading what lies there.
    """

    taken = 0

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()  # type: ignore[no-any-return]
        except (ImportError, AttributeError, EOFError, pickle.UnpicklingError):
            self.taken = sum(1 for _ in Path(self._cache_path).glob(self._data_name_pattern.replace("{number:d}", "*")))
            return {}

    def _data_name(self, number: int) -> str:
        return str(super()._data_name(number + self.taken))
