"""Soundtrack: sound in memory, which begins with the motion that it belongs to."""

from __future__ import annotations

import io
import wave
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Soundtrack:
    """Sound as samples of 16 bits. It may come from a file of any visitor: its fields are checked."""

    samples: NDArray[np.int16]
    """(n, channels): one channel or two."""
    rate: int
    """Samples per second [Hz]."""

    __repr__ = brief

    def __post_init__(self) -> None:
        given = np.asanyarray(self.samples)
        right = given.dtype == np.int16 and given.ndim == 2 and given.shape[1] in (1, 2)
        if not right or type(self.rate) is not int or not 1000 <= self.rate <= 400_000:
            raise BunrakuError("a soundtrack has one or two channels of 16 bits at 1000 to 400000 samples a second")

    @property
    def duration(self) -> float:
        """How long it lasts [s]."""
        return len(self.samples) / self.rate

    @property
    def mono(self) -> Array:
        """The mean of its channels, from -1 to 1, (n,)."""
        return np.asarray(self.samples.mean(1) / 32768.0)

    def part(self, begin: float, duration: float) -> Soundtrack:
        """The sound from `begin` [s] on, for a `duration` [s], or as long as there is any."""
        first = round(begin * self.rate)
        return replace(self, samples=self.samples[first : first + round(duration * self.rate)])

    def lasting(self, duration: float) -> Soundtrack:
        """The sound for exactly a `duration` [s]: what is longer is cut off, what is missing is silent."""
        n = round(duration * self.rate)
        out = np.zeros((n, self.samples.shape[1]), np.int16)
        out[: len(self.samples)] = self.samples[:n]
        return replace(self, samples=out)

    def loudness(self, per_second: float) -> Array:
        """The largest sample of each span, so many `per_second`, from 0 to 1: its outline in a picture."""
        edges = np.arange(0, len(self.samples), self.rate / per_second).astype(int)
        size = np.abs(self.samples.astype(np.int32)).max(1)
        return np.maximum.reduceat(size, edges) / 32768.0 if len(edges) else np.zeros(0)

    def wav(self) -> bytes:
        """The content of a WAV file."""
        out = io.BytesIO()
        with wave.open(out, "wb") as file:
            file.setparams((self.samples.shape[1], 2, self.rate, 0, "NONE", ""))
            file.writeframes(np.ascontiguousarray(self.samples, "<i2").tobytes())
        return out.getvalue()
