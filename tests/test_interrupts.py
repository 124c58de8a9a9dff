"""Ctrl-C at random moments while kernels compile: the command ends with 130, and leaves nothing behind."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests import commands
from tests.patience import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")

DANCE = "simulate: marionette25\nduration: 3 s\n"


def started(folder: Path, cache: Path, *words: str) -> subprocess.Popen[str]:
    """With a cache of its own, and without a display."""
    own = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    own |= {"XDG_CACHE_HOME": str(cache), "COLUMNS": "300"}
    return commands.started(folder, *words, env=own)


def ended(process: subprocess.Popen[str], folder: Path, allowed: set[str], when: str) -> None:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode in (130, 0 if "wrote" in out else 130), f"{when}: {process.returncode}\n{out}{err}"
    for word in ("Traceback", "Assertion", "Aborted", "Fatal"):
        assert word not in err, f"{when}:\n{err}"
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left <= allowed, f"{when}: {left}"


def soon(longest: float) -> float:
    """A random moment [s] that a failure names, so that nothing needs a seed."""
    return random.uniform(0.0, longest)


@pytest.mark.parametrize("longest", [2.0, 8.0, pytest.param(40.0, marks=pytest.mark.slow)])
def test_simulate(tmp_path: Path, longest: float) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "dance.yaml").write_text(DANCE)
    process = started(work, tmp_path / "cache", "simulate", "dance.yaml", "-o", "dance.npz")
    time.sleep(moment := 0.1 + soon(longest))
    ended(process, work, {"dance.yaml", "dance.npz"}, f"after {moment:.2f} s")


def visit(address: str) -> None:
    """A visitor who looks at an entry that nobody has prepared, and stays until the stage goes."""
    origin = address.split("/?")[0]
    try:
        cookie = httpx.get(address, timeout=PATIENCE).headers["set-cookie"].partition(";")[0]
        headers = {"Origin": origin, "Cookie": cookie}
        with connect(f"{origin.replace('http', 'ws')}/ws", additional_headers=headers, open_timeout=PATIENCE):
            entries = httpx.get(f"{origin}/api/entries", headers=headers, timeout=PATIENCE).json()
            key = entries["entries"][-1]["id"]
            httpx.get(f"{origin}/api/entries/{key}", headers=headers, timeout=PATIENCE)
    except (httpx.HTTPError, OSError, WebSocketException):  # it went
        pass


@pytest.mark.parametrize("longest", [2.0, 10.0, pytest.param(40.0, marks=pytest.mark.slow)])
def test_play_with_a_visitor(tmp_path: Path, longest: float) -> None:
    work = tmp_path / "work"
    work.mkdir()
    process = started(work, tmp_path / "cache", "play", "--port", "0")
    assert process.stdout is not None
    address = re.search(r"http://\S+", process.stdout.readline())
    assert address is not None
    threading.Thread(target=visit, args=(address[0],), daemon=True).start()
    time.sleep(moment := soon(longest))
    ended(process, work, {"out/show.html", "out/show.mp4"}, f"after {moment:.2f} s")
