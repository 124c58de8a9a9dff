"""Verbs that make a motion of what a file says: simulate, optimize, perform, climb, plan, carry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.command import err, refuse_idle, tell, verb
from bunraku.cli.names import Output, Play, Plot, Seed
from bunraku.cli.ordering import carry_out, order_for

DANCE = """[bold]Try:[/bold] these lines in a file dance.yaml

[cyan]simulate: marionette25[/cyan]

[cyan]duration: 3 s[/cyan]

[cyan]puppeteer: {right_arm_length: {by: [[0, 0], [1, -20 cm], [3, 0]]}}[/cyan]

and then

[cyan]bunraku simulate dance.yaml -o dance.mp4 --plot tension.png[/cyan]
"""


@verb(epilog=DANCE)
def simulate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A simulation file: figure, duration, puppeteer.")],
    output: Output = None,
    plot: Plot = None,
    curve: Annotated[
        list[str] | None, typer.Option(help="What --plot draws: tension, energy, gap, elbow, v:elbow, torso_*. May be repeated.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Simulate a figure whose strings a puppeteer pulls.

    Ctrl-C stops it and keeps the motion so far.
    """
    if plot is None:
        refuse_idle("name a file for the curves with --plot FILE", curve=curve)
    carry_out(replace(order_for("simulate", file), curves=tuple(curve or ())), output, plot, seed=seed, play=play)


@verb()
def optimize(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An optimisation file: figure, duration, cost, limits.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw references, motion, inputs and search into a PNG, SVG or PDF.")] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Find the motion of least cost, and the inputs that lead to it.

    Ctrl-C stops it and keeps the best so far.
    """
    carry_out(order_for("optimize", file), output, plot, seed=seed, play=play)


@verb()
def perform(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A show file: figures, places, and a script of cues.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the tensions over time into a PNG, SVG or PDF.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Rehearse everything again, also what is on disk.")] = False,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Perform a show that a person wrote: puppets, counts, cues.

    The script is checked, timed, rehearsed by optimal control and played under feedback. Change a cue, and only what depends on
    it is rehearsed again. Ctrl-C stops it and keeps what is rehearsed.
    """
    carry_out(replace(order_for("perform", file), again=again), output, plot, seed=seed, play=play)


@verb()
def climb(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A climbing file: who climbs, and the path.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw accelerations, adhesion and clearance into a PNG, SVG or PDF.")] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Let a gecko climb a path: floors, slopes, curves, steps, walls and ceilings.

    Ctrl-C ends the optimisation and keeps the best so far.
    """
    carry_out(order_for("climb", file), output, plot, seed=seed, play=play)


@verb()
def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A planning file: figure, start, goal, scene.")],
    output: Output = None,
    plot: Plot = None,
    tree: Annotated[Path | None, typer.Option(help="Write the search tree as arrays into an NPZ file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the tree over the scene into a PNG.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of search trees, each in its own process. With 1, the same seed gives the same plan."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler, or [cyan]local[/cyan]. Overrides the value in the file.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Plan a motion to a goal among obstacles, for a figure that hangs on strings.

    Every plan is simulated again and rechecked by independent code. Ctrl-C stops the search and keeps the best plan so far.
    """
    from bunraku.planning.strings.tree_picture import save_tree, save_tree_picture
    from bunraku.verbs.execute import Extra

    order = order_for("plan", file)
    order = replace(order, workers=workers or order.workers, cluster=cluster or order.cluster)
    extras = (
        Extra(tree, (".npz",), "a tree", save_tree, needs_motion=False),
        Extra(picture, (".png",), "a picture", save_tree_picture, needs_motion=False),
    )
    carry_out(order, output, plot, extras=extras, seed=seed, play=play)


@verb()
def carry(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A carrying file, or one of ours: factory, living_room, ramp.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw scene, roadmap and path from above into a PNG, SVG or PDF.")] = None,
    stills: Annotated[Path | None, typer.Option(help="Draw a sheet of moments along the path into a PNG.")] = None,
    samples: Annotated[int | None, typer.Option(min=2, max=100_000, help="Of the motion. Overrides the value in the file.")] = None,
    runs: Annotated[int, typer.Option(min=1, max=10_000, help="Run N seeds and report the success rate.")] = 1,
    workers: Annotated[int | None, typer.Option(min=1, help="With --runs: processes. Default: as many as cores.")] = None,
    cluster: Annotated[str | None, typer.Option(help="With --runs: a Dask scheduler, or [cyan]local[/cyan].")] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Let people and robots carry something bulky through clutter.

    It learns a roadmap for the reduced team, finds and times a path, lets people walk and robots roll along it while arms hold, and
    tunes away what touches. Ctrl-C stops it and keeps the last motion.
    """
    from bunraku.verbs.bars import bars
    from bunraku.verbs.carry.many_seeds import run_many, summary
    from bunraku.verbs.carry.plot import save_stills
    from bunraku.verbs.execute import Extra

    order = order_for("carry", file)
    if samples is not None:
        order = replace(order, errand=replace(order.errand, samples=samples))
    if runs > 1:
        refuse_idle("--runs counts successes; carry once to get files", output=output, plot=plot, stills=stills, play=play)
        with bars(err) as progress:
            many = run_many(order.errand, runs, first=seed or 0, workers=workers, cluster=cluster, progress=progress)
        tell(summary(order.errand, many))
        return
    refuse_idle("they are for --runs", workers=workers, cluster=cluster)
    extras = [Extra(stills, (".png",), "a picture", save_stills)]
    carry_out(order, output, plot, extras=extras, seed=seed, play=play)
