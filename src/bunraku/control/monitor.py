"""Monitors: what hears of every iteration of a descent. None at all is the silent one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bunraku.control.newton import Iteration, Monitor


@dataclass
class Record:
    """Keeps every iteration."""

    iterations: list[Iteration] = field(default_factory=list)

    def __call__(self, iteration: Iteration) -> None:
        self.iterations.append(iteration)


def told(i: Iteration) -> str:
    """An iteration in a line."""
    slack = f", {i.slack} slack" if i.slack else ""
    return f"{i.number + 1:3d}  {i.kind:<12}  cost {i.cost:<12.6g}  expects −{i.decrease / 2:<8.1e}  step {i.step:g}{slack}"


@contextmanager
def bar(console: Console, *, title: str = "optimize", tolerance: float = 1e-12) -> Iterator[Monitor]:
    """A progress bar: digits of the expected decrease, from the first iteration's to the tolerance."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), *Progress.get_default_columns()[1:2], TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task, first = progress.add_task(title, total=1.0), [0.0]

        def hear(i: Iteration) -> None:
            size = np.log10(max(i.decrease / max(abs(i.cost), 1e-300), tolerance))
            first[0] = max(first[0], size)
            done = (first[0] - size) / max(first[0] - np.log10(tolerance), 1e-9)
            progress.update(task, completed=float(done), description=f"{title}{told(i)}")

        yield hear


class Plot:
    """A picture that grows while the search runs: cost and expected decrease over iterations, on any axes of matplotlib."""

    def __init__(self, axes: Any) -> None:
        self.axes, self.record = axes, Record()
        axes.set(xlabel="iteration", yscale="log")
        self.lines = {name: axes.plot([], [], "o-", ms=3, label=name)[0] for name in ("cost", "expected decrease")}
        axes.legend(frameon=False)

    def __call__(self, iteration: Iteration) -> None:
        self.record(iteration)
        heard = self.record.iterations
        numbers = [i.number + 1 for i in heard]
        self.lines["cost"].set_data(numbers, [i.cost for i in heard])
        self.lines["expected decrease"].set_data(numbers, [max(i.decrease, 1e-300) for i in heard])
        self.axes.relim()
        self.axes.autoscale_view()
        self.axes.figure.canvas.draw_idle()
        self.axes.figure.canvas.flush_events()
