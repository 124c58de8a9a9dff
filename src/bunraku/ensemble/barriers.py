"""Barriers: regions that curves must avoid, because holding or tuning failed there (*carrying*, Section IV-D).

barriers = Barriers(space.weights)
space = space.restricted(barriers.passed_by)
barriers.add(distance_from_there, radius)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.way_curve import WayCurve
from bunraku.planning.ways.steer import length, samples

Array = NDArray[np.float64]
Distance = Callable[[Array], Array]
"""Configurations (T, n) ↦ their distances from a place (T,) [weighted m]."""


class Barriers:
    """Regions that curves must avoid. Starts with none; `weights` (n,) are those of the space [m per unit]."""

    def __init__(self, weights: Array) -> None:
        self.weights = weights
        self._places: list[tuple[Distance, float]] = []

    def add(self, distance: Distance, radius: float) -> None:
        """Adds the region of configurations (T, n) whose `distance` is below `radius` [weighted m]."""
        if radius > 1e-3:
            self._places.append((distance, radius))

    def passed_by(self, curve: WayCurve) -> bool:
        """Whether a `curve` avoids all regions, checked at samples that are much denser than the smallest radius."""
        if not self._places:
            return True
        finest = min(radius for _, radius in self._places)
        count = max(int(np.ceil(length(curve, self.weights) / (0.2 * finest))), 2)
        Q = samples(curve, np.linspace(0.0, 1.0, count))
        return all(float(distance(Q).min()) >= radius for distance, radius in self._places)
