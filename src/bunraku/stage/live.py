"""What the stage needs to know of something that is moved live: a simulation, a figure posed by hand, a walker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.scene import Scene
from bunraku.stage.hand_commands import Command

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Where everything is at one moment. Tuples have an item for each figure."""

    t: float
    q: tuple[Array, ...]
    tension: tuple[Array, ...] = ()
    """Of each figure's strings, then wires [N]; empty where nothing is known of forces."""
    series: tuple[float, ...] = ()
    """In the order of `Live.series`."""
    at_limit: tuple[tuple[int, str], ...] = ()
    """Strings (figure, name) that are pulled to where no configuration reaches."""
    notices: tuple[str, ...] = ()
    """What the person should hear, once."""


class Live(Protocol):
    """1. `reset` brings back the start, to the last bit.
    2. `apply` takes a command between two steps. One that cannot be obeyed is obeyed as far as possible, and
       the next sample says so; it never raises for what a hand does.
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
        """Which parts can be pulled: "spindle", "hook", "body"."""
        ...

    @property
    def sticks(self) -> tuple[str, ...]:
        """What each stick does, for the person to read; nothing where sticks do nothing."""
        ...

    @property
    def series(self) -> tuple[tuple[str, str], ...]:
        """Names and units of the numbers that a sample carries besides."""
        ...

    def reset(self) -> Sample: ...
    def apply(self, command: Command) -> None: ...
    def step(self) -> Sample: ...


@runtime_checkable
class Listening(Protocol):
    """A Live that a device at this machine drives as well."""

    def heard(self) -> tuple[Command, ...]:
        """What it says, where that has changed; asked for before a step. It goes into the log and to `apply`, like all else."""
        ...
