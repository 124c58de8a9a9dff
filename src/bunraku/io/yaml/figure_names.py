"""The names in a figure file: each is given once, and what refers to one must find it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import FigureError, FileError
from bunraku.figure import WORLD, Point
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.source import near

# Fields of the figure that files give by another word.
WORD_OF = {"eyelets": "through", "variable": "effort"}


@dataclass
class Names:
    """Where every name was given, so that errors can point at it."""

    root: Node
    places: dict[tuple[str, str], Node] = field(default_factory=dict)
    """("frame", "elbow") → the mapping that describes it."""

    def of(self, kind: str) -> list[str]:
        return [name for what, name in self.places if what == kind]

    def take(self, kind: str, name: str, node: Node, word: str = "") -> str:
        """A new name, in the mapping that says it: by this word, or by its first."""
        first = self.places.get((kind, name), self.root if (kind, name) == ("frame", WORLD) else None)
        if first is not None:
            where = "" if first is self.root else f"first used in line {first.line}; "
            words = node.value if isinstance(node.value, dict) else {}
            at = words.get(word) or next(iter(words.values()), node)
            raise at.error(f"the name {name!r} is taken", advice=f"{where}every {kind} has a name of its own")
        self.places[kind, name] = node
        return name

    def known(self, kind: str, node: Node) -> str:
        """The name of a frame or variable that is there."""
        name = node.name(f"a {kind}")
        if (kind, name) not in self.places and (kind, name) != ("frame", WORLD):
            raise node.error(f"no {kind} is called {name!r}", advice=near(name, self.of(kind)))
        return name

    def point(self, node: Node) -> Point:
        """A frame's name, or [name, [x, y, z]]."""
        if isinstance(node.value, str):
            return Point(self.known("frame", node))
        if not isinstance(node.value, tuple):
            raise node.unwanted("a point", advice="write the name of a frame, or [frame, [x, y, z]]")
        frame, position = node.items("parts of a point (frame and position)", 2)
        return Point(self.known("frame", frame), position.vector(Quantity.LENGTH))

    def points(self, node: Node, what: str, *words: str) -> dict[str, Any]:
        return {word: self.point(node.need(word, what)) for word in words}

    def located(self, error: FigureError) -> FileError:
        """What only the whole figure could notice, at the part that it is about."""
        node = self.places.get((error.kind, error.name), self.root)
        place = node.place_of(WORD_OF.get(error.field, error.field))
        about = f"{error.kind} {error.name!r}: " if error.name else ""
        return place.error(about + error.message, advice=error.advice or "correct this entry")
