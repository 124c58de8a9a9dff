"""Verbs that open the stage: play, guide."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bunraku.cli.command import file_entries, open_stage, refuse_idle, tell, verb
from bunraku.cli.names import Browser, Output, Play, Port, Seed, complete, thing_named
from bunraku.cli.ordering import carry_out, order_for
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
    humanoid: Annotated[
        str,
        typer.Argument(
            metavar="HUMANOID", help="A humanoid file, a guiding file with inputs, or the name of one that comes with bunraku."
        ),
    ] = "humanoid",
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the paths of centre of mass, ZMP, feet and hands from above, as PNG, SVG or PDF.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
    scene: Annotated[Path | None, typer.Option(help="A scene file. Default: a room with two steps and a door.")] = None,
    replay: Annotated[Path | None, typer.Option(help="Run a saved input log instead of live input.")] = None,
    seconds: Annotated[
        float | None, typer.Option(min=0.0, max=3600.0, help="With --replay: how long to go on after the last input [s].")
    ] = None,
    physics: Annotated[bool, typer.Option("--physics", help="Simulate in MuJoCo, with position servos and a stabiliser.")] = False,
    joystick: Annotated[int | None, typer.Option(min=0, help="Number of a joystick on this machine (SDL).")] = None,
    joysticks: Annotated[bool, typer.Option("--joysticks", help="List the joysticks of this machine.")] = False,
    port: Port = 8360,
    browser: Browser = None,
) -> None:
    """Guide a humanoid with one stick, or keys: its foot, trunk or hand follows the stick, and the rest of its body follows.

    A guiding file, or --replay, runs saved inputs; only then do --output, --plot, --seed and --play apply. Ctrl-C keeps the motion
    so far.
    """
    from bunraku.verbs.guide import run as guiding
    from bunraku.verbs.guide.file import GuideOrder

    if joysticks:
        tell(guiding.joysticks())
        return
    order = None if humanoid == "humanoid" else _guiding_order(humanoid)
    if order is not None:
        refuse_idle("write them into the file", scene=scene, physics=physics, seconds=seconds is not None)
        refuse_idle("the file has its own inputs", replay=replay, joystick=joystick is not None)
    elif replay is not None:
        refuse_idle("a log has its own inputs", joystick=joystick is not None)
        order = GuideOrder.of_log(humanoid, replay, scene=scene, physics=physics, seconds=2.0 if seconds is None else seconds)
    if order is not None:
        carry_out(order, output, plot, seed=seed, play=play)
    refuse_idle(
        "they are for a guiding file or --replay; what is guided on the stage is saved from there", output=output, plot=plot,
        seed=seed is not None, play=play is not None,
    )  # fmt: skip
    one = guiding.entry(humanoid, scene, physics=physics, joystick=joystick)
    one.open()  # so that errors are told here and not in the browser
    open_stage([one], port=port, browser=browser)


def _guiding_order(name: str) -> Any:
    """The guiding order in the file `name`, or the shipped one of that name; None for any other file."""
    from bunraku.io.shipped import found
    from bunraku.io.yaml import yaml_reader

    file = found(name)
    if not file.is_file() or yaml_reader.read(file).get("guide") is None:
        return None
    return order_for("guide", name)
