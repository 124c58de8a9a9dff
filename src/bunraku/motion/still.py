"""A figure where a motion is wanted: it stands still at its start."""

from __future__ import annotations

from os import PathLike
from typing import Any

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.motion import Motion


def as_motion(thing: Any, path: str | PathLike[str]) -> Motion:
    """The motion itself, or one sample of a figure; nothing else can be written into such a file."""
    if isinstance(thing, Motion):
        return thing
    if isinstance(thing, Figure):
        return Motion.of(thing, [0.0], [thing.start])
    raise FileError(
        f"a {type(thing).__name__} cannot be written into this file", path=str(path), advice="it takes a motion or a figure"
    )
