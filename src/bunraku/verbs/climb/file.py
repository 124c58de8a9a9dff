"""Climbing files: which figure climbs which path, and how.

climb: gecko                  # a figure of the library, or a file beside this one
path:
  - straight: 10 cm
  - {curve: 90 deg, radius: 150 mm}       # to the left; negative turns right
  - slope: 45 deg             # the surface turns up; floor to wall is 90 deg
  - step: 2 cm                # up; negative goes down
  - {obstacle: 2 cm, length: 12 cm}       # a step up, a straight, a step down
# or, instead of segments, places on a closed mesh, between which a way is planned:
# path: {surface: rock.obj, scale: 1, from: [0, 0, 0], to: [0.5, 0, 0.4]}
roles:                        # which parts of another figure are for what; default: those of the gecko
  feet: [left_paw, right_paw, left_hoof, right_hoof]      # frames, in pairs from front to rear, the left one first
  trunk: [chest, hips]        # frames on the body, from front to rear
  bends: [waist]              # variables that bend the body to the sides
  tail: [tail]                # variables that raise the tail
gait: crawl                   # one foot at a time; or trot, half of the feet at a time; default: as the speed asks for
speed: 6 cm/s                 # of the body; default: in proportion to the square root of the length of a leg
stride: 6 cm                  # distance per cycle, in which every foot steps once; default: half a leg, in a trot three quarters
quarter: 250 ms               # duration of a step, instead of speed
dt: 5 ms                      # time between two samples; default: a fiftieth of a step
friction: 1                   # coefficient of friction of the feet
grip: 30 deg                  # feet stick only while they are dragged along their toes; default: in every direction
light: true                   # pause and lean, so that feet need less adhesion; default: false
pause: 250 ms                 # on all feet after each step; default: none; as long as a step for a light climb
optimized: true               # false keeps the gait that the optimisation starts from
output: climb.npz             # or a list of files; `bunraku climb -o` overrides it
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_args

from bunraku.figure import Figure
from bunraku.figure.shape import Mesh
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.shape_words import mesh_named
from bunraku.locomotion.climb.climb import Climb, climb
from bunraku.locomotion.climb.climb_pace import climb_pace
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES, ClimberRoles
from bunraku.locomotion.climb.footsteps import Gait, swing_groups
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Arc, PathSegment, Slope, Step, Straight
from bunraku.locomotion.climb.surface_course import SurfacePath
from bunraku.progress import Listener
from bunraku.verbs.climb.plot import draw
from bunraku.verbs.order import Order


@dataclass(frozen=True, eq=False, repr=False)
class ClimbOrder(Order):
    """A climb: a gecko, and a path over floors, slopes, walls and ceilings."""

    verb: ClassVar[str] = "climb"
    words: ClassVar[tuple[str, ...]] = (
        verb, "path", "roles", "gait", "speed", "stride", "quarter", "dt", "friction", "grip", "light", "pause", "optimized",
        "output",
    )  # fmt: skip
    segment_words: ClassVar[tuple[str, ...]] = ("straight", "curve", "slope", "step", "obstacle")
    """Keywords that begin the entries of a path."""
    surface_words: ClassVar[tuple[str, ...]] = ("surface", "scale", "from", "to")
    """Keywords of a path over a mesh."""

    figure: Figure
    path: tuple[PathSegment, ...] | SurfacePath
    lines: tuple[int, ...]
    """The line of each segment in the file; none of a path over a mesh."""
    gait: Gait | None = None
    """Which feet swing together; None for what the speed asks for."""
    speed: float | None = None
    """Of the body [m/s]; None for the default, or what `quarter` gives."""
    stride: float | None = None
    """Distance per cycle, in which every foot steps once [m]; None for the default."""
    quarter: float | None = None
    """Duration of a step [s]; None for the default."""
    dt: float | None = None
    """Time between two samples [s]; None for the default."""
    friction: float = 1.0
    grip: float = math.inf
    """Adhesion per unit of force along the toes: the tangent of the angle in the file."""
    light: bool = False
    pause: float | None = None
    """Time on all four feet after each step [s]; None for the default."""
    optimized: bool = True
    output: tuple[Path, ...] = ()
    roles: ClimberRoles = GECKO_ROLES

    @property
    def title(self) -> str:
        """The name of the figure."""
        return self.figure.name

    def __str__(self) -> str:
        path = str(self.path) if isinstance(self.path, SurfacePath) else ", ".join(map(str, self.path))
        return f"climb of {self.figure.name}: {path}"

    @classmethod
    def read(cls, root: Node, folder: Path) -> ClimbOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        root.words(cls.words, "a climb")
        who = root.need("climb", "the file")
        said = root.get("roles")
        roles = GECKO_ROLES if said is None else _roles(said)
        with who.blamed():
            figure = Gecko(figure_named(who, folder), roles).figure
        said_path = root.need("path", "the climb")
        over_mesh = isinstance(said_path.value, dict)
        found = (
            []
            if over_mesh
            else [pair for node in said_path.items("the segments of a path") for pair in _segments(node, cls.segment_words)]
        )
        if not found and not over_mesh:
            raise said_path.error("the path has no segments", advice=f"add some: {', '.join(cls.segment_words)}")
        path = _over_mesh(said_path, folder) if over_mesh else tuple(segment for segment, _ in found)
        options = root.given(
            gait=lambda node: node.choice(get_args(Gait), "a gait"), speed=lambda node: node.positive(Quantity.SPEED),
            stride=lambda node: node.positive(Quantity.LENGTH), quarter=lambda node: node.positive(Quantity.TIME),
            dt=lambda node: node.positive(Quantity.TIME), friction=Node.positive, grip=_grip, light=Node.flag, pause=_pause,
            optimized=Node.flag, output=lambda node: outputs_of(node, folder),
        )  # fmt: skip
        order = cls(figure, path, tuple(node.line for _, node in found), roles=roles, **options)
        order._check_size(root)
        return order

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Climb:
        """The climb; after Ctrl-C the best motion so far.

        seed: stored in the result; the climb uses no random numbers.
        progress: called with its progress.
        """
        return climb(
            self.path, figure=self.figure, roles=self.roles, gait=self.gait, speed=self.speed, stride=self.stride,
            quarter=self.quarter, dt=self.dt, friction=self.friction, grip=self.grip, light=self.light, pause=self.pause,
            optimized=self.optimized, seed=seed, progress=progress,
        )  # fmt: skip

    def report(self, done: Climb) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text about the climb `done`; if it failed, also the line of the file."""
        for title, text in done.report():
            yield title, text
            if title == "outcome" and done.segment is not None and not isinstance(self.path, SurfacePath):
                yield "in the file", f"line {self.lines[done.segment]}: {self.path[done.segment]}"

    def plot(self, done: Climb, path: Path) -> None:
        """Draws accelerations, adhesion and clearance of the climb `done` over time into the file `path`."""
        draw(done, path)

    def _check_size(self, root: Node) -> None:
        """Raises FileError if samples are too coarse, or if the path would need too much memory."""
        segments = () if isinstance(self.path, SurfacePath) else self.path
        length = sum(s.length for s in segments if isinstance(s, Straight))
        length += sum(s.radius * abs(s.angle) for s in segments if isinstance(s, Arc))
        leg, feet = Gecko(self.figure, self.roles).measures["leg"], len(self.roles.feet)
        with root.blamed():
            pace = climb_pace(
                leg, feet, gait=self.gait, speed=self.speed, stride=self.stride, quarter=self.quarter, dt=self.dt,
                pause=self.pause or 0.0,
            )  # fmt: skip
        coarse = pace.quarter / pace.dt
        if coarse < 8.0:
            raise root.place_of("dt").error(f"{coarse:.1f} samples in a step", advice="make dt at most an eighth of quarter")
        parts = len(swing_groups(feet, pace.gait))
        samples = parts * length / pace.stride * (pace.quarter + (self.pause or 0.0)) / pace.dt
        if length > 1000.0 or samples > 1e6:
            advice = "shorten the path, or lengthen stride or dt"
            raise root.place_of("path").error(f"a path of {length:.4g} m needs {samples:.3g} samples, too many", advice=advice)


def _segments(node: Node, kinds: tuple[str, ...]) -> list[tuple[PathSegment, Node]]:
    """The segments that one entry of a path describes."""
    kind, value = node.head(kinds, "a segment")
    extra: dict[str, tuple[str, ...]] = {"curve": ("radius",), "obstacle": ("length",)}
    node.words((kind, *extra.get(kind, ())), f"a {kind}")
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
        obstacle: tuple[Any, ...] = (Step(height), Straight(long), Step(-height))
        return [(segment, node) for segment in obstacle]


def _over_mesh(node: Node, folder: Path) -> SurfacePath:
    """A path from one place on a mesh to another."""
    node.words(ClimbOrder.surface_words, "a path over a mesh")
    file = mesh_named(node.need("surface", "the path"), folder)
    scale = node.get("scale")
    size = 1.0 if scale is None else scale.positive()
    start, goal = (node.need(word, "the path").lengths() for word in ("from", "to"))
    return SurfacePath(Mesh(str(file), (size, size, size)), start, goal)


def _roles(node: Node) -> ClimberRoles:
    node.words(("feet", "trunk", "bends", "tail", "lean"), "the roles of a climber")

    def names(word: str) -> tuple[str, ...]:
        said = node.need(word, "the roles") if word in ("feet", "trunk") else node.get(word)
        return () if said is None else tuple(item.name(f"a name for {word}") for item in said.items(f"names for {word}"))

    lean = node.get("lean")
    angle = {} if lean is None else {"lean": lean.positive(Quantity.ANGLE)}
    return ClimberRoles(names("feet"), names("trunk"), names("bends"), names("tail"), **angle)


def _pause(node: Node) -> float:
    value = node.number(Quantity.TIME)
    if not 0.0 <= value <= 10.0:
        raise node.error(f"a pause of {value:g} s", advice="give 0 to 10 s")
    return value


def _grip(node: Node) -> float:
    angle = node.number(Quantity.ANGLE)
    if not 0.0 < angle < math.pi / 2:
        raise node.error(
            f"an angle of {math.degrees(angle):g}°", advice="give an angle between 0 and 90 deg; geckos let go at about 30 deg"
        )
    return math.tan(angle)
