"""Processes in which nothing has been compiled yet, without the second or two that numba takes to start.

One process imports numba and compiles a function that nobody uses. For each program it forks a copy of itself, which is fresh
but for that. Only for programs that do not test how numba or bunraku are imported.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

FORKS = """
import json, os, sys, tempfile, traceback
import bunraku.kernels.compile
import numba

numba.njit(lambda x: 2.0 * x)(1.0)
print("ready", flush=True)

def run(wanted):
    for name in ("stdout", "stderr"):
        file = os.open(wanted[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, getattr(sys, name).fileno())
    os.environ.clear()
    os.environ.update(wanted["environment"])
    tempfile.tempdir = None
    try:
        exec(compile(wanted["program"], "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        return end.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    return 0

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = run(json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Done(NamedTuple):
    """How a program ended, and what it said."""

    returncode: int
    stdout: str
    stderr: str


class Forks:
    """Starts programs, each in a copy of one process."""

    def __init__(self) -> None:
        pipe: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._process = subprocess.Popen([sys.executable, "-c", FORKS], **pipe)
        assert self._answer() == "ready\n"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def run(self, program: str, folder: Path, environment: dict[str, str]) -> Done:
        """Runs a `program` with an `environment`, besides that of this process; what it says is kept in `folder`."""
        files = {name: folder / f"{name}.txt" for name in ("stdout", "stderr")}
        wanted = {"program": program, "environment": {**os.environ, **environment}} | {k: str(file) for k, file in files.items()}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(wanted) + "\n")
        self._process.stdin.flush()
        code = int(self._answer())
        return Done(code, *(file.read_text() for file in files.values()))

    def close(self) -> None:
        self._process.communicate()
