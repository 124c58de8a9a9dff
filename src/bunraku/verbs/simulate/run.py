"""A simulation file run from the command line: progress while it works, files at the end, and a few lines of what happened."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bunraku.dynamics import Simulation
from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.io import save
from bunraku.io.outputs import require_outputs
from bunraku.motion import Motion
from bunraku.render import plots
from bunraku.verbs.motion_report import summary
from bunraku.verbs.simulate.file import Recipe, load_recipe


def run_file(
    file: Path, output: Sequence[Path], plot: Path | None, curves: Sequence[str], *, console: Console
) -> Iterator[tuple[str, str]]:
    """What happened, line by line, and what was written. Names that cannot be written are refused before the work begins."""
    require_outputs(output, plot)
    if str(file) in library.NAMES and not file.exists():
        advice = f"write `simulate: {file}` and `duration: 3 s` into a file dance.yaml, and give that; see bunraku simulate --help"
        raise FileError("is a figure, not a file that says who pulls its strings", path=str(file), advice=advice)
    recipe = load_recipe(file)
    require_outputs(() if output else recipe.output)
    plots.require_curves(recipe.figure, curves)
    motion, seconds = _simulated(recipe, console)
    yield from summary(motion, seconds)
    for path in output or recipe.output:
        save(motion, path)
        yield "wrote", str(path)
    if plot is not None:
        plots.plot(motion, plot, curves or ("tension" if motion.figure.strings or motion.figure.wires else "*"))
        yield "wrote", str(plot)


def _simulated(recipe: Recipe, console: Console) -> tuple[Motion, float]:
    """The motion, and how long it took once the kernels were there."""
    Simulation(recipe.figure, recipe.q, dt=recipe.dt).step()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(recipe.figure.name, total=1.0)
        start = time.perf_counter()
        motion = recipe.run(progress=lambda heard: bar.update(task, completed=heard.done))
        return motion, time.perf_counter() - start
