"""Progress bars in the terminal, one for each stage of a verb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from bunraku.progress import Listener, Progress


@contextmanager
def bars(console: Console) -> Iterator[Listener]:
    """A progress listener that draws the progress of each stage on the `console`, if that is a terminal; erased at the end."""
    columns = (TextColumn("{task.description:<12}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[text]}"))
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        tasks: dict[str, TaskID] = {}

        def listen(word: Progress) -> None:
            if word.stage not in tasks:
                tasks[word.stage] = shown.add_task(word.stage, total=1.0, text="")
            shown.update(tasks[word.stage], completed=word.done, text=word.text)

        yield listen
