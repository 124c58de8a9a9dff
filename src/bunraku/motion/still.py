"""A figure as a motion of one sample, at its start."""

from __future__ import annotations

from os import PathLike
from typing import Any

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.motion import Motion


def as_motion(thing: Any, path: str | PathLike[str]) -> Motion:
    """The motion `thing`, or one sample of the figure `thing`; raises FileError, naming `path`, for anything else."""
    if isinstance(thing, Motion):
        return thing
    if isinstance(thing, Figure):
        return Motion.of(thing, [0.0], [thing.start])
    raise FileError(
        f"expected a motion or a figure, got a {type(thing).__name__}", path=str(path), advice="save the motion or the figure"
    )
