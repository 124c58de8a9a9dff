"""What all commands that run an order share: load it, run it, print a report, write files, open the stage, set the exit status."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bunraku.cli.command import err, open_stage, say

if TYPE_CHECKING:
    from bunraku.verbs.execute import Extra
    from bunraku.verbs.order import Order


def order_for(verb: str, file: str | Path) -> Any:
    """Loads the order for `verb` from `file`, which is a path or the name of a shipped order."""
    from bunraku.verbs.loading import load_order

    return load_order(verb, file)


def carry_out(
    order: Order, output: Sequence[Path] | None, plot: Path | None, *, extras: Iterable[Extra] = (), seed: int | None = None,
    play: bool | None = None,
) -> None:  # fmt: skip
    """Runs an order. Exit status: 0 if the outcome is ok, 1 if not, 130 after Ctrl-C.

    order: the order to run.
    output: files for the motion; by default those that the order names.
    plot: file for a plot.
    extras: other files to write.
    seed: overrides the seed of the order.
    play: whether to open the stage; None opens it if no file is written.
    """
    from bunraku.verbs.execute import execute
    from bunraku.verbs.order import outcome_of

    extras = tuple(extras)
    done = execute(
        order, output=output or (), plot=plot, extras=extras, seed=seed, console=err,
        say=lambda title, text: say(f"{title:<12}{text}"),
    )  # fmt: skip
    outcome = outcome_of(done)
    stopped = outcome.kind == "stopped"
    if not outcome.ok:
        say(str(outcome), style="yellow" if stopped else "red", to=err)
    files = bool(output or order.output or plot or any(extra.path for extra in extras))
    if getattr(done, "motion", done) is not None and (play if play is not None else not files and not stopped):
        from bunraku.stage import Entry

        open_stage([Entry(order.title, order.recorded(done), str(order))])
    raise typer.Exit(130 if stopped else 0 if outcome.ok else 1)
