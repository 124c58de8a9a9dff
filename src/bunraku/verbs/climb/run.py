"""A climbing file run from the command line: a bar while it works, files and a plot at the end, and what happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bunraku.io.outputs import require_outputs, save_motion
from bunraku.verbs.climb.file import load_climb
from bunraku.verbs.climb.plot import draw


def run_climb(file: Path, output: Sequence[Path], plot: Path | None, *, console: Console) -> Iterator[tuple[str, str]]:
    """What happened, line by line, and what was written. Names that cannot be written are refused before the work begins."""
    require_outputs(output, plot)
    recipe = load_climb(file)
    require_outputs(() if output else recipe.output)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(recipe.figure.name, total=1.0)
        done = recipe.run(progress=lambda word: bar.update(task, completed=word.done, description=word.stage))
    yield from done.report()
    for path in output or recipe.output:
        save_motion(done.motion, path, done.scene)
        yield "wrote", str(path)
    if plot is not None:
        draw(done, plot)
        yield "wrote", str(plot)
