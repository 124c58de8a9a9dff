"""Figures as in the paper: the ZMP in its support polygon over time (Fig. 8), and paths of all points from above (Fig. 10, 11)."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.locomotion.guide.com_zmp import SAMPLE_COLUMNS
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.navigation_points import NO_FOOT
from bunraku.locomotion.guide.segment import Segment
from bunraku.render.plots import CURVE_COLORS, require_matplotlib
from bunraku.scene import Scene
from bunraku.spatial import so3
from bunraku.writing import writing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


class LociColors(NamedTuple):
    """Colours of the points."""

    com: str = CURVE_COLORS[0]
    zmp: str = CURVE_COLORS[1]
    left: str = CURVE_COLORS[2]
    right: str = CURVE_COLORS[3]
    goal: str = CURVE_COLORS[4]


LOCI_COLORS = LociColors()


def draw_segments(axes: Axes, segments: Sequence[Segment], *, axis: int = 1) -> None:
    """Draws centre of mass and ZMP of `segments` against time into `axes`, with the polygon that must contain the ZMP (Fig. 8).

    `axis` is the coordinate that is drawn: 0 for x, 1 for y.
    """
    t0 = 0.0
    for k, segment in enumerate(segments):
        t = t0 + segment.dt * np.arange(segment.n + 1)
        low, high = (1e3 * x for x in _slice(segment, axis))
        axes.fill_between(t, low, high, color="#dfe7ef", lw=0, label="support polygon" if k == 0 else None)
        axes.plot(t, 1e3 * segment.samples[:, axis], color=LOCI_COLORS.com, lw=1.8, label="centre of mass" if k == 0 else None)
        axes.plot(
            t, 1e3 * segment.samples[:, SAMPLE_COLUMNS.zmp + axis], color=LOCI_COLORS.zmp, lw=1.4, label="ZMP" if k == 0 else None
        )
        outside = segment.margin < -1e-6
        if outside.any():
            axes.plot(
                t[outside], 1e3 * segment.samples[outside, SAMPLE_COLUMNS.zmp + axis], ".", color="black", ms=4, label="outside"
            )
        t0 += segment.duration
        axes.axvline(t0, color="#999999", lw=0.8, ls=":")
    axes.set_xlabel("time [s]")


def _slice(segment: Segment, axis: int) -> tuple[Array, Array]:
    """Smallest and largest coordinate of the polygon at every tick."""
    low, high = np.empty(segment.n + 1), np.empty(segment.n + 1)
    first = 0
    for phase, end in zip(segment.phases, segment.ends, strict=True):
        low[first : end + 1], high[first : end + 1] = phase.region.corners[:, axis].min(), phase.region.corners[:, axis].max()
        first = end
    return low, high


def draw_loci(done: Sequence[GuidedMove], path: str | PathLike[str], *, scene: Scene | None = None, width: float = 9.0) -> None:
    """Draws the paths of centre of mass, ZMP, feet and hands from above, with footprints and subgoals.

    done: moves, in order
    path: a PNG, SVG or PDF file
    scene: drawn below the paths
    width: width of the picture [inches]
    """
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(width, 0.5 * width), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots()
    loci(axes, done, scene=scene)
    with writing(path) as temporary:
        sheet.savefig(temporary, dpi=150, format=str(path).rpartition(".")[2])


def loci(axes: Axes, done: Sequence[GuidedMove], *, scene: Scene | None = None) -> None:
    """Draws the paths of the moves `done`, above a `scene`, into existing `axes`."""
    for obstacle in scene.obstacles if scene is not None else ():
        if isinstance(obstacle.geometry, Box):
            x, y = obstacle.geometry.size[:2]
            corners = np.array([[x, y], [-x, y], [-x, -y], [x, -y]]) / 2 @ so3.matrix(obstacle.rotation)[:2, :2].T
            axes.fill(*(corners + obstacle.position[:2]).T, color=obstacle.color, alpha=0.45, lw=0, zorder=0)
    for k, one in enumerate(done):
        _locus(axes, one, first=k == 0)
    seen = np.concatenate([np.concatenate([one.move.feet[..., :2], one.move.hands[..., :2]], 1).reshape(-1, 2) for one in done])
    low, high = seen.min(0), seen.max(0)
    room = 0.06 * float((high - low).max())
    axes.set_xlim(low[0] - room, high[0] + room)
    axes.set_ylim(low[1] - room, high[1] + room)
    axes.set_aspect("equal")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=8)


def _locus(axes: Axes, one: GuidedMove, *, first: bool) -> None:
    move = one.move

    def line(points: Array, color: str, label: str, **words: Any) -> None:
        axes.plot(points[:, 0], points[:, 1], color=color, label=label if first else None, **words)

    for phase in move.segment.phases:
        axes.fill(*phase.region.corners.T, color="#3b6ea5", alpha=0.035, lw=0, zorder=0.5)
    line(move.segment.samples[:, :2], LOCI_COLORS.com, "centre of mass", lw=1.6)
    line(one.zmp, LOCI_COLORS.zmp, "ZMP of all bodies", lw=0.7)
    for k, (color, side) in enumerate(((LOCI_COLORS.left, "left"), (LOCI_COLORS.right, "right"))):
        line(move.feet[:, k], color, f"{side} foot", lw=1.2)
        line(move.hands[:, k], color, f"{side} hand", lw=0.9, ls="--")
    axes.plot(*move.goals.com[:2], "+", color=LOCI_COLORS.goal, ms=6, label="subgoals" if first else None)
    if move.goals.swings != NO_FOOT:
        axes.plot(*move.goals.feet[move.goals.swings, :2], "s", color=LOCI_COLORS.goal, ms=3, mfc="none")
