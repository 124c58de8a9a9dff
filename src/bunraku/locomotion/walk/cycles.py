"""Cycles of walking: one stride as a few harmonics, and blends of them over speed, sidestep and turn.

Phase 0 is where the left foot touches down, and one stride later it is 1. What belongs to a foot is told on the foot's own
phase, in which it stands from 0 to STANCE and swings from there to 1, however long either takes: blends then never mix a
standing foot with a swinging one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, FileError
from bunraku.writing import writing

Array = NDArray[np.float64]
FILE = Path(__file__).parent / "cycles.npz"
STANCE = 0.6
HARMONICS = 10
SIDES = ("left", "right")
FOOT = ("foot", "lift", "hip_ry", "knee_ry", "ankle_ry")
"""Of each foot, on its own phase: pitch of the foot [rad, toes down], height of its lowest point over the ground [m], and the
joints of the leg as they were measured [rad]; legs that stand on given ground are solved, and these are there to compare."""
ARM = ("clavicle_rz", "clavicle_ry", "clavicle_rx", "shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow", "wrist_rz", "wrist_ry",
       "wrist_rx")  # fmt: skip
TRUNK = ("pelvis_tz", "pelvis_ry", "pelvis_rx", "waist_rz", "waist_ry", "waist_rx", "chest_rz", "chest_ry", "chest_rx")
"""`pelvis_tz` is over where it is in upright standing, as a share of the leg."""
CHANNELS = (*TRUNK, *(f"{side}_{name}" for side in SIDES for name in (*ARM, *FOOT)))
SCALES = np.array([0.4, 0.3, 0.8])  # [m/s, m/s, rad/s] that are told apart equally well


def harmonics(phase: ArrayLike, count: int = HARMONICS) -> Array:
    """1, cos 2πφ, sin 2πφ, cos 4πφ, … (…, 2 count + 1)."""
    angle = 2.0 * np.pi * np.asarray(phase, float)[..., None] * np.arange(1, count + 1)
    out = np.ones((*angle.shape[:-1], 2 * count + 1))
    out[..., 1::2], out[..., 2::2] = np.cos(angle), np.sin(angle)
    return out


def series(samples: ArrayLike) -> Array:
    """Coefficients (2 HARMONICS + 1, …) of even samples of one stride (n, …)."""
    samples = np.asarray(samples, float)
    n = len(samples)
    found = np.linalg.lstsq(harmonics(np.arange(n) / n), samples.reshape(n, -1), rcond=None)[0]
    return np.asarray(found.reshape(-1, *samples.shape[1:]))


@dataclass(frozen=True, eq=False)
class Cycle:
    """One stride at a speed: `going` is (forward [m/s], to the left [m/s], turn to the left [rad/s])."""

    name: str
    going: Array
    stance: float
    """The share of a stride in which a foot stands."""
    coefficients: Array
    """Of CHANNELS (2 HARMONICS + 1, len(CHANNELS))."""

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "going", np.asarray(self.going, float))
        shape = (2 * HARMONICS + 1, len(CHANNELS))
        if self.coefficients.shape != shape or not np.isfinite(self.coefficients).all():
            raise BunrakuError(f"cycle {self.name!r}: coefficients are finite and {shape}, not {self.coefficients.shape}")
        if self.going.shape != (3,) or not np.isfinite(self.going).all():
            raise BunrakuError(f"cycle {self.name!r}: going is (forward, sideways, turn), not {self.going}")
        if not 0.5 <= self.stance < 1.0:
            raise BunrakuError(f"cycle {self.name!r}: a foot that stands for {self.stance:.2f} of a stride does not walk")

    def at(self, phase: ArrayLike, channel: str) -> Array:
        return np.asarray(harmonics(phase) @ self.coefficients[:, CHANNELS.index(channel)])


@dataclass(frozen=True, eq=False)
class Cycles:
    """Cycles to blend."""

    cycles: tuple[Cycle, ...]

    def __post_init__(self) -> None:
        if not self.cycles:
            raise BunrakuError("no cycles\n  advice: load_cycles() has some")

    def __getitem__(self, name: str) -> Cycle:
        for cycle in self.cycles:
            if cycle.name == name:
                return cycle
        raise BunrakuError(f"no cycle {name!r}\n  advice: there are {', '.join(c.name for c in self.cycles)}")

    @functools.cached_property
    def _table(self) -> Array:
        """(2 HARMONICS + 1, cycles, channels)."""
        return np.stack([cycle.coefficients for cycle in self.cycles], 1)

    def weights(self, going: Array) -> Array:
        """How much of each cycle (n, cycles) is in a walk that goes so (n, 3): by the fourth power of nearness (Shepard)."""
        known = np.array([cycle.going for cycle in self.cycles]) / SCALES
        d = ((going[:, None] / SCALES - known) ** 2).sum(-1)
        near = 1.0 / (d + 1e-3) ** 2
        return np.asarray(near / near.sum(1, keepdims=True))

    def stance(self, weights: Array) -> Array:
        return np.asarray(weights @ np.array([cycle.stance for cycle in self.cycles]))

    def blend(self, weights: Array, phase: Array, channels: tuple[str, ...]) -> Array:
        """(n, channels) at phases (n,)."""
        columns = [CHANNELS.index(name) for name in channels]
        own = harmonics(phase) @ self._table[:, :, columns].reshape(len(self._table), -1)
        return np.asarray(np.einsum("nc,nck->nk", weights, own.reshape(len(phase), len(self.cycles), -1)))


def save_cycles(cycles: Cycles, path: str | PathLike[str]) -> None:
    """All in one small file."""
    with writing(path) as temporary, Path(temporary).open("wb") as file:
        np.savez_compressed(
            file, names=np.array([c.name for c in cycles.cycles]), going=np.array([c.going for c in cycles.cycles]),
            stance=np.array([c.stance for c in cycles.cycles]), channels=np.array(CHANNELS),
            coefficients=np.array([c.coefficients for c in cycles.cycles]).astype(np.float32),
        )  # fmt: skip


@functools.cache
def load_cycles(path: str | PathLike[str] = FILE) -> Cycles:
    """The cycles of a file; without a name, those that come with bunraku."""
    try:
        with np.load(path, allow_pickle=False) as found:
            names, going, stance = found["names"], found["going"].astype(float), found["stance"].astype(float)
            order = [list(found["channels"]).index(name) for name in CHANNELS]
            table = found["coefficients"].astype(float)[..., order]
    except (OSError, KeyError, ValueError, EOFError) as error:
        raise FileError("is no library of cycles", path=str(path), advice="save_cycles writes one") from error
    return Cycles(tuple(Cycle(str(n), g, float(s), c) for n, g, s, c in zip(names, going, stance, table, strict=True)))
