"""Limits: where the puppeteer's hands may be, how fast they may move and how quickly change their speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import Figure

Array = NDArray[np.float64]
SPEED = 0.6  # [m/s or rad/s] of a hand that hurries
ACCELERATION = 6.0  # [m/s² or rad/s²]
REACH = 0.6  # [m or rad] that a kinematic variable without limits may go to either side of its start


@dataclass(frozen=True, eq=False)
class Limits:
    """Of every kinematic variable, in the figure's order: a box of positions, top speeds and top accelerations."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array

    __repr__ = brief

    @classmethod
    def of(
        cls, figure: Figure, start: Array, *, speed: float = SPEED, acceleration: float = ACCELERATION, reach: float = REACH,
        boxes: Mapping[str, tuple[float, float]] | None = None, held: tuple[str, ...] = (),
    ) -> Limits:  # fmt: skip
        """The figure's own limits, cut to `reach` about the start where it has none; `boxes` by name say otherwise.

        Variables that are `held` stay where they start.
        """
        if not (speed >= 0.0 and acceleration >= 0.0):
            raise BunrakuError(f"a speed of {speed} and an acceleration of {acceleration}\n  advice: give numbers ≥ 0")
        rest = np.array(start, float)[figure.n_dynamic :]
        own = [v for v in figure.variables if v.kinematic]
        lower = np.array([v.lower if np.isfinite(v.lower) else r - reach for v, r in zip(own, rest, strict=True)])
        upper = np.array([v.upper if np.isfinite(v.upper) else r + reach for v, r in zip(own, rest, strict=True)])
        top = np.full(len(own), float(speed))
        names = list(figure.kinematic)
        for name, (low, high) in (boxes or {}).items():
            if name not in names:
                raise UnknownName("kinematic variable", name, figure.kinematic)
            lower[names.index(name)], upper[names.index(name)] = low, high
        for name in held:
            if name not in names:
                raise UnknownName("kinematic variable", name, figure.kinematic)
            top[names.index(name)] = 0.0
        return cls(lower, upper, top, np.full(len(own), float(acceleration)))

    @property
    def free(self) -> NDArray[np.bool_]:
        """The variables that may move at all."""
        return (self.upper > self.lower) & (self.speed > 0.0) & (self.acceleration > 0.0)
