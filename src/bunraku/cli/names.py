"""What a name on the command line stands for, and options that several verbs have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer


def complete(incomplete: str) -> Iterator[str]:
    from bunraku.figure import library

    yield from (name for name in library.NAMES if name.startswith(incomplete))
    yield from (str(path) for path in sorted(Path().glob(f"{incomplete}*")) if not path.name.startswith("."))


def thing_named(name: str, *, into: Path | None = None) -> Any:
    """A figure of the library, what is in a file, or the motion that a file orders, unless it does not go `into` a file."""
    from bunraku import io
    from bunraku.figure import library
    from bunraku.io.outputs import MOTIONS, require
    from bunraku.verbs.orders import made, order_in

    if order := order_in(name):
        if hasattr(order, "run"):
            require(into, MOTIONS, "a motion")
        return made(order)
    if Path(name).suffix.lower() in io.LOADERS or Path(name).exists():
        return io.load(name)
    return library.named(name)


Source = Annotated[
    str,
    typer.Argument(metavar="FIGURE", autocompletion=complete, help="A name from [cyan]bunraku figures[/cyan], or a file."),
]

Output = Annotated[
    list[Path] | None, typer.Option("--output", "-o", help="The motion: NPZ, CSV, GLB, BVH, MP4 or PNG. May be repeated.")
]

Play = Annotated[bool | None, typer.Option("--play/--no-play", help="Open the stage and play it; done where no file is written.")]

Browser = Annotated[bool | None, typer.Option("--browser/--no-browser", help="Open the page; without a display it is not.")]

Port = Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")]
