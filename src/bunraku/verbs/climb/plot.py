"""Plot of a climb: joint accelerations before and after, adhesion with the critical foot, clearance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.locomotion.climb.climb import Climb
from bunraku.render import plots
from bunraku.writing import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(done: Climb, path: Path) -> None:
    """Draws accelerations, adhesion and clearance of the climb `done` over time into the PNG, SVG or PDF file `path`."""
    plots.require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(plots.PLOT_STYLE):
        sheet = Figure(figsize=(10.0, 6.6), layout="constrained")
        FigureCanvasAgg(sheet)
        accelerations, adhesion, clearance = sheet.subplots(3, 1, sharex=True, height_ratios=[1.4, 1.0, 0.8])
        _accelerations(accelerations, done)
        _adhesion(adhesion, done)
        _clearance(clearance, done)
        for axes in (accelerations, adhesion, clearance):
            axes.margins(x=0.01)
            for mark in done.motion.marks:
                axes.axvline(mark.t, color="#999999", linewidth=0.7, linestyle=(0, (4, 3)), zorder=1.5)
        for mark in done.motion.marks:
            accelerations.annotate(
                mark.text, (mark.t, 1.0), xycoords=("data", "axes fraction"), xytext=(2, 3), textcoords="offset points",
                rotation=30, ha="left", va="bottom", fontsize=7, color="#555555", annotation_clip=False,
            )  # fmt: skip
        clearance.set_xlabel("time [s]")
        with writing(path) as temporary:
            sheet.savefig(temporary, dpi=150, format=path.suffix[1:].lower())


def _accelerations(axes: Axes, done: Climb) -> None:
    both = (
        ("the paper's gait", done.paper, plots.CURVE_COLORS[1], 0.25),
        ("this motion", done.ours, plots.CURVE_COLORS[0], 0.6),
    )
    for name, found, color, alpha in both:
        values, t = found.joints, found.dt * np.arange(1, len(found.joints) + 1)
        if not len(t):
            continue
        most = np.maximum(np.abs(values).max(1), 1.0)
        axes.fill_between(t, most, 1.0, color=color, alpha=alpha, linewidth=0.0)
        axes.plot(t, most, color=color, linewidth=0.7, label=f"{name},\nat most {most.max():.0f}")
    axes.set_yscale("log")
    axes.set_ylabel("largest joint\nacceleration [rad/s²]")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _adhesion(axes: Axes, done: Climb) -> None:
    t, values = done.motion.t, np.where(np.isfinite(done.adhesion.adhesion), done.adhesion.adhesion, np.nan)
    axes.plot(t, values, color="#bbbbbb", linewidth=0.6, zorder=1)
    for k, foot in enumerate(done.roles.feet):
        own = (done.adhesion.critical == k) & (values > 1e-6)
        axes.scatter(
            t[own],
            values[own],
            s=2.0,
            color=plots.CURVE_COLORS[k % len(plots.CURVE_COLORS)],
            label=foot.removesuffix("_foot").replace("_", " "),
            zorder=2,
        )
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("adhesion\n[weights]")
    style: dict[str, Any] = {"frameon": False, "fontsize": 8, "title_fontsize": 8, "bbox_to_anchor": (1.0, 0.5)}
    axes.legend(loc="center left", markerscale=4, title="critical foot", **style)


def _clearance(axes: Axes, done: Climb) -> None:
    values = 1e3 * done.clearance
    axes.plot(done.motion.t, values, color=plots.CURVE_COLORS[2], linewidth=0.9)
    axes.axhline(5.0, color="#c8553d", linewidth=0.8, linestyle=":")
    axes.set_ylim(bottom=min(0.0, float(values.min()) - 1.0))
    axes.set_ylabel("clearance\n[mm]")
