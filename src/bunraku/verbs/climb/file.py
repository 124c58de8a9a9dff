"""Climbing files: who climbs, along which path, and how.

climb: gecko                  # a figure of the library, or a file beside this one
path:
  - straight: 10 cm
  - {curve: 90 deg, radius: 150 mm}       # to the left; to the right where negative
  - slope: 45 deg             # the surface rises; floor to wall is 90 deg
  - step: 2 cm                # goes on higher, or lower where negative
  - {obstacle: 2 cm, length: 12 cm}       # a step up, a straight, a step down
stride: 6 cm                  # of a cycle of four steps
quarter: 250 ms               # that a step takes
dt: 5 ms
friction: 1
grip: 30 deg                  # feet that stick only while they are dragged along their toes
light: true                   # pause and lean so that feet need to stick less
pause: 250 ms                 # on all four feet after each step: none, or 250 ms where it is light
output: climb.npz
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.brief import brief
from bunraku.figure import Figure
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.locomotion.climb.climb import Climb, climb
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Arc, PathSegment, Slope, Step, Straight
from bunraku.progress import Listener

WORDS = ("climb", "path", "stride", "quarter", "dt", "friction", "grip", "light", "pause", "optimized", "output")
KINDS = ("straight", "curve", "slope", "step", "obstacle")
LONGEST = 1000.0  # [m] of a path: memory grows with it


@dataclass(frozen=True, eq=False)
class ClimbRecipe:
    """What a climbing file says."""

    figure: Figure
    segments: tuple[PathSegment, ...]
    lines: tuple[int, ...]
    """In which line of the file each segment stands."""
    options: dict[str, Any]
    output: tuple[Path, ...] = ()

    __repr__ = brief

    def __str__(self) -> str:
        return f"climb of {self.figure.name}: {', '.join(map(str, self.segments))}"

    def run(self, *, progress: Listener | None = None) -> Climb:
        """The climb. Ctrl-C ends the optimisation with what there is."""
        return climb(self.segments, figure=self.figure, progress=progress, **self.options)


def climb_file(path: str | os.PathLike[str], *, progress: Listener | None = None) -> Climb:
    """The climb that a file orders; nothing is written."""
    return load_climb(path).run(progress=progress)


def load_climb(path: str | os.PathLike[str]) -> ClimbRecipe:
    """What a climbing file orders, checked."""
    return climb_of(yaml_reader.read(path), Path(path).parent)


def climb_of(root: Node, folder: Path) -> ClimbRecipe:
    """The climb in a document; files are named from `folder`."""
    root.words(WORDS, "a climb")
    who = root.need("climb", "the file")
    with who.blamed():
        figure = Gecko(figure_named(who, folder)).figure
    found = [pair for node in root.need("path", "the climb").items("the segments of a path") for pair in _segments(node)]
    if not found:
        raise root.place_of("path").error("the path has no segments", advice=f"list some: {', '.join(KINDS)}")
    options = root.given(
        stride=lambda node: node.positive(Quantity.LENGTH), quarter=lambda node: node.positive(Quantity.TIME),
        dt=lambda node: node.positive(Quantity.TIME),
        friction=Node.positive, grip=_grip, light=Node.flag, pause=_pause, optimized=Node.flag,
    )  # fmt: skip
    _check_size(root, [segment for segment, _ in found], options)
    segments, nodes = zip(*found, strict=True)
    lines = tuple(node.line for node in nodes)
    return ClimbRecipe(figure, segments, lines, options, outputs_of(root.get("output"), folder))


def _segments(node: Node) -> list[tuple[PathSegment, Node]]:
    """What one entry of a path stands for."""
    kind, value = node.head(KINDS, "a segment")
    extra = {"curve": ("radius",), "obstacle": ("length",)}.get(kind, ())
    node.words((kind, *extra), f"a {kind}")
    with node.blamed({"length": kind if kind == "straight" else "length", "angle": kind, "height": kind}):
        if kind == "straight":
            return [(Straight(value.length()), node)]
        if kind == "curve":
            return [(Arc(node.need("radius", "the curve").length(), value.number(Quantity.ANGLE)), node)]
        if kind == "slope":
            return [(Slope(value.number(Quantity.ANGLE)), node)]
        if kind == "step":
            return [(Step(value.length()), node)]
        height, long = value.length(), node.need("length", "the obstacle").length()
        return [(segment, node) for segment in (Step(height), Straight(long), Step(-height))]


def _pause(node: Node) -> float:
    value = node.number(Quantity.TIME)
    if not 0.0 <= value <= 10.0:
        raise node.error(f"a pause of {value:g} s", advice="give 0 to 10 s")
    return value


def _grip(node: Node) -> float:
    angle = node.number(Quantity.ANGLE)
    if not 0.0 < angle < math.pi / 2:
        raise node.error(f"an angle of {math.degrees(angle):g}°", advice="between 0 and 90 deg; geckos let go at about 30 deg")
    return math.tan(angle)


def _check_size(root: Node, segments: list[PathSegment], options: dict[str, Any]) -> None:
    """Long paths, tiny strides and coarse samples are refused before the work begins."""
    stride, quarter, dt = (options.get(word, default) for word, default in (("stride", 0.06), ("quarter", 0.25), ("dt", 0.005)))
    length = sum(s.length for s in segments if isinstance(s, Straight))
    length += sum(s.radius * abs(s.angle) for s in segments if isinstance(s, Arc))
    if quarter / dt < 8.0:
        raise root.place_of("dt").error(f"{quarter / dt:.1f} samples in a step", advice="make dt at most an eighth of quarter")
    samples = 4.0 * length / stride * (quarter + options.get("pause", 0.0)) / dt
    if length > LONGEST or samples > 1e6:
        advice = "shorten the path, or lengthen stride or dt"
        raise root.place_of("path").error(f"{length:.4g} m in {samples:.3g} samples are too many", advice=advice)
