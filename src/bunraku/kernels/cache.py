"""Compiled functions on disk: one file for each signature, with a checksum.

A file is named after the function and a hash of its signature and processor, its folder after the module and the fingerprint
of its sources. So there is no index that two processes could write at once. A wheel contains such files for a few levels of
processors (see `processor`). If anything is wrong with a file, the function is compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core import caching, sigutils, types
from numba.core.serialize import dumps

from bunraku.kernels.fingerprint import fingerprint
from bunraku.kernels.folders import cache_root, cache_roots, complain, require_own
from bunraku.kernels.processor import levels

PACKAGE = Path(__file__).parents[1]
config: Any = numba.config


def module_folder(module: str) -> str:
    """The name of the folder of one module's machine code, by the module's full name."""
    return f"{module.removeprefix('bunraku.')}-{fingerprint(PACKAGE, module)}"


def cache_folder(module: str) -> str:
    """The folder of the machine code of `module` (its full name) in the user's cache."""
    folder = cache_root() / module_folder(module)
    with contextlib.suppress(OSError):
        os.utime(folder)  # marks it as in use
    return str(folder)


def shipped_folder() -> Path:
    """The machine code in the wheel, one folder for each level of processors. A clone of the repository has none."""
    return PACKAGE / "kernels" / "machine_code"


def _spelled(kind: Any) -> str:
    """The name of a type; of a named tuple also the module of its class."""
    if isinstance(kind, types.BaseTuple):
        of, parts = getattr(kind, "instance_class", tuple), getattr(kind, "types", ())
        return f"{of.__module__}.{of.__qualname__}({', '.join(_spelled(part) for part in parts)})"
    return f"{type(kind).__name__} {kind}"


def _sealed(data: bytes) -> bytes:
    return hashlib.sha256(data).digest() + data


def _unsealed(sealed: bytes) -> bytes:
    if len(sealed) <= 32 or hashlib.sha256(sealed[32:]).digest() != sealed[:32]:
        raise ValueError("it is damaged")
    return sealed[32:]


class _Locator(caching._CacheLocator):
    """Numba requires a locator; its answers appear in warnings only."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file

    @classmethod
    def from_function(cls, function: Any, file: str) -> _Locator:
        return cls(function, file)

    def get_cache_path(self) -> str:
        return ""

    def get_source_stamp(self) -> str:
        return ""

    def get_disambiguator(self) -> str:
        return ""


class KernelFiles(caching.CompileResultCacheImpl):
    """Turns compiled functions into bytes and back, as numba does."""

    _locator_classes: Any = [_Locator]  # noqa: RUF012 (numba's)


class KernelCache(caching.FunctionCache):
    """The files of one function. Its folder is determined when a signature is first looked up."""

    _impl_class = KernelFiles
    _suffix = ".nbc"

    def __init__(self, function: Any) -> None:
        self._py_func, self._name = function, repr(function)
        self._impl = self._impl_class(function)
        self.enable()

    @property
    def _cache_path(self) -> str:
        return cache_folder(self._py_func.__module__)

    def _file_name(self, signature: Any, processor: tuple[str, ...]) -> str:
        arguments, result = sigutils.normalize_signature(signature)
        cells = self._py_func.__closure__
        held = b"" if cells is None else dumps(tuple(cell.cell_contents for cell in cells))
        text = "|".join([*(_spelled(kind) for kind in arguments), str(result), *processor])
        key = hashlib.sha256(text.encode() + self._py_func.__code__.co_code + held).hexdigest()[:24]
        return f"{self._py_func.__qualname__.replace('<locals>', 'locals')}.{key}{self._suffix}"

    def path(self, signature: Any, codegen: Any) -> Path:
        """The file of one `signature` in the user's cache, for the processor that `codegen` makes code for."""
        return Path(self._cache_path) / self._file_name(signature, codegen.magic_tuple())

    def shipped(self, signature: Any, codegen: Any) -> Path | None:
        """The file of one `signature` in the wheel, for `codegen`'s system and the best level that this processor runs; if
        NUMBA_CPU_NAME is set, for the level that it names."""
        root = shipped_folder()
        if not root.is_dir():
            return None
        folder = module_folder(self._py_func.__module__)
        wanted = levels() if config.CPU_NAME is None else tuple(level for level in levels() if level == config.CPU_NAME)
        for level in wanted if not config.CPU_FEATURES else ():
            path = root / level / folder / self._file_name(signature, (codegen.magic_tuple()[0], level, ""))
            if path.is_file():
                return path
        return None

    def on_disk(self, signature: Any, codegen: Any) -> bool:
        """Whether there is a file of a `signature` for `codegen`'s processor; it may be damaged."""
        return any(True for _ in self._kept(signature, codegen)) or self.shipped(signature, codegen) is not None

    def _kept(self, signature: Any, codegen: Any) -> Iterator[Path]:
        """The files of a `signature` in all folders of compiled kernels."""
        own = self.path(signature, codegen)
        for root in cache_roots():
            if os.path.lexists(path := root / own.parent.name / own.name):
                yield path

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        codegen = target_context.codegen()
        for path in self._kept(sig, codegen):
            try:
                return self._impl.rebuild(target_context, pickle.loads(_read_own(path)))
            except Exception as problem:  # noqa: BLE001 (any damage means the same)
                why = getattr(problem, "strerror", None) or problem
                complain(f"a cached kernel cannot be used ({path}: {why}); it is compiled anew")
        if (path_in_wheel := self.shipped(sig, codegen)) is not None:
            try:
                return self._impl.rebuild(target_context, pickle.loads(_unsealed(path_in_wheel.read_bytes())))
            except Exception as problem:  # noqa: BLE001
                complain(f"a kernel of the wheel cannot be used ({path_in_wheel}: {problem}); it is compiled here")
        return None

    def _save_overload(self, sig: Any, data: Any) -> None:
        if not self._impl.check_cachable(data):
            return
        path = self.path(sig, data.codegen)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, _sealed(dumps(self._impl.reduce(data))))
        except OSError as problem:
            why = problem.strerror or problem
            complain(f"compiled kernels cannot be kept ({cache_root()}: {why}); they are compiled each time")


def _read_own(path: Path) -> bytes:
    """The content of a file of this user; raises if it is a link, belongs to another user, or is damaged."""
    require_own(path.lstat(), "it belongs to somebody else")
    return _unsealed(path.read_bytes())


def _write(path: Path, data: bytes) -> None:
    """Writes a file so that it appears complete or not at all."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(data)
        if path.is_dir() and not path.is_symlink():  # a folder in its place is damage, too
            path.rmdir()
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
