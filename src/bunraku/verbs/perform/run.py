"""A show performed from the command line: progress while it is rehearsed, files at the end, and a few lines of how it went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rich.console import Console
from rich.progress import Progress as Bars
from rich.progress import TaskID

from bunraku.brief import brief
from bunraku.choreography import Performance, load_script, perform
from bunraku.choreography.script import Script
from bunraku.io.outputs import require_outputs, save_motion
from bunraku.progress import Progress
from bunraku.render import plots


@dataclass(frozen=True, eq=False)
class ShowRecipe:
    """What a show file says, to be checked, shown or converted."""

    script: Script

    __repr__ = brief

    def __str__(self) -> str:
        roles = ", ".join(role.name for role in self.script.roles)
        return f"show {self.script.title}: {len(self.script.cues)} cues at {self.script.tempo:g} counts a minute, for {roles}"

    def run(self) -> Performance:
        return perform(self.script)


def load_show(path: str | PathLike[str]) -> ShowRecipe:
    """What a show file orders, checked."""
    return ShowRecipe(load_script(path))


def perform_file(
    file: Path, output: Sequence[Path], plot: Path | None, *, again: bool, console: Console
) -> tuple[Performance, Iterator[tuple[str, str]]]:
    """The performance, and what is to be said about it; files are written as it is said."""
    require_outputs(output, plot)
    script = load_script(file)
    require_outputs(output, figures=len(script.roles))
    with Bars(console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, TaskID] = {}

        def tell(word: Progress) -> None:
            if word.stage not in tasks:
                tasks[word.stage] = bars.add_task(word.stage, total=1.0)
            bars.update(tasks[word.stage], completed=word.done)

        made = perform(script, progress=tell, again=again)
    return made, _told(made, output, plot)


def _told(made: Performance, output: Sequence[Path], plot: Path | None) -> Iterator[tuple[str, str]]:
    yield from made.report()
    if made.motion is None:
        return
    for path in output:
        save_motion(made.motion, path, made.scene)
        yield "wrote", str(path)
    if plot is not None:
        plots.plot(made.motion, plot, ("tension",), title=f"{made.script.title}: tensions", width=14.0)
        yield "wrote", str(plot)
