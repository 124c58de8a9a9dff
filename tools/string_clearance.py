"""Hands that keep strings clear of bodies: as little as they must, strings lean elsewhere than wished.

Seen from its hook, a string leans by two slopes. For each shape let d(slopes) be the least distance of points of the string from
it; where d is less than a margin, the slopes are moved. All samples are moved together, by Gauss and Newton's method, so that
hands stay smooth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from bunraku.figure import Box, Capsule, Cylinder, Figure, Shape, Sphere
from bunraku.kinematics import frames_along
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClearanceOptions:
    """How far strings stay away, and how smoothly."""

    margin: float = 0.025
    """From any shape [m]; near its hook, a string is not nearer to a shape than the hook."""
    spare: float = 0.006
    """How much nearer than its hook a string may be to a shape that is near the hook [m]."""
    points: int = 64
    """Of a string at which distances are taken."""
    top: float = 2.0
    """Nothing is above this height [m]."""
    smallest: float = 0.0125
    """Shapes with a smaller radius are details on others [m]."""
    every: int = 2
    """Only each so many samples are looked at; those between are interpolated."""
    price: float = 300.0
    """Weight of a distance that is missing [1/m²], relative to that of slopes."""
    calm: float = 0.1
    """Time constant of smoothness [s]."""
    difference: float = 0.01
    """Slopes by which derivatives are taken."""
    rounds: int = 28


class _Solid:
    """A shape over time."""

    def __init__(self, shape: Shape, X: Array) -> None:
        self.name, self.geometry = f"{shape.frame}.{shape.name}", shape.geometry
        self.X = X @ se3.pose(shape.position, shape.rotation)

    def away(self, p: Array) -> Array:
        """Signed distance of points `p` (T, n, 3) from it, (T, n)."""
        local = np.matmul(p - self.X[:, None, :3, 3], self.X[:, :3, :3])
        x, y, z = local[..., 0], local[..., 1], local[..., 2]
        match self.geometry:
            case Sphere(radius):
                return np.asarray(np.sqrt(x * x + y * y + z * z) - radius)
            case Capsule(radius, length):
                beyond = np.maximum(np.abs(z) - 0.5 * length, 0.0)
                return np.asarray(np.sqrt(x * x + y * y + beyond * beyond) - radius)
            case Cylinder(radius, length):
                a, b = np.sqrt(x * x + y * y) - radius, np.abs(z) - 0.5 * length
                return np.asarray(np.hypot(np.maximum(a, 0.0), np.maximum(b, 0.0)) + np.minimum(np.maximum(a, b), 0.0))
            case Box(size):
                d = np.abs(local) - 0.5 * np.array(size)
                return np.asarray(np.linalg.norm(np.maximum(d, 0.0), axis=-1) + np.minimum(d.max(-1), 0.0))
        raise TypeError(self.geometry)


def _matters(shape: Shape, options: ClearanceOptions) -> bool:
    radius = getattr(shape.geometry, "radius", 1.0)
    return shape.collides and shape.frame != "world" and radius > options.smallest


def cleared(
    figure: Figure, q: Array, dt: float, slopes: Array, fixed: Array, options: ClearanceOptions = ClearanceOptions(),
) -> tuple[Array, dict[str, float]]:  # fmt: skip
    """`slopes` (T, strings, 2) along x and y, moved so that strings are clear of all shapes along `q` (T, n_q); and how far those
    strings still miss their margins [m], by name, which do.

    fixed: how much each slope is to stay as it is, (T, strings); 1 for a string whose pull matters.
    """
    some = np.unique(np.append(np.arange(0, len(q), options.every), len(q) - 1))
    X = frames_along(figure, np.ascontiguousarray(q[some]))
    solids = [_Solid(s, X[:, figure.frame_index[s.frame]]) for s in figure.shapes if _matters(s, options)]
    out, left = slopes.copy(), {}
    for k, string in enumerate(figure.strings):
        F = X[:, figure.frame_index[string.hook.frame]]
        hook = F[:, :3, :3] @ np.array(string.hook.position) + F[:, :3, 3]
        moved, miss = _moved(solids, hook, slopes[some, k], fixed[some, k], options.every * dt, options)
        if moved is not None:
            change = moved - slopes[some, k]
            for axis in range(2):
                out[:, k, axis] += np.interp(np.arange(len(q)), some, change[:, axis])
        if miss > 0.0:
            left[string.name] = miss
    return out, left


def _moved(
    solids: list[_Solid], hook: Array, slopes: Array, fixed: Array, dt: float, options: ClearanceOptions
) -> tuple[Array | None, float]:
    """The slopes of one string (T, 2), moved, or None if it is clear; and how far it misses its margins [m]."""
    share = np.linspace(0.0, 1.0, options.points) ** 1.2
    reach = np.maximum(options.top - hook[:, 2], 0.1)[:, None] * share
    tied = [solid.away(hook[:, None])[:, 0] for solid in solids]
    asked = [np.minimum(options.margin, np.maximum(at - options.spare, np.minimum(at, 0.0))) for at in tied]

    def missing(some: list[int], s: Array) -> Array:
        p = hook[:, None] + reach[..., None] * np.concatenate([s, np.ones((len(s), 1))], 1)[:, None]
        return np.array([asked[j] - solids[j].away(p).min(1) for j in some]).reshape(len(some), len(s))

    near = [j for j in range(len(solids)) if missing([j], slopes).max() > 1e-4]
    if not near:
        return None, 0.0
    s, best = slopes.copy(), (np.inf, slopes)
    for turn in range(options.rounds):
        r = missing(near, s)
        if turn % 4 == 3 or r.max() < 1e-3:  # where it goes now there may be others
            near = [j for j in range(len(solids)) if j in near or missing([j], s).max() > 1e-4]
            r = missing(near, s)
        worst = float(np.maximum(r, 0.0).max())
        if worst < best[0] - 1e-5 and (turn % 4 == 3 or worst < 1e-3):
            best = (worst, s.copy())
        if worst < 1e-3:
            break
        on = r > 0.0
        h = options.difference
        J = np.stack([(missing(near, s + step) - missing(near, s - step)) / (2 * h) for step in h * np.eye(2)], -1)
        J = np.where(on[..., None], J, 0.0)
        H = options.price * np.einsum("jta,jtb->tab", J, J)
        g = options.price * np.einsum("jta,jt->ta", J, np.where(on, r, 0.0))
        s = s + np.clip(_step(H, g + (fixed + 1e-2)[:, None] * (s - slopes), s - slopes, fixed + 1e-2, dt, options), -0.1, 0.1)
    return best[1], best[0] if best[0] > 1e-3 else 0.0


def _step(H: Array, g: Array, off: Array, weight: Array, dt: float, options: ClearanceOptions) -> Array:
    """The step of Gauss and Newton with a price on second differences of the change `off` (T, 2), whose ends stay."""
    T, calm = len(g), (options.calm / dt) ** 4 * 0.05
    D = np.zeros((T, T))
    k = np.arange(1, T - 1)
    D[k, k - 1], D[k, k], D[k, k + 1] = 1.0, -2.0, 1.0
    S = calm * D.T @ D
    A = np.zeros((2 * T, 2 * T))
    for a in range(2):
        A[a::2, a::2] += S
        g[:, a] += S @ off[:, a]
    for t in range(T):
        A[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] += H[t] + weight[t] * np.eye(2)
    ends = np.r_[0:6, 2 * T - 6 : 2 * T]
    A[ends, ends] += 1e6
    banded = np.array([np.concatenate([np.zeros(b), np.diagonal(A, b)]) for b in range(5, -1, -1)])
    return np.asarray(-solveh_banded(banded, g.ravel()).reshape(T, 2))
