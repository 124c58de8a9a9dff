"""An independent judge of penetration: knows shapes by their support functions only, and nothing of features, contacts or steps.

Along any unit vector n, two convex bodies are apart by sep(n) = min over a of n·x − max over b of n·y. They are in each other by at
most −sep(n), whatever n is; the largest sep(n) is their signed distance. The judge looks for the best n, so that what it reports is
never less than the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, nnls
from scipy.spatial import ConvexHull

from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure.shape import Box, Capsule, Cylinder, Sphere
from bunraku.kinematics import pose

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex hull of points with a ball around each, and discs of radius `disc` about them, square to `axis`."""

    points: Array
    ball: float = 0.0
    disc: float = 0.0
    axis: Array | None = None
    normals: Array | None = None
    edges: Array | None = None
    half_space: bool = False

    def moved(self, R: Array, p: Array) -> Solid:
        axis, normals, edges = (None if v is None else v @ R.T for v in (self.axis, self.normals, self.edges))
        return replace(self, points=self.points @ R.T + p, axis=axis, normals=normals, edges=edges)

    def support(self, n: Array) -> tuple[float, Array]:
        """The largest n·x, and where it is, the ball left out of it."""
        x = self.points[np.argmax(self.points @ n)]
        if self.axis is not None:
            flat = n - (n @ self.axis) * self.axis
            size = np.linalg.norm(flat)
            x = x + (self.disc / size * flat if size > 1e-15 else 0.0)
        return float(n @ x) + self.ball, x

    def corners(self) -> Array:
        if self.axis is None:
            return self.points
        u = np.cross(self.axis, np.eye(3)[np.argmin(np.abs(self.axis))])
        u /= np.linalg.norm(u)
        v, s = np.cross(self.axis, u), np.linspace(0.0, 2 * np.pi, 13)[:-1]
        rim = self.disc * (np.cos(s)[:, None] * u + np.sin(s)[:, None] * v)
        return np.concatenate([p + rim for p in self.points])


def solid_of(geometry: object) -> Solid:
    match geometry:
        case None:
            return Solid(np.zeros((1, 3)), axis=None, normals=np.eye(3)[2:], half_space=True)
        case Sphere(radius):
            return Solid(np.zeros((1, 3)), radius)
        case Capsule(radius, length):
            return Solid(np.array([[0, 0, -length / 2], [0, 0, length / 2]]), radius)
        case Cylinder(radius, length):
            return Solid(np.array([[0, 0, -length / 2], [0, 0, length / 2]]), 0.0, radius, np.eye(3)[2])
        case Box(size):
            return _hull(0.5 * np.array(size) * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]))
        case other:
            return _hull(np.asarray(other.vertices))  # type: ignore[attr-defined]


def _hull(points: Array) -> Solid:
    hull = ConvexHull(points)
    corners = points[hull.vertices]
    sides = {tuple(sorted((t[i], t[i - 1]))) for t in hull.simplices for i in range(3)}
    edges = np.array([points[a] - points[b] for a, b in sides])
    return Solid(corners, normals=hull.equations[:, :3], edges=edges / np.linalg.norm(edges, axis=1)[:, None])


def apart(a: Solid, b: Solid, n: Array) -> float:
    """sep(n) for n from b to a."""
    return -a.support(-n)[0] - b.support(n)[0]


def signed_distance(a: Solid, b: Solid) -> float:
    """How far apart a and b are [m]: exact where they are in each other; where they are not, a lower bound above zero."""
    if a.half_space or b.half_space:
        a, b = (b, a) if a.half_space else (a, b)
        assert b.normals is not None
        n = b.normals[0]
        return -a.support(-n)[0] - float(n @ b.points[0])
    if a.normals is not None and b.normals is not None:
        return _polytopes(a, b)
    best = -np.inf
    points = (a.corners()[:, None] - b.corners()[None]).reshape(-1, 3)
    n = points.mean(0)
    for _ in range(30):  # nearest point of the hull of the points seen; where it looks, one more point of the true hull
        u, size = nnls(np.vstack([points.T, np.ones(len(points))]), np.array([0.0, 0.0, 0.0, 1.0]))
        y = points.T @ u
        if size < 1e-7 or np.linalg.norm(y) < 1e-12:
            break
        n = y / np.linalg.norm(y)
        n = n if (points @ n).min() >= (points @ -n).min() else -n
        now = apart(a, b, n)
        if now <= best + 1e-12:
            break
        best = max(best, now)
        points = np.vstack([points, a.support(-n)[1] - b.support(n)[1]])
    if best < -1e-7:  # in each other, or not yet found: every direction that may separate them, and those near the best
        best = _refined(a, b, n)
    return best


def _polytopes(a: Solid, b: Solid) -> float:
    crossed = np.cross(a.edges[:, None], b.edges[None]).reshape(-1, 3)  # type: ignore[index]
    size = np.linalg.norm(crossed, axis=1)
    crossed = crossed[size > 1e-9] / size[size > 1e-9, None]
    axes = np.concatenate([-a.normals, b.normals, crossed, -crossed])  # type: ignore[operator]
    low = (a.points @ axes.T).min(0)
    high = (b.points @ axes.T).max(0)
    return float((low - high).max())


def _refined(a: Solid, b: Solid, n: Array) -> float:
    rng = np.random.default_rng(0)
    starts = [n, a.points.mean(0) - b.points.mean(0)]
    for body, sign in ((a, -1.0), (b, 1.0)):
        if body.normals is not None:
            starts += list(sign * body.normals)
        if body.axis is not None:
            starts += [body.axis, -body.axis]
    starts += list(rng.normal(size=(200, 3)))
    starts = [s / np.linalg.norm(s) for s in starts if np.linalg.norm(s) > 1e-12]
    values = [apart(a, b, s) for s in starts]
    best = max(values)
    for k in np.argsort(values)[::-1][:4]:
        n = starts[k]
        for size in (0.1, 1e-2, 1e-3, 1e-4):
            u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
            u /= np.linalg.norm(u)
            v = np.cross(n, u)

            def turned(x: Array, n: Array = n, u: Array = u, v: Array = v) -> Array:
                m = n + x[0] * u + x[1] * v
                return np.asarray(m / np.linalg.norm(m))

            found = minimize(
                lambda x: -apart(a, b, turned(x)),
                np.zeros(2),
                method="Nelder-Mead",
                options={
                    "initial_simplex": size * np.array([[0, 0], [1, 0], [0, 1]]),
                    "xatol": 1e-10,
                    "fatol": 1e-12,
                    "maxiter": 300,
                },
            )
            n = turned(found.x)
        best = max(best, apart(a, b, n))
        if best > -1e-7:
            break
    return best


class Judge:
    """Judges all pairs of bodies of a `simulation` that may touch."""

    def __init__(self, simulation: TouchSimulation) -> None:
        self.figure, self.names, self.things = simulation.figure, simulation.bodies.names, simulation.bodies.things
        self.solids = [solid_of(None if t.solid is None else t.solid.shape).moved(t.X[:3, :3], t.X[:3, 3]) for t in self.things]
        middle = [s.points.mean(0) for s in self.solids]
        self._middle = np.array(middle)
        self._reach = np.array(
            [
                np.inf if s.half_space else np.hypot(np.linalg.norm(s.points - m, axis=1).max(), s.disc) + s.ball
                for s, m in zip(self.solids, middle, strict=True)
            ]
        )
        self.pairs = np.argwhere(np.triu(simulation.world.may))

    def deepest(self, q: Array) -> tuple[float, tuple[str, str]]:
        """How deep any two bodies are in each other at `q` [m], 0 where none are, and which."""
        here = pose(self.figure, q)
        X = [here.X_joint(t.joint) if t.joint >= 0 else np.eye(4) for t in self.things]
        centre = np.array([x[:3, :3] @ m + x[:3, 3] for x, m in zip(X, self._middle, strict=True)])
        worst, who = 0.0, ("", "")
        a, b = self.pairs.T
        near = np.linalg.norm(centre[a] - centre[b], axis=1) < self._reach[a] + self._reach[b]
        placed: dict[int, Solid] = {}
        for i, k in self.pairs[near]:
            for body in (i, k):
                if body not in placed:
                    placed[body] = self.solids[body].moved(X[body][:3, :3], X[body][:3, 3])
            depth = -signed_distance(placed[i], placed[k])
            if depth > worst:
                worst, who = depth, (self.names[i], self.names[k])
        return worst, who
