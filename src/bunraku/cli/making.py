"""Commands that run an order from a file: simulate, optimize, perform, climb, plan, carry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.command import refuse_idle, tell, verb
from bunraku.cli.names import Output, Play, Plot, Seed
from bunraku.cli.ordering import carry_out, order_for
from bunraku.cli.sweeping import telling

DANCE = """[bold]Try:[/bold] write these lines into a file dance.yaml

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
        list[str] | None,
        typer.Option(
            help="Curve for --plot: tension, energy, gap, a variable (elbow, torso_*), or its velocity (v:elbow). May be repeated."
        ),
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Simulate a figure whose strings a puppeteer pulls.

    Ctrl-C stops the simulation and keeps the motion so far.
    """
    if plot is None:
        refuse_idle("add --plot FILE, the file for the curves", curve=curve)
    carry_out(replace(order_for("simulate", file), curves=tuple(curve or ())), output, plot, seed=seed, play=play)


@verb()
def optimize(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An optimisation file: figure, duration, cost, limits.")],
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw reference, motion, inputs and convergence into a PNG, SVG or PDF file.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Find the motion of least cost, and the inputs that cause it.

    Ctrl-C stops the search and keeps the best motion so far.
    """
    carry_out(order_for("optimize", file), output, plot, seed=seed, play=play)


@verb()
def perform(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A show file: figures, places, and a script that says who does what when.")
    ],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the tensions over time into a PNG, SVG or PDF file.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Ignore earlier rehearsals that are stored on disk.")] = False,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Perform a show: a script that says which marionette does what on which beat.

    The script is checked, timed, rehearsed by optimal control, and played with feedback. Rehearsals are stored: after a change,
    only the parts that it affects are rehearsed again. Ctrl-C stops and keeps the finished rehearsals.
    """
    carry_out(replace(order_for("perform", file), again=again), output, plot, seed=seed, play=play)


@verb()
def climb(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A climbing file: the figure and the path.")],
    output: Output = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw accelerations, adhesion and clearance into a PNG, SVG or PDF file.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Let a gecko climb along a path over floors, slopes, steps, walls and ceilings.

    Ctrl-C ends the optimisation and keeps the best motion so far.
    """
    carry_out(order_for("climb", file), output, plot, seed=seed, play=play)


@verb()
def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A planning file: figure, start, goal, scene.")],
    output: Output = None,
    plot: Plot = None,
    tree: Annotated[Path | None, typer.Option(help="Write the search tree into an NPZ file, as arrays.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw the search tree and the scene into a PNG file.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of search trees, each in its own process. Only with 1 does the same seed give the same plan."
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Address of a Dask scheduler; [cyan]local[/cyan] starts one here. Overrides the value in the file."),
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Plan a motion past obstacles to a goal, for a figure that hangs on strings.

    Independent code simulates every plan again and checks it. Ctrl-C stops the search and keeps the best plan so far.
    """
    from bunraku.planning.strings.tree_picture import save_tree, save_tree_picture
    from bunraku.render.plots import require_matplotlib
    from bunraku.verbs.execute import Extra

    if picture is not None:
        require_matplotlib()
    order = order_for("plan", file)
    order = replace(order, workers=workers or order.workers, cluster=cluster or order.cluster)
    extras = (
        Extra(tree, (".npz",), "a tree", save_tree, needs_motion=False),
        Extra(picture, (".png",), "a picture", save_tree_picture, needs_motion=False),
    )
    carry_out(order, output, plot, extras=extras, seed=seed, play=play)


@verb()
def carry(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A carrying file: team, object, scene, start, goal. Try factory, living_room or ramp."),
    ],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw scene, roadmap and path from above into a PNG, SVG or PDF file.")] = None,
    stills: Annotated[Path | None, typer.Option(help="Draw pictures of several moments into one PNG file.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=2, max=100_000, help="Number of samples of the motion. Overrides the value in the file.")
    ] = None,
    runs: Annotated[
        int, typer.Option(min=1, max=10_000, help="Number of seeds to sweep. With more than 1, only the success rate is reported.")
    ] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="With --runs: number of processes. Default: the number of cores.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="With --runs: address of a Dask scheduler; [cyan]local[/cyan] starts one here.")
    ] = None,
    seed: Seed = None,
    play: Play = None,
) -> None:
    """Let people and robots carry a bulky object past obstacles.

    A path is planned for a simplified team of boxes. Then people walk and robots roll along it with the object in their hands, and
    postures are corrected where something would touch. Ctrl-C stops and keeps the last motion.
    """
    from bunraku.sweeps.sweep import sweep
    from bunraku.verbs.carry.plot import save_stills
    from bunraku.verbs.carry.success_rate import summary
    from bunraku.verbs.execute import Extra

    order = order_for("carry", file)
    if runs > 1:
        refuse_idle("--runs only counts successes; leave it out to get files", output=output, plot=plot, stills=stills, play=play)
        over = {} if samples is None else {"samples": [samples]}
        with telling() as progress:
            many = sweep(file, over, seeds=runs, seed=seed, workers=workers, cluster=cluster, progress=progress)
        tell(summary(order.errand, [many.rows[key] for key in many.table["key"]]))
        if many.found:
            tell([("stored", f"{many.found} of these runs were done before, in {many.store.folder}")])
        raise typer.Exit(130 if many.outcome.kind == "stopped" else 0)
    refuse_idle("use them with --runs", workers=workers, cluster=cluster)
    if samples is not None:
        order = replace(order, errand=replace(order.errand, samples=samples))
    extras = [Extra(stills, (".png",), "a picture", save_stills)]
    carry_out(order, output, plot, extras=extras, seed=seed, play=play)
