"""A course over the surface of a mesh: a planned way of the body, and footholds that are searched beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.frame import Vector
from bunraku.figure.shape import Mesh
from bunraku.locomotion.climb.body_way import BodyWay, turned
from bunraku.locomotion.climb.course_options import CourseOptions
from bunraku.locomotion.climb.course_pace import CoursePace
from bunraku.locomotion.climb.footholds import FootholdOptions, LegShape, foothold
from bunraku.locomotion.climb.ground_kernels import Ground
from bunraku.locomotion.climb.surface_field import SurfaceField
from bunraku.locomotion.climb.surface_way import SurfaceWay, WayOptions, continued, spaced, way_over
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SurfacePath:
    """From one place on the surface of a closed mesh to another [m]; the way between them is planned."""

    mesh: Mesh
    start: Vector
    goal: Vector
    avoid: tuple[Vector, ...] = ()
    """Places from which the way of the body stays away, by `WayOptions.around`."""

    def __str__(self) -> str:
        start, goal = (", ".join(f"{x:.3g}" for x in place) for place in (self.start, self.goal))
        return f"over {self.mesh.file.rsplit('/', 1)[-1]} from ({start}) to ({goal})"


@dataclass(frozen=True, eq=False)
class MissingFoothold:
    """Where on the way, and at which place, no foothold is good enough, and its gap [m]."""

    u: float
    place: Array
    gap: float


class SurfaceCourse:
    """A course over a mesh, with the interface of `Course`.

    path: the mesh, start and goal
    height: height of the body over the surface [m]
    spread: distance of the feet to the side of the body [m]
    stride: distance per cycle [m]; less in tight curves
    leg: length of the climber's leg [m]
    sole: height of a foot's centre over a flat surface [m]
    soles: balls that fill each foot, as in `Gecko.soles`
    shape: the shape of the legs; None if nothing is known of it
    options: other lengths, in leg lengths; the attribute `options` holds them in metres
    way_options, foothold_options: how the way and the footholds are sought
    """

    def __init__(
        self, path: SurfacePath, *, height: float, spread: float, stride: float, leg: float, sole: float,
        soles: tuple[Array, Array], shape: LegShape | None = None, options: CourseOptions = CourseOptions(),
        way_options: WayOptions = WayOptions(), foothold_options: FootholdOptions = FootholdOptions(),
    ) -> None:  # fmt: skip
        self.segments, self.starts, self.convex = (path,), [0.0], list[bool]()
        self.height, self.spread, self.stride, self.leg, self.sole, self.soles = height, spread, stride, leg, sole, soles
        self.options, self._foothold_options, self._shape = options.metres(leg), foothold_options, shape
        self.field = SurfaceField(path.mesh, leg)
        self.around = way_options.around * leg  # how far the way stays from places that it avoids [m]
        self.missing: list[MissingFoothold] = []
        self.gaps: list[float] = []  # the largest gap under the sole at each foothold [m]
        start, goal = np.asarray(path.start, float), np.asarray(path.goal, float)
        self.planned: SurfaceWay = way_over(
            self.field, start, goal, height=height, spread=spread, leg=leg, avoid=path.avoid, options=way_options
        )  # fmt: skip
        self._lay(self.planned.points)

    def _lay(self, points: Array) -> None:
        """Knots of the body's path, continued before the start and after the goal."""
        spacing = 2.0 * self.options.spacing
        points = spaced(points, spacing)
        if np.linalg.norm(np.diff(points, axis=0), axis=1).sum() < 1e-3 * spacing:  # no way from the start: in any direction
            normal = self.field.field(points[0])[1]
            points = points[:1] + np.array([[0.0], [spacing]]) * np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        ahead, behind = points[-1] - points[max(len(points) - 4, 0)], points[0] - points[min(3, len(points) - 1)]
        before = continued(self.field, points[0], behind, self.height, self.options.before, spacing)[::-1]
        after = continued(self.field, points[-1], ahead, self.height, self.options.after, spacing)
        whole = np.concatenate([before, points, after])
        u = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(whole, axis=0), axis=1))])
        self.length = float(u[len(before) + len(points) - 1] - u[len(before)])
        u -= u[len(before)]
        _, normal = self.field.field(whole)
        X = np.tile(np.eye(4), (len(u), 1, 1))
        X[:, :3, :3], X[:, :3, 3] = turned(np.gradient(whole, axis=0), normal), whole
        self._knots = u, X

    @cached_property
    def way(self) -> BodyWay:
        """The path of the body, with rounded corners."""
        return BodyWay(self, self._knots[0].tolist(), self._knots[1])

    @cached_property
    def pace(self) -> CoursePace:
        """How far the body gets in each cycle."""
        way, o = self.way, self.options
        ahead = way.R[:, :, 0]
        turn = np.einsum("ti,ti->t", np.gradient(ahead, way.spacing, axis=0), way.R[:, :, 1])  # curvature within the surface
        bend = np.einsum("ti,ti->t", np.gradient(ahead, way.spacing, axis=0), way.R[:, :, 2])  # and across it
        most = max(o.outer_stride, self.stride)
        factor = (1.0 + self.spread * np.abs(turn) + self.height * np.maximum(bend, 0.0)) * self.stride / most
        slow = [
            (float(u) - o.edge_reach / 2.0, float(u) + o.edge_reach / 2.0, float(f)) for u, f in zip(way.u, factor, strict=True)
        ]
        return CoursePace(self.length, self.stride, [own for own in slow[::4] if own[2] > 1.0], o.spacing)

    def foot(self, u: float, y: float) -> tuple[Array, int]:
        """Pose of the foothold when the body is at `u` [m], `y` [m] to the left; and the number of its face, 0."""
        p, R = (x[0] for x in self.body(np.array([u])))
        below = p - self.height * R[:, 2] + y * R[:, 1]
        own, shoulders = 0 if y > 0.0 else 1, np.empty((0, 3))
        if self._shape is not None:  # in three quarters of a cycle the body goes three quarters of a stride past a foot that stands
            at, axes = self.body(u + 0.375 * self.stride * np.array([-1.0, 0.0, 1.0]))
            shoulders = at + self._shape.above * axes[:, :, 2] + np.sign(y) * self._shape.aside * axes[:, :, 1]
        found = foothold(
            self.field, below, R, soles=(self.soles[0][own], self.soles[1][own]), sole=self.sole, leg=self.leg,
            shape=self._shape, shoulders=shoulders, options=self._foothold_options,
        )  # fmt: skip
        self.gaps.append(found.gap)
        if found.gap > self._foothold_options.widest * self.leg:
            self.missing.append(MissingFoothold(u, found.X[:3, 3], found.gap))
        return found.X, 0

    def over(self, x: ArrayLike, faces: range) -> Array:
        """Distances of points `x` (…, 3) from the surface [m], exact up to a leg; `faces` are not used."""
        return self.field.over(x)

    def face_runs(self, u: ArrayLike, behind: float, ahead: float) -> Iterator[tuple[slice, range]]:
        """All samples of `u` (T,) as one run: a mesh has no faces to choose from by `behind` and `ahead` [m]."""
        yield slice(0, len(np.asarray(u))), range(1)

    def ground(self, u: ArrayLike, behind: float, ahead: float) -> Ground:
        """The surface for kernels; the same at all `u` (T,), whatever the climber extends `behind` and `ahead` [m]."""
        return self.field.ground

    def body(self, u: ArrayLike) -> tuple[Array, Array]:
        """Positions (T, 3) [m] and rotations (T, 3, 3) of the body at `u` (T,) [m]."""
        return self.way.at(np.asarray(u, float))

    @property
    def scene(self) -> Scene:
        """The mesh as a scene."""
        return Scene("course", (Obstacle("surface", self.field.mesh),), floor=None)
