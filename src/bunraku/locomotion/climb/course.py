"""A course to climb: a ribbon of flat faces, unrolled along the path of the body.

Two coordinates locate a point: the distance along the course, and the distance to the left. `u` is the distance along the path of
the body, `s` that along the surface. In a concave corner of angle θ the body, at height h, takes the shorter way, so the feet skip
2h·tan(θ/2) of the surface. Over a convex edge the body takes the longer way, so the feet make more steps on the same length
(*gecko*, IV-A).
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.locomotion.climb.body_way import BodyWay
from bunraku.locomotion.climb.course_options import CourseOptions
from bunraku.locomotion.climb.course_pace import CoursePace
from bunraku.locomotion.climb.ground_kernels import Ground
from bunraku.locomotion.climb.path_segments import Arc, PathSegment, Slope, Step, Straight, SurfacePiece
from bunraku.spatial import so3

Array = NDArray[np.float64]


class Course:
    """Segments laid one after the other, with some floor before and after for the gecko to stand on.

    segments: the segments of the path, in order
    height: height of the body over the surface [m]
    spread: distance of the feet to the side of the body [m]
    stride: distance per cycle [m]; less in tight curves
    leg: length of the climber's leg [m]
    foot: how far a foot extends ahead of its centre and behind it [m]
    options: other lengths, in leg lengths; the attribute `options` holds them in metres
    """

    def __init__(
        self, segments: tuple[PathSegment, ...], *, height: float, spread: float = 0.106, stride: float = 0.06,
        leg: float = 0.12, foot: float = 0.0237, options: CourseOptions = CourseOptions(),
    ) -> None:  # fmt: skip
        self.segments, self.height, self.spread, self.stride = tuple(segments), height, spread, stride
        self.options, self.leg, self.toes = options.metres(leg), leg, foot + leg * options.riser
        before, after = self.options.before, self.options.after
        self.pieces: list[SurfacePiece] = []
        self.convex: list[bool] = []  # whether each crease between faces is convex
        self.starts: list[float] = []  # u where each segment starts
        self._X, self._u, self._s, self._face = np.eye(4), -before, 0.0, 0
        self._X[0, 3] = -before
        self._feet: list[tuple[float, float]] = [(self._u, self._s)]
        self._forbidden: list[tuple[float, float]] = []
        self._curves: list[tuple[float, float, float]] = []  # u where each curve begins and ends, and its curvature
        self._way: list[tuple[float, Array]] = []
        self._ahead(before, 0.0)
        for segment in self.segments:
            self.starts.append(self._u)
            self._lay(segment)
        self.length = self._u
        self._ahead(after, 0.0)

    # -- laying ------------------------------------------------------------------------------------------------------

    def _lay(self, segment: PathSegment) -> None:
        match segment:
            case Straight():
                self._ahead(segment.length, 0.0)
            case Arc():
                self._ahead(segment.radius * abs(segment.angle), math.copysign(1.0 / segment.radius, segment.angle))
            case Slope():
                self._slope(segment.angle)
            case Step():
                self._step(segment.height)

    def _mark(self) -> None:
        raised = self._X.copy()
        raised[:3, 3] += self.height * raised[:3, 2]
        self._way.append((self._u, raised))

    def _ground(self, length: float, curvature: float = 0.0) -> None:
        """Adds surface that the body passes by a shorter way."""
        piece = SurfacePiece(self._s, length, curvature, self._X, self._face)
        self.pieces.append(piece)
        self._s += length
        self._X = piece.frame(length, 0.0)

    def _crease(self, angle: float) -> None:
        self._X = self._X.copy()
        self._X[:3, :3] = self._X[:3, :3] @ so3.about(1, -angle)
        self._face += 1
        self.convex.append(angle < 0.0)

    def _ahead(self, length: float, curvature: float) -> None:
        count = max(math.ceil(length / self.options.spacing), 1) if curvature else 1
        start, s, u = self._X, self._s, self._u
        piece = SurfacePiece(s, length, curvature, start, self._face)
        for k in range(count + 1):
            self._X, self._u = piece.frame(length * k / count, 0.0), u + length * k / count
            self._mark()
        self.pieces.append(piece)
        self._s = s + length
        self._feet.append((self._u, self._s))
        if curvature:
            self._curves.append((u, self._u, abs(curvature)))

    def _slope(self, angle: float) -> None:
        gap = self.height * math.tan(abs(angle) / 2.0)
        if angle >= 0.0:
            self._ground(gap)
            self._forbidden.append((self._s - self.toes, self._s + self.toes))
            self._crease(angle)
            self._ground(gap)
            self._mark()
            self._feet.append((self._u, self._s))
            return
        corner = self._X.copy()
        corner[:3, 3] += self.height * corner[:3, 2] + gap * corner[:3, 0]
        self._crease(angle)
        self._way.append((self._u + gap, corner))
        self._u += 2.0 * gap
        self._mark()
        self._feet.append((self._u, self._s))
        self._forbidden.append((self._s - self.options.edge, self._s + self.options.edge))

    def _step(self, height: float) -> None:
        up = math.copysign(1.0, height)
        riser, edge = self.toes, self.options.edge
        low, high = (riser, edge) if up > 0 else (edge, riser)
        start = self._s
        self._crease(up * math.pi / 2.0)
        self._ground(abs(height))
        self._crease(-up * math.pi / 2.0)
        self._mark()
        self._feet.append((self._u, self._s))
        self._forbidden.append((start - low, self._s + high))

    @cached_property
    def pace(self) -> CoursePace:
        """How far the body gets in each cycle."""
        reach, most = self.options.edge_reach, max(self.options.outer_stride, self.stride)
        slow = [(u - reach, v + reach, (1.0 + self.spread * k) * self.stride / most) for u, v, k in self._curves]
        return CoursePace(self.length, self.stride, [own for own in slow if own[2] > 1.0], self.options.spacing)

    # -- the feet ----------------------------------------------------------------------------------------------------

    def along_surface(self, u: float) -> float:
        """Distance along the surface [m] at which a foot stands when the body is at `u` [m]; never near an edge."""
        s = self._surface(u)
        for low, high in self._forbidden[max(bisect.bisect(self._forbidden, (s, s)) - 2, 0) :]:
            if low < s < high:
                return low if s - low <= high - s else high
            if low > s:
                break
        return s

    def _surface(self, u: float) -> float:
        knots = self._spread_knots
        k = bisect.bisect_right(knots, u, key=lambda knot: knot[0])
        if k == len(knots):
            return knots[-1][1]
        (u0, s0), (u1, s1) = knots[max(k - 1, 0)], knots[max(k, 1)]
        return s0 + (s1 - s0) * (u - u0) / (u1 - u0)

    @cached_property
    def _spread_knots(self) -> list[tuple[float, float]]:
        """Knots (u, s) that shorten the stride before and after a convex edge, instead of making it zero at the edge."""
        out: list[tuple[float, float]] = []
        knots = self._feet
        for k, (u, s) in enumerate(knots):
            stands = [j for j in (k, k + 1) if 0 < j < len(knots) and knots[j][1] == knots[j - 1][1]]
            if not stands:
                out.append((u, s))
            elif stands[0] == k:  # the body moved on, but the surface did not: the end of a convex edge
                ahead = min(self.stride, (knots[k + 1][0] - u) / 2.0)
                out.append((u + ahead, s + ahead))
            else:
                back = min(self.stride, (u - knots[k - 1][0]) / 2.0)
                out.append((u - back, s - back))
        return out

    def surface(self, s: float, y: float) -> tuple[Array, int]:
        """Pose of the surface (4, 4; columns ahead, left, normal) at distances `s` along and `y` to the left [m]; and its face."""
        piece = self.pieces[max(bisect.bisect_right(self.pieces, s, key=lambda p: p.s) - 1, 0)]
        return piece.frame(s - piece.s, y), piece.face

    def foot(self, u: float, y: float) -> tuple[Array, int]:
        """Pose of the foothold when the body is at `u` [m], `y` [m] to the left; and its face."""
        return self.surface(self.along_surface(u), y)

    @cached_property
    def faces(self) -> tuple[Array, ...]:
        """Pose of one point on each face."""
        found: dict[int, Array] = {}
        for piece in self.pieces:
            found.setdefault(piece.face, piece.X)
        return tuple(found[k] for k in sorted(found))

    def over(self, x: ArrayLike, faces: range) -> Array:
        """Heights of points `x` (…, 3) over a run of `faces` [m]: a lower bound, exact away from creases."""
        return self.nearest(x, faces)[0]

    def nearest(self, x: ArrayLike, faces: range) -> tuple[Array, Array]:
        """Heights of points `x` (…, 3) over a run of `faces` [m], and the normals (…, 3) of the nearest ones."""
        x = np.asarray(x, float)
        planes = [self.faces[k] for k in faces]
        heights = [(x - X[:3, 3]) @ X[:3, 2] for X in planes]
        height, normal = heights[0], np.broadcast_to(planes[0][:3, 2], x.shape)
        for k, X, other in zip(faces[1:], planes[1:], heights[1:], strict=True):
            takes = other > height if self.convex[k - 1] else other < height
            height, normal = np.where(takes, other, height), np.where(takes[..., None], X[:3, 2], normal)
        return height, normal

    def faces_between(self, u: ArrayLike, behind: float, ahead: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First and last face near bodies at `u` (T,) [m] that extend `behind` and `ahead` [m]."""
        u = np.asarray(u, float)
        knots, starts = np.array(self._spread_knots), np.array([piece.s for piece in self.pieces])
        face = np.array([piece.face for piece in self.pieces])

        def at(x: Array) -> NDArray[np.int64]:
            s = np.interp(x, knots[:, 0], knots[:, 1])
            return np.asarray(face[np.maximum(np.searchsorted(starts, s, side="right") - 1, 0)])

        return at(u - behind), at(u + ahead)

    def ground(self, u: ArrayLike, behind: float, ahead: float) -> Ground:
        """The faces near bodies at `u` (T,) [m] that extend `behind` and `ahead` [m], for kernels."""
        first, last = self.faces_between(u, behind, ahead)
        normal, offset = np.array([X[:3, 2] for X in self.faces]), np.array([X[:3, 3] @ X[:3, 2] for X in self.faces])
        field = np.zeros(3), 1.0, 0.0, np.empty((0, 0, 0), np.int64), np.empty((0, 1, 1, 1))
        tree = np.empty((0, 3), np.int64), np.empty((0, 6)), np.empty((0, 9))
        return Ground(normal, offset, np.array([*self.convex, False]), first, last, *field, *tree)

    def face_runs(self, u: ArrayLike, behind: float, ahead: float) -> Iterator[tuple[slice, range]]:
        """Runs of samples with the same faces near bodies at ascending `u` (T,) [m] that extend `behind` and `ahead` [m]."""
        first, last = self.faces_between(u, behind, ahead)
        ends = [*(np.flatnonzero((np.diff(first) != 0) | (np.diff(last) != 0)) + 1).tolist(), len(first)]
        for begin, end in zip([0, *ends], ends, strict=False):
            yield slice(begin, end), range(int(first[begin]), int(last[begin]) + 1)

    # -- the body ----------------------------------------------------------------------------------------------------

    @cached_property
    def way(self) -> BodyWay:
        """The path of the body, with rounded corners."""
        return BodyWay(self, [u for u, _ in self._way], np.array([X for _, X in self._way]))

    def body(self, u: ArrayLike) -> tuple[Array, Array]:
        """Positions (T, 3) [m] and rotations (T, 3, 3) of the body at `u` (T,) [m]."""
        return self.way.at(np.asarray(u, float))
