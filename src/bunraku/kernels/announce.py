"""Tells the user which kernels are being compiled and for how long, so that a first call does not seem to hang."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from bunraku.progress import Listener, Progress


class _Told:
    lock = threading.Lock()
    listeners: list[Listener] = []  # noqa: RUF012 (one for the process)
    under_way: dict[Any, float] = {}  # noqa: RUF012
    said = False
    width = 0


def hear_compiling(listener: Listener) -> Callable[[], None]:
    """Calls a `listener` while kernels are compiled, several times a second, and once with done = 1 at the end.

    Returns a function that removes the listener.
    """
    with _Told.lock:
        _Told.listeners.append(listener)

    def stop() -> None:
        with _Told.lock, contextlib.suppress(ValueError):
            _Told.listeners.remove(listener)

    return stop


def started(name: str) -> None:
    """Prints once in each process that compiling has begun, with the `name` of the first kernel."""
    with _Told.lock:
        if _Told.said:
            return
        _Told.said = True
    if not _terminal():
        print(f"bunraku: compiling kernels for this machine, once; the first is {name} …", file=sys.stderr, flush=True)


@contextlib.contextmanager
def compiling(job: Any) -> Iterator[None]:
    """Reports progress while a caller waits, in this block, for a `job` of `apart`."""
    started(job.name)
    with _Told.lock:
        _Told.under_way[job] = time.monotonic()
    try:
        yield
    finally:
        with _Told.lock:
            _Told.under_way.pop(job, None)
            last = not _Told.under_way
        if last:
            _tell(Progress("compile", 1.0))
            if _Told.width:
                print("\r" + " " * _Told.width + "\r", end="", file=sys.stderr, flush=True)
                _Told.width = 0


def tick(job: Any) -> None:
    """Shows the progress of all jobs under way; only the caller that waits for the first of them (its `job`) does so."""
    with _Told.lock:
        jobs = dict(_Told.under_way)
    if job is not next(iter(jobs), None):
        return
    seconds = time.monotonic() - min(jobs.values())
    done, wanted = sum(one.parts for one in jobs), sum(one.expected for one in jobs)
    names = ", ".join(one.name.lstrip("_") for one in jobs)
    share = 0.75 * min(done / wanted, 1.0) if wanted else 0.0  # the last quarter is the machine code of the whole kernel
    text = f"{names} for this machine, once: {seconds:.0f} s"
    if share > 0.2:
        text += f", about {max(seconds * (1.0 - share) / share, 1.0):.0f} s more for these"
    _tell(Progress("compile", share, text))
    if _terminal():
        bar = f"[{'█' * round(20 * share):<20}] " if wanted else ""
        line = f"bunraku: {bar}compiling {text}"
        print("\r" + line.ljust(_Told.width), end="", file=sys.stderr, flush=True)
        _Told.width = len(line)


def _tell(progress: Progress) -> None:
    with _Told.lock:
        listeners = list(_Told.listeners)
    for listener in listeners:
        listener(progress)


def _terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
