"""Positions of the feet over time: standing, or swinging outward from one foothold to the next (*gecko*, III-D)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.footsteps import Footstep, Footsteps
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FootPaths:
    """Times `t` (T,) [s], centres `p` (T, feet, 3) [m] and rotations `R` (T, feet, 3, 3) of the feet, and which are `aloft`
    (T, feet).

    A swing and the `pause` [s] on all feet after it take one of the `parts` of a cycle, which is `steps` samples.
    """

    t: Array
    p: Array
    R: Array
    aloft: NDArray[np.bool_]
    steps: int
    parts: int
    pause: float = 0.0

    __repr__ = brief

    @property
    def quarter(self) -> float:
        """Duration of a swing and the pause after it [s]."""
        return self.steps * float(self.t[1] - self.t[0])

    @property
    def cycle(self) -> float:
        """Duration of a cycle, in which every foot swings once [s]."""
        return float(self.parts * self.quarter)

    def share(self, ends: float) -> Array:
        """How far (T,) a swing is from its beginning or its end, whichever is nearer, less `ends`; in shares of the swing."""
        within = np.mod(self.t + 1e-9, self.quarter) / (self.quarter - self.pause)
        return np.asarray(np.minimum(within, 1.0 - within) - ends)

    def loose(self, ends: float) -> NDArray[np.bool_]:
        """`aloft`, but not during the first and the last share `ends` of every swing (T, feet)."""
        return np.asarray(self.aloft & (self.share(ends) > 0.0)[:, None])

    def part(self, samples: slice) -> FootPaths:
        """Some consecutive `samples` only; not for `share` and `held`, which need whole steps."""
        return FootPaths(self.t[samples], self.p[samples], self.R[samples], self.aloft[samples], self.steps, self.parts, self.pause)

    def every(self, count: int, until: int, since: int = 0) -> FootPaths:
        """Every `count`-th sample from the sample `since`, the first of a step, to before the sample `until`."""
        few = slice(since, until, count)
        p, R = np.ascontiguousarray(self.p[few]), np.ascontiguousarray(self.R[few])
        aloft = np.ascontiguousarray(self.aloft[few])
        return FootPaths(self.t[few], p, R, aloft, self.steps // count, self.parts, self.pause)


def outward(step: Footstep, above: Array, centre: float) -> Array:
    """Unit vector along which a foot swings away from the body during a `step`.

    It is perpendicular to the stride and lies as the normal of the plane through the stride and the body's point `above` (3,) [m].
    `centre` [m] is the height of a foot's centre over the surface.
    """
    a, b = (X[:3, 3] + centre * X[:3, 2] for X in (step.X_from, step.X_to))
    along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-12)
    inward = above - (a + b) / 2.0
    inward = inward - along * float(along @ inward)
    normal = step.X_from[:3, 2] + step.X_to[:3, 2]
    out = np.cross(along, inward)
    out = out if float(out @ normal) > 0.0 else -out
    out = out / max(float(np.linalg.norm(out)), 1e-12)
    # At a corner the plane may lean so far that this direction grazes the surface: tilt it back toward the surface normal.
    normal = normal / float(np.linalg.norm(normal))
    return np.asarray((out + 0.5 * normal) / np.linalg.norm(out + 0.5 * normal))


def foot_paths(
    plan: Footsteps, *, centre: float, lift: float = 0.02, clear: float = 0.006, quarter: float = 0.25, dt: float = 0.005,
    pause: float = 0.0, even: bool = False, soft: bool = False, soles: tuple[Array, Array] | None = None,
) -> FootPaths:  # fmt: skip
    """The paths of all feet along the footsteps of a `plan`.

    centre: height of a foot's centre over the surface [m]
    lift: height of a swing, that of the paper's triangle (d_swing) [m]; raised if a foot would come too near to the surface
    clear: smallest height of a swinging foot over the surface [m]
    quarter: duration of a swing [s]
    dt: time between two samples [s]
    pause: how long all feet stand after a swing [s]
    even: whether a foot swings at constant speed, as on the paper's spline; otherwise it starts and lands at rest
    soft: whether a foot also starts and lands without jerk, so that it is almost at rest for the first and last samples
    soles: centres (feet, balls, 3) [m] and radii (feet, balls) [m] of balls that fill each foot, relative to its centre; None for
        one ball that reaches down to the surface
    """
    n = max(round(quarter / dt), 4)
    whole = n + round(pause / dt)
    feet = len(plan.start)
    T = whole * (plan.steps[-1].part + 1) + 1
    p, R, aloft = np.empty((T, feet, 3)), np.empty((T, feet, 3, 3)), np.zeros((T, feet), bool)
    local, radius = soles if soles is not None else (np.zeros((feet, 1, 3)), np.full((feet, 1), centre))
    s = np.arange(n + 1) / n
    sigma = s if even else s**5 * (126.0 + s * (-420.0 + s * (540.0 + s * (-315.0 + 70.0 * s)))) if soft else eased(s)
    stands = [(0, X) for X in plan.start]  # since which sample each foot stands, and where
    for step in plan.steps:
        first = step.part * whole
        at = float(plan.course.pace.at((step.part + 0.5) / plan.parts)) + plan.shoulders[step.foot]
        above = plan.course.body(np.array([at]))[0][0]
        own = slice(first, first + n + 1)
        turn = _turn(step.X_from[:3, :3], step.X_to[:3, :3], sigma)
        balls = np.einsum("tij,bj->tbi", turn, local[step.foot]), radius[step.foot]
        p[own, step.foot] = _swing(plan, step, outward(step, above, centre), sigma, centre, lift, clear, balls)
        R[own, step.foot] = turn
        _stand(p, R, step.foot, slice(stands[step.foot][0], first), stands[step.foot][1], centre)
        stands[step.foot] = first + n + 1, step.X_to
        aloft[first + 1 : first + n, step.foot] = True
    for foot, (first, X) in enumerate(stands):
        _stand(p, R, foot, slice(first, T), X, centre)
    return FootPaths(np.asarray(np.arange(T) * dt, float), p, R, aloft, whole, plan.parts, (whole - n) * dt)


def _stand(p: Array, R: Array, foot: int, samples: slice, X: Array, centre: float) -> None:
    """Puts a foot onto the foothold X at some samples."""
    p[samples, foot], R[samples, foot] = X[:3, 3] + centre * X[:3, 2], X[:3, :3]


def _swing(
    plan: Footsteps, step: Footstep, out: Array, sigma: Array, centre: float, lift: float, clear: float, balls: tuple[Array, Array]
) -> Array:  # fmt: skip
    """A path on which every ball of the foot keeps clear of the surface; as high as that needs, but at most five times `lift`.

    The foot moves `out`; where that touches something, as beside a block, it first rises along the normal of its foothold and comes
    down along that of the next one, and where that is not enough, it rises sooner. If nothing is clear, the path that is deepest in
    the surface by least is returned.
    """
    a, b = (X[:3, 3] + centre * X[:3, 2] for X in (step.X_from, step.X_to))
    along, bump, flat = a + sigma[:, None] * (b - a), 4.0 * sigma * (1.0 - sigma), 1.0 - (1.0 - 2.0 * sigma) ** 6
    s = sigma[:, None]
    upright = (1.0 - s) ** 2 * step.X_from[:3, 2] + 2.0 * s * (1.0 - s) * out + s**2 * step.X_to[:3, 2]
    upright = upright / np.maximum(np.linalg.norm(upright, axis=1), 0.1)[:, None]
    shapes = [bump[:, None] * out, bump[:, None] * upright, flat[:, None] * upright]
    best, least = along, -np.inf
    for higher in 1.15 ** np.arange(12):
        for shape in shapes:
            path = along + higher * lift * shape
            spare = float((plan.course.over(path[:, None] + balls[0], step.faces) - balls[1] - (clear * bump**2)[:, None]).min())
            if spare >= -1e-9:
                return np.asarray(path)
            if spare > least:
                best, least = path, spare
    return best


def _turn(A: Array, B: Array, sigma: Array) -> Array:
    """Rotations from A to B about one axis."""
    return so3.matrix(so3.slerp(so3.quaternion(A), so3.quaternion(B), sigma))
