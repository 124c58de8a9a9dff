"""The smallest adhesion of the feet that holds a posture, by a linear program.

Forces f at the standing feet balance the weight: Σf = −mg, Σ r×f = 0. A foot with adhesion A, on a surface with normal n, resists a
pull of up to A, and has the friction of a foot that is pressed on with A: f_n ≥ −A and |f_t| ≤ μ(f_n + A). The friction cone is
replaced by a pyramid inside it, so the result is conservative. With a finite `grip` (about tan 30° for geckos), adhesion is
directional: a foot sticks only while it is dragged along its toes, and its adhesion is grip times the dragging force. A is then the
largest force along the toes of any foot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.locomotion.climb.adhesion_kernels import hold_along, hold_kernel
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LeastAdhesion:
    """The smallest `adhesion` that holds a posture, and the `forces` (n, 3) that then act on the feet, both in body weights.

    `slope` (3,) [1/m] is the derivative of the adhesion with respect to the position of the centre of mass.
    """

    adhesion: float
    forces: Array
    slope: Array

    __repr__ = brief

    def critical(self, normals: ArrayLike) -> int:
        """Index of the foot that is pulled hardest, given the `normals` (n, 3) of the surface."""
        return int(np.argmin(np.einsum("ni,ni->n", self.forces, np.asarray(normals, float))))


def _upward(gravity: ArrayLike) -> Array:
    g = np.asarray(gravity, float)
    return np.asarray(-g / np.linalg.norm(g))


def hold(
    places: ArrayLike, normals: ArrayLike, centre: ArrayLike, *, friction: float = 1.0,
    gravity: ArrayLike = (0.0, 0.0, -9.81), grip: float = math.inf, toes: ArrayLike | None = None,
) -> LeastAdhesion:  # fmt: skip
    """The smallest adhesion that holds a body by its feet.

    places: positions of the feet (n, 3) [m]
    normals: of the surface at each foot (n, 3)
    centre: the centre of mass (3,) [m]
    friction: coefficient of friction
    gravity: only its direction matters (3,) [m/s²]
    grip: adhesion per unit of force along the toes; infinite if feet stick in every direction
    toes: directions of the toes (n, 3); without them `grip` has no effect

    The result is infinite if no adhesion is enough.
    """
    p, n, c = (np.ascontiguousarray(a, float) for a in (places, normals, centre))
    along = np.ascontiguousarray(n if toes is None else toes, float)
    forces, slope, load = np.empty(p.shape), np.empty(3), np.concatenate([_upward(gravity), np.zeros(3)])
    grip = math.inf if toes is None else grip
    return LeastAdhesion(float(hold_kernel(p, n, along, c, load, friction, grip, forces, slope)), forces, slope)


@dataclass(frozen=True, eq=False)
class AdhesionAlong:
    """At every sample of a motion: the smallest sufficient `adhesion` (T,) in body weights, the `critical` foot (T,), which is
    pulled hardest, the derivatives `slopes` (T, 3) [1/m] of the adhesion by the centre of mass, and the `forces` (T, feet, 3) on
    the feet in body weights.

    Where only two feet stand, they bear no moment about the line between them. `tipping` (T,) is what is missing
    [weights·m]: the body turns about that line until others land.
    """

    adhesion: Array
    critical: NDArray[np.int64]
    slopes: Array
    forces: Array
    tipping: Array
    names: tuple[str, ...]
    """Names of the feet."""

    __repr__ = brief

    def until(self, count: int) -> AdhesionAlong:
        """The first `count` samples only."""
        return AdhesionAlong(
            self.adhesion[:count], self.critical[:count], self.slopes[:count], self.forces[:count], self.tipping[:count], self.names
        )  # fmt: skip

    @staticmethod
    def joined(parts: Sequence[AdhesionAlong]) -> AdhesionAlong:
        """Consecutive `parts` of a motion as one."""
        names = ("adhesion", "critical", "slopes", "forces", "tipping")
        adhesion, critical, slopes, forces, tipping = (np.concatenate([getattr(a, name) for a in parts]) for name in names)
        return AdhesionAlong(adhesion, critical, slopes, forces, tipping, parts[0].names)

    @property
    def worst(self) -> int:
        """The sample that needs the most adhesion."""
        return int(np.argmax(self.adhesion))

    def foot(self, sample: int) -> str:
        """Name of the critical foot at a `sample`."""
        return self.names[int(self.critical[sample])].removesuffix("_foot")

    def __str__(self) -> str:
        return f"adhesion at most {self.adhesion[self.worst]:.3f} of the weight, sample {self.worst}, {self.foot(self.worst)}"


def adhesion_along(
    gecko: Gecko, Q: Array, feet: FootPaths, *, friction: float = 1.0, gravity: ArrayLike = (0.0, 0.0, -9.81),
    grip: float = math.inf, loads: ArrayLike | None = None,
) -> AdhesionAlong:  # fmt: skip
    """The smallest sufficient adhesion along configurations `Q` (T, n_q) of a `gecko` whose `feet` stand and swing as given.

    `friction`, `gravity` and `grip` are as in `hold`. A swinging foot bears no force.

    loads: what the feet give in all at each sample (T, 6): force [weights], and moment about the centre of mass [weights·m]; None
        for the weight alone, as if every posture were held at rest
    """
    T = len(Q)
    masses, share = gecko.masses
    values, critical, slopes, forces = np.empty(T), np.empty(T, np.int64), np.empty((T, 3)), np.empty((T, *feet.p.shape[1:]))
    tipping = np.empty(T)
    borne = np.tile([*_upward(gravity), 0.0, 0.0, 0.0], (T, 1)) if loads is None else np.asarray(loads, float)
    hold_along(
        masses, share, np.require(Q, float, ["C", "W"]), np.ascontiguousarray(feet.p[:T]), np.ascontiguousarray(feet.R[:T]),
        np.where(np.arange(feet.p.shape[1]) % 2, -1.0, 1.0), feet.aloft[:T], np.ascontiguousarray(borne), friction, grip, values,
        critical, slopes, forces, tipping,
    )  # fmt: skip
    return AdhesionAlong(values, critical, slopes, forces, tipping, gecko.roles.feet)
