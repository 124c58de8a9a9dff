"""Sweep: the results of many runs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.io.outputs import require
from bunraku.io.tables.npz_file import load_npz
from bunraku.motion import Motion
from bunraku.outcome import Outcome
from bunraku.result import Result
from bunraku.sweeps.cases import Cases
from bunraku.sweeps.result_store import ResultStore, Row
from bunraku.sweeps.sweep_plot import draw_sweep, numeric
from bunraku.sweeps.sweep_table import TABLE_SUFFIXES, Columns, columns_of, save_table

ALL_RUN = Outcome(True, "all run")
NONE_OK = Outcome(False, "none is ok", advice="run the order alone, with one set of values, to see why")


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Result):
    """The finished runs of a sweep, in the order of its cases.

    found = bunraku.sweep("swing_up", over={"cost.1.forces": "1e-3:1e-1:5:log"})
    found.save("table.csv")
    found.plot("cost.png", y="cost")
    """

    outcome: Outcome
    cases: Cases
    rows: Mapping[str, Row] = field(repr=False)
    """Finished runs by key."""
    store: ResultStore
    """Where they are stored."""
    found: int
    """How many of them were stored before."""
    seconds: Mapping[str, float]
    """Processor time of all runs of this table, and time that passed during the sweep [s]."""
    seed: int | None = None

    motion = None
    scene = None

    def __len__(self) -> int:
        return len(self.table["key"])

    @cached_property
    def table(self) -> Columns:
        """Columns by name: swept paths, seed, outcome, numbers of the results, seconds by stage, key. None is an empty cell."""
        return columns_of(self.cases, self.rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the table to `path`, a CSV or Parquet file. Raises FileError, or MissingExtra for Parquet without pyarrow."""
        require(Path(path), TABLE_SUFFIXES, "a table")
        save_table(self.table, Path(path))

    def plot(self, path: str | os.PathLike[str], *, x: str | None = None, y: str | None = None) -> None:
        """Draws a column of the table over another into the file `path` (PNG, SVG or PDF).

        x: a column; by default the first path that varies.
        y: a column; by default the first number of the results that varies.
        A second path that varies gives the colours. Raises UnknownName for a column that does not exist, BunrakuError for one
        without numbers.
        """
        varied = [path for path in self.cases.paths if len(dict.fromkeys(map(str, self.table[path]))) > 1]
        others = [name for name in numeric(self.table) if name not in self.cases.paths]
        across = x or next((path for path in varied if path in numeric(self.table)), None) or "seed"
        of = y or next((name for name in others if name not in ("seed", "ok")), None)
        if of is None:
            raise BunrakuError("no number of the results varies\n  advice: name a column for y")
        group = next((path for path in varied if path not in (across, of)), None)
        draw_sweep(self.table, Path(path), x=across, y=of, group=group)

    def motion_of(self, run: int) -> Motion:
        """The motion of a `run` (a row of the table, from 0); raises BunrakuError if motions were not kept, or it has none."""
        key = self.table["key"][run]
        file = self.store.path(key, ".npz")
        if not file.exists():
            advice = "sweep with motions=True" if self.rows[key]["moved"] else "its outcome says why"
            raise BunrakuError(f"run {run} has no stored motion\n  advice: {advice}")
        return load_npz(file)

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, outcomes of the runs, ranges of their numbers, where they are stored."""
        yield "outcome", str(self.outcome)
        rows = [self.rows[key] for key in self.table["key"]]
        good = sum(row["ok"] for row in rows)
        yield "runs", f"{len(rows)} of {len(self.cases.list)}, {good} of them ok; {self.found} were stored before"
        kinds = Counter((row["outcome"], row["why"]) for row in rows if not row["ok"])
        yield from (("not ok", f"{count}× {kind}{': ' if why else ''}{why}") for (kind, why), count in kinds.most_common(5))
        for name in dict.fromkeys(name for row in rows if row["ok"] for name in row["numbers"]):
            values = np.array([v for row in rows if row["ok"] and isinstance(v := row["numbers"].get(name), int | float)], float)
            if len(values):
                low, middle, high = values.min(), np.median(values), values.max()
                text = f"{middle:.4g}" if low == high else f"{low:.4g} … {high:.4g}, median {middle:.4g}"
                yield name, text if len(values) == good else f"{text} ({len(values)} runs)"
        yield "seconds", f"{self.seconds['runs']:.3g} s of processor time in runs, {self.seconds['sweep']:.3g} s passed"
        yield "store", str(self.store.folder)
