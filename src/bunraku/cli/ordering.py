"""What all verbs that take an order do on the command line: load it, run it, report, write, play, and leave with a status."""

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
    """The order for a `verb` in `file`, or the shipped order of that name."""
    from bunraku.verbs.loading import load_order

    return load_order(verb, file)


def carry_out(
    order: Order, output: Sequence[Path] | None, plot: Path | None, *, extras: Iterable[Extra] = (), seed: int | None = None,
    play: bool | None = None,
) -> None:  # fmt: skip
    """Runs an order, and leaves with 0 if all is well, 1 if the outcome is not, 130 after Ctrl-C.

    order: what to do.
    output: files for the motion; without any, those that the order names.
    plot: a file for curves.
    extras: other files that were asked for.
    seed: overrides the order's own.
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
