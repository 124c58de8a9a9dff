"""Crossing: how near the strings of different puppets come to each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.kinematics import frames_along

Array = NDArray[np.float64]


@dataclass(frozen=True)
class NearestStrings:
    """The two strings of different puppets that come nearest to each other."""

    distance: float
    """Their distance [m]."""
    sample: int
    """Index of the sample at which they are nearest."""
    strings: tuple[str, str]
    roles: tuple[str, str]


def ends(figure: Figure, q: Array) -> tuple[Array, Array]:
    """Hooks and spindles of all strings of a `figure` along `q` (T, n_q) [m], (T, strings, 3) each."""
    X = frames_along(figure, q)
    index = {frame.name: k for k, frame in enumerate(figure.frames)}

    def at(which: str) -> Array:
        points = [getattr(string, which) for string in figure.strings]
        frames = X[:, [index[p.frame] for p in points]]
        return np.asarray(
            np.einsum("tsij,sj->tsi", frames[..., :3, :3], np.array([p.position for p in points])) + frames[..., :3, 3]
        )

    return at("hook"), at("spindle")


def nearest(tracks: dict[str, tuple[Figure, Array]]) -> NearestStrings | None:
    """The nearest strings over all pairs of puppets and all samples; None for a single puppet.

    tracks: figure and configurations (T, n_q) of each puppet, by its name.
    """
    found = {name: ends(figure, q) for name, (figure, q) in tracks.items()}
    best: NearestStrings | None = None
    for a, b in combinations(tracks, 2):
        d = between(*found[a], *found[b])
        k, i, j = np.unravel_index(int(np.argmin(d)), d.shape)
        names = tracks[a][0].strings[i].name, tracks[b][0].strings[j].name
        if best is None or d[k, i, j] < best.distance:
            best = NearestStrings(float(d[k, i, j]), int(k), names, (a, b))
    return best


def between(a0: Array, a1: Array, b0: Array, b1: Array) -> Array:
    """Distances [m], (T, m, n), of segments from `a0` to `a1`, (T, m, 3), and segments from `b0` to `b1`, (T, n, 3).

    The nearest points of the two lines are found first, then clipped to the segments.
    """
    u, v, w = (a1 - a0)[:, :, None], (b1 - b0)[:, None], a0[:, :, None] - b0[:, None]
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    slant = uu * vv - uv * uv
    safe = np.maximum(slant, 1e-12 * uu * vv + 1e-300)
    s = np.clip(np.where(slant > 1e-12 * uu * vv, (uv * vw - vv * uw) / safe, 0.0), 0.0, 1.0)
    for _ in range(2):  # each point moves to the one nearest to the other point; the second round is for parallel segments
        t = np.clip((uv * s + vw) / np.maximum(vv, 1e-300), 0.0, 1.0)
        s = np.clip((uv * t - uw) / np.maximum(uu, 1e-300), 0.0, 1.0)
    return np.asarray(np.linalg.norm(w + s[..., None] * u - t[..., None] * v, axis=-1))
