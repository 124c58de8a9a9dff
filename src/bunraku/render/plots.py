"""Plots of a motion against time: variables, speeds, tensions, contact forces, and other measured values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import FileError, MissingExtra, MotionError, UnknownName
from bunraku.figure import Figure
from bunraku.motion import Motion, Track
from bunraku.writing import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
# Colours of curves that most people can tell apart, also when printed in grey.
CURVE_COLORS = ("#3b6ea5", "#c8553d", "#4f8a5b", "#8f5ea3", "#b58a2b", "#3a9a9a", "#a34a68", "#6b6b6b")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PLOT_STYLE: Any = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#999999",
    "axes.grid": True, "grid.color": "#e6e6e6", "axes.axisbelow": True, "xtick.color": "#555555",
    "ytick.color": "#555555", "axes.labelcolor": "#333333", "lines.linewidth": 1.4, "svg.fonttype": "none",
}  # fmt: skip


def require_matplotlib() -> None:
    """Raises MissingExtra if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "plot", "a plot")


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: its name, its unit, and its values (T,)."""

    name: str
    unit: str
    values: Array
    kind: str = ""
    """The word that selects it: tension, contact, gap, energy, or v for a velocity; empty for a variable."""
    label: str = ""
    """The name in the legend, without the kind."""


def plot(
    motion: Motion, path: str | PathLike[str], what: str | Iterable[str] = "*", *,
    series: Mapping[str, ArrayLike] | None = None, title: str = "", width: float = 8.0,
) -> None:  # fmt: skip
    """Draws curves of a `motion` against time, with a panel for each unit and the motion's marks.

    path: a PNG, SVG or PDF file
    what: variables ("elbow", "torso_*"), their speeds ("v:elbow"), "tension", "tension:left_*", "contact", "gap", "energy",
        or entries of `series`
    series: other values over time, with their units: {"energy [J]": energy}
    title: by default the names of the figures
    width: of the picture [inches]

    Raises UnknownName for a curve that does not exist, FileError if the file cannot be written.
    """
    if Path(path).suffix.lower() not in PLOT_SUFFIXES:
        raise FileError("not a picture file", path=str(path), advice=f"end the name in {', '.join(PLOT_SUFFIXES)}")
    panels: dict[str, list[Line]] = {}
    for line in lines(motion, what, series or {}):
        panels.setdefault(line.unit, []).append(line)
    _draw(motion, panels, path, title, width)


def lines(motion: Motion, what: str | Iterable[str], series: Mapping[str, ArrayLike]) -> list[Line]:
    """The curves of a `motion` and of `series` that `what` names, each once; raises UnknownName."""
    known = [*_extra(motion, series), *(line for track in motion.tracks for line in _of(track, motion))]
    chosen: dict[str, Line] = {}
    for wish in (what,) if isinstance(what, str) else what:
        found = [line for line in known if _wished(line, wish)]
        if not found:
            raise UnknownName("curve", wish, tuple(line.name for line in known))
        chosen |= {line.name: line for line in found}
    return list(chosen.values())


def require_curves(figure: Figure, what: Iterable[str]) -> None:
    """Raises UnknownName if `what` names a curve that a simulation of this `figure` does not have."""
    ropes, contacts = len(figure.strings) + len(figure.wires), len(figure.contacts)
    empty = Motion.of(
        figure, [0.0], [figure.start], v=np.zeros((1, figure.n_q)), tension=np.zeros((1, ropes)), contact=np.zeros((1, contacts)),
        gap=np.zeros((1, ropes)), energy=np.zeros((1, 2)),
    )  # fmt: skip
    lines(empty, what, {})


def _wished(line: Line, wish: str) -> bool:
    """Whether `wish` selects this line. A pattern without a colon selects variables; other curves are selected by their kind."""
    if line.kind and (wish == line.kind or ":" not in wish):
        return wish == line.kind
    return fnmatchcase(line.name, wish)


def _of(track: Track, motion: Motion) -> Iterator[Line]:
    figure = track.figure
    prefix, owner = (f"{track.name}/", f"{track.name} ") if len(motion.tracks) > 1 else ("", "")
    units = ["rad" if v.motion in ("rotate", "screw") else "m" for v in figure.variables]
    quantity = {"rad": "angle", "m": "position"}
    for k, (name, unit) in enumerate(zip(figure.names, units, strict=True)):
        yield Line(f"{prefix}{name}", f"{quantity[unit]} [{unit}]", track.q[:, k])
    if track.v is not None:
        for k, (name, unit) in enumerate(zip(figure.names, units, strict=True)):
            yield Line(f"{prefix}v:{name}", f"{quantity[unit]} rate [{unit}/s]", track.v[:, k], "v", f"{owner}{name}")
    ropes = [rope.name for rope in (*figure.strings, *figure.wires)]
    total = None if track.energy is None else np.column_stack([track.energy, track.energy.sum(1)])
    measured = (
        ("tension", "N", ropes, track.tension), ("contact", "N", [c.name for c in figure.contacts], track.contact),
        ("gap", "m", ropes, track.gap), ("energy", "J", ["kinetic", "potential", "total"], total),
    )  # fmt: skip
    for kind, unit, names, values in measured:
        if values is not None:
            for k, name in enumerate(names):
                yield Line(f"{prefix}{kind}:{name}", f"{kind} [{unit}]", values[:, k], kind, f"{owner}{name}")


def _extra(motion: Motion, series: Mapping[str, ArrayLike]) -> Iterator[Line]:
    for label, given in series.items():
        values = np.asarray(given, float)
        if values.shape != motion.t.shape or not np.isfinite(values).all():
            raise MotionError(f"{label!r} has shape {values.shape}, or is not finite", advice=f"give {len(motion)} finite numbers")
        name, _, unit = label.partition(" [")
        yield Line(name, f"{name} [{unit}" if unit else name, values)


# -- drawing ---------------------------------------------------------------------------------------------------


def _draw(motion: Motion, panels: dict[str, list[Line]], path: str | PathLike[str], title: str, width: float) -> None:
    require_matplotlib()
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Sheet

    tall = [max(1.7, 0.16 * len(group)) for group in panels.values()]
    with mpl.rc_context(PLOT_STYLE):
        # A matplotlib figure made without pyplot: no global state changes, and no window opens.
        sheet = Sheet(figsize=(width, sum(tall) + 0.9), layout="constrained")
        FigureCanvasAgg(sheet)
        rows = sheet.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=tall)[:, 0]
        for k, (axes, (unit, group)) in enumerate(zip(rows, panels.items(), strict=True)):
            _panel(axes, motion, unit, group, labels=k == 0)
        rows[-1].set_xlabel("time [s]")
        rows[0].set_title(title or ", ".join(motion.names), loc="left", fontsize=10, fontweight="bold", pad=18)
        with writing(path) as temporary:
            sheet.savefig(temporary, dpi=150)


def _panel(axes: Axes, motion: Motion, unit: str, group: list[Line], *, labels: bool) -> None:
    styles = ("-", "--", ":", "-.")
    for k, line in enumerate(group):
        style = {"color": CURVE_COLORS[k % len(CURVE_COLORS)], "linestyle": styles[k // len(CURVE_COLORS) % len(styles)]}
        axes.plot(motion.t, line.values, label=line.label or line.name, marker="o" if len(motion) == 1 else "", **style)  # type: ignore[arg-type]
    axes.set_ylabel(unit)
    axes.margins(x=0.01)
    if len(group) > 1 or group[0].name not in unit:
        columns = 1 + (len(group) - 1) // 24
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=7.5, ncols=columns)
    last = -np.inf
    for mark in motion.marks:
        color = {"cue": "#3b6ea5", "impact": "#c8553d"}.get(mark.kind, "#777777")
        axes.axvline(mark.t, color=color, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1.5)
        half = 0.5 * 0.0095 * len(mark.text) * motion.duration  # a letter takes 0.95 % of the axis
        if labels and mark.t - half > last:  # names that would overlap are left out
            axes.annotate(
                mark.text, (mark.t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3), textcoords="offset points",
                ha="center", va="bottom", fontsize=7.5, color=color,
            )  # fmt: skip
            last = mark.t + half
