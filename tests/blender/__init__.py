"""Blender as a Python module (bpy), in an environment of its own: it needs Python 3.11, an older numpy, and 400 MB."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
PYTHON = FOLDER.parents[1] / ".venv-blender/bin/python"

needs_blender = pytest.mark.skipif(
    not PYTHON.exists(), reason="no Blender: python3.11 -m venv .venv-blender && .venv-blender/bin/pip install bpy"
)


def blender(script: str, *arguments: Any) -> Any:
    """What a script of this folder writes as JSON into the file that is its first argument; the others are `arguments`."""
    out = Path(str(arguments[0])).with_suffix(f".{script}.json")
    command = [PYTHON, FOLDER / f"{script}.py", out, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return json.loads(out.read_text())
