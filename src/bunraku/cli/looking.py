"""Commands that show and convert files: figures, show, check, convert, blender."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bunraku.cli.command import err, out, say, verb
from bunraku.cli.names import Source, complete, thing_named
from bunraku.errors import BunrakuError


@verb(alone=True)
def figures() -> None:
    """List the figures that come with bunraku."""
    from bunraku.figure import library

    wide = out.width >= 116  # otherwise the description is printed on a second line
    row = "{:<18}  {:>9}  {:>6}  {:>7}  {:>8}"
    out.print(row.format("name", "variables", "bodies", "strings", "mass"), style="bold", highlight=False)
    for name in library.names():
        figure = library.named(name)
        kinematic = len(figure.kinematic)
        variables = f"{figure.n_dynamic} + {kinematic}" if kinematic else figure.n_dynamic
        numbers = row.format(name, variables, len(figure.bodies), len(figure.strings) or "", f"{figure.mass:.3g} kg")
        about = f"[dim]{library.about(name)}[/dim]"
        out.print(f"[cyan]{name}[/cyan]{numbers[len(name) :]}  {about if wide else ''}", highlight=False)
        if not wide:
            out.print(f"  {about}", highlight=False)
    out.print(
        "\nvariables: number moved by physics + number set by the puppeteer. chain12 is a chain of twelve rods.",
        style="dim",
        highlight=False,
    )


@verb()
def show(
    figure: Source,
    png: Annotated[
        Path | None, typer.Option(help="Write a picture to this file; for a motion, a sheet with pictures of several moments.")
    ] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Print the tree of frames, with strings and inputs.")] = False,
    size: Annotated[int, typer.Option(min=16, max=4096, help="Width and height of the picture in pixels.")] = 800,
) -> None:
    """Print a figure's tree of frames, or draw it.

    Also shows motions and scenes. An order is run first; then its motion is shown. With --png a picture is drawn and nothing is
    printed; add --tree for both.
    """
    from bunraku.figure import Figure
    from bunraku.io import summaries
    from bunraku.io.outputs import require
    from bunraku.motion import Motion

    require(png, (".png",), "a picture")
    thing = thing_named(figure)
    if tree or png is None:
        for one in thing.tracks if isinstance(thing, Motion) else (thing,):
            shown = one.figure if isinstance(thing, Motion) else one
            if isinstance(shown, Figure):
                out.print(summaries.tree(shown), highlight=False)
            else:
                say(summaries.summary(shown))
    if png is not None:
        _picture(thing, png, size)
        say(f"wrote {png}")


@verb()
def check(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", autocompletion=complete, help="Files, or names of figures and orders that come with bunraku."
        ),
    ],
) -> None:
    """Read files and report what each contains, or what is wrong and where; humanoids try a step, a turn and reaching.

    The exit status is 1 if any file is broken.
    """
    from bunraku.io import summaries
    from bunraku.locomotion.guide.first_steps import first_steps
    from bunraku.locomotion.guide.humanoid import Humanoid
    from bunraku.verbs.loading import load
    from bunraku.verbs.order import Order

    broken = 0
    for file in files:
        try:
            thing = load(file)
        except BunrakuError as error:
            broken += 1
            say(str(error), style="red", to=err)
            continue
        hints = summaries.hints(thing)
        say(f"{'!' if hints else '✓'} {file}: {summaries.summary(thing)}", style="yellow" if hints else "green")
        for hint in hints:
            say(f"  {hint}", style="yellow")
        for note in thing.notes() if isinstance(thing, Order) else first_steps(thing) if isinstance(thing, Humanoid) else ():
            say(f"  {note}")
    if broken:
        raise typer.Exit(1)


@verb()
def convert(
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            autocompletion=complete,
            help="A file, or the name of a figure or order. An order is run to get its motion.",
        ),
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The output file; its suffix selects the format.")],
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Convert a figure, scene or motion to another file format.

    Reads YAML, URDF, SDF, MJCF, BVH, glTF, USD, C3D, TRC, CSV, NPZ and MCAP; writes YAML, MJCF, BVH, GLB, USD, CSV, NPZ, MCAP,
    RRD, MP4 and PNG.
    """
    from bunraku import io
    from bunraku.errors import FileError
    from bunraku.io.outputs import require

    if target.exists() and not force:
        raise FileError("exists already", path=str(target), advice="choose another name, or add --force")
    require(target, io.SAVERS, "a figure, a scene or a motion")
    io.save(thing_named(source, into=target), target)
    say(f"wrote {target}")


@verb()
def blender(
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The ZIP file to write.")],
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Write the add-on for Blender, which simulates, imitates, follows a stage, and bakes.

    Install the file in Blender: Edit, Preferences, Add-ons, Install from Disk. Then set the Python of bunraku in its preferences.
    """
    import sys

    from bunraku.blender import save_addon
    from bunraku.errors import FileError
    from bunraku.io.outputs import require

    if target.exists() and not force:
        raise FileError("exists already", path=str(target), advice="choose another name, or add --force")
    require(target, (".zip",), "the add-on")
    save_addon(target)
    say(f"wrote {target}; the Python of bunraku is {sys.executable}")


def _picture(thing: Any, path: Path, size: int) -> None:
    """Draws a figure or a scene as one picture, a motion as a sheet of pictures."""
    from bunraku import io
    from bunraku.figure import Figure
    from bunraku.motion import Motion

    if isinstance(thing, Motion):
        io.save(thing, path)
        return
    from bunraku.render.image import image
    from bunraku.render.video import save_pixels

    pixels = image(thing, size=(size, size)) if isinstance(thing, Figure) else image([], scene=thing, size=(size, size))
    save_pixels(pixels, path)
