"""What the nested notation is made of: nodes, and what is attached to their frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bunraku.figure.frame import WORLD, Frame
from bunraku.figure.mass import Body
from bunraku.figure.shape import Shape


@dataclass(frozen=True)
class FrameNode:
    """A frame, or the frames of one joint, with the nodes and attached parts in it."""

    frames: tuple[Frame, ...]
    children: tuple[Item, ...] = ()
    kind: str = ""
    parent: str = WORLD


@dataclass(frozen=True)
class Attached:
    """Bodies and shapes that are fixed in the frame that they are nested in."""

    bodies: tuple[Body, ...] = ()
    shapes: tuple[Shape, ...] = ()
    parent: str = WORLD


Item = FrameNode | Attached


def under(parent: str, item: Item) -> Item:
    """The `item`, below the frame called `parent` though it is not nested in it."""
    return replace(item, parent=parent)
