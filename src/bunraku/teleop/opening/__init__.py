"""The opening show: everything that bunraku can do today, a chapter for each capability.

A chapter is a file here with a TITLE and a function `entries`, which makes a list of them:

    TITLE = "Swinging up"

    def entries() -> list[Entry]:
        return [Entry("A cart swings its pole up", _pole, "Found by projection, in 40 iterations", front=FROM_SIDE)]

    def _pole() -> Recorded:
        from bunraku.control import optimize # inside: nobody waits for it before somebody looks

        found = optimize(…)
        return Recorded(found.motion, AIR, reference=found.reference)  # the reference is drawn as a ghost

What an entry opens may be a Motion, a Recorded (with its scene, ghost and curves; marks come with the motion), or a Live,
or a function that makes one. Name a new chapter in CHAPTERS; that is all.
"""

from __future__ import annotations

import importlib
from dataclasses import replace

from bunraku.stage import Entry

CHAPTERS = (
    "shows", "strings", "pulling", "control", "guiding", "swinging", "reaching", "planning", "carrying", "climbing", "figures",
)  # fmt: skip
"""Files of this folder, in the order of the list beside the stage."""


def opening_show() -> list[Entry]:
    """Entries for the stage. Nothing is computed before somebody looks."""
    show = []
    for name in CHAPTERS:
        chapter = importlib.import_module(f"{__name__}.{name}")
        show += [replace(entry, group=chapter.TITLE) for entry in chapter.entries()]
    return show
