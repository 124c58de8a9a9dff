"""Walking cycles: one stride as a few harmonics, and blends of strides by speed, sidestep and turn.

Phase 0 is the touchdown of the left foot, phase 1 its next touchdown. Channels of a foot are functions of the foot's own phase, in
which it stands from 0 to STANCE_PHASE and swings from there to 1, whatever the two durations. So a blend never mixes a standing
foot with a swinging one.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError, FileError, UnknownName
from bunraku.locomotion.walk.legs import SIDES
from bunraku.writing import writing

Array = NDArray[np.float64]
STANCE_PHASE = 0.6
"""The phase of a foot, from 0 to 1, at which it leaves the ground."""
HARMONICS = 10
"""Number of harmonics per channel."""
FOOT_CHANNELS = ("foot", "lift", "hip_ry", "knee_ry", "ankle_ry")
"""Channels of each foot, by its own phase: pitch of the foot [rad, toes down], height of its lowest point over the ground [m], and
the measured joint angles of the leg [rad]. `walk` solves the legs by inverse kinematics, so the joint angles serve for comparison
only."""
ARM_CHANNELS = ("clavicle_rz", "clavicle_ry", "clavicle_rx", "shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow", "wrist_rz",
                "wrist_ry", "wrist_rx")  # fmt: skip
TRUNK_CHANNELS = ("pelvis_tz", "pelvis_ry", "pelvis_rx", "waist_rz", "waist_ry", "waist_rx", "chest_rz", "chest_ry", "chest_rx")
"""Channels of the trunk. `pelvis_tz` is the height of the pelvis relative to upright standing, as a share of the leg length."""
CYCLE_CHANNELS = (*TRUNK_CHANNELS, *(f"{side}_{name}" for side in SIDES for name in (*ARM_CHANNELS, *FOOT_CHANNELS)))


def harmonics(phase: ArrayLike, count: int = HARMONICS) -> Array:
    """1, cos 2πφ, sin 2πφ, cos 4πφ, … (…, 2 `count` + 1) at each `phase` φ (…)."""
    angle = 2.0 * np.pi * np.asarray(phase, float)[..., None] * np.arange(1, count + 1)
    out = np.ones((*angle.shape[:-1], 2 * count + 1))
    out[..., 1::2], out[..., 2::2] = np.cos(angle), np.sin(angle)
    return out


def series(samples: ArrayLike) -> Array:
    """Coefficients (2 HARMONICS + 1, …) of evenly spaced `samples` (n, …) of one stride, by least squares."""
    samples = np.asarray(samples, float)
    n = len(samples)
    found = np.linalg.lstsq(harmonics(np.arange(n) / n), samples.reshape(n, -1), rcond=None)[0]
    return np.asarray(found.reshape(-1, *samples.shape[1:]))


@dataclass(frozen=True, eq=False)
class Cycle:
    """One stride at one velocity."""

    name: str
    velocity: Array
    """(3,): forward, to the left [m/s], turning left [rad/s]."""
    stance: float
    """Share of a stride in which a foot stands."""
    coefficients: Array
    """Fourier coefficients of CYCLE_CHANNELS (2 HARMONICS + 1, channels)."""

    __repr__ = brief

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", np.asarray(self.velocity, float))
        shape = (2 * HARMONICS + 1, len(CYCLE_CHANNELS))
        if self.coefficients.shape != shape or not np.isfinite(self.coefficients).all():
            raise BunrakuError(f"cycle {self.name!r}: expected finite coefficients of shape {shape}, got {self.coefficients.shape}")
        if self.velocity.shape != (3,) or not np.isfinite(self.velocity).all():
            raise BunrakuError(f"cycle {self.name!r}: expected a velocity (forward, sideways, turn), got {self.velocity}")
        if not 0.5 <= self.stance < 1.0:
            raise BunrakuError(f"cycle {self.name!r}: expected a foot to stand for 0.5 to 1 of a stride, got {self.stance:.2f}")

    def at(self, phase: ArrayLike, channel: str) -> Array:
        """The value of a `channel` (one of CYCLE_CHANNELS) at each `phase` (…)."""
        return np.asarray(harmonics(phase) @ self.coefficients[:, CYCLE_CHANNELS.index(channel)])


@dataclass(frozen=True, eq=False)
class Cycles:
    """A library of cycles, blended by velocity."""

    cycles: tuple[Cycle, ...]
    scales: tuple[float, float, float] = (0.4, 0.3, 0.8)
    """Differences of velocity forward, sideways [m/s] and of turning [rad/s] that count as the same distance in a blend."""

    def __post_init__(self) -> None:
        if not self.cycles:
            raise BunrakuError("no cycles to blend\n  advice: load_cycles() gives those that come with bunraku")

    def __getitem__(self, name: str) -> Cycle:
        for cycle in self.cycles:
            if cycle.name == name:
                return cycle
        raise UnknownName("cycle", name, tuple(c.name for c in self.cycles))

    @functools.cached_property
    def _table(self) -> Array:
        """Coefficients of all cycles (2 HARMONICS + 1, cycles, channels)."""
        return np.stack([cycle.coefficients for cycle in self.cycles], 1)

    def weights(self, velocity: Array) -> Array:
        """Share of each cycle (n, cycles) at each `velocity` (n, 3), proportional to 1/distance⁴ (Shepard interpolation)."""
        scales = np.array(self.scales)
        known = np.array([cycle.velocity for cycle in self.cycles]) / scales
        d = ((velocity[:, None] / scales - known) ** 2).sum(-1)
        near = 1.0 / (d + 1e-3) ** 2
        return np.asarray(near / near.sum(1, keepdims=True))

    def stance(self, weights: Array) -> Array:
        """Share of a stride in which a foot stands (n,), for `weights` (n, cycles)."""
        return np.asarray(weights @ np.array([cycle.stance for cycle in self.cycles]))

    def blend(self, weights: Array, phase: Array, channels: tuple[str, ...]) -> Array:
        """The named `channels` at each `phase` (n,), blended by `weights` (n, cycles); (n, channels)."""
        columns = [CYCLE_CHANNELS.index(name) for name in channels]
        own = harmonics(phase) @ self._table[:, :, columns].reshape(len(self._table), -1)
        return np.asarray(np.einsum("nc,nck->nk", weights, own.reshape(len(phase), len(self.cycles), -1)))


def save_cycles(cycles: Cycles, path: str | PathLike[str]) -> None:
    """Writes `cycles` to a file at `path` (.npz)."""
    with writing(path) as temporary, Path(temporary).open("wb") as file:
        np.savez_compressed(
            file, names=np.array([c.name for c in cycles.cycles]), going=np.array([c.velocity for c in cycles.cycles]),
            stance=np.array([c.stance for c in cycles.cycles]), channels=np.array(CYCLE_CHANNELS),
            coefficients=np.array([c.coefficients for c in cycles.cycles]).astype(np.float32),
        )  # fmt: skip


@functools.cache
def load_cycles(path: str | PathLike[str] | None = None) -> Cycles:
    """The cycles in the file at `path`; without one, those that come with bunraku. Raises FileError if it holds none."""
    path = shipped_cycles() if path is None else path
    try:
        with np.load(path, allow_pickle=False) as found:
            names, velocity, stance = found["names"], found["going"].astype(float), found["stance"].astype(float)
            order = [list(found["channels"]).index(name) for name in CYCLE_CHANNELS]
            table = found["coefficients"].astype(float)[..., order]
    except (OSError, KeyError, ValueError, EOFError) as error:
        raise FileError("not a library of cycles", path=str(path), advice="write one with save_cycles") from error
    return Cycles(tuple(Cycle(str(n), v, float(s), c) for n, v, s, c in zip(names, velocity, stance, table, strict=True)))


def shipped_cycles() -> Path:
    """The file of the cycles that come with bunraku."""
    return Path(__file__).parent / "cycles.npz"
