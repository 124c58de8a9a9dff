"""The opening show: a chapter for each capability of bunraku.

A chapter is a file in this folder with a function `chapter`:

    def chapter() -> Chapter:
        return Chapter("Physics", [Entry("A chain of ten", _chain, "What to look at. What to try", front=FROM_SIDE)])

    def _chain() -> Recorded:
        from bunraku.dynamics import simulate  # imported here, so that the list of entries appears at once

        return on_floor(simulate(…))  # what takes more than two seconds is computed in advance, see `recordings`

An entry opens a Motion, a Recorded (a motion with its scene, ghost and curves), a Live, or a function that returns one of these. To
add a chapter, add its file and list it in CHAPTERS.
"""

from __future__ import annotations

import importlib

from bunraku.stage import Entry
from bunraku.teleop.opening.chapter import Chapter

CHAPTERS = (
    "shows", "strings", "pulling", "touching", "control", "guiding", "swinging", "reaching", "planning", "carrying", "climbing",
    "figures",
)  # fmt: skip
"""Files of this folder, in the order of the list beside the stage."""


def opening_show() -> list[Entry]:
    """Entries for the stage. An entry is computed when it is opened."""
    chapters: list[Chapter] = [importlib.import_module(f"{__name__}.{name}").chapter() for name in CHAPTERS]
    return [entry for chapter in chapters for entry in chapter.shown]
