"""HandLimits: where the puppeteer's hands may be, how fast they may move and how hard they may accelerate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HandLimits:
    """Of every kinematic variable, in the figure's order."""

    lower: Array
    """Least value [m or rad]."""
    upper: Array
    """Largest value [m or rad]."""
    speed: Array
    """Top speed [m/s or rad/s]; zero holds a variable where it starts."""
    acceleration: Array
    """Top acceleration [m/s² or rad/s²]."""

    __repr__ = brief

    @classmethod
    def of(
        cls, figure: Figure, start: Array, *, speed: float = 0.6, acceleration: float = 6.0, reach: float = 0.6,
        boxes: Mapping[str, tuple[float, float]] | None = None, held: tuple[str, ...] = (),
    ) -> HandLimits:  # fmt: skip
        """The figure's own limits, and one speed and one acceleration for all hands.

        figure: whose kinematic variables are limited.
        start: the configuration that it starts in.
        speed: top speed of every hand [m/s or rad/s]; 0.6 m/s is a hand that hurries.
        acceleration: top acceleration of every hand [m/s² or rad/s²].
        reach: how far a variable without limits of its own may go to either side of its start [m or rad].
        boxes: lower and upper limit of variables by name [m or rad], instead of the figure's own.
        held: names of variables that stay where they start.
        Raises UnknownName for a name that is no kinematic variable, BunrakuError for a speed or an acceleration below zero.
        """
        if not (speed >= 0.0 and acceleration >= 0.0):
            raise BunrakuError(f"a speed of {speed} and an acceleration of {acceleration}\n  advice: give numbers ≥ 0")
        rest = np.array(start, float)[figure.n_dynamic :]
        own = [v for v in figure.variables if v.kinematic]
        lower = np.array([v.lower if np.isfinite(v.lower) else r - reach for v, r in zip(own, rest, strict=True)])
        upper = np.array([v.upper if np.isfinite(v.upper) else r + reach for v, r in zip(own, rest, strict=True)])
        names = list(figure.kinematic)
        for name, (low, high) in (boxes or {}).items():
            if name not in names:
                raise UnknownName("kinematic variable", name, figure.kinematic)
            lower[names.index(name)], upper[names.index(name)] = low, high
        limits = cls(lower, upper, np.full(len(own), float(speed)), np.full(len(own), float(acceleration)))
        return limits.holding(figure, held)

    def holding(self, figure: Figure, names: tuple[str, ...]) -> HandLimits:
        """The same limits of a `figure`, but the variables `names` stay where they start. Raises UnknownName."""
        speed = self.speed.copy()
        for name in names:
            if name not in figure.kinematic:
                raise UnknownName("kinematic variable", name, figure.kinematic)
            speed[figure.kinematic.index(name)] = 0.0
        return HandLimits(self.lower, self.upper, speed, self.acceleration)

    @property
    def free(self) -> NDArray[np.bool_]:
        """The variables that may move at all."""
        return (self.upper > self.lower) & (self.speed > 0.0) & (self.acceleration > 0.0)
