"""Versions of something that is edited, with undo and redo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


class History(Generic[Thing]):
    """Versions, one of which is current. `first` is the oldest, or a function that makes it when it is asked for."""

    def __init__(self, first: Thing | Callable[[], Thing]) -> None:
        self._first = first
        self._edits: list[Thing] = []
        self._at = 0

    @property
    def version(self) -> Thing:
        """The current version."""
        if self._at > 0:
            return self._edits[self._at - 1]
        if callable(self._first):
            self._first = self._first()
        return self._first

    @property
    def can_undo(self) -> bool:
        """Whether there is an older version."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a newer version."""
        return self._at < len(self._edits)

    def change(self, version: Thing) -> None:
        """Goes on to a new `version`; newer ones that were undone are forgotten."""
        self._edits[self._at :] = [version]
        self._at += 1

    def undo(self) -> None:
        """Goes back one version."""
        self._at = max(self._at - 1, 0)

    def redo(self) -> None:
        """Goes forward one version."""
        self._at = min(self._at + 1, len(self._edits))
