"""Paths of the other points: quintics for hands and trunk, swings for feet. All of them end at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def quintic(p: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """From p at velocity v and acceleration a to rest at the goal, at shares s (k,) of the duration."""
    return np.asarray(p + eased(s)[:, None] * (goal - p) + led(v, a, duration, s))


def turned(R: Array, v: Array, a: Array, goal: Array, duration: float, s: Array) -> Array:
    """Rotations (k, 3, 3) from R at angular velocity v and acceleration a to rest at the goal: exp(φ) R with a quintic φ."""
    return rotations(quintic(np.zeros(3), v, a, so3.log(goal @ R.T), duration, s)) @ R


def rotations(vectors: Array) -> Array:
    """Rotations (k, 3, 3) of rotation vectors (k, 3)."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    W = np.cross(np.eye(3)[None], vectors[:, None])
    return np.asarray(np.eye(3) + np.sinc(angle / np.pi) * W + 0.5 * np.sinc(angle / (2 * np.pi)) ** 2 * W @ W)


def led(v: Array, a: Array, duration: float, s: Array) -> Array:
    """What a velocity and an acceleration at first add to a path from rest to rest: nothing at its end, neither place nor speed."""
    s = np.clip(s, 0.0, 1.0)[:, None]
    first = s * (1.0 + s * s * (s * (8.0 - 3.0 * s) - 6.0))
    second = 0.5 * s * s * (1.0 - s) ** 3
    return np.asarray(duration * first * v + duration**2 * second * a)


@dataclass(frozen=True)
class Swing:
    """Shares of a swing: going up ends, going along begins and ends, going down begins."""

    up: float
    along: tuple[float, float]
    down: float

    @property
    def width(self) -> float:
        return self.along[1] - self.along[0]


LEVEL = Swing(0.5, (0.05, 0.95), 0.5)
STAIRS = Swing(0.38, (0.2, 0.8), 0.62)
"""Up before it goes along, and along before it goes down: no riser is clipped."""
LIFTS = Swing(0.7, (0.25, 1.0), 1.0)
LANDS = Swing(0.0, (0.0, 0.7), 0.35)


def swung(start: Array, goal: Array, top: float, swing: Swing, s: Array) -> Array:
    """A foot (x, y, z, yaw) along its swing, (n, 4). `top` is the height that it passes on its way."""
    out = np.empty((len(s), 4))
    along = eased((s - swing.along[0]) / swing.width)
    for k in (0, 1, 3):
        out[:, k] = start[k] + (goal[k] - start[k]) * along
    rise = eased(s / swing.up) if swing.up > 0.0 else np.ones(len(s))
    fall = eased((s - swing.down) / (1.0 - swing.down)) if swing.down < 1.0 else np.zeros(len(s))
    out[:, 2] = start[2] + (top - start[2]) * rise + (goal[2] - top) * fall
    return out
