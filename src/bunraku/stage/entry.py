"""Entries of the stage's list: recorded motions and live figures."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import MotionError
from bunraku.figure import Figure
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.scene import Scene
from bunraku.sound.soundtrack import Soundtrack
from bunraku.stage.live import Live
from bunraku.stage.prompt_book import PromptBook

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """A quantity over time, for the plots beside the view."""

    name: str
    unit: str
    values: Array

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded motion, and what is shown with it."""

    motion: Motion
    scene: Scene = Scene("stage")
    reference: Motion | None = None
    """Drawn as a ghost, at the times of the motion."""
    series: tuple[Series, ...] = ()
    """Extra quantities to plot, besides energy and constraint error, which the stage computes."""
    book: PromptBook | None = None
    """The script of a show, for those who want to edit it."""
    sound: Soundtrack | None = None
    """What sounds from the first sample on."""

    __repr__ = brief

    def __post_init__(self) -> None:
        for series in self.series:
            if np.shape(series.values) != self.motion.t.shape or not np.isfinite(series.values).all():
                raise MotionError(
                    f"the series {series.name!r} does not fit the motion",
                    advice=f"give one finite number for each of the {len(self.motion)} samples",
                )


def still(figure: Figure, *, scene: Scene = Scene("stage")) -> Recorded:
    """A `figure` that stands at its start in a `scene`."""
    return Recorded(Motion.of(figure, [0.0], figure.start[None]), scene)


Shown = Motion | Recorded | Live


@dataclass(frozen=True)
class Entry:
    """A line of the list: a recorded motion, a live figure, or a function that makes one when a visitor first opens it."""

    title: str
    shows: Shown | Callable[..., Shown]
    """What is shown, or a function that makes it; a slow one may take a `progress` argument."""
    about: str = ""
    group: str = ""
    front: tuple[float, float] | None = None
    """Horizontal direction from the figure to the audience; by default the one with the best view."""

    def open(self, *, progress: Listener | None = None) -> Recorded | Live:
        """What it shows, made now if it is a function. `progress` receives the progress of the function, if it reports any."""
        thing: Shown = called(self.shows, progress=progress) if callable(self.shows) else self.shows
        return Recorded(thing) if isinstance(thing, Motion) else thing


def called(function: Callable[..., Any], *args: object, progress: Listener | None) -> Any:
    """What a `function` of `args` returns; `progress` is passed on if there is one and the function takes it."""
    takes_it = progress is not None and "progress" in inspect.signature(function).parameters
    return function(*args, progress=progress) if takes_it else function(*args)
