"""Shows that ship with bunraku: scripts, and what came of them, so that they play at once; tools/shows.py performs them."""

from __future__ import annotations

from pathlib import Path

from bunraku.choreography.script import Script
from bunraku.choreography.script_file import load_script
from bunraku.io import load
from bunraku.motion import Motion

FOLDER = Path(__file__).parent


def script(name: str) -> Script:
    """A script by its name."""
    return load_script(FOLDER / f"{name}.yaml")


def performed(name: str) -> Motion:
    """The motion of a script, performed beforehand."""
    motion: Motion = load(FOLDER / f"{name}.npz")
    return motion
