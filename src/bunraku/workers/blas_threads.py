"""One thread for the BLAS of numpy and scipy, while threads of our own share the work.

Matrices of figures are small. OpenBLAS nevertheless starts a thread for each processor, and these wait for each other actively: on
two processors with other work, a show took four times as much processor time (18 s instead of 4.3 s).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path


@dataclass(frozen=True)
class Blas:
    """A BLAS that is loaded."""

    threads: Callable[[], int]
    set_threads: Callable[[int], object]


@cache
def blases() -> tuple[Blas, ...]:
    """Those that the wheels of numpy and scipy bring along; none where these use another one."""
    found = []
    for package in ("numpy", "scipy"):
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            continue
        home = Path(spec.origin).parent
        for file in (*home.parent.glob(f"{package}.libs/*openblas*"), *home.glob(".dylibs/*openblas*")):
            found += _functions(file)
    return tuple(found)


def _functions(file: Path) -> list[Blas]:
    try:
        library = ctypes.CDLL(str(file))
    except OSError:
        return []
    for suffix in ("64_", ""):  # of its functions, with integers of 64 or 32 bits
        try:
            return [Blas(library[f"scipy_openblas_get_num_threads{suffix}"], library[f"scipy_openblas_set_num_threads{suffix}"])]
        except AttributeError:
            continue
    return []


@dataclass
class _Users:
    """Who wants one thread now. The number of threads belongs to the whole process."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    count: int = 0
    before: list[int] = field(default_factory=list)


_users = _Users()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within this block a BLAS has one thread; after the last such block, as many as before the first."""
    with _users.lock:
        if _users.count == 0:
            _users.before = [blas.threads() for blas in blases()]
            for blas in blases():
                blas.set_threads(1)
        _users.count += 1
    try:
        yield
    finally:
        with _users.lock:
            _users.count -= 1
            if _users.count == 0:
                for blas, threads in zip(blases(), _users.before, strict=True):
                    blas.set_threads(threads)
