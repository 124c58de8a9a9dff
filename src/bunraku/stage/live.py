"""The interface of everything that runs live on the stage: a simulation, a figure posed by hand, a walker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.motion.laid_strings import LaidPoints
from bunraku.scene import Scene
from bunraku.stage.hand_commands import Command

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """The state of a live entry at one time. Tuples have one item per figure."""

    t: float
    q: tuple[Array, ...]
    tension: tuple[Array, ...] = ()
    """Tensions of each figure's strings, then wires [N]; empty if forces are not known."""
    series: tuple[float, ...] = ()
    """Values in the order of `Live.series`."""
    at_limit: tuple[tuple[int, str], ...] = ()
    """Strings (figure, name) that are pulled farther than any configuration reaches."""
    notices: tuple[str, ...] = ()
    """Messages for the visitors, each shown once."""
    laid: tuple[LaidPoints, ...] = ()
    """Where strings of each figure lie on bodies; empty if none can."""


class Live(Protocol):
    """1. `reset` returns to the start, exactly.
    2. `apply` takes a `command` between two steps. An impossible one is followed as far as possible, and the next sample says so;
       it never raises.
    3. `step` advances by `dt`. The same commands before the same steps give the same samples.
    """

    @property
    def figures(self) -> tuple[Figure, ...]: ...
    @property
    def scene(self) -> Scene: ...
    @property
    def dt(self) -> float: ...
    @property
    def pulls(self) -> frozenset[str]:
        """Which parts can be pulled: "spindle", "hook", "body"; and "pin" where points of bodies can be pinned."""
        ...

    @property
    def sticks(self) -> tuple[str, ...]:
        """What each stick does, in words; empty if sticks do nothing."""
        ...

    @property
    def series(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the extra quantities of a sample."""
        ...

    def reset(self) -> Sample:
        """Goes back to the start."""
        ...

    def apply(self, command: Command) -> None:
        """Takes a `command` before the next step."""
        ...

    def step(self) -> Sample:
        """Advances by `dt`."""
        ...


@runtime_checkable
class Listening(Protocol):
    """A Live entry that an input device of this machine can drive too."""

    def heard(self) -> tuple[Command, ...]:
        """Commands of the device, if its state has changed. The run polls before each step, logs them and applies them."""
        ...
