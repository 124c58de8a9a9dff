"""Chapter: a titled list of entries of the opening show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bunraku.stage import Entry


@dataclass(frozen=True)
class Chapter:
    """A chapter; each file of this folder returns one from its function `chapter`."""

    title: str
    """Heading in the list beside the stage."""
    entries: Sequence[Entry]

    @property
    def shown(self) -> list[Entry]:
        """The entries under their heading."""
        return [replace(entry, group=self.title) for entry in self.entries]
