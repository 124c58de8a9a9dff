"""A free space in which the surroundings of some configurations are barred: where holding or tuning failed (Section IV-D)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.curve_proofs import WayCurve
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.steer import length, samples

Array = NDArray[np.float64]
Away = Callable[[Array], Array]
"""Configurations (T, n) ↦ how far they are from what is barred (T,)."""


class Barred(FreeSpace):
    """The same space, and curves that pass near to what is barred are not free."""

    def __init__(self, space: FreeSpace) -> None:
        self.__dict__.update(space.__dict__)
        self._barred: list[tuple[Away, float]] = list(getattr(space, "_barred", ()))

    def bar(self, away: Away, radius: float) -> None:
        """Nothing passes where `away`, of configurations (T, n), is less than `radius` [weighted m]."""
        if radius > 1e-3:
            self._barred.append((away, radius))

    def aside(self, curve: WayCurve) -> bool:
        """Whether a curve keeps away from what is barred, at samples much nearer to each other than that."""
        if not self._barred:
            return True
        finest = min(radius for _, radius in self._barred)
        count = max(int(np.ceil(length(curve, self.weights) / (0.2 * finest))), 2)
        Q = samples(curve, np.linspace(0.0, 1.0, count))
        return all(float(away(Q).min()) >= radius for away, radius in self._barred)

    def free_along(self, curve: WayCurve) -> bool:
        return self.aside(curve) and super().free_along(curve)
