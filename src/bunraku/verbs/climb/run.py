"""A climbing file run from the command line: a bar while it works, files and a plot at the end, and what happened."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bunraku.io.outputs import require_outputs, save_motion
from bunraku.locomotion.climb.climb import Climb
from bunraku.locomotion.climb.obstruction import Outcome
from bunraku.verbs.climb.file import ClimbRecipe, load_climb
from bunraku.verbs.climb.plot import draw


def run_climb(file: Path, output: Sequence[Path], plot: Path | None, *, console: Console) -> Iterator[tuple[str, str]]:
    """What happened, line by line, and what was written. Names that cannot be written are refused before the work begins."""
    require_outputs(output, plot)
    recipe = load_climb(file)
    require_outputs(() if output else recipe.output)
    start = time.perf_counter()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(recipe.figure.name, total=1.0)
        done = recipe.run(progress=lambda part: bar.update(task, completed=part))
    yield from report(done, recipe, time.perf_counter() - start)
    for path in output or recipe.output:
        save_motion(done.motion, path, done.scene)
        yield "wrote", str(path)
    if plot is not None:
        draw(done, plot)
        yield "wrote", str(plot)


def report(done: Climb, recipe: ClimbRecipe, seconds: float) -> Iterator[tuple[str, str]]:
    """Pairs of a title and a text."""
    text = done.outcome.name.lower().replace("_", " ")
    if done.why:
        place = "" if done.segment is None else f", at {done.course.segments[done.segment]} in line {recipe.lines[done.segment]}"
        text += f": {done.why}, {done.where:.3f} m along{place}"
    yield "outcome", text
    if done.outcome is not Outcome.ARRIVED:
        yield "advice", done.outcome.advice
    cycles = done.motion.t[-1] / done.cycle
    yield "motion", f"{done.motion.t[-1]:.2f} s, {cycles:.1f} cycles, {len(done.motion)} samples; took {seconds:.1f} s"
    if done.paused:
        yield "pauses", f"{done.feet.pause:.2g} s on all four feet after every step, {done.paused:.2f} s in all"
    after, before, dt = np.abs(done.accelerations), np.abs(done.before), float(done.feet.t[1])
    if len(after) and len(before) == len(after):
        yield "peak", _change(before.max(), after.max(), "rad/s²")
        yield "sum", _change(dt * before.sum(), dt * after.sum(), "rad/s")
    yield "clearance", f"at least {1e3 * done.clearance.min():.1f} mm"
    worst = done.adhesion.worst
    value, t = done.adhesion.adhesion[worst], done.motion.t[worst]
    yield "adhesion", f"at most {value:.3f} of the weight, at {t:.2f} s, {done.adhesion.foot(worst).replace('_', ' ')} foot"


def _change(before: float, after: float, unit: str) -> str:
    return f"of joint accelerations {after:.4g} {unit}, {100.0 * (after / before - 1.0):+.1f} % of {before:.4g} in the paper's gait"
