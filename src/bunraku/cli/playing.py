"""Verbs that open the stage: play, guide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.command import err, file_entries, open_stage, refuse_idle, tell, verb
from bunraku.cli.names import Browser, Port, complete, thing_named
from bunraku.errors import FileError


@verb(alone=True)
def play(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE", autocompletion=complete, help="Files or names to show; without, the opening show."),
    ] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets others on the network in, with the whole address.")] = "127.0.0.1",
    port: Port = 8360,
    browser: Browser = None,
    folder: Annotated[Path, typer.Option("--out", help="Where video and HTML go when there is no display.")] = Path("out"),
) -> None:
    """Open the stage in the browser: watch, pull strings, record, export.

    Without a display the address is printed, and a video and an HTML page that plays offline are written.
    """
    from bunraku.teleop import opening_show
    from bunraku.teleop.dropped_files import shown

    if folder.exists() and not folder.is_dir():
        raise FileError("not a folder", path=str(folder), advice="name one with --out; it is made where it is missing")
    entries = []
    for name in sources or ():
        entries += file_entries(Path(name)) if Path(name).is_file() else shown(thing_named(name), Path(name).stem)
    open_stage(entries or opening_show(), host=host, port=port, browser=browser, out=folder)


@verb(alone=True)
def guide(
    humanoid: Annotated[str, typer.Argument(help="Our own, called humanoid, or a humanoid file.")] = "humanoid",
    scene: Annotated[Path | None, typer.Argument(help="A scene file; without, a room with two steps and a door.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Play a saved input log into files, without a stage.")] = None,
    output: Annotated[list[Path] | None, typer.Option("--output", "-o", help="With --replay: the motion. May be repeated.")] = None,
    plot: Annotated[Path | None, typer.Option(help="With --replay: loci from above, as PNG, SVG or PDF.")] = None,
    seconds: Annotated[float, typer.Option(min=0.0, max=3600.0, help="With --replay: how long after the last input.")] = 2.0,
    physics: Annotated[bool, typer.Option("--physics", help="In MuJoCo, with position servos and a stabiliser.")] = False,
    joystick: Annotated[int | None, typer.Option(min=0, help="Number of a joystick on this machine (SDL).")] = None,
    joysticks: Annotated[bool, typer.Option("--joysticks", help="List the joysticks of this machine.")] = False,
    port: Port = 8360,
    browser: Browser = None,
) -> None:
    """Guide a humanoid with one hand: a foot, the trunk or a hand follows the stick, the rest of the body follows by itself."""
    from bunraku.verbs.guide import run as guiding

    if joysticks:
        tell(guiding.joysticks())
        return
    if replay is not None:
        refuse_idle("a log is replayed without physics and joystick", physics=physics, joystick=joystick is not None)
        tell(guiding.replayed(humanoid, scene, replay, output or (), plot, seconds=seconds, console=err))
        return
    refuse_idle("they are for --replay; what is guided on the stage is saved from there", output=output, plot=plot)
    one = guiding.entry(humanoid, scene, physics=physics, joystick=joystick)
    one.open()  # what is wrong is said here, not in the browser
    open_stage([one], port=port, browser=browser)
