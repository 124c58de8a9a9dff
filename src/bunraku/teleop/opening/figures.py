"""Every figure of the library, to play with."""

from __future__ import annotations

from bunraku.figure import library
from bunraku.figure.library import named
from bunraku.stage import Entry
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FACE_Y, FROM_SIDE, at_hand


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter("Library", [_entry(name) for name in library.names()])


def _entry(name: str) -> Entry:
    flat = "pendulum" in name or name in ("chain", "arm2d")
    front = FACE_Y if "marionette" in name or name == "actor" else FROM_SIDE if flat else None
    return Entry(
        name.replace("_", " ").capitalize(),
        lambda: at_hand(named(name)),
        f"{library.about(name)} Drag any part of it",
        front=front,
    )
