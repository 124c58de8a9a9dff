"""The fingerprint of a module's machine code: a hash of all kernel sources that it depends on, and of the compiler's versions.

Numba's own cache checks only the file of a function, so it would miss an edit in a module that the function calls. The
fingerprint of a module covers its source, all kernel sources that it imports directly or indirectly, and the versions.
Editing a comment, a docstring or the layout does not change it, so nothing is recompiled.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import platform
import re
import sys
import threading
from pathlib import Path

import llvmlite
import numba
import numpy as np

from bunraku.kernels.folders import cache_root, cache_roots

# Only lines without indentation: imports inside of functions, or for types only, do not affect machine code.
IMPORT = re.compile(r"^from\s+(bunraku[\w.]*)\s+import\s+(\([^)]*\)|[^\n]*)", re.MULTILINE)
# Or passes of the compiler.
HOLDS_KERNELS = re.compile(rb"^@(kernel|unit|inline|bare|woven|register_pass)\b", re.MULTILINE)


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
    """The sources that the machine code of `module` depends on: all modules that it imports, directly or not, that hold a kernel,
    and what these import.

    package: folder of the package `bunraku`
    module: full name of the module

    Returns sources by the name of their module. A module without kernels counts only if one with kernels imports it: editing
    the class `Figure` recompiles nothing.
    """
    seen, todo, chosen = {}, [module], {module}
    while todo:
        if (name := todo.pop()) not in seen:
            seen[name], further = _imports(package, name)
            todo += further
            if HOLDS_KERNELS.search(seen[name]):
                chosen |= {name, *further}
    return {name: seen[name] for name in sorted(chosen) if seen[name]}


_parsing = threading.Lock()  # up to Python 3.11.7 and 3.12.1, threads that parse at once disturb each other's count of nested nodes


def code_digest(source: bytes) -> str:
    """A hash of the code in `source`, without comments, docstrings and layout."""
    with _parsing:
        tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


@functools.cache
def _known_digests() -> dict[str, str]:
    """Digests that earlier processes computed, or that the wheel brings, by the hash of the text: parsing sixty modules would take
    half a second."""
    lines: list[str] = []
    for root in (Path(__file__).with_name("machine_code"), *cache_roots()):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            lines += (root / "digests.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split() for line in lines if re.fullmatch(r"[0-9a-f]{64} [0-9a-f]{64}", line))


def _digest_file() -> Path:
    return cache_root() / "digests.txt"


def _digest(source: bytes) -> str:
    text = hashlib.sha256(_python().encode() + source).hexdigest()
    known = _known_digests()
    if text not in known:
        known[text] = code_digest(source)
        with contextlib.suppress(OSError), _digest_file().open("a", encoding="ascii") as file:
            file.write(f"{text} {known[text]}\n")
    return known[text]


def _python() -> str:
    return f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"


@functools.cache
def fingerprint(package: Path, module: str) -> str:
    """Sixteen hexadecimal digits that change when any kernel source or version changes that the machine code of `module` depends
    on.

    package: folder of the package `bunraku`
    module: full name of the module
    """
    digest = hashlib.sha256()
    versions = (_python(), np.__version__.split(".")[0], numba.__version__, llvmlite.__version__, platform.machine())
    digest.update(repr(versions).encode())
    for name, source in kernel_sources(package, module).items():
        digest.update(f"{name} {_digest(source)}\n".encode())
    return digest.hexdigest()[:16]
