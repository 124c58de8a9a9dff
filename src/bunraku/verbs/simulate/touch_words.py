"""The word `touch` of files: `all`, pairs of names, or a mapping of both with how surfaces meet."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Literal

from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair
from bunraku.collision.manifold.touch_world import known_names
from bunraku.errors import did_you_mean
from bunraku.figure import Figure
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.scene import Scene


def touch_of(node: Node | None, figure: Figure, scene: Scene | None) -> Touch | None:
    """The rules of touch in `node`, for bodies of `figure` and `scene`; None where it is missing or says `nothing`.

    Raises FileError where it says something else, or names what is not there.
    """
    if node is None or node.value == "nothing":
        return None
    if node.value == "all":
        return Touch()
    known = known_names(figure, scene)
    if isinstance(node.value, tuple):
        return Touch(_pairs(node, Matter(), known))
    if not isinstance(node.value, dict):
        raise node.unwanted("all, nothing, or pairs of names", advice="write touch: all, or touch: [[ball, floor]]")
    node.words((*_surface_words(), "pairs", "own", "except", "strings"), "touch")
    matter = _matter(node, Matter())
    pairs = node.get("pairs")
    return Touch(
        "all" if pairs is None or pairs.value == "all" else _pairs(pairs, matter, known),
        matter,
        _pairs(node.get("own"), matter, known),
        tuple((pair.a, pair.b) for pair in _pairs(node.get("except"), None, known)),
        _strings(node.get("strings"), tuple(rope.name for rope in figure.strings)),
    )


def _strings(node: Node | None, known: tuple[str, ...]) -> Literal["all"] | tuple[str, ...]:
    """Names of the strings that lie on bodies, of those that are `known`."""
    if node is None or node.value == "all":
        return () if node is None else "all"
    for entry in node.items("names of strings"):
        if entry.name("a string") not in known:
            raise entry.error(f"no string is called {entry.value!r}", advice=did_you_mean(str(entry.value), known))
    return tuple(entry.name("a string") for entry in node.items("names of strings"))


def _surface_words() -> tuple[str, ...]:
    """Words that say how surfaces meet."""
    return tuple(field.name for field in fields(Matter))


def _matter(node: Node, others: Matter) -> Matter:
    """How surfaces meet: what `node` says, and `others` for what it does not."""
    measures = {"adhesion": Quantity.FORCE, "rolling": Quantity.LENGTH}
    said = {word: node.get(word) for word in _surface_words()}
    values = {word: at.number(measures.get(word, Quantity.NUMBER)) for word, at in said.items() if at is not None}
    with node.blamed():
        return replace(others, **values)


def _pairs(node: Node | None, matter: Matter | None, known: tuple[str, ...]) -> tuple[TouchPair, ...]:
    """The pairs of names in `node`; with a `matter`, a third entry of a pair may change some of it."""
    return () if node is None else tuple(_pair(item, matter, known) for item in node.items("pairs of names"))


def _pair(node: Node, matter: Matter | None, known: tuple[str, ...]) -> TouchPair:
    entries = node.items("two names")
    if not 2 <= len(entries) <= (2 if matter is None else 3):
        raise node.error(f"expected two names, got {len(entries)}", advice="write a pair as [ball, floor]")
    names = []
    for entry in entries[:2]:
        names.append(entry.name("a shape, frame or obstacle"))
        if names[-1] not in known:
            raise entry.error(f"no shape, frame or obstacle is called {names[-1]!r}", advice=did_you_mean(names[-1], known))
    own = None
    if len(entries) == 3 and matter is not None:
        entries[2].words(_surface_words(), "a pair that touches")
        own = _matter(entries[2], matter)
    return TouchPair(names[0], names[1], own)
