"""Kernels with units, for `test_units`: a process of its own runs one of the functions below and prints what happened."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import numpy as np
from numba.core import event

from bunraku.kernels import apart
from bunraku.kernels.compile import borrow, keep, kernel, unit


@unit("float64")
def total(x, factor):
    out = 0.0
    for i in range(x.shape[0]):
        out += factor * x[i]
    return out


@unit("none", allocates=True)
def reverse(x):
    y = x.copy()
    for i in range(x.shape[0]):
        x[i] = y[x.shape[0] - 1 - i]


@unit("int64, boolean")
def count(pair):
    return pair.first.shape[0], pair.first[0] > pair.second[0]


@unit("x")
def first(x):
    return x[0]


@kernel
def uses_total(x, often):
    out = 0.0
    for k in range(often):
        out += total(x, 1.0 * k)
    return out


@kernel
def uses_others(x, pair):
    lent = borrow(pair)
    reverse(x)
    size, larger = count(lent)
    keep(pair)
    return first(x), size, larger


class Names(event.Listener):
    """The functions that are compiled, in their order."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_start(self, event: event.Event) -> None:
        self.heard.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event: event.Event) -> None:
        pass


def lazily() -> None:
    """A unit is not compiled before it is called, and then once."""
    names = Names()
    event.register("numba:compile", names)
    x = np.arange(4.0)
    print(uses_total(x, 0), names.heard.count("total"))
    before = len(names.heard)
    print(uses_total(x, 3), len(names.heard) > before)
    before = len(names.heard)
    print(uses_total(x, 4), len(names.heard) > before)


def interrupted() -> None:
    """Ctrl-C while a unit is compiled inside a kernel: the kernel returns, and then KeyboardInterrupt is raised."""
    x = np.arange(4.0)
    uses_total(x, 0)
    compile_here = total.unit.compile  # type: ignore[attr-defined]

    def slowly(signature: object) -> object:
        total.unit.compile = compile_here  # type: ignore[attr-defined]
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        for _ in range(600):
            time.sleep(0.1)
        return compile_here(signature)

    total.unit.compile = slowly  # type: ignore[attr-defined]
    try:
        uses_total(x, 3)
        time.sleep(60.0)
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted")
    print(uses_total(x, 3))


if __name__ == "__main__":
    apart.be_worker()  # compiles here, where it can be heard
    {"lazily": lazily, "interrupted": interrupted}[sys.argv[1]]()
