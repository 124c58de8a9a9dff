"""watch: a bar that shows how a roadmap grows.

with watch("factory", failures=150) as listen:
    learn(roadmap, failures=150, listen=listen)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bunraku.planning.ways.visibility import Learning


@contextmanager
def watch(title: str, *, failures: int, console: Console | None = None) -> Iterator[Callable[[Learning], None]]:
    """What `learn` should be told to listen; the bar is full when so many samples in a row were seen by guards."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=console or Console(stderr=True), transient=True) as progress:
        task = progress.add_task(title, total=failures, state="")

        def listen(state: Learning) -> None:
            told = f"{state.guards} guards, {state.connectors} connectors, {state.components} components"
            progress.update(task, completed=state.failures, state=told)

        yield listen
