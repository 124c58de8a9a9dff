"""The hands of a puppeteer who makes a marionette move as wanted: inverse dynamics, string by string.

Newton's and Euler's equations give the generalised forces τ that a motion of the figure needs beyond its weight. Strings
supply them: τ = Σ Jᵢᵀ fᵢ, with Jᵢ the Jacobian of a hook and fᵢ the pull of its string. That is linear in the pulls, so those
nearest to what is needed, that pull upward and lean as little as they can from their slopes at rest, are found by least
squares for each sample. A pull says where its spindle is: on the line of the pull, at the height of the hands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.ndimage import gaussian_filter1d

from bunraku.dynamics import mass_matrix
from bunraku.figure import Figure
from bunraku.figure.mass import inertia_matrix
from bunraku.kinematics import frames_along, pose
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PullOptions:
    """Weights and limits of the pulls."""

    least: float = 1.0
    """Smallest upward pull of a string [N]."""
    slope_weight: float = 0.6
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
    return np.asarray(out)


def slopes_of(figure: Figure, q: Array) -> Array:
    """Slopes of the strings along x and y at the configuration `q`, (strings, 2)."""
    P = pose(figure, q)
    way = [P.point(s.spindle.frame, s.spindle.position) - P.point(s.hook.frame, s.hook.position) for s in figure.strings]
    return np.array([v[:2] / v[2] for v in way])


def hung(
    figure: Figure, q: Array, dt: float, slopes: Array, ranges: Array, heading: Array, options: PullOptions = PullOptions()
) -> tuple[Array, Array]:  # fmt: skip
    """`q` (T, n_q) with the hands that make the figure move so, and what is left of the needed accelerations, (T,).

    slopes: slopes from which the strings should lean as little as they can, to its right and ahead, (strings, 2).
    ranges: smallest and largest slopes, (2, strings, 2).
    heading: which way the puppet faces, to its left [rad], (T,).
    """
    given, q = q, np.concatenate([np.repeat(q[:1], options.still, 0), q, np.repeat(q[-1:], options.still, 0)])
    heading = np.concatenate([np.repeat(heading[:1], options.still), heading, np.repeat(heading[-1:], options.still)])
    tau, n, m = needed(figure, q, dt), figure.n_dynamic, len(figure.strings)
    slope, left, R = np.empty((len(q), m, 2)), np.empty(len(q)), so3.about(2, heading)
    for k, row in enumerate(q):
        P = pose(figure, row)
        L = cholesky(mass_matrix(figure, row)[:n, :n], lower=True)
        J = [R[k].T @ P.point_jacobian(s.hook.frame, s.hook.position)[:, :n] for s in figure.strings]
        A, b = solve_triangular(L, np.concatenate(J).T, lower=True), solve_triangular(L, tau[k], lower=True)
        found = _pulls(A, b, slopes, ranges, options)
        slope[k], left[k] = found[:, :2] / found[:, 2:], np.linalg.norm(A @ found.ravel() - b)
    slope = gaussian_filter1d(np.clip(slope, *ranges), options.smooth / dt, axis=0, mode="nearest")
    t = dt * (np.arange(len(q)) - options.still)
    share = eased(np.minimum(t, dt * (len(given) - 1) - t) / options.lead)[:, None, None]
    slope = np.einsum("tij,tmj->tmi", R[:, :2, :2], slopes + share * (slope - slopes))
    own = slice(options.still, options.still + len(given))
    return _with_hands(figure, given, slope[own]), left[own]


def _pulls(A: Array, b: Array, slopes: Array, ranges: Array, options: PullOptions) -> Array:
    """Pulls (strings, 3) with the least |A x − b|; slopes that would leave their range are held at its end."""
    m = len(slopes)
    wished, weight = slopes.ravel().copy(), np.full((2 * m, 1), options.slope_weight)
    up, aside = np.repeat(3 * np.arange(m) + 2, 2), [3 * i + axis for i in range(m) for axis in range(2)]
    for _ in range(options.rounds):
        lean = np.zeros((2 * m, 3 * m))
        lean[np.arange(2 * m), aside], lean[np.arange(2 * m), up] = 1.0, -wished
        rows = np.concatenate([A, weight * lean, options.pull_weight * np.eye(3 * m)])
        x = _least_squares(rows, np.concatenate([b, np.zeros(5 * m)]), options.least)
        slope = x[aside] / x[up]
        near = np.clip(slope, ranges[0].ravel(), ranges[1].ravel())
        beyond = np.abs(slope - near) > 1e-3
        if not beyond.any():
            break
        wished[beyond], weight[beyond] = near[beyond], options.firm_weight
    return x.reshape(m, 3)


def _least_squares(A: Array, b: Array, least: float) -> Array:
    """x with the least |A x − b| whose every third entry is at least `least`: entries that come out lower are held there."""
    x, free = np.full(A.shape[1], least), np.ones(A.shape[1], bool)
    while True:
        x[free] = np.linalg.lstsq(A[:, free], b - A[:, ~free] @ x[~free], rcond=None)[0]
        low = np.flatnonzero(free[2::3] & (x[2::3] < least))
        if not len(low):
            return x
        free[3 * low + 2] = False
        x[~free] = least


def _with_hands(figure: Figure, q: Array, slope: Array) -> Array:
    X, out = frames_along(figure, q), q.copy()
    for i, string in enumerate(figure.strings):
        F = X[:, figure.frame_index[string.hook.frame]]
        hook = F[:, :3, :3] @ np.array(string.hook.position) + F[:, :3, 3]
        height = X[:, figure.frame_index[string.spindle.frame], 2, 3]
        away = slope[:, i] * (height - hook[:, 2])[:, None]
        for axis in range(2):
            out[:, figure.index(f"{string.name}_{'xy'[axis]}")] = hook[:, axis] + away[:, axis]
        out[:, figure.index(f"{string.name}_length")] = np.sqrt((away**2).sum(1) + (height - hook[:, 2]) ** 2)
    return out
