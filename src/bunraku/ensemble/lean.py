"""lean: if walking has moved shoulders out of reach of the grasps, the spine leans to bring them back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.ensemble.team import Agent
from bunraku.kinematics.forward import frames_along

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LeanOptions:
    """Numbers that tune the lean of a spine."""

    spare: float = 0.025
    """The spine begins to lean when an arm is this close to its longest or shortest reach [m]."""
    rounds: int = 6
    """Number of corrections."""
    stiffness: float = 0.02
    """Weight of the lean against the missing reach [m²]."""
    smoothing: float = 0.15
    """Standard deviation of the Gaussian that smooths the lean [s]."""


def lean(agent: Agent, X_WO: Array, Q: Array, dt: float, *, options: LeanOptions = LeanOptions()) -> None:
    """Turns waist and chest in `Q` (T, n), in place, so that all wrists are within reach of their shoulders, if possible.

    `agent` holds an object at the poses `X_WO` (T, 4, 4), every `dt` [s]. A figure without waist and chest stays as it is.
    `options`: numbers that tune the lean.
    """
    figure = agent.figure
    spine = ("waist_rz", "waist_ry", "waist_rx", "chest_rz", "chest_ry", "chest_rx")
    if not set(spine) <= {*figure.names}:
        return
    columns = figure.indices(spine)
    lower, upper = (0.95 * limit[columns] for limit in figure.limits)
    wrists = [X_WO[:, :3, :3] @ w + X_WO[:, :3, 3] for w in agent.wrists()]
    for _ in range(options.rounds):
        turn = _wanted(agent, wrists, frames_along(figure, Q), options)
        if turn is None:
            return
        # In pelvis axes, angles about z, y, x: half in the waist and half in the chest.
        turn = 1.2 * gaussian_filter1d(turn, options.smoothing / dt, axis=0, mode="nearest")
        Q[:, columns] = np.clip(Q[:, columns] + 0.5 * np.tile(turn[:, ::-1], 2), lower, upper)


def _wanted(agent: Agent, wrists: list[Array], frames: Array, options: LeanOptions) -> Array | None:
    """The turn of the trunk at the waist (T, 3), in pelvis axes, that brings shoulders near enough; None if they are.

    Least squares over the arms: each shoulder moves by turn × r along the line to its wrist.
    """
    index = agent.figure.frame_index
    R = frames[:, index["pelvis"], :3, :3]
    waist = frames[:, index["waist"], :3, 3]
    A, b, far = options.stiffness * np.eye(3) + np.zeros((len(R), 1, 1)), np.zeros((len(R), 3)), False
    for hold, shell, wrist in zip(agent.holds, agent.shells, wrists, strict=True):
        side = hold.tool.split("_")[0]
        shoulder = frames[:, index[f"{side}_shoulder"], :3, 3]
        line = wrist - shoulder
        d = np.sqrt((line**2).sum(1))
        most, least = shell.most + agent.spare - options.spare, shell.least - agent.spare + options.spare
        excess = np.maximum(d - most, 0.0) - np.maximum(least - d, 0.0)
        far = far or bool((np.abs(excess) > 1e-3).any())
        row = np.einsum("tji,tj->ti", R, np.cross(shoulder - waist, line / d[:, None]))  # d(distance)/d(turn), in pelvis axes
        A = A + row[:, :, None] * row[:, None, :]
        b = b + row * excess[:, None]
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0], float) if far else None
