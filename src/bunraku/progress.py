"""Progress: how far a long piece of work is. One class and one kind of listener for every verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """A report from work that is under way."""

    stage: str
    """What is being done: "rehearsal", "search"."""
    done: float
    """How much of the stage is done, from 0 to 1."""
    text: str = ""
    """Details in words: "1,200 nodes, 12 mm from the goal"."""


Listener = Callable[[Progress], None]
"""The function that every verb takes as `progress`. It is called often, by the thread that does the work, so it must be quick."""
