"""Edits of shows: what a page may wish of a prompt book, and what it is told of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.progress import Listener
from bunraku.stage.entry import Recorded
from bunraku.stage.history import History
from bunraku.stage.messages import BookJson
from bunraku.stage.prompt_book import PromptBook
from bunraku.stage.wire import CloseCode, Refusal


def edited(book: PromptBook, wish: Mapping[str, Any], *, progress: Listener | None = None) -> Recorded:
    """The show of a `book` after the `wish` of a page, made anew; `progress` is called with how far that is.

    Raises Refusal if the wish is malformed, BunrakuError if it cannot be done.
    """
    match wish:
        case {"edit": "move", "cue": str(cue), "by": int(by) | float(by), **rest} if not rest and _counts(by):
            return book.moved(cue, float(by)).performed(progress=progress)
        case {"edit": "stretch", "cue": str(cue), "counts": int(counts) | float(counts), **rest} if not rest and _counts(counts):
            return book.stretched(cue, float(counts)).performed(progress=progress)
        case {"edit": "add", "track": str(track), "motion": str(motion), "begin": int(begin) | float(begin), **rest} if (
            not rest and _counts(begin)
        ):
            if motion not in book.motions.get(track, ()):
                raise BunrakuError(f"{track[:80]!r} plays no motion {motion[:80]!r}")
            return book.added(track, motion, float(begin)).performed(progress=progress)
        case {"edit": "remove", "cue": str(cue), **rest} if not rest:
            return book.removed(cue).performed(progress=progress)
    raise Refusal(CloseCode.MALFORMED, "no such edit of a show, or its fields are wrong")


def _counts(value: float) -> bool:
    """Whether a `value` can be a number of counts."""
    return not isinstance(value, bool) and abs(value) <= 1e5


class EditedBook(History[Recorded]):
    """A show with its edit history. `first` is how it was played before."""

    def __init__(self, first: Recorded) -> None:
        super().__init__(first)
        self._saved = self.book.text

    @property
    def book(self) -> PromptBook:
        """The current script."""
        book = self.version.book
        assert book is not None
        return book

    def save(self) -> str:
        """Writes the script to its file and returns where; "" if it has none. Raises BunrakuError."""
        where = self.book.save()
        if where:
            self._saved = self.book.text
        return where

    def described(self) -> BookJson:
        """The script for the page."""
        book, tracks = self.book, self.version.motion.names
        return {
            "file": book.file,
            "count": book.count,
            "cues": [
                {"name": b.name, "track": tracks.index(b.track), "motion": b.motion, "begin": b.begin, "end": b.end, "note": b.note}
                for b in book.bars
            ],
            "motions": [list(book.motions.get(name, ())) for name in tracks],
            "anew": book.anew,
            "undo": self.can_undo,
            "redo": self.can_redo,
            "unsaved": book.text != self._saved,
        }
