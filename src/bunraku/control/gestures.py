"""Gestures to imitate, made of a few sines: the mannequin waves and walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure, library
from bunraku.motion import Motion
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def _smooth(t: Array, start: float, end: float) -> Array:
    return eased((t - start) / (end - start))


def wave(duration: float = 10.0, *, rate: float = 1.0, dt: float = 0.01) -> Motion:
    """The mannequin raises its right arm, waves, and lowers it.

    `duration` and the time `dt` between samples are in seconds, `rate` is in waves per second.
    """
    figure = library.named("mannequin")
    t: Array = dt * np.arange(round(duration / dt) + 1, dtype=float)
    up = _smooth(t, 0.1 * duration, 0.25 * duration) - _smooth(t, 0.75 * duration, 0.9 * duration)
    sway = up * np.sin(2.0 * np.pi * rate * t)
    q = np.tile(figure.start, (len(t), 1))
    _add(figure, q, "right_shoulder_ry", -1.25 * up)
    _add(figure, q, "right_elbow", -0.3 * up)
    _add(figure, q, "right_shoulder_rz", 0.35 * sway)
    _add(figure, q, "right_shoulder_rx", 0.2 * sway)
    _add(figure, q, "pelvis_rz", 0.15 * up)
    return Motion.of(figure, t, q)


def walk(duration: float = 10.0, *, speed: float = 0.25, rate: float = 0.8, dt: float = 0.01) -> Motion:
    """The mannequin walks straight on, from rest to rest.

    `duration` and the time `dt` between samples are in seconds, `speed` is in m/s, `rate` is in strides per second.
    """
    figure = library.named("mannequin")
    t: Array = dt * np.arange(round(duration / dt) + 1, dtype=float)
    going = _smooth(t, 0.05 * duration, 0.2 * duration) - _smooth(t, 0.8 * duration, 0.95 * duration)
    phase = 2.0 * np.pi * rate * t
    q = np.tile(figure.start, (len(t), 1))
    _add(figure, q, "pelvis_tx", speed * dt * np.cumsum(going))
    _add(figure, q, "pelvis_tz", 0.01 * going * np.cos(2.0 * phase))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        _add(figure, q, f"{side}_hip_ry", -0.3 * sign * going * np.sin(phase))
        _add(figure, q, f"{side}_knee_ry", 0.15 * going * (1.0 + sign * np.cos(phase)))
        _add(figure, q, f"{side}_shoulder_ry", 0.3 * sign * going * np.sin(phase))
        _add(figure, q, f"{side}_elbow", -0.1 * going * (1.0 - sign * np.sin(phase)))
    return Motion.of(figure, t, q)


def _add(figure: Figure, q: Array, variable: str, curve: Array) -> None:
    q[:, figure.index(variable)] += curve
