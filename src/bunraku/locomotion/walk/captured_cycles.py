"""Cycles from captured walking: strides are found by where feet stand, and averaged.

cycles = captured("walk.bvh", "stroll.bvh")     # and standing, as the library has it
walk(figure, t, base, cycles=cycles)
"""

from __future__ import annotations

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
from bunraku.locomotion.walk.cycles import ARM, CHANNELS, SIDES, STANCE, TRUNK, Cycle, Cycles, load_cycles, series
from bunraku.locomotion.walk.legs import STRETCHED, Leg, legs_of
from bunraku.motion import Motion

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
SAMPLES = 128
PHASE = np.arange(SAMPLES) / SAMPLES
SHORTEST = 0.15  # [s] of a stance or a swing; what is shorter is noise
TREMBLE = 0.02  # [s] over which positions are smoothed
SLOW = 0.5  # of its mean speed a foot has at most while it stands


def captured(*recordings: str | PathLike[str] | Motion, figure: Figure | None = None) -> Cycles:
    """A cycle of each recording (a BVH file or a motion), and standing.

    Each holds at least one whole stride of walking at an even speed, from one touchdown of the left foot to the next.
    """
    figure = library.named("mannequin") if figure is None else figure
    return Cycles((load_cycles()["stand"], *(_cycle(_motion(own), figure, _name(own)) for own in recordings)))


def _motion(recording: str | PathLike[str] | Motion) -> Motion:
    return recording if isinstance(recording, Motion) else load_bvh(recording)


def _name(recording: str | PathLike[str] | Motion) -> str:
    return recording.figure.name if isinstance(recording, Motion) else Path(recording).stem


def _cycle(motion: Motion, figure: Figure, name: str) -> Cycle:
    motion = motion if motion.figure.names == figure.names else retarget(motion, figure)
    t, Q = motion.t, motion.q
    if len(t) < 8:
        raise MotionError(f"{name}: {len(t)} samples are no walk", advice="record a few strides")
    frames, legs = frames_along(figure, Q), legs_of(figure)
    feet = [_Foot(figure, leg, frames, t) for leg in legs]
    strides = [
        (a, b) for a, b in zip(feet[0].touches[:-1], feet[0].touches[1:], strict=True)
        if any(a < x < b for x in feet[1].touches) and any(a < x < b for x in feet[0].leaves)
    ]  # fmt: skip
    if not strides:
        raise MotionError(
            f"{name}: no whole stride was found", advice="the left foot touches down twice, and the right one in between"
        )
    table = np.mean([_stride(figure, t, Q, legs[0], feet, a, b) for a, b in strides], 0)
    stance = float(np.clip(np.mean([foot.share for foot in feet]), 0.5, 0.9))
    return Cycle(name, _going(figure, t, Q, strides[0][0], strides[-1][1]), stance, series(table))


class _Foot:
    """When a foot touches down and leaves, how it pitches and how high it is."""

    def __init__(self, figure: Figure, leg: Leg, frames: Array, t: Array) -> None:
        X = frames[:, figure.frame_index[f"{leg.side}_ankle"]]
        ends = np.array([X[:, :3, :3] @ [x, 0.0, -leg.ankle] + X[:, :3, 3] for x in (leg.heel, leg.toe)])
        self.t, self.leg = t, leg
        # What stands is the slower end of the sole; markers tremble.
        calm = gaussian_filter1d(ends, TREMBLE / float(np.median(np.diff(t))), axis=1, mode="nearest")
        speed = np.linalg.norm(np.gradient(calm, t, axis=1), axis=-1).min(0)
        stands = _lasting(speed < SLOW * max(float(speed.mean()), 1e-6), t)
        change = np.flatnonzero(np.diff(stands.astype(int)))
        self.touches = [float(t[k + 1]) for k in change if not stands[k]]
        self.leaves = [float(t[k + 1]) for k in change if stands[k]]
        whole = [(a, x, b) for a, b in zip(self.touches[:-1], self.touches[1:], strict=True) for x in self.leaves if a < x < b]
        self.share = float(np.mean([(x - a) / (b - a) for a, x, b in whole])) if whole else STANCE
        pitch = np.arcsin(np.clip(-X[:, 2, 0], -1.0, 1.0))
        self.pitch = pitch - (np.median(pitch[stands]) if stands.any() else 0.0)  # flat is what it mostly is while it stands
        low = ends[..., 2].min(0)
        self.lift = np.maximum(low - np.interp(t, t[stands], low[stands]), 0.0) if stands.any() else low

    def times(self, start: float, end: float) -> Array:
        """When this foot is at each PHASE of its own, in the stride that begins nearest after `start`."""
        span = end - start
        touch = min((x for x in self.touches if x >= start - 1e-9), default=start)
        leave = min((x for x in self.leaves if x > touch), default=touch + self.share * span)
        again = min((x for x in self.touches if x > leave), default=touch + span)
        if again > self.t[-1] or leave > touch + span:  # the recording ends first: as the stride before had it
            leave, again = touch + self.share * span, touch + span
        swing = leave + (PHASE - STANCE) / (1.0 - STANCE) * (again - leave)
        return np.where(PHASE < STANCE, touch + PHASE / STANCE * (leave - touch), swing)


def _stride(figure: Figure, t: Array, Q: Array, leg: Leg, feet: list[_Foot], start: float, end: float) -> Array:
    """All channels (SAMPLES, n) of one stride."""
    upright = leg.distance(STRETCHED) + leg.ankle - leg.hip[2]
    at = start + PHASE * (end - start)
    out = {}
    for name in (*TRUNK, *(f"{side}_{part}" for side in SIDES for part in ARM)):
        out[name] = np.interp(at, t, Q[:, figure.index(name)])
    out["pelvis_tz"] = (out["pelvis_tz"] - max(upright, float(out["pelvis_tz"].max()))) / (leg.thigh + leg.shin)
    for side, foot in zip(SIDES, feet, strict=True):
        own = foot.times(start, end)
        own = np.where(own > t[-1], own - (end - start), own)
        out[f"{side}_foot"], out[f"{side}_lift"] = np.interp(own, t, foot.pitch), np.interp(own, t, foot.lift)
        for joint in ("hip_ry", "knee_ry", "ankle_ry"):
            out[f"{side}_{joint}"] = np.interp(own, t, Q[:, figure.index(f"{side}_{joint}")])
    return np.stack([out[name] for name in CHANNELS], 1)


def _going(figure: Figure, t: Array, Q: Array, start: float, end: float) -> Array:
    """Mean speed forward and to the left of the heading, and of turning."""
    x, y, turn = (np.interp([start, end], t, Q[:, figure.index(f"pelvis_{v}")]) for v in ("tx", "ty", "rz"))
    inside = (t >= start) & (t <= end)
    heading = float(np.mean(np.unwrap(Q[inside, figure.index("pelvis_rz")]))) if inside.any() else float(turn[0])
    u, v, turned = x[1] - x[0], y[1] - y[0], np.remainder(turn[1] - turn[0] + np.pi, 2.0 * np.pi) - np.pi
    c, s = np.cos(heading), np.sin(heading)
    return np.array([c * u + s * v, c * v - s * u, turned]) / (end - start)


def _lasting(stands: Bools, t: Array) -> Bools:
    """Without stances and swings that are too short to be any."""
    out = stands.copy()
    for value in (False, True):
        edges = np.flatnonzero(np.diff(np.concatenate([[not value], out == value, [not value]]).astype(int)))
        for first, after in zip(edges[::2], edges[1::2], strict=False):
            if first > 0 and after < len(out) and t[after] - t[first] < SHORTEST:
                out[first:after] = not value
    return out
