"""A planning file run from the command line: a bar with nodes, distance and cost; files at the end; what happened in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from bunraku.errors import BunrakuError
from bunraku.io import save
from bunraku.io.outputs import require, require_outputs
from bunraku.planning.strings import Plan, plan_together, smooth
from bunraku.planning.strings import Progress as Word
from bunraku.planning.strings.smoothing import roughness
from bunraku.planning.strings.tree_picture import save_tree_picture
from bunraku.verbs.plan.file import Order, load_problem


class Unsolved(BunrakuError):
    """The search ended without a plan; the message says how and what to do."""


def plan_file(
    file: Path, output: Sequence[Path], *, tree: Path | None, picture: Path | None, workers: int | None, cluster: str | None,
    seed: int | None, console: Console,
) -> Iterator[tuple[str, str]]:  # fmt: skip
    """What happened, line by line, and what was written. Names that cannot be written are refused before the work begins."""
    require_outputs(output)
    require(tree, (".npz",), "a tree")
    require(picture, (".png",), "a picture")
    order = load_problem(file)
    require_outputs(() if output else order.output)
    found = _searched(order, workers, cluster, order.seed if seed is None else seed, console)
    nodes = 0 if found.tree is None else len(found.tree)
    yield "search", f"{nodes:,} nodes, {found.segments:,} segments in {found.seconds:.2f} s of the processor"
    if found.tree is not None and tree is not None:
        found.tree.save(tree)
        yield "wrote", str(tree)
    if found.tree is not None and picture is not None:
        save_tree_picture(found, picture)
        yield "wrote", str(picture)
    if found.motion is None:
        what, _, advice = found.outcome.value.partition(": ")
        raise Unsolved(f"{what}{': ' + found.detail if found.detail else ''}\n  advice: {advice}")
    yield "plan", f"{found.motion.duration:.3g} s, cost {found.cost:.3g}" + (" (stopped)" if not found.outcome.solved else "")
    yield "recheck", str(found.verdict)
    if order.smooth:
        better = smooth(found)
        rough, left = (roughness(one) for one in (found.motion, better.motion) if one is not None)
        yield "smooth", f"∫ acceleration² of the hands {left:.3g}, before {rough:.3g}"
        found = better
        assert found.motion is not None
    for path in output or order.output:
        save(found.motion, path)
        yield "wrote", str(path)


def _searched(order: Order, workers: int | None, cluster: str | None, seed: int, console: Console) -> Plan:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[word]}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(order.planner, total=order.seconds, word="")

        def tell(word: Word) -> None:
            cost = f", cost {word.cost:.3g}" if word.cost < float("inf") else ""
            text = f"{word.nodes:,} nodes, {1e3 * word.distance:.0f} mm from the goal{cost}"
            bar.update(task, completed=word.seconds, word=text)

        return plan_together(
            order.problem, order.planner, workers=workers, cluster=cluster, seed=seed, seconds=order.seconds, progress=tell
        )
