from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bunraku.kernels.locks import turn
from tests.patience import PATIENCE

HOLD = """
import sys, time
from pathlib import Path
from bunraku.kernels.locks import turn
with turn(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.readline()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process that is in, until it is told or killed."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "in\n"
    return process


def waited(path: Path, patience: float) -> float:
    start = time.monotonic()
    with turn(path, patience=patience):
        return time.monotonic() - start


def test_one_waits_for_the_other_but_not_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "kernel.turn"
    other = holder(path)
    try:
        assert waited(path, 0.3) >= 0.3
        assert waited(tmp_path / "another.turn", PATIENCE) < PATIENCE
    finally:
        other.kill()
        other.communicate()
    assert waited(path, PATIENCE) < PATIENCE  # who is killed holds nothing


def test_where_nothing_can_be_written_nobody_waits(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert waited(tmp_path / "file" / "kernel.turn", PATIENCE) < PATIENCE


TWICE = """
import sys
sys.path.insert(0, sys.argv[1])
import twice
"""
KERNEL = """
import os, sys, time
from bunraku.kernels.compile import inline, kernel
from numba.core import event
made = []
class Heard(event.Listener):
    def on_start(self, event):
        if event.data["dispatcher"].__module__ == __name__:
            made.append(event.data["dispatcher"].__name__)
            time.sleep(1.0)  # long enough for the other to want the same
    def on_end(self, event):
        pass
event.register("numba:compile", Heard())
@inline
def half(x):
    return 0.5 * x
@kernel
def quarter(x):
    return 0.5 * half(x)
print("ready", flush=True)
sys.stdin.readline()
assert quarter(8.0) == 2.0
print(*made)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_two_processes_compile_a_kernel_once(tmp_path: Path) -> None:
    (tmp_path / "twice.py").write_text(KERNEL)
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-c", TWICE, str(tmp_path)]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own) for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    made = sorted(process.communicate()[0].split() for process in both)
    assert made == [[], ["quarter", "half"]]
    assert all(process.returncode == 0 for process in both)
