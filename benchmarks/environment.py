"""Environments of their own for peers whose pinned packages do not go together with ours.

Each lies in a folder `.venv-NAME` beside `.venv`, made when first needed, ignored by git.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HOME = Path(__file__).parents[1]
PEERS = Path(__file__).with_name("peers")


class Unavailable(Exception):
    """A peer cannot be installed or run here."""


def python_of(name: str, requirements: Sequence[str]) -> Path:
    """The interpreter of `.venv-NAME`, with these packages installed."""
    folder = HOME / f".venv-{name}"
    python, ready = folder / "bin" / "python", folder / "ready.json"
    if ready.exists() and json.loads(ready.read_text(encoding="utf-8")) == list(requirements):
        return python
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        _run([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)])
        _run([uv, "pip", "install", "--quiet", "--python", str(python), *requirements])
    else:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *requirements])
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    ready.write_text(json.dumps(list(requirements)), encoding="utf-8")
    return python


def result_of(python: Path, script: str, *arguments: str) -> Any:
    """What a script of `peers/` prints on its last line, as JSON."""
    lines = _run([str(python), str(PEERS / script), *arguments]).strip().splitlines()
    return json.loads(lines[-1])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:4])} …: {done.stderr.strip()[-2000:]}")
    return done.stdout
