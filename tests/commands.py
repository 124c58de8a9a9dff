"""The command line in a process of its own, for those who interrupt it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# Who runs tests in the background has the signal ignored. Python's own start is nobody's to interrupt: a line says when it is over.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import main
print("started", flush=True)
main()
"""


def started(folder: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """`bunraku` with these words, in a folder, as soon as it can be interrupted."""
    command = [sys.executable, "-c", COMMAND, *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process
