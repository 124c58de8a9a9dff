from __future__ import annotations

import subprocess
import sys

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
