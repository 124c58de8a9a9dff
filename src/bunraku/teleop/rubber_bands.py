"""Rubber bands from points of a simulated figure to the hands that hold them.

A band is a force in the physics, nothing else: it pulls in proportion to its stretch, is damped like what it moves, and never
pulls harder than a few times the weight, so that what cannot be reached only stretches it.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics import mass_matrix
from bunraku.figure import Figure, Point, Push
from bunraku.kinematics import Pose, pose

Array = NDArray[np.float64]
STIFFNESS = 4.0
"""Of a band, in weights a metre: a quarter of a metre lifts the whole figure."""
PULLS = 1.5
"""A band pulls at most with so many times the figure's weight."""
AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Bands:
    """What hands hold of one figure, by any key that they like."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self.weight = figure.mass * math.hypot(*figure.gravity)
        self._held: dict[str, tuple[Point, Array]] = {}
        self._place: dict[str, Array] = {}
        """Where each band held its point one step before."""
        self._pushed = lru_cache(64)(self._with_pushes)

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, key: str, at: Point, to: ArrayLike) -> None:
        self._held[key] = (at, np.asarray(to, float))

    def let_go(self, key: str) -> None:
        self._held.pop(key, None)
        self._place.pop(key, None)

    def clear(self) -> None:
        self._held.clear()
        self._place.clear()

    @property
    def figure(self) -> Figure:
        """The figure with three more force inputs for each band, which move nothing else about it."""
        return self._pushed(tuple(at for at, _ in self._held.values()))

    def _with_pushes(self, points: tuple[Point, ...]) -> Figure:
        if not points:
            return self._figure
        pushes = (Push(f"band {k} {axis}", at, e) for k, at in enumerate(points) for axis, e in zip("xyz", AXES, strict=True))
        return self._figure.replace(forces=(*self._figure.forces, *pushes))

    def forces(self, q: Array, dt: float) -> tuple[Array, set[str]]:
        """All force inputs [N], and the bands that can pull no harder."""
        out, most = np.zeros(len(self._figure.forces) + 3 * len(self._held)), PULLS * self.weight
        if not self._held:
            return out, set()
        now, full = pose(self._figure, q), set()
        M = mass_matrix(self._figure, q)
        for k, (key, (at, to)) in enumerate(self._held.items()):
            place = now.point(at.frame, at.position)
            speed = (place - self._place.get(key, place)) / dt
            self._place[key] = place
            stiffness = STIFFNESS * self.weight
            force = stiffness * (to - place) - math.sqrt(stiffness * self._felt_mass(now, M, at)) * speed
            size = float(np.linalg.norm(force))
            if size > most:
                force *= most / size
                full.add(key)
            first = len(self._figure.forces) + 3 * k
            out[first : first + 3] = force
        return out, full

    def _felt_mass(self, now: Pose, M: Array, at: Point) -> float:
        """What a hand feels at a point [kg]: the mean over the directions."""
        n = self._figure.n_dynamic
        J = now.point_jacobian(at.frame, at.position)[:, :n]
        return 3.0 / float(np.trace(J @ np.linalg.solve(M[:n, :n] + 1e-9 * np.eye(n), J.T)) + 1e-9)
