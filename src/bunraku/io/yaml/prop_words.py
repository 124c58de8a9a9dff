"""Props in files: free bodies beside the figures.

props: {ball: {is: football, at: [0.3, 0, 0.05]}, stool: {is: stool.yaml}}
"""

from __future__ import annotations

from pathlib import Path

from bunraku.figure import Figure
from bunraku.figure.together import started
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity


def props_of(root: Node, folder: Path) -> dict[str, Figure]:
    """The props of the document `root` by name, each where it begins; their files are relative to `folder`. Raises FileError."""
    node = root.get("props")
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        raise node.unwanted("props by name", advice="write props: {ball: {is: football, at: [0.3, 0, 0.05]}}")
    return {name: _prop(given, folder) for name, given in node.value.items()}


def _prop(given: Node, folder: Path) -> Figure:
    given.words(("is", "at"), "a prop")
    prop = figure_named(given.need("is", "the prop"), folder)
    at = given.get("at")
    if at is None:
        return prop
    free = next((joint for joint in prop.groups if joint.kind == "free"), None)
    if free is None:
        raise at.error(f"{prop.name} is not free to be put anywhere", advice="remove at")
    place = dict(zip((prop.frame(f).variable.name for f in free.frames[:3]), at.vector(Quantity.LENGTH), strict=True))  # type: ignore[union-attr]
    return started(prop, place)
