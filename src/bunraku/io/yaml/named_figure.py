"""Figures that a file names: one of the library, a robot, or another file beside it."""

from __future__ import annotations

from pathlib import Path

from bunraku.errors import MissingExtra, UnknownName, did_you_mean, parts
from bunraku.figure import Figure, library
from bunraku.io import LOADERS, RECORDINGS, load
from bunraku.io.yaml.figure_file import figure_of
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.shape_words import file_named


def figure_named(node: Node, folder: Path) -> Figure:
    """The figure that `node` holds, or names: one of the library, a robot, or the one in a file, whose path starts at `folder`."""
    if isinstance(node.value, dict):
        return figure_of(node, folder)
    name = node.scalar("the name of a figure or of a file")
    if name.startswith("robot:"):
        try:
            robot: Figure = load(name)
        except (UnknownName, MissingExtra) as error:
            message, advice = parts(error)
            raise node.error(message, advice=advice) from None
        return robot
    suffixes = tuple(suffix for suffix in LOADERS if suffix not in (".csv", ".npz", *RECORDINGS))
    if Path(name).suffix.lower() in LOADERS:
        thing = load(file_named(node, folder, suffixes, "a figure file"))
        if not isinstance(thing, Figure):
            raise node.error(
                f"expected a figure in {name!r}, got a {type(thing).__name__.lower()}", advice="name a file that holds a figure"
            )
        return thing
    try:
        return library.named(name)
    except UnknownName:
        raise node.error(f"no figure is called {name[:40]!r}", advice=did_you_mean(name, library.names())) from None
