from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import itertools
from numba.core.compiler import Flags
from bunraku.kernels.haste import hurry

def flags(**values):
    out = Flags()
    for name, value in values.items():
        setattr(out, name, value)
    return out

every = [flags(), flags(nrt=False), flags(nrt=True), flags(nrt=True, forceinline=False), flags(forceinline=True)]
before = [(a == b, hash(a) == hash(b)) for a, b in itertools.product(every, every)]
hurry()
after = [(a == b, hash(a) == hash(b)) for a, b in itertools.product(every, every)]
assert after == before, (before, after)
assert len({a for a, _ in before}) == 2, "some are equal, some are not"
assert flags() != "flags"
"""


def test_flags_compare_as_they_do_in_numba() -> None:
    """In a process of its own, since it changes numba."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


REMEMBERED = """
import numba, numpy as np
from bunraku.kernels.haste import hurry
hurry()

def mixed(a, b):
    out = 0 * a
    for k in range(3):
        out = out + a * b - a / (b + k) + max(abs(a), abs(b)) ** 2
    return out + np.sqrt(abs(a)) + (a > b)

plain, fast = numba.njit(mixed), numba.njit(mixed, fastmath=True, error_model="numpy")
for compiled in (plain, fast, plain):
    for a, b in ((3, 4), (3.5, 4), (3, 4.5), (np.float32(3), np.float32(2)), (True, 2)):
        assert abs(compiled(a, b) - mixed(a, b)) < 1e-6 * abs(mixed(a, b)), (a, b)
try:
    plain("a", None)
except numba.TypingError:
    pass
else:
    raise AssertionError("what has no type is still refused")
assert plain(3, 4) == mixed(3, 4)
"""


@pytest.mark.slow
def test_remembered_types_are_those_that_numba_finds() -> None:
    """Of the same operators between other types, and with other flags; also after a failure."""
    done = subprocess.run([sys.executable, "-c", REMEMBERED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


SAME_CODE = """
import re
import numba, numpy as np
from bunraku.kernels.haste import hurry

def walk(rows, weights, most):
    total, seen, last = 0.0, np.zeros(rows.shape[0]), (1.0, 2)
    for i in range(rows.shape[0]):
        if rows[i, 0] < most:
            continue
        for j in range(rows.shape[1]):
            weight = weights.slope if j > i else weights.rest[j]
            total += weight * rows[i, j] * last[0]
            if total > 1e9:
                break
        else:
            seen[i] = max(total, seen[i - 1])
        last = (total, j)
    return np.dot(seen, seen) + last[1], seen[1:].copy()

Weights = __import__("collections").namedtuple("Weights", "slope rest")
signature = tuple(map(numba.typeof, (np.zeros((3, 4)), Weights(1.0, np.zeros(4)), 0.5)))

def code():
    compiled = numba.njit(walk, error_model="numpy", fastmath=True)
    compiled.compile(signature)
    lines = compiled.inspect_llvm(signature).splitlines()
    return [re.sub('@"[^"]*"|@[^ ,()]*', "@", line) for line in lines if line.startswith("  ")]  # names count functions

before = code()
assert code() == before, "the same twice"
hurry()
assert code() == before
assert len(before) > 100
"""


def test_the_same_code_comes_out() -> None:
    done = subprocess.run([sys.executable, "-c", SAME_CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
