"""Pieces of music made of noise and sines, whose beats are known exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.sound.soundtrack import Soundtrack

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece and its beats."""

    sound: Soundtrack
    tempo: float
    """Beats per minute."""
    beats: Array
    """When the sounds of each beat begin [s]."""


def sound_of(x: Array, rate: int = 22050) -> Soundtrack:
    """The sound of a curve `x`, scaled to nine tenths of the loudest."""
    return Soundtrack(np.round(x / max(np.abs(x).max(), 1e-9) * 29490.0).astype(np.int16).reshape(len(x), -1), rate)


class Tape:
    """A recording in the making: sounds are added where they begin."""

    def __init__(self, duration: float, rate: int = 22050) -> None:
        self.rate, self.x = rate, np.zeros(round(duration * rate))

    def add(self, t: float, sound: Array) -> None:
        """Adds a `sound` at time `t` [s], to a sample."""
        at = round(t * self.rate)
        if 0 <= at < len(self.x):
            part = sound[: len(self.x) - at]
            self.x[at : at + len(part)] += part

    def times(self, seconds: float) -> Array:
        return np.arange(round(seconds * self.rate)) / self.rate


def click(tape: Tape) -> Array:
    t = tape.times(0.03)
    return np.sin(2 * np.pi * 1500.0 * t) * np.exp(-t / 0.005)


def kick(tape: Tape) -> Array:
    t = tape.times(0.25)
    return 1.2 * np.sin(2 * np.pi * (55.0 * t + 6.0 * (1.0 - np.exp(-t / 0.03)))) * np.exp(-t / 0.08) * np.minimum(t / 0.002, 1.0)


def snare(tape: Tape, rng: np.random.Generator) -> Array:
    t = tape.times(0.15)
    return (0.6 * rng.normal(size=len(t)) + 0.5 * np.sin(2 * np.pi * 190.0 * t)) * np.exp(-t / 0.05)


def hat(tape: Tape, rng: np.random.Generator) -> Array:
    t = tape.times(0.06)
    return 0.35 * np.diff(rng.normal(size=len(t) + 1)) * np.exp(-t / 0.015)


def note(tape: Tape, pitch: float, seconds: float, attack: float) -> Array:
    """A note with four partials that swells for `attack` [s] and fades at its end. pitch: [Hz]"""
    t = tape.times(seconds)
    swell = np.minimum(t / attack, 1.0) * np.minimum((seconds - t) / 0.05, 1.0)
    return 0.5 * swell * np.exp(-t / 0.9) * sum(np.sin(2 * np.pi * k * pitch * t) / k**1.5 for k in range(1, 5))


def scale(rng: np.random.Generator) -> float:
    """The pitch of a step of a pentatonic scale [Hz]."""
    return float(220.0 * 2.0 ** (rng.choice([0, 2, 4, 7, 9, 12, 14, 16]) / 12.0))


def times_of(tempo: float, start: float, duration: float, jitter: float, rng: np.random.Generator) -> Array:
    beats = np.arange(start, duration, 60.0 / tempo)
    return beats + jitter * rng.normal(size=len(beats))


KINDS = ("clicks", "rock", "swing", "offbeat hats", "fade in", "soft melody", "waltz")


def piece(kind: str, seed: int, *, tempo: float | None = None, duration: float = 30.0, noise: float | None = None) -> Piece:
    """A piece of a `kind`, drawn by `seed`.

    tempo: beats per minute; drawn between 60 and 180 if None
    duration: [s]
    noise: level of white noise, of the loudest; drawn up to 0.05 if None
    """
    rng = np.random.default_rng(seed)
    rate = int(rng.choice([16000, 22050, 44100]))
    own = float(rng.uniform(60.0, 180.0)) if tempo is None else tempo
    count, start = 60.0 / own, float(rng.uniform(0.05, 0.9))
    tape = Tape(duration, rate)
    beats = times_of(own, start, duration, 0.004 if kind != "clicks" else 0.0, rng)
    for k, t in enumerate(beats):
        if kind == "clicks":
            tape.add(t, click(tape) * rng.uniform(0.6, 1.0))
        elif kind in ("rock", "fade in"):
            tape.add(t, kick(tape) if k % 2 == 0 else snare(tape, rng))
            for half in (0.0, 0.5):
                tape.add(t + half * count, hat(tape, rng))
        elif kind == "swing":
            tape.add(t, kick(tape) * (0.9 if k % 2 == 0 else 0.5))
            tape.add(t, hat(tape, rng) * 1.3)
            if k % 2:
                tape.add(t + rng.uniform(0.62, 0.68) * count, hat(tape, rng))
        elif kind == "offbeat hats":
            tape.add(t, kick(tape))
            tape.add(t + 0.5 * count, hat(tape, rng) * 2.5)
        elif kind == "soft melody":
            tape.add(t, note(tape, scale(rng), 1.2 * count, 0.04))
            if rng.uniform() < 0.35:
                tape.add(t + 0.5 * count, note(tape, scale(rng), 0.6 * count, 0.04) * 0.6)
        else:  # a waltz
            tape.add(t, kick(tape) if k % 3 == 0 else note(tape, scale(rng), 0.6 * count, 0.01) * 0.8)
            tape.add(t, note(tape, 2 * scale(rng), 0.9 * count, 0.015) * 0.5)
    level = rng.uniform(0.0, 0.05) if noise is None else noise
    x = tape.x + level * np.abs(tape.x).max() * rng.normal(size=len(tape.x))
    if kind == "fade in":
        x *= np.linspace(0.0, 1.0, len(x)) ** 2
    return Piece(sound_of(x, rate), own, np.arange(start, duration, count))
