"""What a figure is nested of: nodes, and what is attached to their frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bunraku.figure.frame import WORLD, Frame
from bunraku.figure.mass import Body
from bunraku.figure.shape import Shape


@dataclass(frozen=True)
class Node:
    """A frame, or the frames of one joint, with its children."""

    frames: tuple[Frame, ...]
    children: tuple[Item, ...] = ()
    kind: str = ""
    parent: str = WORLD


@dataclass(frozen=True)
class Attached:
    """A body or a shape that takes the frame that it stands in."""

    bodies: tuple[Body, ...] = ()
    shapes: tuple[Shape, ...] = ()
    parent: str = WORLD


Item = Node | Attached


def under(parent: str, item: Item) -> Item:
    """An item that is listed beside its parent, not nested in it."""
    return replace(item, parent=parent)
