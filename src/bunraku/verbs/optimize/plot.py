"""Plot of an optimum: references and motion, inputs, and convergence of the search."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.control import Optimum
from bunraku.control.optimum import force_unit
from bunraku.render import plots
from bunraku.writing import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MAX_CURVES = 6  # maximum number of curves in a panel: those with the largest range


def draw(found: Optimum, path: Path) -> None:
    """Draws the optimum `found` into the file `path` (PNG, SVG or PDF): panels over time, and the convergence below them."""
    plots.require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = found.system.figure
    kinds = (("angle [rad]", _farthest(found, turning=True)), ("position [m]", _farthest(found, turning=False)))
    panels = [(label, columns) for label, columns in kinds if columns]
    count = len(panels) + bool(len(found.system.thrusts))
    with mpl.rc_context(plots.PLOT_STYLE):
        sheet = Figure(figsize=(9.0, 2.0 * count + 2.8), layout="constrained")
        FigureCanvasAgg(sheet)
        halves = sheet.subfigures(2, 1, height_ratios=[count, 1.0], squeeze=False)[:, 0]
        rows = halves[0].subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        for axes, (label, columns) in zip(rows, panels, strict=False):
            _variables(axes, found, label, columns)
        if len(found.system.thrusts):
            _forces(rows[-1], found)
        rows[0].set_title(f"{figure.name}: reference (dashed) and motion", loc="left", fontsize=10, fontweight="bold")
        rows[-1].set_xlabel("time [s]")
        _search(halves[1].subplots(), found)
        with writing(path) as temporary:
            sheet.savefig(temporary, dpi=150, format=path.suffix[1:].lower())


def _farthest(found: Optimum, *, turning: bool) -> list[int]:
    """The variables with the largest range in the motion or the reference: angles or positions."""
    s, sheet = found.system, found.problem.sheet
    own = [k for k, v in enumerate(s.figure.variables) if (v.motion in ("rotate", "screw")) == turning]
    way = np.ptp(found.run.x[:, : s.n_q], axis=0)
    way = np.maximum(way, np.where((sheet.wx[:, : s.n_q] > 0.0).any(0), np.ptp(sheet.rx[:, : s.n_q], axis=0), 0.0))
    first = sorted(own, key=lambda k: -way[k])[:MAX_CURVES]
    return sorted(k for k in first if way[k] > 0.0) or first[:1]


def _variables(axes: Axes, found: Optimum, label: str, columns: list[int]) -> None:
    s, sheet = found.system, found.problem.sheet
    t = s.dt * np.arange(len(found.run) + 1)
    for n, k in enumerate(columns):
        color = plots.CURVE_COLORS[n % len(plots.CURVE_COLORS)]
        axes.plot(t, found.run.x[:, k], color=color, label=s.figure.names[k])
        weighed = sheet.wx[:, k] > 0.0
        if weighed.any():
            axes.plot(t[weighed], sheet.rx[weighed, k], color=color, linestyle="--", linewidth=0.9)
    axes.set_ylabel(label)
    _legend(axes)


def _forces(axes: Axes, found: Optimum) -> None:
    s = found.system
    t = s.dt * np.arange(len(found.run))
    for n, k in enumerate(found.widest_forces(MAX_CURVES)):
        label = f"{s.figure.forces[k].name} [{force_unit(s.figure, k)}]"
        axes.step(t, found.forces[:, k], where="post", color=plots.CURVE_COLORS[n % len(plots.CURVE_COLORS)], label=label)
    axes.set_ylabel("force inputs")
    _legend(axes)


def _search(axes: Axes, found: Optimum) -> None:
    tail = np.maximum(np.array(found.tail), 1e-20)
    k = np.arange(1, len(tail) + 1)
    axes.semilogy(k, tail, color="0.6", linewidth=0.8)
    for kind, color in zip(("newton", "gauss-newton", "steepest"), plots.CURVE_COLORS, strict=False):
        own = np.array([i.kind == kind for i in found.history], bool)
        if own.any():
            axes.semilogy(k[own], tail[own], "o", markersize=3.5, color=color, label=kind)
    axes.set(xlabel="iteration", ylabel="expected decrease\nover cost")
    axes.set_title(found.outcome.kind, loc="left", fontsize=9)
    _legend(axes)


def _legend(axes: Axes) -> None:
    axes.margins(x=0.01)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)
