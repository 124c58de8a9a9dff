"""Order: a task for a verb. Every verb has one subclass, in verbs/<verb>/file.py."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bunraku.brief import brief
from bunraku.io.outputs import require_outputs, save_motion
from bunraku.io.shipped import found
from bunraku.io.yaml import yaml_reader
from bunraku.motion import Motion
from bunraku.outcome import DONE, STOPPED, Outcome
from bunraku.progress import Listener
from bunraku.result import Result

if TYPE_CHECKING:
    from bunraku.io.yaml.node import Node
    from bunraku.stage import Recorded

Made = Result | Motion
"""The result of an order: a simulation cannot fail and returns its Motion, every other verb returns a Result."""


class Order(ABC):
    """The base of `SimulateOrder`, `OptimizeOrder`, `PerformOrder`, `PlanOrder`, `CarryOrder`, `GuideOrder` and `ClimbOrder`.

    An order is a frozen dataclass: the figure, the scene, the task, and options under the names that the file and the Python
    function share. Its text (`str`) describes it in one line.

        order = bunraku.load("dance.yaml")
        motion = order.run()
    """

    verb: ClassVar[str]
    """The first word of its files, the name of the function and of the command."""
    words: ClassVar[tuple[str, ...]]
    """All keys at the top level of its files, the verb first."""
    random: ClassVar[bool] = False
    """Whether it draws random numbers, so that another seed gives another result."""
    document: tuple[Node, Path] | None = None
    """The document that it was loaded from, and the folder of that file; None for an order made or changed in Python."""
    if TYPE_CHECKING:  # fields of the dataclasses, or properties

        @property
        def title(self) -> str:
            """Its title on the stage."""

        @property
        def output(self) -> tuple[Path, ...]:
            """Files that its motion is written to, unless the command line names others."""

    def notes(self) -> Iterator[str]:
        """What `bunraku check` says about it besides its summary, a line each."""
        yield from ()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The order in a file, checked.

        path: the file, or the name of an order that comes with bunraku.
        Returns the order; raises FileError, with line and advice, if the file is broken or is for another verb.
        """
        file = found(Path(path))
        root = yaml_reader.read(file)
        order = cls.read(root, file.parent)
        object.__setattr__(order, "document", (root, file.parent))
        return order

    @classmethod
    @abstractmethod
    def read(cls, root: Node, folder: Path) -> Self:
        """The order in a document.

        root: the document.
        folder: file names in the document are relative to it.
        Returns the order; raises FileError, which points at the first mistake.
        """

    @abstractmethod
    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Made:
        """Executes the order; writes no files.

        seed: seed of the random numbers; by default that of the order.
        progress: called with its progress.
        Returns the result (of a simulation, the motion); after Ctrl-C the best so far, with an outcome of the kind "stopped".
        """

    # Used by the command line and the stage:

    def require(self, output: Sequence[Path]) -> None:
        """Raises FileError, before any work is done, if the format of a file in `output` cannot hold the motion."""
        require_outputs(output)

    def report(self, done: Any) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text about the result `done`. The outcome comes first if there is one."""
        yield from done.report()

    def save(self, done: Any, path: Path) -> Iterator[Path]:
        """Writes the motion of the result `done` to `path`, and yields the names of the written files."""
        save_motion(motion_of(done), path, getattr(done, "scene", None), sound=getattr(done, "sound", None))
        yield path

    @abstractmethod
    def plot(self, done: Any, path: Path) -> None:
        """Draws the most informative curves of the result `done` into the file `path` (PNG, SVG or PDF)."""

    def recorded(self, done: Any) -> Recorded:
        """What the stage shows of the result `done`."""
        from bunraku.stage import Recorded

        scene = getattr(done, "scene", None)
        motion = motion_of(done)
        return Recorded(motion) if scene is None else Recorded(motion, scene)

    __repr__ = brief


def motion_of(done: Made) -> Motion:
    """The motion of `done`; raises the outcome as an error if there is none."""
    from bunraku.errors import BunrakuError

    motion = done if isinstance(done, Motion) else done.motion
    if motion is None:
        raise BunrakuError(str(outcome_of(done)))
    return motion


def outcome_of(done: Made) -> Outcome:
    """The outcome of `done`: a simulation is done, unless Ctrl-C stopped it."""
    if isinstance(done, Motion):
        return STOPPED if any(mark.kind == "stopped" for mark in done.marks) else DONE
    return done.outcome
