"""Forward kinematics in plain 4×4 matrices: slow and simple, the reference that the kernels are tested against."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.frame import WORLD, Frame, Point
from bunraku.figure.plain_wrapping import Placing, way_length
from bunraku.figure.string import String
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


def moved(frame: Frame, value: float) -> Array:
    """X_PF of `frame` in its parent when its variable has this `value` [rad or m]."""
    X = se3.pose(frame.position, frame.rotation)
    variable = frame.variable
    if variable is None:
        return X
    Y = np.eye(4)
    axis = np.array(variable.axis)
    if variable.motion in ("rotate", "screw"):
        Y[:3, :3] = so3.exp(axis * value)
    if variable.motion == "translate":
        Y[:3, 3] = axis * value
    elif variable.motion == "screw":
        Y[:3, 3] = axis * variable.pitch * value
    return np.asarray(X @ Y)


def poses(frames: tuple[Frame, ...], values: dict[str, float] | None = None) -> dict[str, Array]:
    """X_WF of all `frames`, by name, at these `values` [rad or m]; variables that are not given are at their start."""
    X_W = {WORLD: np.eye(4)}
    for frame in frames:
        variable = frame.variable
        value = 0.0 if variable is None else (values or {}).get(variable.name, variable.start)
        X_W[frame.name] = X_W[frame.parent] @ moved(frame, value)
    return X_W


def point(X_W: dict[str, Array], at: Point) -> Array:
    """Where the point `at` is in the world [m], given `X_W` of all frames."""
    return se3.transform(X_W[at.frame], at.position)


def placing(X_W: dict[str, Array]) -> Placing:
    """Where points and directions are, given `X_W` of all frames."""
    return Placing(lambda at: point(X_W, at), lambda frame, axis: X_W[frame][:3, :3] @ np.asarray(axis))


def path_length(X_W: dict[str, Array], string: String) -> float:
    """Length of the way of `string` from hook to spindle [m], given `X_W` of all frames."""
    return way_length(placing(X_W), string)
