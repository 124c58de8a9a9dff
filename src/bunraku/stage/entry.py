"""What the stage shows: recorded motions and live figures, each an entry of the list at the side."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import MotionError
from bunraku.figure import Figure
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.scene import Scene
from bunraku.stage.live import Live

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Series:
    """A number over time, for the plots beside the view."""

    name: str
    unit: str
    values: Array

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Recorded:
    """A motion, and what is shown with it."""

    motion: Motion
    scene: Scene = Scene("stage")
    reference: Motion | None = None
    """Drawn as a ghost; times are the motion's."""
    series: tuple[Series, ...] = ()
    """Besides what the stage finds by itself: energy and constraint error."""

    __repr__ = brief

    def __post_init__(self) -> None:
        for series in self.series:
            if np.shape(series.values) != self.motion.t.shape or not np.isfinite(series.values).all():
                raise MotionError(
                    f"the series {series.name!r} does not fit the motion",
                    advice=f"one finite number for each of the {len(self.motion)} samples",
                )


def still(figure: Figure, *, scene: Scene = Scene("stage")) -> Recorded:
    """A `figure` that stands at its start in a `scene`."""
    return Recorded(Motion.of(figure, [0.0], figure.start[None]), scene)


Shown = Motion | Recorded | Live


@dataclass(frozen=True)
class Entry:
    """A line of the list: a motion, recorded or live, or a function that makes one when a visitor first opens it."""

    title: str
    shows: Shown | Callable[..., Shown]
    """What is shown, or a function that makes it; where that takes long, it may take `progress`."""
    about: str = ""
    group: str = ""
    front: tuple[float, float] | None = None
    """Direction of the audience from the figure, in the plane of the floor; by default where it sees most."""

    def open(self, *, progress: Listener | None = None) -> Recorded | Live:
        """What it shows; made now, if it is a function that makes it. `progress` hears how far that is, if the function tells."""
        if not callable(self.shows):
            thing = self.shows
        elif progress is not None and "progress" in inspect.signature(self.shows).parameters:
            thing = self.shows(progress=progress)
        else:
            thing = self.shows()
        return Recorded(thing) if isinstance(thing, Motion) else thing
