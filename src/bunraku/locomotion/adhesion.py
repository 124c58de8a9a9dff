"""How well feet must stick: the least adhesion that holds a posture, as a linear program.

Forces f at the standing feet, with normal n, balance the weight: Σf = −mg, Σ r×f = 0. A foot that sticks with A can be
pulled at by A and rubs as if pressed by A: f_n ≥ −A and |f_t| ≤ μ(f_n + A). The cone is cut to a pyramid inside it, so
that the answer is on the safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.kinematics import pose
from bunraku.locomotion.footsteps import FEET
from bunraku.locomotion.gecko import Gecko
from bunraku.locomotion.simplex import least
from bunraku.locomotion.swing import FootPaths

Array = NDArray[np.float64]
GRAVITY = (0.0, 0.0, -9.81)
SIDES = 8


@dataclass(frozen=True, eq=False)
class Hold:
    """The least adhesion as a share of the weight, and the forces (n, 3) that then act on the feet, in weights."""

    adhesion: float
    forces: Array

    def critical(self, normals: ArrayLike) -> int:
        """The foot that is pulled at the most."""
        return int(np.argmin(np.einsum("ni,ni->n", self.forces, np.asarray(normals, float))))


def hold(places: ArrayLike, normals: ArrayLike, centre: ArrayLike, *, friction: float = 1.0, gravity: ArrayLike = GRAVITY) -> Hold:
    """The least adhesion that holds a weight at `centre` [m] by feet at `places` (n, 3) [m] on surfaces with these normals.

    Each force is a sum of edges of its pyramid, all ≥ 0, minus A along the normal: f = Σ λ_k (n + μ e_k) − A n, so that the
    program has six equations and the unknowns λ and A.
    """
    p, n = np.asarray(places, float), np.asarray(normals, float)
    down = np.asarray(gravity, float) / np.linalg.norm(np.asarray(gravity, float))
    length = max(float(np.linalg.norm(p - centre, axis=1).max()), 1e-9)
    edges = _edges(n, friction)
    arms = (p - centre) / length
    columns = [np.concatenate([f, np.cross(arm, f)]) for arm, foot in zip(arms, edges, strict=True) for f in foot]
    pull = -np.concatenate([n.sum(0), np.cross(arms, n).sum(0)])
    M = np.column_stack([*columns, pull])
    cost = np.zeros(M.shape[1])
    cost[-1] = 1.0
    x = least(cost, M, np.concatenate([-down, np.zeros(3)]))
    if x is None:
        return Hold(math.inf, np.full(p.shape, np.nan))
    parts = x[:-1].reshape(len(p), SIDES)
    return Hold(float(x[-1]), np.einsum("nk,nki->ni", parts, edges) - x[-1] * n)


def _edges(normals: Array, friction: float) -> Array:
    """Edges (n, SIDES, 3) of the pyramids."""
    across = np.where(np.abs(normals[:, :1]) < 0.9, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    a = np.cross(normals, across)
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    b = np.cross(normals, a)
    turn = 2.0 * np.pi * np.arange(SIDES) / SIDES
    tangent = np.cos(turn)[:, None] * a[:, None] + np.sin(turn)[:, None] * b[:, None]
    return np.asarray(normals[:, None] + friction * tangent)


@dataclass(frozen=True, eq=False)
class AdhesionAlong:
    """At some samples of a motion: the least adhesion in weights, and the foot that is pulled at the most."""

    samples: NDArray[np.int64]
    adhesion: Array
    critical: tuple[str, ...]

    def __str__(self) -> str:
        worst = int(np.argmax(self.adhesion))
        return f"adhesion at most {self.adhesion[worst]:.3f} of the weight, sample {self.samples[worst]}, {self.critical[worst]}"


def adhesion_along(gecko: Gecko, Q: Array, feet: FootPaths, *, friction: float = 1.0, every: int = 5) -> AdhesionAlong:
    """The least adhesion along a motion; the foot that swings holds nothing."""
    samples = np.arange(0, len(Q), every)
    values, critical = np.empty(len(samples)), []
    for k, t in enumerate(samples):
        stands = [i for i in range(4) if i != feet.swings[t]]
        normals = feet.R[t, stands][:, :, 2]
        held = hold(feet.p[t, stands], normals, pose(gecko.figure, Q[t]).com, friction=friction)
        values[k] = held.adhesion
        critical.append(FEET[stands[held.critical(normals)]])
    return AdhesionAlong(samples, values, tuple(critical))
