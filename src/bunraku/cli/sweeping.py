"""The command sweep."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.command import err, refuse_idle, say, tell, verb
from bunraku.cli.names import Seed
from bunraku.errors import BunrakuError

if TYPE_CHECKING:
    from bunraku.progress import Listener
    from bunraku.workers import ClusterSecurity

EXAMPLE = """[bold]Try[/bold]

[cyan]bunraku sweep swing_up --over figure.mass=10:14:3 --over cost.2.forces=1e-4:1e-2:3:log -o table.csv --plot cost.png[/cyan]

[cyan]bunraku sweep living_room --seeds 100 --cluster tcp://10.0.0.5:8786 -o table.csv[/cyan]
"""


@verb(epilog=EXAMPLE)
def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="ORDER", help="The file of any order, or the name of one that comes with bunraku.")
    ],
    over: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH=VALUES",
            help="Values of a word of the file: dt=5ms,10ms lists them, cost.1.forces=1e-3:1e-1:5 gives five from … to …, "
            "figure.mass=1:5 is a range for --samples. Add :log for even ratios. May be repeated: all combinations are run.",
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, max=10_000_000, help="Number of seeds for each combination.")] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, max=10_000_000, help="Number of random samples from the ranges, instead of a grid.")
    ] = None,
    output: Annotated[
        list[Path] | None, typer.Option("--output", "-o", help="Write the table to a CSV or Parquet file. May be repeated.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw a column of the table over another into a PNG, SVG or PDF file.")] = None,
    x: Annotated[
        str | None, typer.Option("--x", help="Column for the x axis of --plot. Default: the first PATH that varies.")
    ] = None,
    y: Annotated[
        str | None, typer.Option("--y", help="Column for the y axis of --plot. Default: the first number that varies.")
    ] = None,
    motions: Annotated[bool, typer.Option("--motions", help="Store the motions too, as NPZ files.")] = False,
    store: Annotated[
        Path | None,
        typer.Option(help="Folder for the results, where a repeated sweep finds them. Default: in the user's cache folder."),
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes. Default: the number of cores.")] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers do the runs; [cyan]local[/cyan] starts one here.")
    ] = None,
    tls_ca_file: Annotated[Path | None, typer.Option(help="For --cluster tls://…: the certificate of the authority (PEM).")] = None,
    tls_cert: Annotated[Path | None, typer.Option(help="For --cluster tls://…: the certificate of this process (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="For --cluster tls://…: its private key (PEM).")] = None,
    seed: Seed = None,
) -> None:
    """Run an order many times, with other values and seeds, on all cores or on a cluster.

    Every result is stored at once. If the sweep is stopped, by Ctrl-C or by anything else, the same command goes on where it
    stopped. Progress is shown in the terminal; if the output goes to a file, a line is written there from time to time.
    """
    from bunraku.io.outputs import require
    from bunraku.render.plots import PLOT_SUFFIXES
    from bunraku.sweeps import sweep as run
    from bunraku.sweeps.sweep_table import TABLE_SUFFIXES, require_parquet

    tables = tuple(output or ())
    for path in tables:
        require(path, TABLE_SUFFIXES, "a table")
        require_parquet(path)
    require(plot, PLOT_SUFFIXES, "a plot")
    if plot is None:
        refuse_idle("add --plot FILE", x=x, y=y)
    with telling() as progress:
        found = run(
            file, _pairs(over or []), seeds=seeds, samples=samples, motions=motions, workers=workers, cluster=cluster,
            security=_security(tls_ca_file, tls_cert, tls_key), store=store, seed=seed, progress=progress,
        )  # fmt: skip
    tell(found.report())
    for path in tables:
        found.save(path)
        say(f"{'wrote':<12}{path}")
    if plot is not None and len(found):
        found.plot(plot, x=x, y=y)
        say(f"{'wrote':<12}{plot}")
    if not found.outcome.ok:
        say(str(found.outcome), style="yellow" if found.outcome.kind == "stopped" else "red", to=err)
    raise typer.Exit(130 if found.outcome.kind == "stopped" else 0 if found.outcome.ok else 1)


def _pairs(over: list[str]) -> dict[str, str]:
    """Values by path."""
    out: dict[str, str] = {}
    for text in over:
        path, equals, values = text.partition("=")
        if not equals or not path.strip():
            raise BunrakuError(f"--over {text}: no values\n  advice: write --over PATH=VALUES, such as --over dt=5ms,10ms")
        if path.strip() in out:
            raise BunrakuError(f"--over {path}: given twice\n  advice: list all its values in one: {path}=1,2,3")
        out[path.strip()] = values
    return out


def _security(ca: Path | None, cert: Path | None, key: Path | None) -> ClusterSecurity | None:
    from bunraku.workers import ClusterSecurity

    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise BunrakuError("an encrypted cluster needs three files\n  advice: give --tls-ca-file, --tls-cert and --tls-key")
    return ClusterSecurity(ca, cert, key)


@contextmanager
def telling(*, every: float = 5.0, clock: Callable[[], float] = time.monotonic) -> Iterator[Listener]:
    """A listener that draws bars in a terminal; in a file it writes a line at most `every` so many seconds, and at the end.

    clock: gives the time [s].
    """
    from bunraku.progress import Progress
    from bunraku.verbs.bars import bars

    if err.is_terminal:
        with bars(err) as listener:
            yield listener
        return
    last, word = -every, ""

    def listen(progress: Progress) -> None:
        nonlocal last, word
        word = f"{progress.stage:<12}{progress.text}"
        if clock() - last >= every or progress.done >= 1.0:
            last, told = clock(), word
            word = ""
            say(told, to=err)

    yield listen
    if word:
        say(word, to=err)
