"""Paths of all points but the centre of mass: quintic polynomials for hands and trunk, swings for feet. All end at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def quintic(p: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """Positions (k, n) from `p` with velocity `v` and acceleration `a` to rest at the `goal`.

    `s` (k,) are fractions of the `duration` [s].
    """
    return np.asarray(p + eased(s)[:, None] * (goal - p) + led(v, a, duration, s))


def turned(R: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """Rotations (k, 3, 3) from `R` with angular velocity `v` and acceleration `a` to rest at the `goal`: exp(φ) R with a quintic φ.

    `s` (k,) are fractions of the `duration` [s].
    """
    return rotations(quintic(np.zeros(3), v, a, so3.log(goal @ R.T), duration, s)) @ R


def rotations(vectors: Array) -> Array:
    """Rotations (k, 3, 3) of rotation `vectors` (k, 3) [rad]."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    W = np.cross(np.eye(3)[None], vectors[:, None])
    return np.asarray(np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * W @ W)


def led(v: Array, a: Array, duration: float, s: Array) -> Array:
    """What initial velocity `v` and acceleration `a` add to a rest-to-rest path, at fractions `s` (k,) of its `duration` [s].

    At the end they add nothing to position and velocity.
    """
    s = np.clip(s, 0.0, 1.0)[:, None]
    first = s * (1.0 + s * s * (s * (8.0 - 3.0 * s) - 6.0))
    second = 0.5 * s * s * (1.0 - s) ** 3
    return np.asarray(duration * first * v + duration**2 * second * a)


@dataclass(frozen=True)
class Swing:
    """The timing of a swing, in shares of its duration; the defaults are for level ground."""

    up: float = 0.5
    """When the foot has reached its top height."""
    along: tuple[float, float] = (0.05, 0.95)
    """When its horizontal motion begins and ends."""
    down: float = 0.5
    """When it begins to descend."""

    @property
    def width(self) -> float:
        """Share of the duration in which it moves horizontally."""
        return self.along[1] - self.along[0]


@dataclass(frozen=True)
class SwingOptions:
    """Timings of swings."""

    level: Swing = Swing()
    """Swing on level ground."""
    onward: Swing = Swing(along=(0.02, 0.97))
    """Swing on level ground between steps in motion."""
    stairs: Swing = Swing(0.38, (0.2, 0.8), 0.62)
    """From one level to another: up before forward, and forward before down, to clear the vertical face of the step."""
    lifts: Swing = Swing(0.7, (0.25, 1.0), 1.0)
    """For a foot that is lifted and stays in the air."""
    lands: Swing = Swing(0.0, (0.0, 0.7), 0.35)
    """For a foot that was in the air and is put down."""
    one_level: float = 0.004
    """Largest difference in height that counts as level ground [m]."""


def swung(start: Array, goal: Array, top: float, swing: Swing, s: Array) -> Array:
    """Path (n, 4) of a foot (x, y, z, yaw) from `start` to `goal` with the timing `swing`, at fractions `s` (n,) of its duration.

    `top` is its top height [m].
    """
    out = np.empty((len(s), 4))
    along = eased((s - swing.along[0]) / swing.width)
    for k in (0, 1, 3):
        out[:, k] = start[k] + (goal[k] - start[k]) * along
    rise = eased(s / swing.up) if swing.up > 0.0 else np.ones(len(s))
    fall = eased((s - swing.down) / (1.0 - swing.down)) if swing.down < 1.0 else np.zeros(len(s))
    out[:, 2] = start[2] + (top - start[2]) * rise + (goal[2] - top) * fall
    return out
