"""`kernel`, the one numba decorator: compile options, and a cache on disk that is never stale.

Numba keys a cached function on its own file alone, so an edit in a module that it calls would go unseen. The
machine code of a module therefore lies in the user's cache folder under a hash of its source, of all kernel sources
that it imports, however far down, and of the versions.
"""

from __future__ import annotations

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
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import caching, cgutils, event, types
from numba.extending import intrinsic

from bunraku.spatial.linked import InlineCache, InlineCompiler, KernelCompiler
from bunraku.spatial.turn import Shared

Function = TypeVar("Function", bound=Callable[..., Any])

config: Any = numba.config
INTERPRETED = bool(config.DISABLE_JIT)  # NUMBA_DISABLE_JIT=1 runs the same lines in the interpreter

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # No "nnan" or "ninf": a NaN must be seen, never optimised away.
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
}


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


def fingerprint(package: Path, module: str) -> str:
    """Changes when any kernel source beneath `module`, or any version that the machine code depends on, changes."""
    digest = hashlib.sha256()
    versions = (sys.version, np.__version__, numba.__version__, llvmlite.__version__, platform.machine())
    digest.update(repr(versions).encode())
    for name, source in kernel_sources(package, module).items():
        digest.update(name.encode() + b"\0" + source + b"\0")
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
        if time.time() - folder.stat().st_mtime > days * 86400:
            shutil.rmtree(folder, ignore_errors=True)


class _Announce(event.Listener):
    """Says once that kernels are being compiled, so that the first call does not look hung."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        dispatcher = event.data.get("dispatcher")
        if not self.said and getattr(dispatcher, "__module__", "").startswith("bunraku."):
            self.said = True
            print("bunraku: compiling kernels for this machine (once; under a minute) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


@functools.cache
def _announce() -> None:
    event.register("numba:compile", _Announce())


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
        return str(self.function.__code__.co_firstlineno)


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


def _compile(function: Any, compiler: type, **options: Any) -> Any:
    before = config.CACHE_LOCATOR_CLASSES
    config.CACHE_LOCATOR_CLASSES = f"{__name__}.{Locator.__name__}"
    try:
        compiled = numba.njit(cache=True, pipeline_class=compiler, **OPTIONS, **options)(function)
    finally:
        config.CACHE_LOCATOR_CLASSES = before
    compiled._cache._cache_file.__class__ = Index
    compiled.__class__ = Shared
    return compiled


def kernel(function: Function) -> Function:
    """A compiled function that Python calls: built on first use, then loaded from disk."""
    if INTERPRETED:
        return function
    _announce()
    return _compile(function, KernelCompiler)  # type: ignore[no-any-return]


def inline(function: Function) -> Function:
    """A compiled function that only kernels call, as a part of them."""
    return function if INTERPRETED else _within(function, allocates=True)


def bare(function: Function) -> Function:
    """An `inline` that neither makes nor returns arrays: it counts no references to those that it is handed, which takes longer
    than a short sum."""
    return function if INTERPRETED else _within(function, allocates=False)


def woven(function: Function) -> Function:
    """A `bare` that becomes part of each caller: to hand over a tuple of forty arrays, member by member, takes longer too."""
    return function if INTERPRETED else _within(function, allocates=False, forceinline=True)


def _within(function: Function, *, allocates: bool, forceinline: bool = False) -> Function:
    # Options that are not named are the caller's, whoever that is: nothing that a cache should keep.
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": allocates, "forceinline": forceinline}
    compiled = _compile(function, InlineCompiler, **options)
    compiled._cache._impl.__class__ = InlineCache
    return compiled  # type: ignore[no-any-return]


def _borrow(arrays: Any) -> Any:
    return arrays


def _borrow_compiled(_context: Any, arrays: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        members = cgutils.unpack_tuple(builder, values[0], len(arrays.types))
        out = []
        for kind, member in zip(arrays.types, members, strict=True):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, member)
                array.meminfo = array.meminfo.type(None)
                array.parent = array.parent.type(None)
                member = array._getvalue()
            out.append(member)
        return context.make_tuple(builder, signature.return_type, out)

    return arrays(arrays), code


borrow: Any = _borrow if INTERPRETED else intrinsic(_borrow_compiled)
"""The same tuple of arrays, uncounted. Counting references, atomically, each time that forty arrays are handed to a function
cost a small figure's step most of its time. The owner must be used again (`keep`) after the last use of what was borrowed."""


@inline
def keep(arrays):  # type: ignore[no-untyped-def]
    """Marks the end of a loan."""
    return len(arrays)
