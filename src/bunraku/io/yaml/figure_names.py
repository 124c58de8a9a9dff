"""The names in a figure file: each is given once, and every reference must find its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import FigureError, FileError, did_you_mean
from bunraku.figure import WORLD, Point
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity

WORD_OF_FIELD = {"eyelets": "through", "variable": "effort"}
"""Fields of a figure's parts that have another name in files."""


@dataclass
class Names:
    """Where every name was given, so that errors can point at it."""

    root: Node
    places: dict[tuple[str, str], Node] = field(default_factory=dict)
    """("frame", "elbow") → the mapping that describes it."""

    def of(self, kind: str) -> list[str]:
        """The names of all parts of a `kind`."""
        return [name for what, name in self.places if what == kind]

    def take(self, kind: str, name: str, node: Node, word: str = "") -> str:
        """Notes a new `name` for a part of this `kind` that `node` describes, and returns it.

        `word` is the word of the node that gave the name (its first word by default). Raises FileError if the name is taken.
        """
        first = self.places.get((kind, name), self.root if (kind, name) == ("frame", WORLD) else None)
        if first is not None:
            where = "" if first is self.root else f"first used in line {first.line}; "
            words = node.value if isinstance(node.value, dict) else {}
            at = words.get(word) or next(iter(words.values()), node)
            raise at.error(f"the name {name!r} is taken", advice=f"{where}every {kind} has a name of its own")
        self.places[kind, name] = node
        return name

    def known(self, kind: str, node: Node) -> str:
        """The name in `node` of an existing part of this `kind`; raises FileError if there is none."""
        name = node.name(f"a {kind}")
        if (kind, name) not in self.places and (kind, name) != ("frame", WORLD):
            raise node.error(f"no {kind} is called {name!r}", advice=did_you_mean(name, self.of(kind)))
        return name

    def point(self, node: Node) -> Point:
        """The point in `node`: a frame's name, or [name, [x, y, z]]."""
        if isinstance(node.value, str):
            return Point(self.known("frame", node))
        if not isinstance(node.value, tuple):
            raise node.unwanted("a point", advice="write the name of a frame, or [frame, [x, y, z]]")
        frame, position = node.items("parts of a point (frame and position)", 2)
        return Point(self.known("frame", frame), position.vector(Quantity.LENGTH))

    def points(self, node: Node, what: str, *words: str) -> dict[str, Any]:
        """The points that `words` of a `node` give, by word; `what` is the node in messages."""
        return {word: self.point(node.need(word, what)) for word in words}

    def located(self, error: FigureError) -> FileError:
        """An `error` that was found in the whole figure, as a FileError that points at the part it is about."""
        node = self.places.get((error.kind, error.name), self.root)
        place = node.place_of(WORD_OF_FIELD.get(error.field, error.field))
        about = f"{error.kind} {error.name!r}: " if error.name else ""
        return place.error(about + error.message, advice=error.advice or "correct this entry")
