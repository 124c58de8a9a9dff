"""Onset strength: how much begins to sound at each moment.

The spectrum of short windows is summed to bands E_b(t), some three to an octave. What begins raises the level of a band, so that

    s(t) = Σ_b w_b max(0, log(E_b(t) + e) − log(E_b(t − d) + e))

is large at onsets (spectral flux of levels). The floor e is a share of what is loudest in the seconds around, so that a quiet
beginning counts as much as a loud end, and hiss does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class OnsetOptions:
    """Numbers that tune onset strength."""

    window: float = 0.04
    """Length of a window [s]."""
    hop: float = 0.005
    """Time between two windows [s]."""
    lag: int = 2
    """Over how many hops levels are compared."""
    lowest: float = 40.0
    """Lowest edge of the bands [Hz]."""
    highest: float = 9000.0
    """Highest edge of the bands [Hz]."""
    bands: int = 24
    """How many bands there are."""
    floor: float = 0.003
    """Floor of levels, as a share of the loudest band around."""
    around: float = 4.0
    """How far around the loudest is looked for [s]."""
    bass: float = 180.0
    """Bands below this mark the beat more than others: drums and basses [Hz]."""
    bass_share: float = 0.5
    """The share of all weight that they have."""


def onset_strength(x: Array, rate: float, options: OnsetOptions = OnsetOptions()) -> Array:
    """The onset strength of a sound, for moments `options.hop` apart, the first at time 0.

    x: samples, (n,)
    rate: samples per second [Hz]
    options: windows and bands

    Returns an array with a mean of 1, or of zeros if nothing begins at all.
    """
    levels = band_levels(x, rate, options)
    loudest = _around(levels.max(1), round(options.around / options.hop))
    logs = np.log(levels + options.floor * np.maximum(loudest, 1e-6 * max(loudest.max(initial=0.0), 1e-12))[:, None])
    rise = np.zeros_like(levels)
    half = options.lag // 2  # a rise belongs to the middle of the two moments that are compared
    rise[half : len(rise) - options.lag + half] = np.maximum(logs[options.lag :] - logs[: -options.lag], 0.0)
    edges = _edges(rate, options)
    is_bass = edges[1:] * rate / _size(rate, options) <= options.bass
    strength = np.zeros(len(rise))
    for chosen, share in ((is_bass, options.bass_share), (~is_bass, 1.0 - options.bass_share)):
        own = rise[:, chosen].sum(1)
        strength += share * own / max(own.mean(), 1e-12)
    return np.asarray(strength / max(strength.mean(), 1e-12))


def band_levels(x: Array, rate: float, options: OnsetOptions) -> Array:
    """The amplitude in each band, (moments, bands), of a sound with samples `x` at a `rate` [Hz]; `options` name the bands."""
    size, edges = _size(rate, options), _edges(rate, options)
    window = np.hanning(size + 2)[1:-1]
    moments = int(len(x) / rate / options.hop) + 1
    padded = np.concatenate([np.zeros(size // 2), x, np.zeros(size)])
    out = np.empty((moments, len(edges) - 1))
    for first, last in _blocks(moments, 2000):
        at = np.round(np.arange(first, last) * options.hop * rate).astype(int)
        power = np.abs(np.fft.rfft(padded[at[:, None] + np.arange(size)] * window)) ** 2
        sums = np.concatenate([np.zeros((len(at), 1)), np.cumsum(power, 1)], 1)
        out[first:last] = np.sqrt(np.maximum(np.diff(sums[:, edges], axis=1), 0.0))
    return out


def _size(rate: float, options: OnsetOptions) -> int:
    return max(32, round(options.window * rate))


def _edges(rate: float, options: OnsetOptions) -> NDArray[np.int64]:
    """The first bin of each band, and one behind the last: at least one bin a band."""
    size = _size(rate, options)
    high = min(options.highest, 0.5 * rate)
    wanted = np.geomspace(options.lowest, high, options.bands + 1) * size / rate
    return np.unique(np.clip(np.round(wanted), 1, size // 2 + 1)).astype(np.int64)


def _around(values: Array, reach: int) -> Array:
    """The largest of each value's neighbours within `reach` places."""
    from scipy.ndimage import maximum_filter1d

    return np.asarray(maximum_filter1d(values, 2 * reach + 1, mode="nearest"))


def _blocks(count: int, size: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, size):
        yield first, min(first + size, count)
