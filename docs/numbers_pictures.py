"""Makes the pictures of the page of numbers, from that page's own tables.

python docs/numbers_pictures.py
"""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

HERE = Path(__file__).parent
COLOURS = ("#1b6ca8", "#d1603d", "#3c8d5a")


def table(page: str, first: str) -> tuple[list[str], NDArray[np.float64]]:
    """The heads and numbers of the table whose first column is called so."""
    rows = re.search(rf"^\| {re.escape(first)} \|.*?(?=\n\n|\Z)", page, re.MULTILINE | re.DOTALL)
    assert rows is not None, first
    cells = [[cell.strip() for cell in row.strip("| ").split("|")] for row in rows[0].splitlines()]
    numbers = [[float(cell.replace(",", "")) for cell in row] for row in cells[2:] if re.match(r"[\d.]+$", row[0])]
    return cells[0][1:], np.array(numbers)


def lines(axes: Axes, x: NDArray[np.float64], columns: NDArray[np.float64], names: list[str]) -> None:
    for name, y, colour in zip(names, columns.T, COLOURS, strict=False):
        power = np.polyfit(np.log(x), np.log(y), 1)[0]
        axes.loglog(x, y, "o-", color=colour, lw=1.8, ms=5)
        axes.annotate(f"{name}\nslope {power:.1f}", (x[-1], y[-1]), (7, 0), textcoords="offset points", color=colour, va="center")
    axes.set_xticks(x, [f"{value:g}" for value in x])
    axes.minorticks_off()
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlim(x[0] * 0.85, x[-1] * 2.6)


def main() -> None:
    mpl.use("Agg")
    page = (HERE / "numbers.md").read_text(encoding="utf-8")
    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    names, numbers = table(page, "joints")
    lines(axes, numbers[:, 0], numbers[:, 1:], names)
    axes.set(xlabel="joints in the chain", ylabel="microseconds", title="What a step and its derivatives cost")
    figure.savefig(HERE / "_static" / "growth.png", dpi=110)
    figure, axes = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
    names, numbers = table(page, "bandwidth [Hz]")
    lines(axes, numbers[:, 0], numbers[:, 1:], [name.partition(" ")[0] for name in names])
    axes.set(xlabel="bandwidth of the servos [Hz]", ylabel="largest difference [rad]", title="Motors in place of hands")
    figure.savefig(HERE / "_static" / "servo.png", dpi=110)


if __name__ == "__main__":
    main()
