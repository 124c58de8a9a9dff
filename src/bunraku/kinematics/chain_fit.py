"""Values of the joints of a chain that bring its end to given places, for many samples at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.frame import Frame
from bunraku.kinematics.aim import nearest_angles, turned
from bunraku.motion.orientation import turns
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


def chain_along(chain: Sequence[Frame], base: Array, q: Array, figure: Figure) -> dict[str, Array]:
    """X_WF (T, 4, 4) of the frames of a `chain`, each the parent of the next, by name.

    base: X_W of the frame above the first (T, 4, 4); q: configurations (T, n_q) of the `figure`.
    """
    out: dict[str, Array] = {}
    X = base
    for frame in chain:
        X = X @ se3.pose(frame.position, frame.rotation)
        variable = frame.variable
        if variable is not None:
            moved = np.tile(np.eye(4), (len(q), 1, 1))
            value, axis = q[:, figure.index(variable.name)], np.array(variable.axis)
            if variable.motion in ("rotate", "screw"):
                moved[:, :3, :3] = turned(axis, value)
            advance = {"translate": 1.0, "screw": variable.pitch}.get(variable.motion, 0.0)
            moved[:, :3, 3] = advance * value[:, None] * axis
            X = X @ moved
        out[frame.name] = X
    return out


def fitted_chain(figure: Figure, chain: Sequence[Frame], base: Array, wanted: Array, q: Array, *, rounds: int = 12) -> None:
    """Sets the variables of a `chain` in `q` (T, n_q) so that its last frame is as near as it can be to `wanted` (T, 4, 4).

    figure: whose frames they are
    base: X_W of the frame above the first (T, 4, 4)
    rounds: of Gauss-Newton's method, after angles that suit the orientation alone; a metre counts as much as a radian

    Angles change as little as possible from sample to sample. Limits are not respected: what was recorded is not altered.
    """
    frames = [frame for frame in chain if frame.variable is not None]
    columns = figure.indices(frame.variable.name for frame in frames if frame.variable is not None)
    if not frames:
        return
    _turn_first(figure, chain, base, wanted, q)
    best, least = q[:, columns], np.full(len(q), np.inf)
    for _ in range(rounds):
        X = chain_along(chain, base, q, figure)
        end = X[chain[-1].name]
        error = _difference(end, wanted)
        size = np.sum(error**2, 1)
        better = size < least
        best[better], least[better] = q[better][:, columns], size[better]
        if not better.any() or least.max() < 1e-24:
            break
        J = np.stack([_column(frame, X[frame.name], end) for frame in frames], 2)
        step = np.einsum("tki,ti->tk", np.linalg.pinv(J, rcond=1e-6), error)
        q[:, columns] = best + np.where(better[:, None], step, 0.0)
    q[:, columns] = best
    for column, frame in zip(columns, frames, strict=True):
        if frame.variable is not None and frame.variable.motion == "rotate" and len(frames) in (1, 2):
            q[:, column] = np.unwrap(q[:, column])


def _turn_first(figure: Figure, chain: Sequence[Frame], base: Array, wanted: Array, q: Array) -> None:
    """Angles for the orientation alone: exact where three axes meet, as near as they can be elsewhere."""
    axes, between, columns, C = [], [], [], np.eye(3)
    for frame in chain:
        C = C @ so3.matrix(frame.rotation)
        if frame.variable is not None and frame.variable.motion in ("rotate", "screw"):
            axes.append(frame.variable.axis)
            between.append(C)
            columns.append(figure.index(frame.variable.name))
            C = np.eye(3)
    if not axes:
        return
    local = base[:, :3, :3].swapaxes(1, 2) @ wanted[:, :3, :3] @ C.T
    turn = next((turn for turn in turns(figure) if turn.columns.tolist() == columns), None)
    if turn is not None:
        q[:, columns] = turn.along(between[0].T @ local, q[0, columns])
    else:
        free = np.full(len(axes), np.inf)
        q[:, columns] = nearest_angles(np.array(axes), np.array(between), local, q[:, columns], (-free, free))


def _difference(X: Array, wanted: Array) -> Array:
    """The turn and the step (T, 6) [rad, m] from `X` to `wanted`, in the world."""
    turn = so3.quaternion(wanted[:, :3, :3] @ X[:, :3, :3].swapaxes(1, 2))
    size = np.linalg.norm(turn[:, 1:], axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, np.abs(turn[:, :1])) * np.where(turn[:, :1] < 0.0, -1.0, 1.0)
    return np.hstack([turn[:, 1:] * angle / np.maximum(size, 1e-300), wanted[:, :3, 3] - X[:, :3, 3]])


def _column(frame: Frame, X: Array, end: Array) -> Array:
    """How the end of a chain turns and moves (T, 6) with the variable of one of its frames."""
    assert frame.variable is not None
    axis = X[:, :3, :3] @ np.array(frame.variable.axis)
    if frame.variable.motion == "translate":
        return np.hstack([np.zeros_like(axis), axis])
    return np.hstack([axis, np.cross(axis, end[:, :3, 3] - X[:, :3, 3]) + frame.variable.pitch * axis])
