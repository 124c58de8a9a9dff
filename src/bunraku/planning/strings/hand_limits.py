"""HandLimits: ranges, speeds and accelerations of the puppeteer's hands (the kinematic variables)."""

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
    """Limits of every kinematic variable, in the figure's order."""

    lower: Array
    """Smallest value [m or rad]."""
    upper: Array
    """Largest value [m or rad]."""
    speed: Array
    """Maximum speed [m/s or rad/s]; zero fixes a variable at its start."""
    acceleration: Array
    """Maximum acceleration [m/s² or rad/s²]."""

    __repr__ = brief

    @classmethod
    def of(
        cls, figure: Figure, start: Array, *, speed: float = 0.6, acceleration: float = 6.0, reach: float = 0.6,
        boxes: Mapping[str, tuple[float, float]] | None = None, held: tuple[str, ...] = (),
    ) -> HandLimits:  # fmt: skip
        """The figure's own limits, with one speed and one acceleration for all hands.

        figure: has the kinematic variables.
        start: the configuration at the start.
        speed: maximum speed of every hand [m/s or rad/s]; 0.6 m/s is a fast hand.
        acceleration: maximum acceleration of every hand [m/s² or rad/s²].
        reach: how far a variable without limits of its own may move to either side of its start [m or rad].
        boxes: lower and upper limit of variables by name [m or rad], instead of the figure's own.
        held: names of variables that stay at their start.
        Raises UnknownName for a name that is not a kinematic variable, BunrakuError for a negative speed or acceleration.
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
        """These limits for a `figure`, with the variables `names` fixed at their start. Raises UnknownName."""
        speed = self.speed.copy()
        for name in names:
            if name not in figure.kinematic:
                raise UnknownName("kinematic variable", name, figure.kinematic)
            speed[figure.kinematic.index(name)] = 0.0
        return HandLimits(self.lower, self.upper, speed, self.acceleration)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which variables may move."""
        return (self.upper > self.lower) & (self.speed > 0.0) & (self.acceleration > 0.0)
