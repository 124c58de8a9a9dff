"""The command line: a function per verb. Heavy imports stand inside, so that `bunraku --help` answers at once.

To add a verb, write a function with `@verb`: its signature is the command's, its docstring the help.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from bunraku.errors import BunrakuError

Verb = TypeVar("Verb", bound=Callable[..., Any])

EXAMPLES = """[bold]Try[/bold]

[cyan]bunraku play[/cyan]  the show, in the browser

[cyan]bunraku figures[/cyan]  what is there

[cyan]bunraku show marionette25 --png puppet.png[/cyan]  a picture

[cyan]bunraku convert marionette22 puppet.yaml[/cyan]  a figure as a file that you can edit

[cyan]bunraku check puppet.yaml[/cyan]  is it still whole?

[cyan]bunraku simulate dance.yaml -o dance.mp4[/cyan]  pull its strings

[cyan]bunraku optimize swing.yaml -o swing.mp4[/cyan]  find out how to

[cyan]bunraku climb path.yaml -o climb.mp4[/cyan]  a gecko, up the wall

[cyan]bunraku --install-completion[/cyan]  the Tab key completes verbs and names from then on
"""

EPILOGS = {
    "simulate": """[bold]Try:[/bold] these lines in a file dance.yaml

[cyan]simulate: marionette25[/cyan]

[cyan]duration: 3 s[/cyan]

[cyan]puppeteer: {right_arm_length: {by: [[0, 0], [1, -20 cm], [3, 0]]}}[/cyan]

and then

[cyan]bunraku simulate dance.yaml -o dance.mp4 --plot tension.png[/cyan]
"""
}

app = typer.Typer(
    name="bunraku", no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False, epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)  # fmt: skip
out, err = Console(), Console(stderr=True)


def main() -> None:
    """Entry point of the `bunraku` command."""
    try:
        app()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has gone
        sys.stderr.close()
        raise SystemExit(141) from None


def verb(function: Verb) -> Verb:
    """A subcommand whose errors are told once, in red, without a traceback."""

    @functools.wraps(function)
    def guarded(*args: Any, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            try:
                function(*args, **options)
            except BunrakuError as error:
                _say(str(error), style="red", to=err)
                raise typer.Exit(1) from None
            except KeyboardInterrupt:
                _say("stopped", style="yellow", to=err)
                raise typer.Exit(130) from None

    name = function.__name__
    app.command(no_args_is_help=name not in ("figures", "guide", "play"), epilog=EPILOGS.get(name))(guarded)
    return function


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(f"warning: {message}", style="yellow", to=err)


def _say(text: str, *, style: str = "", to: Console = out) -> None:
    """Text as it is: brackets in names are not markup, long lines are not broken."""
    to.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


@app.callback(invoke_without_command=True)
def top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.", is_eager=True)] = False,
) -> None:
    """Brings articulated figures to life: string marionettes, mannequins, humanoids, a climbing gecko."""
    if version:
        from bunraku import __version__

        print(__version__)
        raise typer.Exit


# -- what a name on the command line stands for ------------------------------------------------------------------


def _complete(incomplete: str) -> Iterator[str]:
    from bunraku.figure import library

    yield from (name for name in library.NAMES if name.startswith(incomplete))
    yield from (str(path) for path in sorted(Path().glob(f"{incomplete}*")) if not path.name.startswith("."))


def _thing(name: str) -> Any:
    """A figure of the library, what is in a file, or the motion that a simulation file orders."""
    from bunraku import io
    from bunraku.figure import library

    if recipe := _recipe(name):
        if not hasattr(recipe, "run"):  # a humanoid is there already
            return recipe.figure
        made = recipe.run()
        return getattr(made, "motion", made)
    if Path(name).suffix.lower() in io.LOADERS or Path(name).exists():
        return io.load(name)
    return library.named(name)


def _recipe(name: str | Path) -> Any:
    """What a simulation, climbing or carrying file orders, or the humanoid of a humanoid file; nothing for any other file."""
    from bunraku.io import yaml

    try:
        root = yaml.read(name) if Path(name).suffix.lower() in (".yaml", ".yml") else None
    except BunrakuError:  # whoever reads it next will say what is wrong
        return None
    if root is not None and root.get("humanoid"):
        from bunraku.locomotion.guide.humanoid_file import load_humanoid

        return load_humanoid(name)
    if root is not None and root.get("carry"):
        from bunraku.ensemble.errand_file import load_errand
        from bunraku.verbs.carry import CarryRecipe

        return CarryRecipe(load_errand(name))
    if root is None or not (root.get("simulate") or root.get("climb")):
        return None
    from bunraku.verbs import load_climb, load_recipe

    return load_climb(name) if root.get("climb") else load_recipe(name)


Source = Annotated[
    str,
    typer.Argument(metavar="FIGURE", autocompletion=_complete, help="A name from [cyan]bunraku figures[/cyan], or a file."),
]

Output = Annotated[
    list[Path] | None, typer.Option("--output", "-o", help="The motion: NPZ, CSV, GLB, BVH, MP4 or PNG. May be repeated.")
]


# -- verbs -------------------------------------------------------------------------------------------------------


@verb
def figures() -> None:
    """List the figures that come with bunraku."""
    from bunraku.figure import library

    wide = out.width >= 116  # else what a figure is stands below its numbers
    row = "{:<18}  {:>9}  {:>6}  {:>7}  {:>8}"
    out.print(row.format("name", "variables", "bodies", "strings", "mass"), style="bold", highlight=False)
    for name in library.NAMES:
        figure = library.named(name)
        kinematic = len(figure.kinematic)
        variables = f"{figure.n_dynamic} + {kinematic}" if kinematic else figure.n_dynamic
        numbers = row.format(name, variables, len(figure.bodies), len(figure.strings) or "", f"{figure.mass:.3g} kg")
        about = f"[dim]{library.about(name)}[/dim]"
        out.print(f"[cyan]{name}[/cyan]{numbers[len(name):]}  {about if wide else ''}", highlight=False)
        if not wide:
            out.print(f"  {about}", highlight=False)
    out.print("\nvariables: moved by physics + set by the puppeteer; chain12 has twelve rods", style="dim", highlight=False)


@verb
def show(
    figure: Source,
    png: Annotated[Path | None, typer.Option(help="Write a picture here; of a motion, a sheet of pictures.")] = None,
    tree: Annotated[bool, typer.Option("--tree", help="Print frames, strings and inputs as a tree.")] = False,
    size: Annotated[int, typer.Option(min=16, max=4096, help="Width and height of the picture in pixels.")] = 800,
) -> None:
    """Show a figure: its tree of frames, or a picture.

    Works on motions and scenes too. Without options the tree is printed.
    """
    from bunraku.figure import Figure
    from bunraku.io import words
    from bunraku.motion import Motion

    thing = _thing(figure)
    if tree or png is None:
        for one in thing.tracks if isinstance(thing, Motion) else (thing,):
            shown = one.figure if isinstance(thing, Motion) else one
            if isinstance(shown, Figure):
                out.print(words.tree(shown), highlight=False)
            else:
                _say(words.summary(shown))
    if png is not None:
        _picture(thing, png, size)
        _say(f"wrote {png}")


@verb
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Figures, scenes or motions.")],
) -> None:
    """Read files and say what is in them, or the one thing that is wrong and where.

    Ends with 1 if any file is broken.
    """
    from bunraku import io
    from bunraku.io import words

    broken = 0
    for file in files:
        try:
            thing = _recipe(file) or io.load(file)
        except BunrakuError as error:
            broken += 1
            _say(str(error), style="red", to=err)
            continue
        _say(f"✓ {file}: {words.summary(thing)}", style="green")
        for hint in words.hints(thing):
            _say(f"  {hint}", style="yellow")
    if broken:
        raise typer.Exit(1)


@verb
def convert(
    source: Annotated[str, typer.Argument(metavar="IN", autocompletion=_complete, help="A file, or a name of the library.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The suffix says what to write.")],
    force: Annotated[bool, typer.Option("--force", "-f", help="Write over a file that exists.")] = False,
) -> None:
    """Turn a figure, scene or motion into another kind of file.

    Reads YAML, URDF, MJCF, BVH, CSV and NPZ; writes YAML, MJCF, BVH, CSV, NPZ, GLB (Blender, three.js), MP4 and PNG.
    """
    from bunraku import io
    from bunraku.errors import FileError

    if target.exists() and not force:
        raise FileError("exists already", path=str(target), advice="choose another name, or say --force")
    io.save(_thing(source), target)
    _say(f"wrote {target}")


@verb
def simulate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A simulation file: figure, duration, puppeteer.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw curves over time into a PNG, SVG or PDF.")] = None,
    curve: Annotated[
        list[str] | None, typer.Option(help="What to draw: tension, elbow, v:elbow, torso_*. May be repeated.")
    ] = None,
) -> None:
    """Simulate what a file says: a figure, and a puppeteer who pulls its strings.

    Ctrl-C stops it and keeps what there is.
    """
    from bunraku.verbs.run import run_file

    for title, text in run_file(file, output or (), plot, curve or (), console=err):
        _say(f"{title:<12}{text}")


@verb
def optimize(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An optimisation file: figure, duration, cost, limits.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw wish, motion, inputs and search into a PNG, SVG or PDF.")] = None,
) -> None:
    """Find the best inputs for what a file asks: a reference to follow, at what price, within which limits.

    Ctrl-C stops it and keeps the best so far.
    """
    from bunraku.verbs.optimize import run_order

    for title, text in run_order(file, output or (), plot, console=err):
        _say(f"{title:<12}{text}")


@verb
def perform(
    file: Annotated[Path, typer.Argument(metavar="SHOW", help="A show file: figures, places, and a script of cues.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the tensions over time into a PNG, SVG or PDF.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Rehearse everything anew, also what is known already.")] = False,
    stage: Annotated[
        bool | None, typer.Option("--play/--no-play", help="Open the stage and play it; done where no file is written.")
    ] = None,
) -> None:
    """Perform a show that a person wrote: puppets, counts, cues.

    The script is checked, timed, rehearsed by optimal control and played under feedback. Change a cue, and only what depends on
    it is rehearsed again.
    """
    from bunraku.verbs.perform import perform_file

    made, lines = perform_file(file, output or (), plot, again=again, console=err)
    for title, text in lines:
        _say(f"{title:<12}{text}")
    if stage if stage is not None else not (output or plot):
        from bunraku.stage import Entry
        from bunraku.stage.command import play as open_stage
        from bunraku.teleop.files import entries_of, exporters, on_stage

        open_stage([Entry(made.score.script.title, on_stage(made), "show")], opener=entries_of, exporters=exporters(), console=out)


@verb
def climb(
    file: Annotated[Path, typer.Argument(metavar="PATH", help="A climbing file: who climbs, and the path.")],
    output: Output = None,
    plot: Annotated[Path | None, typer.Option(help="Draw accelerations, adhesion and clearance into a PNG, SVG or PDF.")] = None,
) -> None:
    """Let a gecko climb a path: floors, slopes, curves, steps, walls and ceilings.

    Ctrl-C ends the optimisation and keeps what there is.
    """
    from bunraku.verbs.climb_run import run_climb

    for title, text in run_climb(file, output or (), plot, console=err):
        _say(f"{title:<12}{text}")


@verb
def plan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A planning file: figure, start, goal, scene.")],
    output: Output = None,
    tree: Annotated[Path | None, typer.Option(help="The search tree as arrays, in an NPZ file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="The tree over the scene, as a PNG.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Trees side by side, as many as cores; 1 repeats exactly.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, or [cyan]local[/cyan].")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Goes before the file's own.")] = None,
) -> None:
    """Plan a way to a goal among obstacles, for a figure that hangs on strings.

    Every plan is simulated again and checked by other means before it is handed over. Ctrl-C keeps the best so far.
    """
    from bunraku.verbs.plan_run import plan_file

    lines = plan_file(
        file, output or (), tree=tree, picture=picture, workers=workers, cluster=cluster, seed=seed, console=err
    )  # fmt: skip
    for title, text in lines:
        _say(f"{title:<12}{text}")


@verb
def carry(
    file: Annotated[Path, typer.Argument(metavar="TASK", help="A carrying file, or one of ours: factory, living_room, ramp.")],
    output: Output = None,
    stills: Annotated[Path | None, typer.Option(help="A sheet of moments along the way, as a PNG.")] = None,
    view: Annotated[Path | None, typer.Option(help="From above, with roadmap and path, as a PNG.")] = None,
    samples: Annotated[int | None, typer.Option(min=2, max=100_000, help="Goes before the file's own.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Goes before the file's own.")] = None,
    runs: Annotated[int, typer.Option(min=1, max=10_000, help="So many seeds side by side; says how many arrive.")] = 1,
    workers: Annotated[int | None, typer.Option(min=1, help="With --runs: processes, as many as cores.")] = None,
    cluster: Annotated[str | None, typer.Option(help="With --runs: a Dask scheduler, or [cyan]local[/cyan].")] = None,
    stage: Annotated[
        bool | None, typer.Option("--play/--no-play", help="Open the stage and play it; done where no file is written.")
    ] = None,
) -> None:
    """Let people and robots carry something bulky through clutter.

    A roadmap is learnt for the reduced team, a path found, timed, walked and held; what touches is tuned away. Ctrl-C ends it.
    """
    from bunraku.ensemble.errand_file import load_errand
    from bunraku.ensemble.pictures import on_stage
    from bunraku.verbs import carry as carrying

    if runs > 1:
        errand = load_errand(file)
        many = carrying.run_many(errand, runs, first=seed or 0, samples=samples, workers=workers, cluster=cluster, console=err)
        for title, text in carrying.summary(errand, many):
            _say(f"{title:<14}{text}")
        return
    done, lines = carrying.carry_file(file, output or (), stills=stills, view=view, seed=seed, samples=samples, console=err)
    for title, text in lines:
        _say(f"{title:<14}{text}")
    if stage if stage is not None else not (output or done.errand.output or stills or view):
        from bunraku.stage import Entry
        from bunraku.stage.command import play as open_stage
        from bunraku.teleop.files import entries_of, exporters

        entry = Entry(done.errand.name, lambda: on_stage(done), "carried together")
        open_stage([entry], opener=entries_of, exporters=exporters(), console=out)


@verb
def play(
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE", autocompletion=_complete, help="Files or names to show; without, the opening show."),
    ] = None,
    host: Annotated[str, typer.Option(help="0.0.0.0 lets others on the network in, with the whole address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8360,
    browser: Annotated[
        bool | None, typer.Option("--browser/--no-browser", help="Open the page; without a display it is not.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="Where video and HTML go when there is no display.")] = Path("out"),
) -> None:
    """Open the stage in the browser: watch, pull strings, record, export.

    Without a display the address is printed, and a video and an HTML page that plays offline are written.
    """
    from bunraku.stage.command import play as open_stage
    from bunraku.teleop import opening_show
    from bunraku.teleop.files import exporters, shown
    from bunraku.verbs.entries import entries_of

    entries = []
    for name in sources or ():
        entries += entries_of(Path(name)) if Path(name).is_file() else shown(_thing(name), Path(name).stem)
    open_stage(
        entries or opening_show(), host=host, port=port, opener=entries_of, exporters=exporters(), browser=browser, out=folder,
        console=out,
    )  # fmt: skip


@verb
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
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8360,
    browser: Annotated[
        bool | None, typer.Option("--browser/--no-browser", help="Open the page; without a display it is not.")
    ] = None,
) -> None:
    """Guide a humanoid with one hand: a foot, the trunk or a hand follows the stick, the rest of the body follows by itself."""
    from bunraku.verbs import guide as guiding

    if joysticks:
        for title, text in guiding.joysticks():
            _say(f"{title:<12}{text}")
        return
    if replay is not None:
        for title, text in guiding.replayed(humanoid, scene, replay, output or (), plot, seconds=seconds, console=err):
            _say(f"{title:<12}{text}")
        return
    from bunraku.stage.command import play as open_stage
    from bunraku.teleop.files import entries_of, exporters

    one = guiding.entry(humanoid, scene, physics=physics, joystick=joystick)
    one.open()  # what is wrong is said here, not in the browser
    open_stage([one], port=port, opener=entries_of, exporters=exporters(), browser=browser, console=out)


def _picture(thing: Any, path: Path, size: int) -> None:
    """A figure or a scene by itself; a motion as a sheet of pictures."""
    from bunraku import io
    from bunraku.figure import Figure
    from bunraku.motion import Motion

    if isinstance(thing, Motion):
        io.save(thing, path)
        return
    from bunraku.io.render import image
    from bunraku.io.video import save_pixels

    pixels = image(thing, size=(size, size)) if isinstance(thing, Figure) else image([], scene=thing, size=(size, size))
    save_pixels(pixels, path)
