"""Runs an order for the command line: checks file names first, shows progress bars, reports, and writes files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from bunraku.io.outputs import require
from bunraku.kernels.clock import worked
from bunraku.motion import Motion
from bunraku.render import plots
from bunraku.verbs.bars import bars
from bunraku.verbs.order import Made, Order

Say = Callable[[str, str], None]
"""Prints a title and a text."""


@dataclass(frozen=True)
class Extra:
    """An additional file that a verb can write, besides motion and plot: a tree, a picture."""

    path: Path | None
    """The file; None if it was not requested."""
    suffixes: tuple[str, ...]
    """Allowed suffixes."""
    what: str
    """A noun for messages: "a picture"."""
    write: Callable[[Any, Path], None]
    """Writes the result of the order to a path."""
    needs_motion: bool = True
    """Whether it can be written only if there is a motion."""


def execute(
    order: Order, *, output: Sequence[Path] = (), plot: Path | None = None, extras: Iterable[Extra] = (), seed: int | None = None,
    console: Console, say: Say,
) -> Made:  # fmt: skip
    """Runs an order, prints its report and writes its files.

    order: the order.
    output: files for the motion; by default those that the order names.
    plot: a file for the plot.
    extras: additional files.
    seed: overrides that of the order.
    console: where progress bars are drawn.
    say: prints a line of the report.
    Returns the result. Raises FileError before the work begins if a file could not be written.
    """
    files, extras = tuple(output or order.output), tuple(extras)
    order.require(files)
    require(plot, plots.PLOT_SUFFIXES, "a plot")
    for extra in extras:
        require(extra.path, extra.suffixes, extra.what)
    with bars(console) as progress:
        begun = worked()
        done = order.run(seed=seed, progress=progress)
        took = worked() - begun
    for title, text in order.report(done):
        say(title, text)
    motion = done if isinstance(done, Motion) else done.motion
    moved = motion is not None
    pace = f", {motion.duration / max(took, 1e-9):.3g}× real time" if motion is not None else ""
    say("took", f"{took:.3g} s of processor time{pace}")
    for path in files if moved else ():
        for written in order.save(done, path):
            say("wrote", str(written))
    if plot is not None and moved:
        order.plot(done, plot)
        say("wrote", str(plot))
    for extra in extras:
        if extra.path is not None and (moved or not extra.needs_motion):
            extra.write(done, extra.path)
            say("wrote", str(extra.path))
    return done
