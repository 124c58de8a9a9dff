"""Rubber bands from points of a simulated figure to the hands that hold them.

A band is a force in the simulation. It grows with the band's length, is damped, and is bounded relative to the figure's weight, so
that beyond the figure's reach only the band stretches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics import mass_matrix
from bunraku.figure import Figure, Point, Push
from bunraku.kinematics import Pose, pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BandOptions:
    """Strength of rubber bands, relative to the weight of the figure."""

    stiffness: float = 4.0
    """Force per metre of length, in body weights [1/m]: a band of 25 cm lifts the whole figure."""
    strength: float = 1.5
    """Maximum force, in body weights."""


class Bands:
    """The bands on one `figure`, each with a key; `options` set their strength."""

    def __init__(self, figure: Figure, *, options: BandOptions = BandOptions()) -> None:
        self._figure, self._options = figure, options
        self.weight = figure.mass * math.hypot(*figure.gravity)
        self._held: dict[str, tuple[Point, Array]] = {}
        self._place: dict[str, Array] = {}
        """Position of each held point one step before."""
        self._pushed = lru_cache(64)(self._with_pushes)

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, key: str, at: Point, to: ArrayLike) -> None:
        """Attaches the band `key`, which pulls the point `at` of the figure toward `to` [m], (3,)."""
        self._held[key] = (at, np.asarray(to, float))

    def let_go(self, key: str) -> None:
        """Removes the band `key`."""
        self._held.pop(key, None)
        self._place.pop(key, None)

    def clear(self) -> None:
        """Removes all bands."""
        self._held.clear()
        self._place.clear()

    @property
    def figure(self) -> Figure:
        """The figure with three more force inputs for each band."""
        return self._pushed(tuple(at for at, _ in self._held.values()))

    def _with_pushes(self, points: tuple[Point, ...]) -> Figure:
        if not points:
            return self._figure
        axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
        pushes = (Push(f"band {k} {axis}", at, e) for k, at in enumerate(points) for axis, e in axes.items())
        return self._figure.replace(forces=(*self._figure.forces, *pushes))

    def forces(self, q: Array, dt: float) -> tuple[Array, set[str]]:
        """All force inputs [N] at `q` after a step of `dt` [s], and the keys of bands that pull with their maximum force."""
        out, most = np.zeros(len(self._figure.forces) + 3 * len(self._held)), self._options.strength * self.weight
        if not self._held:
            return out, set()
        now, full = pose(self._figure, q), set()
        M = mass_matrix(self._figure, q)
        for k, (key, (at, to)) in enumerate(self._held.items()):
            place = now.point(at.frame, at.position)
            speed = (place - self._place.get(key, place)) / dt
            self._place[key] = place
            stiffness = self._options.stiffness * self.weight
            force = stiffness * (to - place) - math.sqrt(stiffness * self._felt_mass(now, M, at)) * speed
            size = float(np.linalg.norm(force))
            if size > most:
                force *= most / size
                full.add(key)
            first = len(self._figure.forces) + 3 * k
            out[first : first + 3] = force
        return out, full

    def _felt_mass(self, now: Pose, M: Array, at: Point) -> float:
        """The effective mass of the figure at a point [kg], averaged over directions."""
        n = self._figure.n_dynamic
        J = now.point_jacobian(at.frame, at.position)[:, :n]
        return 3.0 / float(np.trace(J @ np.linalg.solve(M[:n, :n] + 1e-9 * np.eye(n), J.T)) + 1e-9)
