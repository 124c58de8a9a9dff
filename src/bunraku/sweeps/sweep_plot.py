"""The plot of a sweep: any column of its table over any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, UnknownName
from bunraku.render.plots import require_matplotlib
from bunraku.sweeps.sweep_table import Columns
from bunraku.writing import writing

Array = NDArray[np.float64]
COLORS = ("#33557a", "#d1481f", "#4b8b3b", "#8a5aa8", "#b8860b", "#2f8f8f", "#7a4a33", "#666666")
"""One for each value of a second path; if it has more values, all points are drawn in the first colour."""


def draw_sweep(columns: Columns, path: Path, *, x: str, y: str, group: str | None = None) -> None:
    """Draws the column `y` over the column `x` of a table into the file `path` (PNG, SVG or PDF).

    columns: the table.
    group: a column whose values get a colour each; None for one colour.
    Every run is a point, hollow if its outcome is not ok; a line joins the medians of runs with the same x, and a band covers the
    middle half of them. Raises UnknownName for columns that do not exist, BunrakuError for columns without numbers.
    """
    require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    xs, ys = _numbers(columns, x), _numbers(columns, y)
    good = np.array(columns["ok"], bool)
    canvas = Canvas(figsize=(7.2, 4.6), dpi=150, layout="constrained")
    axes = canvas.subplots()
    groups = _groups(columns, group)
    for k, (label, rows) in enumerate(groups):
        here = rows & np.isfinite(xs) & np.isfinite(ys)
        color = COLORS[k]
        _points(axes, xs, ys, here & good, here & ~good, color, label)
        _medians(axes, xs[here & good], ys[here & good], color)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    for scale, values in ((axes.set_xscale, xs), (axes.set_yscale, ys)):
        finite = values[np.isfinite(values)]
        if len(finite) and finite.min() > 0.0 and finite.max() > 50.0 * finite.min():
            scale("log")
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    if len(groups) > 1:
        axes.legend(title=group, frameon=False, fontsize=8, title_fontsize=8)
    with writing(path) as temporary:
        canvas.savefig(temporary, format=path.suffix[1:].lower())


def _points(axes: Any, xs: Array, ys: Array, good: NDArray[np.bool_], bad: NDArray[np.bool_], color: str, label: str) -> None:
    faint = 0.35 if good.sum() > 60 else 0.7
    axes.plot(xs[good], ys[good], "o", ms=4, mew=0, color=color, alpha=faint, label=label)
    axes.plot(xs[bad], ys[bad], "o", ms=4, mfc="none", mec=color, alpha=faint)


def _medians(axes: Any, xs: Array, ys: Array, color: str) -> None:
    """A line through the medians of the runs with the same x, unless nearly every run has an x of its own."""
    places, counts = np.unique(xs, return_counts=True)
    if len(places) < 2 or (len(places) > 40 and counts.max() < 3):
        return
    quartiles = np.array([np.quantile(ys[xs == place], (0.25, 0.5, 0.75)) for place in places])
    axes.plot(places, quartiles[:, 1], "-", lw=1.6, color=color)
    if counts.max() > 3:
        axes.fill_between(places, quartiles[:, 0], quartiles[:, 2], color=color, alpha=0.15, lw=0)


def _groups(columns: Columns, group: str | None) -> list[tuple[str, NDArray[np.bool_]]]:
    rows = len(columns["key"])
    if group is None:
        return [("", np.ones(rows, bool))]
    _require(columns, group)
    values = list(dict.fromkeys(columns[group]))
    if len(values) > len(COLORS):
        return [("", np.ones(rows, bool))]
    return [(str(value), np.array([one == value for one in columns[group]])) for value in values]


def _require(columns: Columns, name: str) -> None:
    if name not in columns:
        raise UnknownName("column", name, tuple(columns))


def _numbers(columns: Columns, name: str) -> Array:
    """A column as numbers, NaN where a cell has none."""
    _require(columns, name)
    out = np.array([float(value) if isinstance(value, int | float) else np.nan for value in columns[name]])
    if not np.isfinite(out).any():
        advice = f"columns with numbers: {', '.join(numeric(columns)[:16])}"
        raise BunrakuError(f"the column {name!r} has no numbers\n  advice: {advice}")
    return out


def numeric(columns: Columns) -> Sequence[str]:
    """The names of the columns with numbers that are not all the same."""
    numbers = {name: {value for value in column if isinstance(value, int | float)} for name, column in columns.items()}
    return [name for name, found in numbers.items() if len(found) > 1]
