"""Walking cycles from motion capture: strides are found from foot contacts, and averaged.

cycles = captured("walk.bvh", "stroll.bvh")     # plus standing, from the cycles that come with bunraku
walk(figure, t, base, cycles=cycles)
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.errors import MotionError
from bunraku.figure import Figure, library
from bunraku.io.bvh.bvh_reader import load_bvh
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.retarget import retarget
from bunraku.locomotion.walk.cycles import (
    ARM_CHANNELS,
    CYCLE_CHANNELS,
    STANCE_PHASE,
    TRUNK_CHANNELS,
    Cycle,
    Cycles,
    load_cycles,
    series,
)
from bunraku.locomotion.walk.legs import SIDES, Leg, legs_of
from bunraku.motion import Motion

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class CaptureOptions:
    """How strides are found in captured walking."""

    samples: int = 128
    """Number of samples per stride."""
    shortest: float = 0.15
    """Stances and swings shorter than this are noise [s]."""
    smoothing: float = 0.02
    """Standard deviation of the Gaussian that smooths positions before they are differentiated [s]."""
    standing_speed: float = 0.5
    """A foot stands while its speed is below this share of its mean speed."""

    @property
    def phase(self) -> Array:
        """Phase of each sample of a stride, from 0 to 1."""
        return np.arange(self.samples) / self.samples


def captured(
    *recordings: str | PathLike[str] | Motion,
    figure: Figure | None = None,
    options: CaptureOptions = CaptureOptions(),
) -> Cycles:
    """One cycle from each of the `recordings` (BVH files or motions), and standing.

    Each recording must contain at least one whole stride at constant speed, from one touchdown of the left foot to the next. They
    are retargeted to the `figure` (the mannequin by default). `options` tune the search for strides. Raises MotionError if there
    is none.
    """
    figure = library.named("mannequin") if figure is None else figure
    return Cycles((load_cycles()["stand"], *(_cycle(_motion(own), figure, _name(own), options) for own in recordings)))


def _motion(recording: str | PathLike[str] | Motion) -> Motion:
    return recording if isinstance(recording, Motion) else load_bvh(recording)


def _name(recording: str | PathLike[str] | Motion) -> str:
    return recording.figure.name if isinstance(recording, Motion) else Path(recording).stem


def _cycle(motion: Motion, figure: Figure, name: str, options: CaptureOptions) -> Cycle:
    motion = motion if motion.figure.names == figure.names else retarget(motion, figure)
    t, Q = motion.t, motion.q
    if len(t) < 8:
        raise MotionError(f"{name}: {len(t)} samples are too few for a stride", advice="record a few strides")
    frames, legs = frames_along(figure, Q), legs_of(figure)
    feet = [_Foot(figure, leg, frames, t, options) for leg in legs]
    strides = [
        (a, b) for a, b in zip(feet[0].touches[:-1], feet[0].touches[1:], strict=True)
        if any(a < x < b for x in feet[1].touches) and any(a < x < b for x in feet[0].leaves)
    ]  # fmt: skip
    if not strides:
        raise MotionError(
            f"{name}: no whole stride was found", advice="the left foot must touch down twice, and the right one in between"
        )
    table = np.mean([_stride(figure, t, Q, legs[0], feet, a, b) for a, b in strides], 0)
    stance = float(np.clip(np.mean([foot.share for foot in feet]), 0.5, 0.9))
    return Cycle(name, _velocity(figure, t, Q, strides[0][0], strides[-1][1]), stance, series(table))


class _Foot:
    """Times of touchdown and lift-off of a foot, its pitch and its height."""

    def __init__(self, figure: Figure, leg: Leg, frames: Array, t: Array, options: CaptureOptions) -> None:
        X = frames[:, figure.frame_index[f"{leg.side}_ankle"]]
        ends = np.array([X[:, :3, :3] @ [x, 0.0, -leg.ankle] + X[:, :3, 3] for x in (leg.heel, leg.toe)])
        self.t, self.leg, self.phase = t, leg, options.phase
        # The slower end of the sole is the one that stands. Marker positions are noisy, so they are smoothed.
        calm = gaussian_filter1d(ends, options.smoothing / float(np.median(np.diff(t))), axis=1, mode="nearest")
        speed = np.linalg.norm(np.gradient(calm, t, axis=1), axis=-1).min(0)
        stands = _lasting(speed < options.standing_speed * max(float(speed.mean()), 1e-6), t, options.shortest)
        change = np.flatnonzero(np.diff(stands.astype(int)))
        self.touches = [float(t[k + 1]) for k in change if not stands[k]]
        self.leaves = [float(t[k + 1]) for k in change if stands[k]]
        whole = [(a, x, b) for a, b in zip(self.touches[:-1], self.touches[1:], strict=True) for x in self.leaves if a < x < b]
        self.share = float(np.mean([(x - a) / (b - a) for a, x, b in whole])) if whole else STANCE_PHASE
        pitch = np.arcsin(np.clip(-X[:, 2, 0], -1.0, 1.0))
        self.pitch = pitch - (np.median(pitch[stands]) if stands.any() else 0.0)  # zero pitch is the median during stance
        low = ends[..., 2].min(0)
        self.lift = np.maximum(low - np.interp(t, t[stands], low[stands]), 0.0) if stands.any() else low

    def times(self, start: float, end: float) -> Array:
        """Times of the samples of this foot's own phase, in the first stride that begins after `start`."""
        span = end - start
        touch = min((x for x in self.touches if x >= start - 1e-9), default=start)
        leave = min((x for x in self.leaves if x > touch), default=touch + self.share * span)
        again = min((x for x in self.touches if x > leave), default=touch + span)
        if again > self.t[-1] or leave > touch + span:  # the recording ends first: assume the usual share of a stride
            leave, again = touch + self.share * span, touch + span
        swing = leave + (self.phase - STANCE_PHASE) / (1.0 - STANCE_PHASE) * (again - leave)
        return np.where(self.phase < STANCE_PHASE, touch + self.phase / STANCE_PHASE * (leave - touch), swing)


def _stride(figure: Figure, t: Array, Q: Array, leg: Leg, feet: list[_Foot], start: float, end: float) -> Array:
    """All channels (samples, n) of one stride."""
    upright = leg.reach + leg.ankle - leg.hip[2]
    at = start + feet[0].phase * (end - start)
    out = {}
    for name in (*TRUNK_CHANNELS, *(f"{side}_{part}" for side in SIDES for part in ARM_CHANNELS)):
        out[name] = np.interp(at, t, Q[:, figure.index(name)])
    out["pelvis_tz"] = (out["pelvis_tz"] - max(upright, float(out["pelvis_tz"].max()))) / (leg.thigh + leg.shin)
    for side, foot in zip(SIDES, feet, strict=True):
        own = foot.times(start, end)
        own = np.where(own > t[-1], own - (end - start), own)
        out[f"{side}_foot"], out[f"{side}_lift"] = np.interp(own, t, foot.pitch), np.interp(own, t, foot.lift)
        for joint in ("hip_ry", "knee_ry", "ankle_ry"):
            out[f"{side}_{joint}"] = np.interp(own, t, Q[:, figure.index(f"{side}_{joint}")])
    return np.stack([out[name] for name in CYCLE_CHANNELS], 1)


def _velocity(figure: Figure, t: Array, Q: Array, start: float, end: float) -> Array:
    """Mean velocity forward and to the left of the heading, and mean turning rate."""
    x, y, turn = (np.interp([start, end], t, Q[:, figure.index(f"pelvis_{v}")]) for v in ("tx", "ty", "rz"))
    inside = (t >= start) & (t <= end)
    heading = float(np.mean(np.unwrap(Q[inside, figure.index("pelvis_rz")]))) if inside.any() else float(turn[0])
    u, v, turned = x[1] - x[0], y[1] - y[0], np.remainder(turn[1] - turn[0] + np.pi, 2.0 * np.pi) - np.pi
    c, s = np.cos(heading), np.sin(heading)
    return np.array([c * u + s * v, c * v - s * u, turned]) / (end - start)


def _lasting(stands: Bools, t: Array, shortest: float) -> Bools:
    """`stands` without stances and swings that are shorter than `shortest` [s]."""
    out = stands.copy()
    for value in (False, True):
        edges = np.flatnonzero(np.diff(np.concatenate([[not value], out == value, [not value]]).astype(int)))
        for first, after in zip(edges[::2], edges[1::2], strict=False):
            if first > 0 and after < len(out) and t[after] - t[first] < shortest:
                out[first:after] = not value
    return out
