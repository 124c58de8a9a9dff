"""How well feet must stick: the least adhesion that holds a posture, as a linear program.

Forces f at the standing feet, with normal n, balance the weight: Σf = −mg, Σ r×f = 0. A foot that sticks with A can be
pulled at by A and rubs as if pressed by A: f_n ≥ −A and |f_t| ≤ μ(f_n + A). The cone is cut to a pyramid inside it, so
that the answer is on the safe side. With a `grip` (about tan 30° for geckos), adhesion is directional: a foot sticks only
while it is dragged along its toes, by grip times that force, and A is the most that the toes of a foot must bear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.adhesion_kernels import hold_along, hold_kernel
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.footsteps import FEET, SIDE
from bunraku.locomotion.climb.gecko import Gecko

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True, eq=False)
class Hold:
    """The least adhesion as a share of the weight, and the forces (n, 3) that then act on the feet, in weights.

    `slope` [1/m] is how the adhesion changes with the centre of mass.
    """

    adhesion: float
    forces: Array
    slope: Array

    __repr__ = brief

    def critical(self, normals: ArrayLike) -> int:
        """The foot that is pulled at the most."""
        return int(np.argmin(np.einsum("ni,ni->n", self.forces, np.asarray(normals, float))))


def _upward(gravity: ArrayLike) -> Array:
    g = np.asarray(gravity, float)
    return np.asarray(-g / np.linalg.norm(g))


def hold(
    places: ArrayLike, normals: ArrayLike, centre: ArrayLike, *, friction: float = 1.0, gravity: ArrayLike = GRAVITY,
    grip: float = math.inf, toes: ArrayLike | None = None,
) -> Hold:  # fmt: skip
    """The least adhesion that holds a weight at `centre` [m] by feet at `places` (n, 3) [m] on surfaces with these normals.

    `grip`, with directions of the `toes` (n, 3), makes the adhesion directional.
    """
    p, n, c = (np.ascontiguousarray(a, float) for a in (places, normals, centre))
    along = np.ascontiguousarray(n if toes is None else toes, float)
    forces, slope = np.empty(p.shape), np.empty(3)
    grip = math.inf if toes is None else grip
    return Hold(float(hold_kernel(p, n, along, c, _upward(gravity), friction, grip, forces, slope)), forces, slope)


@dataclass(frozen=True, eq=False)
class AdhesionAlong:
    """At every sample of a motion: the least adhesion in weights, and the foot that is pulled at the most."""

    adhesion: Array
    critical: NDArray[np.int64]
    slopes: Array

    __repr__ = brief

    def until(self, count: int) -> AdhesionAlong:
        """Of the first so many samples."""
        return AdhesionAlong(self.adhesion[:count], self.critical[:count], self.slopes[:count])

    @property
    def worst(self) -> int:
        return int(np.argmax(self.adhesion))

    def foot(self, sample: int) -> str:
        return FEET[int(self.critical[sample])]

    def __str__(self) -> str:
        return f"adhesion at most {self.adhesion[self.worst]:.3f} of the weight, sample {self.worst}, {self.foot(self.worst)}"


def adhesion_along(
    gecko: Gecko, Q: Array, feet: FootPaths, *, friction: float = 1.0, gravity: ArrayLike = GRAVITY, grip: float = math.inf
) -> AdhesionAlong:
    """The least adhesion along a motion; the foot that swings holds nothing."""
    T = len(Q)
    masses, share = gecko.masses
    values, critical, slopes = np.empty(T), np.empty(T, np.int64), np.empty((T, 3))
    hold_along(
        masses, share, np.ascontiguousarray(Q), np.ascontiguousarray(feet.p[:T]), np.ascontiguousarray(feet.R[:T]), np.array(SIDE),
        feet.swings[:T], _upward(gravity), friction, grip, values, critical, slopes,
    )  # fmt: skip
    return AdhesionAlong(values, critical, slopes)
