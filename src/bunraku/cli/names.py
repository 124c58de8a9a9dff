"""Names on the command line (of figures and orders), and options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer


def complete(incomplete: str) -> Iterator[str]:
    """Completions for the Tab key: figures, shipped orders and files whose names begin with `incomplete`."""
    from bunraku.figure import library
    from bunraku.io.shipped import shipped_orders

    yield from (name for name in (*library.names(), *shipped_orders()) if name.startswith(incomplete))
    yield from (str(path) for path in sorted(Path().glob(f"{incomplete}*")) if not path.name.startswith("."))


def thing_named(name: str, *, into: Path | None = None) -> Any:
    """Loads a figure, a scene or a motion. An order is run, and its motion is returned.

    name: a file, or the name of a figure or of an order that comes with bunraku.
    into: the output file; if its format cannot hold a motion, an order is refused before it runs.
    """
    from bunraku.io.outputs import MOTION_SUFFIXES, require
    from bunraku.locomotion.guide.humanoid import Humanoid
    from bunraku.verbs.loading import load
    from bunraku.verbs.order import Order, motion_of

    thing = load(name)
    if isinstance(thing, Order):
        require(into, MOTION_SUFFIXES, "a motion")
        return motion_of(thing.run())
    return thing.figure if isinstance(thing, Humanoid) else thing


Source = Annotated[
    str,
    typer.Argument(
        metavar="FIGURE",
        autocompletion=complete,
        help="A file, or the name of a figure or order that comes with bunraku, such as dance.",
    ),
]

Output = Annotated[
    list[Path] | None,
    typer.Option("--output", "-o", help="Write the motion to an NPZ, CSV, GLB, USD, BVH, MP4 or PNG file. May be repeated."),
]

Plot = Annotated[Path | None, typer.Option(help="Draw curves over time into a PNG, SVG or PDF file.")]

Seed = Annotated[
    int | None,
    typer.Option(min=0, max=2**32 - 1, help="Seed for commands that use random numbers. Overrides the value in the file."),
]

Play = Annotated[
    bool | None,
    typer.Option("--play/--no-play", help="Show the motion in the browser afterwards. Default: only if no file is written."),
]

Browser = Annotated[
    bool | None, typer.Option("--browser/--no-browser", help="Open a browser. Default: only if there is a display.")
]

Port = Annotated[int, typer.Option(min=0, max=65535, help="TCP port of the stage; 0 picks a free one.")]
