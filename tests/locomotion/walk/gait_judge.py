"""How people walk in BVH files, by code that shares nothing with bunraku: it reads the file, places the joints, finds the steps.

    python -m tests.locomotion.walk.gait_judge FILE.bvh …    # a line for each file

A foot lands where it is farthest ahead of the pelvis, and leaves the ground where it is farthest behind (Zeni et al. 2008). Only
strides that go straight on at an even speed count. Angles are those of the lines between joints: the thigh to the vertical, in the
plane of walking (hip), and the thigh to the shank (knee).
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CMU_UNIT = 0.0254 / 0.45  # [m], of the public conversion of the CMU recordings
PHASES = 51
LEGS = (
    ("LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase end", "RightUpLeg", "RightLeg", "RightFoot", "RightToeBase end"),
    ("left_hip", "left_knee", "left_ankle", "left_ankle end", "right_hip", "right_knee", "right_ankle", "right_ankle end"),
)


@dataclass(frozen=True, eq=False)
class Gait:
    """The mean of all even strides of both legs."""

    name: str
    strides: int
    speed: float
    """[m/s]"""
    cadence: float
    """Steps a minute."""
    double: float
    """Share of a stride in which both feet stand."""
    clearance: float
    """Least height of the toes in the middle of a swing over their height on the ground [m]."""
    hip: Array
    """Angle of the thigh to the vertical, ahead positive, over a stride from landing to landing (PHASES,) [degrees]."""
    knee: Array
    """Bend of the knee, likewise."""


def places(file: Path) -> tuple[Array, dict[str, Array]]:
    """Times (T,) [s] and the places (T, 3) of all joints and ends in a BVH `file`, in metres and with z up."""
    words = iter(file.read_text().split())
    joints: list[tuple[str, int, list[float], list[str]]] = []
    stack: list[int] = []
    for word in words:
        if word in ("ROOT", "JOINT"):
            joints.append((next(words), stack[-1] if stack else -1, [], []))
        elif word == "End":
            next(words)
            joints.append((f"{joints[stack[-1]][0]} end", stack[-1], [], []))
        elif word == "{":
            stack.append(len(joints) - 1)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            joints[-1][2].extend(float(next(words)) for _ in range(3))
        elif word == "CHANNELS":
            joints[-1][3].extend(next(words) for _ in range(int(next(words))))
        elif word == "Time:":
            dt = float(next(words))
            break
    values = np.array([float(word) for word in words])
    values = values.reshape(-1, sum(len(joint[3]) for joint in joints))
    R: list[Array] = []
    out: dict[str, Array] = {}
    at: list[Array] = []
    column = 0
    for name, parent, offset, channels in joints:
        p, turn = np.tile(offset, (len(values), 1)), np.tile(np.eye(3), (len(values), 1, 1))
        for channel in channels:
            axis, x = "XYZ".index(channel[0]), values[:, column]
            if channel.endswith("position"):
                p[:, axis] = x
            else:
                turn = turn @ _about(axis, np.radians(x))
            column += 1
        at.append(p if parent < 0 else at[parent] + np.einsum("tij,tj->ti", R[parent], p))
        R.append(turn if parent < 0 else R[parent] @ turn)
        out[name] = at[-1]
    scale = CMU_UNIT if "LeftUpLeg" in out else 0.01
    order = [2, 0, 1]  # y up, as in all BVH files, becomes z up
    return np.asarray(dt * np.arange(len(values)), float), {name: scale * x[:, order] for name, x in out.items()}


def _about(axis: int, angle: Array) -> Array:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = np.tile(np.eye(3), (len(angle), 1, 1))
    out[:, i, i] = out[:, j, j] = np.cos(angle)
    out[:, i, j], out[:, j, i] = -np.sin(angle), np.sin(angle)
    return out


def gait(file: Path) -> Gait:
    """The gait in a `file`; raises ValueError if there are no even strides."""
    t, X = places(file)
    names = next(names for names in LEGS if names[0] in X)
    dt = float(t[1] - t[0])
    legs = [[_smooth(X[name], 0.03 / dt) for name in names[4 * side : 4 * side + 4]] for side in range(2)]
    pelvis = 0.5 * (legs[0][0] + legs[1][0])
    velocity = _smooth(np.gradient(pelvis[:, :2], dt, axis=0), 0.3 / dt)
    speed = np.linalg.norm(velocity, axis=1)
    way = velocity / np.maximum(speed, 1e-9)[:, None]
    steps = [_steps(leg[2], pelvis, way, dt) for leg in legs]
    curves, numbers = [], []
    for side, (hip, knee, ankle, toe) in enumerate(legs):
        thigh, shank = knee - hip, ankle - knee
        hips = np.degrees(np.arctan2(np.einsum("tk,tk->t", thigh[:, :2], way), -thigh[:, 2]))
        ground = np.percentile(toe[:, 2], 5)
        for first, last in itertools.pairwise(steps[side][0]):
            lift, landed, lifted = (
                [k for k in events if first < k < last] for events in (steps[side][1], *steps[1 - side])
            )  # of this foot; of the other
            whole = len(lift) == len(landed) == len(lifted) == 1 and 0.6 < (last - first) * dt < 2.5
            if not whole or not _even(speed[first:last], way[first:last]):
                continue
            phases = np.linspace(first, last, PHASES)
            curves.append([np.interp(phases, np.arange(len(t)), curve) for curve in (hips, _angle(thigh, shank))])
            both = (lifted[0] - first + lift[0] - landed[0]) / (last - first)
            swing = np.linspace(lift[0] + 0.3 * (last - lift[0]), lift[0] + 0.8 * (last - lift[0]), 20).astype(int)
            numbers.append((speed[first:last].mean(), 120.0 / ((last - first) * dt), both, toe[swing, 2].min() - ground))
    if len(curves) < 2:
        raise ValueError(f"{file.name}: fewer than two even strides")
    return Gait(file.stem, len(curves), *np.mean(numbers, axis=0), *np.mean(curves, axis=0))


def _even(speed: Array, way: Array) -> bool:
    """Whether a stride goes straight on at an even speed."""
    mean = way.mean(axis=0)
    return bool(speed.min() > 0.8 * speed.mean() and np.linalg.norm(mean) > 0.995 and speed.max() < 1.2 * speed.mean())


def _steps(foot: Array, pelvis: Array, way: Array, dt: float) -> tuple[list[int], list[int]]:
    """Samples at which a foot is farthest ahead of the pelvis, and farthest behind."""
    ahead = np.einsum("tk,tk->t", (foot - pelvis)[:, :2], way)
    wide = max(round(0.2 / dt), 1)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(ahead, wide, constant_values=np.nan), 2 * wide + 1)
    lands = np.flatnonzero((ahead >= np.nanmax(windows, axis=1)) & (ahead > 0.05))
    leaves = np.flatnonzero((ahead <= np.nanmin(windows, axis=1)) & (ahead < -0.05))
    inner = range(wide, len(ahead) - wide)
    return [int(k) for k in lands if k in inner], [int(k) for k in leaves if k in inner]


def _smooth(x: Array, deviation: float) -> Array:
    half = max(round(3.0 * deviation), 1)
    kernel = np.exp(-0.5 * (np.arange(-half, half + 1) / max(deviation, 1e-9)) ** 2)
    padded = np.pad(x, ((half, half), (0, 0)), mode="edge")
    return np.stack([np.convolve(column, kernel / kernel.sum(), "valid") for column in padded.T], 1)


def _angle(a: Array, b: Array) -> Array:
    cosine = np.einsum("tk,tk->t", a, b) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return np.asarray(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))


def main() -> None:
    for name in sys.argv[1:]:
        try:
            one = gait(Path(name))
        except ValueError as problem:
            print(problem)
            continue
        print(
            f"{one.name:<14}{one.strides:3d} strides  {one.speed:.2f} m/s  {one.cadence:5.1f} steps/min"
            f"  both feet {one.double:5.1%}  clearance {1e3 * one.clearance:3.0f} mm"
            f"  hip {one.hip.min():3.0f} … {one.hip.max():2.0f}"
            f"  knee at landing {one.knee[0]:2.0f}, at most {one.knee.max():2.0f}"
        )


if __name__ == "__main__":
    main()
