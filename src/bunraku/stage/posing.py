"""A figure posed by hand: a dragged point pulls the whole figure along, within its limits. Feet on the floor stay there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Figure, Point
from bunraku.scene import Scene
from bunraku.stage.hand_commands import Command, Pull, Release, Winch
from bunraku.stage.live import Sample

if TYPE_CHECKING:
    from bunraku.kinematics import Drag

Array = NDArray[np.float64]


@dataclass
class Posing:
    """A Live figure without physics: inverse kinematics moves the pulled points a little toward their goals in every step."""

    figure: Figure
    scene: Scene = Scene("stage")
    dt: float = 1 / 60
    """Time between two samples [s]."""
    start: Array | None = None
    """The configuration at the start and after a reset; by default the figure's own start."""
    speed: float = 1.2
    """Maximum speed of a dragged point [m/s], so that the figure does not jerk toward an impossible goal."""
    root_reluctance: float = 90.0
    """Weight of moving the whole figure relative to moving its limbs: only a pull beyond their reach moves it."""
    touching: float = 5e-3
    """Height up to which a foot counts as standing on the floor [m]."""
    pulls: frozenset[str] = frozenset(("body", "spindle", "pin"))
    sticks: tuple[str, ...] = ()
    _held: dict[tuple[int, str, str], Pull] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._strings = {string.name: string for string in self.figure.strings}
        self._reluctance = dict.fromkeys(self._free_variables(), self.root_reluctance)
        self._soles = self._standing_frames()
        self._grips: tuple[tuple[Point, ...], tuple[str | Point, ...]] = ((), ())
        self._drag: Drag | None = None
        self.reset()

    def _free_variables(self) -> list[str]:
        """Variables that move the figure as a whole."""
        frames = {frame for joint in self.figure.groups if joint.kind == "free" for frame in joint.frames}
        return [v.name for f in self.figure.frames if f.name in frames and (v := f.variable) is not None]

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (self.figure,)

    @property
    def series(self) -> tuple[tuple[str, str], ...]:
        """How far inside its feet the centre of mass of a figure that stands is."""
        return (("centre of mass inside the feet", "mm"),) if self._soles else ()

    def _standing_frames(self) -> dict[str, Array]:
        """Frames of a figure that is free to fall that touch the floor at the start, each with the points that do, (n, 3) [m]."""
        if self.scene.floor is None or not self._reluctance or not self.figure.mass:
            return {}
        from bunraku.kinematics import pose
        from bunraku.render.triangles import triangles
        from bunraku.spatial import se3

        here, low = pose(self.figure, self._first), dict[str, list[Array]]()
        for shape in self.figure.shapes:
            if shape.frame != WORLD:
                X_WF = here.X(shape.frame)
                points = se3.transform(X_WF @ se3.pose(shape.position, shape.rotation), triangles(shape.geometry).vertices)
                low.setdefault(shape.frame, []).append(points[points[:, 2] < self.scene.floor + self.touching])
        soles = {frame: found for frame, sets in low.items() if len(found := np.concatenate(sets))}
        return {frame: se3.transform(se3.inverse(here.X(frame)), _corners(points)) for frame, points in soles.items()}

    @property
    def _first(self) -> Array:
        return np.array(self.figure.start if self.start is None else self.start, float)

    def reset(self) -> Sample:
        """Back to the start, with nothing held."""
        self._q = self._first
        self._t = 0.0
        self._held.clear()
        self._drag, self._falls = None, False
        return self._sample()

    def apply(self, command: Command) -> None:
        """Executes a `command`; commands that do not apply to this figure are ignored."""
        match command:
            case Pull(part="body" | "pin", name=name) if name in self.figure.frame_index:
                self._held[command.what] = command
            case Pull(part="spindle", name=name) if name in self._strings:
                self._held[command.what] = command
            case Release():
                self._held.pop(command.what, None)
            case Winch(string=name, by=by) if name in self._strings:
                string = self._strings[name]
                if string.variable is not None:
                    from bunraku.kinematics.inverse.drag import wound

                    self._q[self.figure.index(string.variable)] = wound(self.figure, string, self._q, by)

    def step(self) -> Sample:
        """The next sample."""
        if any(pull.part != "pin" for pull in self._held.values()):
            self._follow()
        self._t += self.dt
        return self._sample()

    def _follow(self) -> None:
        """Moves every held point toward its hand. Pinned points stay, and so do feet on the floor that no hand holds."""
        from bunraku.kinematics import Drag  # imported on the first drag: the list of a show must not wait for a solver

        hands = [pull for pull in self._held.values() if pull.part != "pin"]
        pins = tuple(Point(pull.name, pull.at) for pull in self._held.values() if pull.part == "pin")
        held = {pull.name for pull in hands}
        grips = tuple(self._grip(pull) for pull in hands)
        known = self._drag is not None and grips == self._grips[0] and pins == self._grips[1]
        if not known:
            self._grips = (grips, pins)
            lifted = {self._foot(name) for name in held if name in self._soles}
            feet = tuple(name for name in self._on_floor() if self._foot(name) not in lifted)
            self._drag = Drag(self.figure, self._q.copy(), grips, pins=(*feet, *pins), reluctance=self._reluctance)
        assert self._drag is not None
        places = [self._above_floor(pull) for pull in hands]
        self._q = self._drag.step(self._q, places, longest=self.speed * self.dt)

    def _grip(self, pull: Pull) -> Point:
        return Point(pull.name, pull.at) if pull.part == "body" else self._strings[pull.name].spindle

    # -- standing ------------------------------------------------------------------------------------------------

    def _foot(self, sole: str) -> str:
        """The uppermost of the frames with soles that a frame hangs on: heel and toes are one foot."""
        top, frame = sole, self.figure.frame(sole).parent
        while frame != WORLD:
            top, frame = frame if frame in self._soles else top, self.figure.frame(frame).parent
        return top

    def _feet(self) -> dict[str, Array]:
        """The points of each foot in the world, (n, 3) [m]."""
        from bunraku.kinematics import pose
        from bunraku.spatial import se3

        here = pose(self.figure, self._q)
        return {name: se3.transform(here.X(name), points) for name, points in self._soles.items()}

    def _on_floor(self) -> dict[str, Array]:
        """The feet that stand on the floor, with the points that touch it."""
        height = (self.scene.floor or 0.0) + self.touching
        return {name: low for name, points in self._feet().items() if len(low := points[points[:, 2] < height])}

    def _above_floor(self, pull: Pull) -> tuple[float, float, float]:
        """The place of a hand; one that holds a foot does not push it into the floor."""
        x, y, z = pull.to
        if pull.name not in self._soles:
            return (x, y, z)
        from bunraku.kinematics import pose

        own = pose(self.figure, self._q).point(pull.name, pull.at)[2] - self._feet()[pull.name][:, 2].min()
        return (x, y, max(z, (self.scene.floor or 0.0) + float(own)))

    def _sample(self) -> Sample:
        """The configuration, and how far inside the feet the centre of mass is; once it is not, that is told."""
        if not self._soles:
            return Sample(self._t, (self._q.copy(),))
        from bunraku.kinematics import pose
        from bunraku.kinematics.balance import margin, support_polygon

        feet = self._on_floor()
        polygon = support_polygon(np.concatenate(list(feet.values()))) if feet else None
        inside = 0.0 if polygon is None else float(margin(polygon, pose(self.figure, self._q).com))
        falls, before = inside < 0.0, self._falls
        self._falls = falls
        told = ("off balance: it would fall, for the centre of mass is not above the feet",) if falls and not before else ()
        return Sample(self._t, (self._q.copy(),), series=(1e3 * inside,), notices=told)


def _corners(points: Array) -> Array:
    """Those of `points` (n, 3) that are corners of their hull, seen from above."""
    from bunraku.kinematics.balance import support_polygon

    away = np.linalg.norm(points[None, :, :2] - support_polygon(points)[:, None], axis=2)
    chosen: Array = points[np.unique(away.argmin(1))]
    return chosen
