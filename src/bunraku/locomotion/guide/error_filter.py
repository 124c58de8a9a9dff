"""Error filter: position and velocity of a deviation that is measured with noise; the noisier, the slower it follows.

A critically damped observer of second order. White noise of standard deviation σ in samples dt apart leaves about 0.6 σ √(ω³ dt) in
the velocity, so the bandwidth ω follows from the noise that may be left. σ is found from third differences of the measurements,
in which motion hardly counts.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ErrorFilter:
    """Follows one deviation (n,).

    dt: time between measurements [s]
    lag: smallest time constant [s]
    left: noise that may be left in the velocity [m/s]
    window: time over which the noise is averaged [s]
    """

    def __init__(self, dt: float, lag: float, left: float, *, window: float = 0.2) -> None:
        self.dt, self.lag, self.left, self.window = dt, lag, left, window
        self._seen: list[Array] = []
        self._count = 0
        self.noise = 0.0
        """Standard deviation of the noise of the measurements [m]."""
        self._position, self._velocity = np.zeros(0), np.zeros(0)

    @property
    def bandwidth(self) -> float:
        """With which it follows now [rad/s]."""
        most = 1.0 / self.lag
        return min(most, math.pow(self.left / max(0.6 * self.noise * math.sqrt(self.dt), 1e-12), 2.0 / 3.0))

    @property
    def slower(self) -> float:
        """By how much this is slower than without noise."""
        return 1.0 / (self.lag * self.bandwidth)

    def followed(self, measured: Array) -> tuple[Array, Array]:
        """Position and velocity, (n,) each, after the deviation was `measured` (n,) once more."""
        self._listen(measured)
        if not len(self._position):
            self._position, self._velocity = measured.copy(), np.zeros(len(measured))
            return self._position, self._velocity
        fades = math.exp(-self.bandwidth * self.dt)
        self._position = self._position + self.dt * self._velocity
        missed = measured - self._position
        self._position = self._position + (1.0 - fades * fades) * missed
        self._velocity = self._velocity + (1.0 - fades) ** 2 / self.dt * missed
        return self._position, self._velocity

    def _listen(self, measured: Array) -> None:
        self._seen = [*self._seen[-3:], measured]
        if len(self._seen) < 4:
            return
        a, b, c, d = self._seen
        found = float(np.abs(d - 3.0 * c + 3.0 * b - a).mean()) / 3.57  # the mean of |x| is 0.8 σ √20 for white noise
        self._count += 1
        self.noise += max(self.dt / self.window, 1.0 / self._count) * (found - self.noise)
