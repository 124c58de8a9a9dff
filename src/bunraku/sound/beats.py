"""The beats of a recording: a steady tempo and where its first beat is.

1. Onset strength s(t) (see `onsets`).
2. Periods: the autocorrelation of s, summed over multiples of a period, times how common a tempo is. Half and double tempo score
   about as well: if a tempo is given, only periods near it count.
3. The period T and the phase φ of the steady beat maximise Σ_j s(φ + jT), over the whole recording.
4. Single beats are followed from one to the next, as the row of moments t_j that maximises

       Σ_j s(t_j) − stiffness · log²((t_j − t_{j−1}) / T)

   so that they may drift. A line through them, robust against those that are missing, corrects T and φ; what remains are their
   deviations from a steady tempo.
5. Onset strength sees a sound as soon as a window touches it, some milliseconds early. The mean outline of the sound around all
   beats, in short windows, tells where it really rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError
from bunraku.sound.onsets import OnsetOptions, band_levels, onset_strength
from bunraku.sound.soundtrack import Soundtrack

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BeatOptions:
    """Numbers that tune the search for beats."""

    slowest: float = 45.0
    """Lowest tempo that is looked for [beats per minute]."""
    fastest: float = 210.0
    """Highest tempo that is looked for [beats per minute]."""
    common: float = 110.0
    """The most common tempo [beats per minute]."""
    spread: float = 0.8
    """How far other tempi are from common, as a standard deviation [octaves]."""
    near: float = 0.05
    """How far the beats may be from a tempo that is given, as a share of it."""
    rate: float = 20000.0
    """Recordings with more samples a second are thinned out to at least this rate [Hz]."""
    doubled: float = 0.7
    """If onset strength halfway between beats is so much of that on the beats, there are twice as many."""
    least_clarity: float = 1.45
    """Onset strength on half of the beats, as a multiple of its mean, below which there is no clear beat."""
    heard: float = 0.2
    """The first beat has at least this share of the amplitude of what follows within three seconds."""
    least_beats: int = 8
    """How many beats a recording must have."""
    stiffness: float = 400.0
    """How much beats that are followed keep their distance."""
    steady: float = 0.04
    """Nine of ten beats must be so near the steady tempo [s]."""
    onsets: OnsetOptions = OnsetOptions()


@dataclass(frozen=True, eq=False)
class Beats:
    """A steady beat: beat j is at first + 60 j / tempo."""

    tempo: float
    """Beats per minute."""
    first: float
    """When the first beat is that is heard, from the beginning of the recording [s]."""
    times: Array
    """When single beats are in the recording [s]."""
    deviations: Array
    """By how much each of them is later than the steady tempo says [s]."""
    clarity: float
    """Onset strength on half of the beats or more, as a multiple of its mean."""

    __repr__ = brief

    @property
    def spread(self) -> float:
        """Within which deviation nine of ten beats are [s]."""
        return float(np.quantile(np.abs(self.deviations), 0.9))


class NoBeat(BunrakuError):
    """A recording has no clear or steady beat: `message` says which, `advice` what to do."""

    def __init__(self, message: str, *, advice: str) -> None:
        super().__init__(f"{message}\n  advice: {advice}")


class OtherTempo(NoBeat):
    """A recording has a clear beat, but not at the tempo that is given."""


def find_beats(sound: Soundtrack, *, tempo: float | None = None, options: BeatOptions = BeatOptions()) -> Beats:
    """The beats of a recording.

    sound: the recording
    tempo: about how many beats a minute it has; without it, half or double the number that people would tap may be found
    options: how beats are looked for

    Raises NoBeat, with advice, if there is none, or if it is not steady; OtherTempo if it is not near the tempo.
    """
    own = options.onsets
    x, rate = _thinned(sound, options.rate)
    strength = onset_strength(x, rate, own)
    period, phase, clarity = _best(strength, None, options)
    if tempo is not None:
        freely, heard = period, clarity
        period, phase, clarity = _best(strength, tempo, options)
        related = [n * freely * tempo / 60.0 for n in (1.0, 2.0, 0.5, 3.0, 1.0 / 3.0)]
        if heard > max(options.least_clarity, 1.25 * clarity) and not any(abs(r - 1.0) < options.near for r in related):
            advice = f"write tempo: {60.0 / freely:.3g}, or leave 'tempo' out"
            raise OtherTempo(f"the recording has {60.0 / freely:.3g} beats a minute, not {tempo:g}", advice=advice)
    if clarity < options.least_clarity or sound.duration < options.least_beats * period:
        raise NoBeat("no clear beat", advice="choose a part with a clear beat, or count by a given tempo")
    times = _followed(strength, own.hop, period, options)
    number, period, phase = _line(times, strength, own.hop, period, phase)
    late = _latency(x, rate, phase + period * number, own)
    first = max(_first_heard(x, rate, period, phase, options) + late, 0.0)
    number = np.round((times + late - first) / period)
    found = Beats(60.0 / period, first, times + late, times + late - first - period * number, clarity)
    if found.spread > options.steady:
        raise NoBeat(
            f"the beat is not steady: one of ten is {1000 * found.spread:.0f} ms or more off a tempo of {found.tempo:.1f} a minute",
            advice="choose a steadier part, or count by a given tempo",
        )
    return found


def _thinned(sound: Soundtrack, rate: float) -> tuple[Array, float]:
    """One channel at the given rate [Hz] or up to twice that: means of neighbouring samples."""
    x, q = sound.mono, max(1, int(sound.rate / rate))
    return x[: len(x) // q * q].reshape(-1, q).mean(1), sound.rate / q


def _best(strength: Array, tempo: float | None, options: BeatOptions) -> tuple[float, float, float]:
    """Period and phase [s] of the steady beat, near a `tempo` if there is one, and its clarity; zeros if there is none."""
    hop = options.onsets.hop
    period = _period(strength, hop, tempo, options)
    if period <= 0.0:
        return 0.0, 0.0, 0.0
    period, phase = _steady(strength, hop, period)
    if tempo is None and period > 120.0 / options.fastest:
        between = _on_grid(strength, hop, period, phase + 0.5 * period).mean()
        if between > options.doubled * _on_grid(strength, hop, period, phase).mean():
            period, phase = _steady(strength, hop, 0.5 * period)
    # The median: one loud onset makes no beat.
    return period, phase, float(np.median(_on_grid(strength, hop, period, phase)))


def _period(strength: Array, hop: float, tempo: float | None, options: BeatOptions) -> float:
    """The most likely period [s]; 0 if the recording is too short for any."""
    n = len(strength)
    slowest, fastest = options.slowest, options.fastest
    if tempo is not None:
        slowest, fastest = tempo * (1.0 - options.near), tempo * (1.0 + options.near)
    x = strength - strength.mean()
    spectrum = np.fft.rfft(x, 2 * n)
    alike = np.fft.irfft(np.abs(spectrum) ** 2)[:n] / np.maximum(n - np.arange(n), 1)
    alike /= max(alike[0], 1e-12)
    periods = np.geomspace(60.0 / fastest, 60.0 / slowest, 400)
    if n * hop < 5.0 * periods[0]:
        return 0.0
    lags = np.arange(1, 5)[:, None] * periods / hop
    score = np.interp(lags, np.arange(n), alike, right=0.0).mean(0)
    if tempo is None:
        score *= np.exp(-0.5 * (np.log2(60.0 / periods / options.common) / options.spread) ** 2)
    return float(periods[np.argmax(score)])


def _on_grid(strength: Array, hop: float, period: float, phase: float) -> Array:
    """Onset strength at the beats of a period and phase [s]."""
    times = np.arange(phase, len(strength) * hop, period)
    return np.interp(times / hop, np.arange(len(strength)), strength)


def _steady(strength: Array, hop: float, period: float) -> tuple[float, float]:
    """The period near the given one, and the phase, with the most onset strength on the beats [s]."""
    beats = max(len(strength) * hop / period, 2.0)
    smooth = np.convolve(strength, np.hanning(9) / 4.0, "same")
    best = (-1.0, period, 0.0)
    phases = np.arange(0.0, period, hop)
    for tried in period * (1.0 + np.linspace(-0.03, 0.03, max(31, int(0.06 * period * beats / 0.008)))):
        row = np.arange(int((len(strength) * hop - period) / tried) + 1) * tried
        score = np.interp((phases[:, None] + row) / hop, np.arange(len(smooth)), smooth).mean(1)
        k = int(np.argmax(score))
        if score[k] > best[0]:
            best = float(score[k]), float(tried), float(phases[k])
    return best[1], best[2]


def _followed(strength: Array, hop: float, period: float, options: BeatOptions) -> Array:
    """Single beats [s], by dynamic programming over all moments."""
    s = np.convolve(np.minimum(strength, 10.0), np.hanning(9) / 4.0, "same")
    steps = np.arange(round(0.6 * period / hop), round(1.6 * period / hop) + 1)
    cost = options.stiffness * np.log(steps * hop / period) ** 2
    total, before = s.copy(), np.full(len(s), -1)
    for k in range(steps[0], len(s)):
        reach = steps[: min(len(steps), k - steps[0] + 1)]
        reached = total[k - reach] - cost[: len(reach)]
        j = int(np.argmax(reached))
        if reached[j] > 0.0:
            total[k] += reached[j]
            before[k] = k - reach[j]
    last = max(len(s) - steps[-1], 0)
    row = [last + int(np.argmax(total[last:]))]
    while before[row[-1]] >= 0:
        row.append(int(before[row[-1]]))
    at = np.clip(np.array(row[::-1]), 1, len(s) - 2)
    rise, bend = s[at + 1] - s[at - 1], 2.0 * s[at] - s[at - 1] - s[at + 1]
    peak = np.where(bend > 1e-9, 0.5 * rise / np.maximum(bend, 1e-9), 0.0)  # of a parabola through three moments
    return np.asarray((at + np.clip(peak, -0.5, 0.5)) * hop)


def _line(times: Array, strength: Array, hop: float, period: float, phase: float) -> tuple[Array, float, float]:
    """A line through the single beats: their numbers, the period and the phase [s]. Beats without an onset count little."""
    number = np.concatenate([[0.0], np.cumsum(np.maximum(np.round(np.diff(times) / period), 1.0))])
    heard = np.interp(times / hop, np.arange(len(strength)), np.convolve(strength, np.hanning(7) / 3.0, "same"))
    heard, off = np.minimum(heard, 4.0) + 1e-3, np.zeros(len(times))
    a, b = period, phase
    for _ in range(20):
        w = heard / (1.0 + (off / 0.01) ** 2)
        centre, middle = (w @ number) / w.sum(), (w @ times) / w.sum()
        a = float((w * (number - centre)) @ (times - middle) / max((w * (number - centre)) @ (number - centre), 1e-12))
        b = float(middle - a * centre)
        off = times - b - a * number
    return number, a, b


def _first_heard(x: Array, rate: float, period: float, phase: float, options: BeatOptions) -> float:
    """The first beat of the grid that is not in silence before the music: as loud as a share of what follows [s]."""
    early = 0.03  # a beat at the very beginning may be found a little before it
    grid = np.arange((phase + early) % period - early, len(x) / rate, period)
    sums = np.concatenate([[0.0], np.cumsum(x * x)])

    def energy(begin: Array, seconds: float) -> Array:
        a, b = (np.clip(np.round(t * rate), 0, len(x)).astype(int) for t in (begin, begin + seconds))
        return np.asarray(sums[b] - sums[a])

    own = energy(grid, 0.4 * period)
    following = np.array([own[k : k + 1 + round(3.0 / period)].max() for k in range(len(own))])
    return float(grid[np.argmax(own >= options.heard**2 * following)])


def _latency(x: Array, rate: float, beats: Array, own: OnsetOptions) -> float:
    """By how much the sound around `beats` [s] really rises later than they are [s].

    Amplitudes in short windows rise most when the middle of a window passes the onset. What all beats have in common there is the
    mean of these rises; a third of them is over at the moment that is looked for.
    """
    fine = OnsetOptions(window=0.012, hop=0.001, bands=10, lowest=90.0, highest=own.highest)
    reach = 0.06
    around = np.arange(-reach, reach, fine.hop)
    inside = beats[(beats > reach + 0.02) & (beats < len(x) / rate - reach - 0.02)]
    profile = np.zeros(len(around))
    for t in inside[:: max(1, len(inside) // 200)]:
        first = round((t - reach - fine.window) * rate)
        levels = band_levels(x[max(first, 0) : round((t + reach + 0.02) * rate)], rate, fine)
        rise = np.maximum(np.diff(levels, axis=0), 0.0).sum(1)
        here = max(first, 0) / rate + (np.arange(len(rise)) + 0.5) * fine.hop
        profile += np.interp(t + around, here, rise) / max(levels.max(), 1e-12)
    profile = np.maximum(profile - np.median(profile), 0.0)
    peak = int(np.argmax(profile))
    low = profile < 0.15 * profile[peak]
    first = peak - int(np.argmax(low[peak::-1])) if low[:peak].any() else 0
    last = peak + int(np.argmax(low[peak:])) if low[peak:].any() else len(profile)
    mass = np.cumsum(profile[first : last + 1])
    return float(np.interp(0.3 * mass[-1], mass, around[first : last + 1])) if mass[-1] > 0.0 else 0.0
