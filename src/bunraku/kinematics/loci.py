"""The path of a frame or a point during a motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.frame import WORLD
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion, Track

Array = NDArray[np.float64]


def frame_along(motion: Motion | Track, frame: str) -> Array:
    """X_WF of `frame` at every sample of `motion`, (T, 4, 4); of a motion with several tracks, pass one of them."""
    track = motion.only if isinstance(motion, Motion) else motion
    if frame == WORLD:
        return np.tile(np.eye(4), (len(track), 1, 1))
    track.figure.frame(frame)  # raises UnknownName where there is no such frame
    X: Array = frames_along(track.figure, track.q)[:, track.figure.frame_index[frame]]
    return X


def point_along(motion: Motion | Track, frame: str, position: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Where the point at `position` of `frame` is at every sample of `motion`, (T, 3) [m]."""
    X = frame_along(motion, frame)
    return np.asarray(X[:, :3, :3] @ np.asarray(position, float) + X[:, :3, 3])
