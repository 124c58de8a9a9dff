"""The hands of a puppeteer who makes a marionette move as wanted: inverse dynamics, string by string.

Newton's and Euler's equations give the generalised forces τ that a motion of the figure needs beyond its weight and springs.
Strings, and the boards under the corners of soles, supply them: τ = Σ Jᵢᵀ fᵢ, with Jᵢ the Jacobian of a hook or corner and fᵢ
the force there. That is linear in the forces, so those nearest to what is needed, that point upward and lean as little as they
can from their slopes at rest, are found by least squares for each sample. A pull says where its spindle is: on the line of the
pull, at the height of the hands. A leg that stands has slack strings: the boards carry it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.ndimage import gaussian_filter1d
from string_clearance import cleared

from bunraku.choreography.soles import SoledFoot
from bunraku.dynamics import mass_matrix
from bunraku.figure import Figure
from bunraku.figure.mass import inertia_matrix
from bunraku.kinematics import Pose, frames_along, pose
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PullOptions:
    """Weights and limits of the pulls."""

    least: float = 1.0
    """Smallest upward pull of a string [N]."""
    slope_weight: float = 0.4
    """Weight of a sideways pull beyond the slope at rest, relative to that of an acceleration [s²/(m·√kg)]."""
    pull_weight: float = 0.003
    """Weight of the pulls themselves, so that none is larger than it must."""
    smooth: float = 0.06
    """Time constant of the filter that smooths the hands [s]."""
    lead: float = 0.5
    """Time in which strings leave and reach their slopes at rest, at both ends [s]."""
    rounds: int = 4
    """How often pulls are computed again with slopes held at the ends of their ranges."""
    firm_weight: float = 30.0
    """Weight that holds a slope at the end of its range."""
    still: int = 15
    """Number of samples at rest that are added at both ends, where differences would be one-sided."""
    low: float = 0.002
    """A sole stands while its lowest corner is below this [m]."""
    load: float = 0.16
    """Time in which a foot takes its load from its strings, and gives it back [s]."""
    dear: float = 1000.0
    """Factor on `pull_weight` where a force should not act: of boards on a foot without load, of strings of a leg that stands."""
    tries: int = 2
    """How often pulls are computed again with strings where they are clear of bodies."""
    moved: float = 0.01
    """Change of a slope for that reason after which it is."""
    slack: float = 0.03
    """How much longer the strings of a leg that stands are than they need be [m]."""
    around: float = 0.0
    """The same during the motion, besides, where these strings must lead around what leans over them [m]."""


def needed(figure: Figure, q: Array, dt: float) -> Array:
    """Generalised forces that strings must supply along configurations `q` (T, n_q) sampled every `dt` [s], (T, n_dynamic)."""
    X = frames_along(figure, q)
    v = np.gradient(q, dt, axis=0)
    damping = np.array([variable.damping for variable in figure.variables[: figure.n_dynamic]])
    out = damping * v[:, : figure.n_dynamic]
    bodies = [(b, figure.frame_index[b.frame]) for b in figure.bodies if b.frame != "world"]
    poses = [pose(figure, row) for row in q]
    for b, k in bodies:
        R, p = X[:, k, :3, :3], X[:, k, :3, :3] @ np.array(b.com) + X[:, k, :3, 3]
        a = np.gradient(np.gradient(p, dt, axis=0), dt, axis=0) - np.array(figure.gravity)
        W = np.array([P.jacobian(b.frame)[3:, : figure.n_dynamic] for P in poses])
        J = np.array([P.point_jacobian(b.frame, b.com)[:, : figure.n_dynamic] for P in poses])
        omega = np.einsum("tij,tj->ti", W, v[:, : figure.n_dynamic])
        spin = np.einsum("tij,jk,tlk,tl->ti", R, inertia_matrix(b.inertia), R, omega)
        turn = np.gradient(spin, dt, axis=0)
        out = out + b.mass * np.einsum("tji,tj->ti", J, a) + np.einsum("tji,tj->ti", W, turn)
    return np.asarray(out - _springs(figure, poses))


def _springs(figure: Figure, poses: list[Pose]) -> Array:
    """Generalised forces of springs, (T, n_dynamic)."""
    out = np.zeros((len(poses), figure.n_dynamic))
    for row, P in zip(out, poses, strict=True):
        for s in figure.springs:
            away = P.point(s.b.frame, s.b.position) - P.point(s.a.frame, s.a.position)
            size = float(np.linalg.norm(away))
            J = P.point_jacobian(s.b.frame, s.b.position) - P.point_jacobian(s.a.frame, s.a.position)
            row -= s.stiffness * (size - s.length) / size * (away @ J)[: figure.n_dynamic]
    return out


def slopes_of(figure: Figure, q: Array) -> Array:
    """Slopes of the strings along x and y at the configuration `q`, (strings, 2)."""
    P = pose(figure, q)
    way = [P.point(s.spindle.frame, s.spindle.position) - P.point(s.hook.frame, s.hook.position) for s in figure.strings]
    return np.array([v[:2] / v[2] for v in way])


@dataclass(frozen=True)
class Footing:
    """The feet of a figure, the boards under them, and which strings lift them."""

    figure: Figure
    feet: tuple[SoledFoot, ...]
    boards: float
    """Their height [m]."""

    @cached_property
    def strings(self) -> tuple[list[int], ...]:
        """Numbers of the strings of each leg."""
        return tuple(
            [k for k, s in enumerate(self.figure.strings) if self.figure.index(f"{s.name}_length") in foot.kinematic]
            for foot in self.feet
        )

    def height(self, q: Array) -> Array:
        """How high the corners of each sole are above the boards along `q` (T, n_q) [m], (T, feet, corners)."""
        return np.stack([foot.places(self.figure, q)[:, :, 2] for foot in self.feet], 1) - self.boards

    def load(self, q: Array, dt: float, options: PullOptions) -> Array:
        """Which share of its load each foot carries along `q` sampled every `dt` [s], (T, feet); −1 where it is in the air."""
        stands = self.height(q).min(2) < options.low
        out, k = np.where(stands, 1.0, -1.0), np.arange(len(q))
        for foot in range(stands.shape[1]):
            air = np.flatnonzero(~stands[:, foot])
            if len(air):
                away = dt * np.abs(k[:, None] - air).min(1)
                out[:, foot] = np.where(stands[:, foot], eased(np.minimum(away / options.load, 1.0)), -1.0)
        return out


def hung(
    figure: Figure, q: Array, dt: float, slopes: Array, ranges: Array, heading: Array, footing: Footing,
    loose: Array | None = None, options: PullOptions = PullOptions(),
) -> tuple[Array, Array]:  # fmt: skip
    """`q` (T, n_q) with the hands that make the figure move so, and what is left of the needed accelerations, (T,).

    slopes: slopes from which the strings should lean as little as they can, to its right and ahead, (strings, 2).
    ranges: smallest and largest slopes, (2, strings, 2).
    heading: which way the puppet faces, to its left [rad], (T,).
    footing: its feet, and the boards.
    loose: slopes of the strings of legs that stand, (strings, 2); by default `slopes`.
    """
    loose = slopes if loose is None else loose
    given, q = q, np.concatenate([np.repeat(q[:1], options.still, 0), q, np.repeat(q[-1:], options.still, 0)])
    heading = np.concatenate([np.repeat(heading[:1], options.still), heading, np.repeat(heading[-1:], options.still)])
    R, load = so3.about(2, heading), footing.load(q, dt, options)
    share = np.maximum(load, 0.0)
    held = np.zeros((len(q), len(figure.strings)))
    for foot, own in enumerate(footing.strings):
        held[:, own] = share[:, foot, None]
    t = dt * (np.arange(len(q)) - options.still)
    begun = eased(np.minimum(t, dt * (len(given) - 1) - t) / options.lead)[:, None, None]
    mid = np.broadcast_to(slopes, (len(q), *slopes.shape))
    wide = np.broadcast_to(ranges[:, None], (2, len(q), *slopes.shape))
    wish, near = Wish(mid, np.array(wide), np.zeros(held.shape, bool)), {}
    for _ in range(options.tries):
        slope, left = _leaned(figure, q, dt, wish, R, footing, load, options)
        slope += held[..., None] * (loose - slope)  # the slope of a slack string is free
        slope = gaussian_filter1d(np.clip(slope, *wish.ranges), options.smooth / dt, axis=0, mode="nearest")
        slope = np.einsum("tij,tmj->tmi", R[:, :2, :2], slopes + begun * (slope - slopes))
        clear, near = cleared(figure, q, dt, slope, 1.0 - 0.95 * held)
        own = np.einsum("tji,tmj->tmi", R[:, :2, :2], clear)
        moved = np.abs(clear - slope).max(2) > options.moved
        wish = wish.held(own, moved)
        slope = clear
        if not moved.any():
            break
    for name, miss in near.items():
        print(f"  {name} is {1000 * miss:.0f} mm nearer to a body than it should be", flush=True)
    inner = slice(options.still, options.still + len(given))
    return _with_hands(figure, given, slope[inner], ((options.slack + options.around * begun[..., 0]) * held)[inner]), left[inner]


@dataclass(frozen=True)
class Wish:
    """How strings should lean at each sample, to the right of the puppet and ahead."""

    slopes: Array
    """From which they should lean as little as they can, (T, strings, 2)."""
    ranges: Array
    """Smallest and largest ones, (2, T, strings, 2)."""
    firm: NDArray[np.bool_]
    """Whether they should lean just so, (T, strings)."""

    def held(self, slopes: Array, which: NDArray[np.bool_]) -> Wish:
        """The wish in which `which` strings (T, strings) lean as `slopes` say."""
        firm = self.firm | which
        on, near = firm[..., None], np.array([slopes - 0.01, slopes + 0.01])
        return Wish(np.where(on, slopes, self.slopes), np.where(on, near, self.ranges), firm)


def _leaned(
    figure: Figure, q: Array, dt: float, wish: Wish, R: Array, footing: Footing, load: Array, options: PullOptions
) -> tuple[Array, Array]:
    """How strings lean that make the figure move along `q`, (T, strings, 2), and what is left of the needed accelerations."""
    tau, n, m, high = needed(figure, q, dt), figure.n_dynamic, len(figure.strings), footing.height(q)
    slope, left = np.empty((len(q), m, 2)), np.empty(len(q))
    corners = [(foot.frame, tuple(corner)) for foot in footing.feet for corner in foot.corners]
    points = [(s.hook.frame, s.hook.position) for s in figure.strings] + corners
    aside = np.broadcast_to([[[-0.4]], [[0.4]]], (2, len(corners), 2))
    for k, row in enumerate(q):
        P = pose(figure, row)
        L = cholesky(mass_matrix(figure, row)[:n, :n], lower=True)
        price, least = _prices(footing, load[k], high[k], m, options)
        used = np.isfinite(price)
        J = [R[k].T @ P.point_jacobian(*at)[:, :n] for at, on in zip(points, used, strict=True) if on]
        A, b = solve_triangular(L, np.concatenate(J).T, lower=True), solve_triangular(L, tau[k], lower=True)
        wished = np.concatenate([wish.slopes[k], np.zeros((len(corners), 2))])[used]
        within = np.concatenate([wish.ranges[:, k], aside], 1)[:, used]
        firm = np.concatenate([wish.firm[k], np.zeros(len(corners), bool)])[used]
        found = _pulls(A, b, wished, within, firm, price[used], least[used], options)
        slope[k], left[k] = found[:m, :2] / np.maximum(found[:m, 2:], 1e-6), np.linalg.norm(A @ found.ravel() - b)
    return slope, left


def _prices(footing: Footing, load: Array, high: Array, m: int, options: PullOptions) -> tuple[Array, Array]:
    """The weight of each force, infinite where there is none, and the least it pushes upward [N]."""
    price, least = np.full(m, options.pull_weight), np.full(m, options.least)
    under = []
    for own, share, corners in zip(footing.strings, load, high, strict=True):
        carried = max(float(share), 0.0)
        price[own] = options.pull_weight * options.dear**carried
        least[own] = options.least * (1.0 - carried)
        under.append(np.where(corners < options.low, options.pull_weight * options.dear ** (1.0 - carried), np.inf))
    return np.concatenate([price, *under]), np.concatenate([least, np.zeros(high.size)])


def _pulls(
    A: Array, b: Array, slopes: Array, ranges: Array, firm: NDArray[np.bool_], price: Array, least: Array, options: PullOptions
) -> Array:
    """Forces (points, 3) with the least |A x − b|; slopes that are `firm`, or would leave their range, are held."""
    m = len(slopes)
    wished = slopes.ravel().copy()
    weight = np.where(np.repeat(firm, 2), options.firm_weight, options.slope_weight)[:, None]
    up, aside = np.repeat(3 * np.arange(m) + 2, 2), [3 * i + axis for i in range(m) for axis in range(2)]
    for _ in range(options.rounds):
        lean = np.zeros((2 * m, 3 * m))
        lean[np.arange(2 * m), aside], lean[np.arange(2 * m), up] = 1.0, -wished
        rows = np.concatenate([A, weight * lean, np.diag(np.repeat(price, 3))])
        x = _least_squares(rows, np.concatenate([b, np.zeros(5 * m)]), least)
        slope = x[aside] / np.maximum(x[up], 1e-6)
        near = np.clip(slope, ranges[0].ravel(), ranges[1].ravel())
        beyond = (np.abs(slope - near) > 1e-3) & (x[up] > 1e-3)
        if not beyond.any():
            break
        wished[beyond], weight[beyond] = near[beyond], options.firm_weight
    return x.reshape(m, 3)


def _least_squares(A: Array, b: Array, least: Array) -> Array:
    """x with the least |A x − b| whose every third entry is at least `least`: entries that come out lower are held there."""
    x, free = np.repeat(least, 3), np.ones(A.shape[1], bool)
    while True:
        x[free] = np.linalg.lstsq(A[:, free], b - A[:, ~free] @ x[~free], rcond=None)[0]
        low = np.flatnonzero(free[2::3] & (x[2::3] < least))
        if not len(low):
            return x
        free[3 * low + 2] = False
        x[3 * low + 2] = least[low]


def _with_hands(figure: Figure, q: Array, slope: Array, spare: Array) -> Array:
    X, out = frames_along(figure, q), q.copy()
    for i, string in enumerate(figure.strings):
        F = X[:, figure.frame_index[string.hook.frame]]
        hook = F[:, :3, :3] @ np.array(string.hook.position) + F[:, :3, 3]
        height = X[:, figure.frame_index[string.spindle.frame], 2, 3]
        away = slope[:, i] * (height - hook[:, 2])[:, None]
        for axis in range(2):
            out[:, figure.index(f"{string.name}_{'xy'[axis]}")] = hook[:, axis] + away[:, axis]
        out[:, figure.index(f"{string.name}_length")] = np.sqrt((away**2).sum(1) + (height - hook[:, 2]) ** 2) + spare[:, i]
    return out
