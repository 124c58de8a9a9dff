"""Energy and constraint error of a motion: as recorded, or computed from its configurations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Figure, Point
from bunraku.figure.mass import inertia_matrix
from bunraku.kinematics import frames_along
from bunraku.kinematics.ways import lengths_along, wound_along
from bunraku.motion import Motion, Track
from bunraku.stage.entry import Series

Array = NDArray[np.float64]


def of(motion: Motion, *, chunk: int = 2000) -> tuple[Series, ...]:
    """Series of a `motion`: kinetic, potential and total energy [J]; the largest violation of a string, wire or loop closure [mm].

    chunk: number of samples processed at a time; the 4×4 matrices of a long motion would fill the memory
    """
    kinetic, potential, error = (np.zeros(len(motion)) for _ in range(3))
    for track in motion.tracks:
        for start in range(0, len(motion), chunk):
            inner = slice(start, min(start + chunk, len(motion)))
            # one more sample on each side, because velocities are differences of neighbours
            outer = slice(max(inner.start - 1, 0), min(inner.stop + 1, len(motion)))
            cut = slice(inner.start - outer.start, inner.stop - outer.start)
            X = frames_along(track.figure, track.q[outer])
            if track.energy is not None:
                k, p = track.energy[outer].T
            else:
                k, p = _energy(track.figure, X, motion.t[outer])
                p = p + _springs(track.figure, X, track.q[outer])
            kinetic[inner] += k[cut]
            potential[inner] += p[cut]
            error[inner] = np.maximum(error[inner], _error(track, X, outer)[cut])
    out = []
    if len(motion) > 2 and any(track.figure.mass for track in motion.tracks):
        values = {"kinetic energy": kinetic, "potential energy": potential, "total energy": kinetic + potential}
        out += [Series(name, "J", value) for name, value in values.items()]
    if any(f.strings or f.wires or f.closures for f in (track.figure for track in motion.tracks)):
        out.append(Series("constraint error", "mm", 1e3 * error))
    return tuple(out)


def _frames(figure: Figure, X: Array, name: str) -> Array:
    if name == WORLD:
        return np.broadcast_to(np.eye(4), (len(X), 4, 4))
    return X[:, figure.frame_index[name]]


def _point(figure: Figure, X: Array, at: Point) -> Array:
    X_WF = _frames(figure, X, at.frame)
    return np.asarray(X_WF[:, :3, :3] @ np.array(at.position) + X_WF[:, :3, 3])


def _energy(figure: Figure, X: Array, t: Array) -> tuple[Array, Array]:
    kinetic, potential = np.zeros(len(X)), np.zeros(len(X))
    for body in figure.bodies:
        x = _point(figure, X, Point(body.frame, body.com))
        potential -= body.mass * (x @ np.array(figure.gravity))
        if len(t) < 2:
            continue
        R = _frames(figure, X, body.frame)[:, :3, :3]
        v = np.gradient(x, t, axis=0)
        S = np.gradient(R, t, axis=0)
        S = np.swapaxes(R, 1, 2) @ S  # skew matrix of the angular velocity in body axes
        w = np.stack([S[:, 2, 1] - S[:, 1, 2], S[:, 0, 2] - S[:, 2, 0], S[:, 1, 0] - S[:, 0, 1]], 1) / 2
        kinetic += 0.5 * body.mass * np.sum(v * v, 1) + 0.5 * np.sum(w * (w @ inertia_matrix(body.inertia)), 1)
    return kinetic, potential


def _springs(figure: Figure, X: Array, q: Array) -> Array:
    stiffness, rest = (np.array([getattr(v, word) for v in figure.variables]) for word in ("stiffness", "rest"))
    energy = 0.5 * ((q - rest) ** 2 @ stiffness)
    for spring in figure.springs:
        stretch = np.linalg.norm(_point(figure, X, spring.a) - _point(figure, X, spring.b), axis=1) - spring.length
        energy += 0.5 * spring.stiffness * stretch**2
    return np.asarray(energy)


def _error(track: Track, X: Array, rows: slice) -> Array:
    """The largest violation [m]: a path longer than its string, or different from its wire; an open loop."""
    figure, worst = track.figure, np.zeros(len(X))
    gaps = lengths_along(figure, track.q[rows]) - wound_along(figure, track.q[rows])
    for string, gap in zip((*figure.strings, *figure.wires), gaps.T, strict=True):
        if not string.elastic:
            worst = np.maximum(worst, gap if string.pulls_only else np.abs(gap))
    for closure in figure.closures:
        if closure.kind != "plane":
            worst = np.maximum(worst, np.linalg.norm(_point(figure, X, closure.a) - _point(figure, X, closure.b), axis=1))
    return worst
