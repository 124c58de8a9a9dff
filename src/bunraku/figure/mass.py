"""Bodies: mass, centre of mass, inertia."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import FigureError
from bunraku.figure.frame import ORIGIN, Vector

Array = NDArray[np.float64]
Inertia = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Body:
    """A rigid body fixed in a frame. `inertia` is about its centre of mass, in the frame's axes: xx yy zz xy xz yz."""

    frame: str
    mass: float
    com: Vector = ORIGIN
    inertia: Inertia = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    name: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.frame)

        def refuse(field: str, message: str, advice: str) -> None:
            raise FigureError(message, kind="body", name=self.name, field=field, advice=advice)

        if not math.isfinite(self.mass) or self.mass < 0.0:
            refuse("mass", f"{self.mass} is not a mass", "give kilograms, zero or more")
        if not all(map(math.isfinite, self.com)):
            refuse("com", "not a finite number", "the centre of mass is three finite numbers, in metres")
        if not all(map(math.isfinite, self.inertia)):
            refuse("inertia", "not a finite number", "xx yy zz, or xx yy zz xy xz yz, in kg·m²")
        principal = np.linalg.eigvalsh(inertia_matrix(self.inertia))
        slack = 1e-9 * max(1e-12, float(principal[-1]))
        if principal[0] < -slack:
            refuse("inertia", "not positive definite", "the three principal moments must be zero or positive")
        if principal[0] + principal[1] < principal[2] * (1.0 - 1e-6) - slack:
            refuse(
                "inertia", f"no body has principal moments {principal.round(9).tolist()}",
                "the largest may not exceed the sum of the other two",
            )  # fmt: skip


def inertia_matrix(inertia: Inertia) -> Array:
    """The 3×3 matrix of an `inertia` xx yy zz xy xz yz [kg·m²]."""
    xx, yy, zz, xy, xz, yz = inertia
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def inertia_tuple(matrix: ArrayLike) -> Inertia:
    """The numbers xx yy zz xy xz yz of a symmetric 3×3 `matrix` [kg·m²]."""
    M = np.asarray(matrix, float)
    return tuple(float(M[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))  # type: ignore[return-value]
