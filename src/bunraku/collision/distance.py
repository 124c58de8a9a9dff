"""The distance of one pair of things, and of many with gradients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.pair_rows import PairRows
from bunraku.collision.shape_motion import gradients
from bunraku.collision.world_arrays import WorldArrays

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Distance:
    """Signed distance of two things [m]; a negative value is a penetration depth.

    `p_A` and `p_B` are their closest points in the world, or the deepest ones where they overlap. `normal` is the direction
    in which B leaves A: p_B − p_A = value · normal.
    """

    value: float
    a: str
    b: str
    p_A: Array
    p_B: Array
    normal: Array

    def __repr__(self) -> str:
        return f"<Distance {self.a} – {self.b}: {1000 * self.value:.3g} mm>"


@dataclass(frozen=True, eq=False)
class Clearances:
    """Distances of m pairs, each as in `Distance`, with their gradients."""

    names: tuple[str, ...]
    """The names of all things."""
    things: NDArray[np.int64]
    """The numbers of the two things of each pair, (m, 2)."""
    sample: NDArray[np.int64]
    """The sample that each pair belongs to, (m,)."""
    value: Array
    p_A: Array
    p_B: Array
    normal: Array
    gradient: Array
    """∂value/∂q, (m, n_q)."""

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of the two things of each pair."""
        return tuple((self.names[i], self.names[j]) for i, j in self.things.tolist())

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, k: int) -> Distance:
        return Distance(float(self.value[k]), *self.pairs[k], self.p_A[k], self.p_B[k], self.normal[k])

    def __repr__(self) -> str:
        least = f", least {1000 * self.value.min():.3g} mm" if len(self) else ""
        return f"<Clearances: {len(self)} pairs{least}>"


def distances(names: tuple[str, ...], found: PairRows) -> tuple[Distance, ...]:
    """The rows `found` as objects, nearest first; `names` are those of all things."""
    out = []
    for row in np.argsort(found.value, kind="stable"):
        _, i, j, _ = found.ints[row].tolist()
        f = found.floats[row]
        out.append(Distance(float(f[0]), names[i], names[j], f[1:4].copy(), f[4:7].copy(), f[7:10].copy()))
    return tuple(out)


def clearances(names: tuple[str, ...], flat: WorldArrays, Q: Array, found: PairRows) -> Clearances:
    """The rows `found` at configurations `Q` (T, n_q) of a world `flat`, with gradients; `names` are those of all things."""
    G = np.zeros((len(found), Q.shape[1]))
    gradients(flat, Q, found.ints, found.floats, G)
    value, p_A, p_B, normal, _ = np.split(found.floats, (1, 4, 7, 10), axis=1)
    return Clearances(names, found.ints[:, 1:3], found.sample, value[:, 0], p_A, p_B, normal, G)
