"""Runs every `bench_*` function of every `benchmarks/bench_*.py`, or those whose name contains a given word.

    python -m benchmarks [WORD …] [--check]

Such a function returns names and numbers. Its module may also define RATIOS (name → Ratio) and NOTES
(name → text). `--check` fails when a ratio is too large.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from rich.console import Console

from benchmarks import table


@dataclass
class Run:
    """What has been measured so far."""

    results: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, table.Ratio] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def guard(self, name: str) -> Iterator[None]:
        """One broken benchmark must not take the others with it."""
        try:
            yield
        except Exception:  # noqa: BLE001
            self.failed.append(name)
            traceback.print_exc()

    def everything(self, words: list[str], console: Console) -> None:
        """Runs the benchmarks whose title contains one of the words; all, without words."""
        for path in sorted(Path(__file__).parent.glob("bench_*.py")):
            with self.guard(path.stem):
                module = importlib.import_module(f"benchmarks.{path.stem}")
                self.ratios |= getattr(module, "RATIOS", {})
                self.notes |= getattr(module, "NOTES", {})
                for title, function in benchmarks_of(module):
                    if not words or any(word in title for word in words):
                        with self.guard(title), console.status(title):
                            table.add(self.results, function())


def benchmarks_of(module: ModuleType) -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """The benchmarks that a module defines, each with its title: `kinematics.pose`."""
    subject = module.__name__.removeprefix("benchmarks.bench_")
    for key, value in list(vars(module).items()):  # a warning adds a name of its own
        if key.startswith("bench_") and getattr(value, "__module__", "") == module.__name__:
            yield f"{subject}.{key.removeprefix('bench_')}", value


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("benchmarks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="run the benchmarks whose name contains it")
    parser.add_argument("--check", action="store_true", help="fail when a ratio is above what is wanted")
    options = parser.parse_args(arguments)

    # Threads of BLAS only get in each other's way on matrices as small as ours. Set before numpy is imported.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

    console, run, interrupted = Console(), Run(), False
    try:
        run.everything(options.words, console)
    except KeyboardInterrupt:
        interrupted = True
    run.results |= table.ratios(run.results, run.ratios)

    if run.results:
        machine = f"Python {platform.python_version()}, {platform.machine()}, {os.cpu_count()} cores"
        console.print(table.render(run.results, run.ratios, run.notes, title=machine))
        table.write(run.results, merge=bool(options.words) or interrupted)
    else:
        console.print("no benchmark ran" + (f" for {' '.join(options.words)}" if options.words else ""))
    if run.failed:
        console.print(f"failed: {', '.join(run.failed)}", style="bold red")
    if interrupted:
        console.print("interrupted: what was measured is kept", style="bold red")
        return 130
    return int(bool(run.failed) or (options.check and bool(table.too_large(run.results, run.ratios))))


if __name__ == "__main__":
    sys.exit(main())
