"""Prompt books: the script behind a recorded show, which visitors may edit on the stage.

The stage shows its cues as bars under the time line and passes on what visitors do with them; what a cue means, and how the show
is made anew, is known to whoever wrote the book (`bunraku.choreography.show_book`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from bunraku.progress import Listener

if TYPE_CHECKING:
    from bunraku.stage.entry import Recorded


@dataclass(frozen=True)
class CueBar:
    """A cue as it was played."""

    name: str
    """Its name, which no other cue has."""
    track: str
    """Name of the track that plays it."""
    motion: str
    begin: float
    """When it begins [s]."""
    end: float
    """When it ends [s]."""
    note: str = ""
    """How its time depends on others, in a few words."""


class PromptBook(Protocol):
    """A script that can be edited. Books never change: each edit makes another one.

    Edits raise BunrakuError if the cue is unknown or its place in the text cannot be edited.
    """

    @property
    def text(self) -> str:
        """The script as written."""

    @property
    def file(self) -> str:
        """Name of the file that it comes from."""

    @property
    def count(self) -> float:
        """Duration of one count [s]."""

    @property
    def motions(self) -> Mapping[str, tuple[str, ...]]:
        """The motions that each track can play."""

    @property
    def bars(self) -> tuple[CueBar, ...]:
        """The cues as they were played."""

    @property
    def anew(self) -> int:
        """Number of stretches that were rehearsed when it was performed, and not kept from before."""

    def moved(self, cue: str, by: float) -> PromptBook:
        """The book in which a `cue` begins `by` counts later."""

    def stretched(self, cue: str, counts: float) -> PromptBook:
        """The book in which a `cue` lasts so many `counts`."""

    def added(self, track: str, motion: str, begin: float) -> PromptBook:
        """The book in which a `track` also plays a `motion`, from count `begin` on."""

    def removed(self, cue: str) -> PromptBook:
        """The book without a `cue`."""

    def performed(self, *, progress: Listener | None = None) -> Recorded:
        """The show made anew, with its book. Only what depends on edits takes long; `progress` is called with how far it is.

        Raises BunrakuError if it cannot be played.
        """

    def save(self) -> str:
        """Writes the text to its file and returns where; "" if it has no file of the user's own. Raises BunrakuError."""
