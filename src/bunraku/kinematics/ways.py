"""Where strings run, at one configuration or along many: straight, over their pulleys, from branch to branch."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure import WORLD, Figure, Point, String
from bunraku.figure.frame import Vector
from bunraku.figure.plain_wrapping import Branched, Placing, branches
from bunraku.kinematics.forward import frames_along

Array = NDArray[np.float64]


def placing(figure: Figure, frames: Array) -> Placing:
    """Where points and directions of `figure` are whose frames X_WF are at `frames` (n, 4, 4)."""
    index = figure.frame_index

    def point(at: Point) -> Array:
        if at.frame == WORLD:
            return np.array(at.position, float)
        X = frames[index[at.frame]]
        return np.asarray(X[:3, :3] @ np.array(at.position, float) + X[:3, 3])

    def direction(frame: str, axis: Vector) -> Array:
        own = np.array(axis, float)
        return own if frame == WORLD else np.asarray(frames[index[frame]][:3, :3] @ own)

    return Placing(point, direction)


def ways_along(figure: Figure, Q: ArrayLike, string: String) -> list[list[Branched]]:
    """The branches of a `string` of `figure` at every sample of `Q` (T, n_q)."""
    return [branches(placing(figure, frames), string) for frames in frames_along(figure, Q)]


def lengths_along(figure: Figure, Q: ArrayLike) -> Array:
    """Length of the way of every string, then of every wire, of `figure` at every sample of `Q` (T, n_q): (T, …) [m]."""
    frames, ropes = frames_along(figure, Q), (*figure.strings, *figure.wires)
    out = np.zeros((len(frames), len(ropes)))
    for k, rope in enumerate(ropes):
        if rope.wraps:
            for t, X in enumerate(frames):
                out[t, k] = sum(branch.weight * branch.length for branch in branches(placing(figure, X), rope))
            continue
        points = np.stack([points_along(figure, frames, at) for at in rope.path])
        out[:, k] = np.linalg.norm(np.diff(points, axis=0), axis=2).sum(0)
    return out


def points_along(figure: Figure, frames: Array, at: Point) -> Array:
    """Where the point `at` of `figure` is whose frames X_WF are at `frames` (T, n, 4, 4): (T, 3) [m]."""
    if at.frame == WORLD:
        return np.tile(np.array(at.position, float), (len(frames), 1))
    X = frames[:, figure.frame_index[at.frame]]
    return np.asarray(X[:, :3, :3] @ np.array(at.position, float) + X[:, :3, 3])


def wound_along(figure: Figure, Q: ArrayLike) -> Array:
    """Wound length of every string, then of every wire, of `figure` at every sample of `Q` (T, n_q): (T, …) [m]."""
    Q, ropes = np.asarray(Q, float), (*figure.strings, *figure.wires)
    values = [np.zeros(len(Q)) if r.variable is None else Q[:, figure.index(r.variable)] for r in ropes]
    return np.stack([rope.wound(value) for rope, value in zip(ropes, values, strict=True)], 1) if ropes else np.zeros((len(Q), 0))
