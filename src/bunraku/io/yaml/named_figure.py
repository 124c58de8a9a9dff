"""Figures that a file of ours names: one of the library, or another file beside it."""

from __future__ import annotations

from pathlib import Path

from bunraku.errors import UnknownName
from bunraku.figure import Figure, library
from bunraku.io import LOADERS, load
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.shape_words import file_named
from bunraku.io.yaml.source import near


def figure_named(node: Node, folder: Path) -> Figure:
    """A figure of the library by its name, or the one in a file."""
    name = node.scalar("the name of a figure or of a file")
    suffixes = tuple(suffix for suffix in LOADERS if suffix not in (".csv", ".npz", ".bvh"))
    if Path(name).suffix.lower() in LOADERS:
        thing = load(file_named(node, folder, suffixes, "a figure file"))
        if not isinstance(thing, Figure):
            raise node.error(f"a {type(thing).__name__.lower()} is in {name!r}, not a figure", advice="name a file that holds one")
        return thing
    try:
        return library.named(name)
    except UnknownName:
        raise node.error(f"no figure is called {name[:40]!r}", advice=near(name, library.NAMES)) from None
