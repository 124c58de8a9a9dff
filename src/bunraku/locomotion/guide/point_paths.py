"""Paths of the points beside the centre of mass: quintics for hands and trunk, swings for feet. All end at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def quintic(p: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """Places (k, n) from `p` at velocity `v` and acceleration `a` to rest at the `goal`.

    `s` (k,) are shares of the `duration` [s].
    """
    return np.asarray(p + eased(s)[:, None] * (goal - p) + led(v, a, duration, s))


def turned(R: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """Rotations (k, 3, 3) from `R` at angular velocity `v` and acceleration `a` to rest at the `goal`: exp(φ) R with a quintic φ.

    `s` (k,) are shares of the `duration` [s].
    """
    return rotations(quintic(np.zeros(3), v, a, so3.log(goal @ R.T), duration, s)) @ R


def rotations(vectors: Array) -> Array:
    """Rotations (k, 3, 3) of rotation `vectors` (k, 3) [rad]."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    W = np.cross(np.eye(3)[None], vectors[:, None])
    return np.asarray(np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * W @ W)


def led(v: Array, a: Array, duration: float, s: Array) -> Array:
    """What a first velocity `v` and acceleration `a` add to a path from rest to rest, at shares `s` (k,) of its `duration` [s].

    At its end they add nothing, neither to the place nor to the velocity.
    """
    s = np.clip(s, 0.0, 1.0)[:, None]
    first = s * (1.0 + s * s * (s * (8.0 - 3.0 * s) - 6.0))
    second = 0.5 * s * s * (1.0 - s) ** 3
    return np.asarray(duration * first * v + duration**2 * second * a)


@dataclass(frozen=True)
class Swing:
    """The shape of a swing, in shares of its duration; as it is, that on level ground."""

    up: float = 0.5
    """When the foot has risen."""
    along: tuple[float, float] = (0.05, 0.95)
    """When it begins and ends to move along."""
    down: float = 0.5
    """When it begins to fall."""

    @property
    def width(self) -> float:
        """Share of the time that it moves along."""
        return self.along[1] - self.along[0]


@dataclass(frozen=True)
class SwingOptions:
    """Shapes of swings."""

    level: Swing = Swing()
    """On level ground."""
    stairs: Swing = Swing(0.38, (0.2, 0.8), 0.62)
    """From one level to another: up before along, and along before down, so that it clears the riser."""
    lifts: Swing = Swing(0.7, (0.25, 1.0), 1.0)
    """Of a foot that stays in the air."""
    lands: Swing = Swing(0.0, (0.0, 0.7), 0.35)
    """Of a foot that was in the air."""
    one_level: float = 0.004
    """Largest difference in height on one level [m]."""


def swung(start: Array, goal: Array, top: float, swing: Swing, s: Array) -> Array:
    """A foot (x, y, z, yaw) from `start` to `goal` along its `swing`, (n, 4), at shares `s` (n,) of its duration.

    `top` is the height that it passes on its way [m].
    """
    out = np.empty((len(s), 4))
    along = eased((s - swing.along[0]) / swing.width)
    for k in (0, 1, 3):
        out[:, k] = start[k] + (goal[k] - start[k]) * along
    rise = eased(s / swing.up) if swing.up > 0.0 else np.ones(len(s))
    fall = eased((s - swing.down) / (1.0 - swing.down)) if swing.down < 1.0 else np.zeros(len(s))
    out[:, 2] = start[2] + (top - start[2]) * rise + (goal[2] - top) * fall
    return out
