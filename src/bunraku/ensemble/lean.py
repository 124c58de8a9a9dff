"""Posture: where a walk has taken shoulders out of reach of what hands hold, the spine leans after them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bunraku.ensemble.team import Agent
from bunraku.kinematics.forward import frames_along

Array = NDArray[np.float64]
SPINE = ("waist_rz", "waist_ry", "waist_rx", "chest_rz", "chest_ry", "chest_rx")
SPARE = 0.025  # [m] inside the shell of an arm at which a spine begins to lean
ROUNDS = 6
STIFF = 0.02  # [m²] how much a lean costs against what it brings


def lean(agent: Agent, X_WO: Array, Q: Array) -> None:
    """Turns waist and chest in Q so that all wrists are within reach of their shoulders, as far as the spine goes."""
    figure = agent.figure
    if not set(SPINE) <= {*figure.names}:
        return
    columns = figure.indices(SPINE)
    lower, upper = (0.95 * limit[columns] for limit in figure.limits)
    wrists = [X_WO[:, :3, :3] @ w + X_WO[:, :3, 3] for w in agent.wrists()]
    for _ in range(ROUNDS):
        turn = _wanted(agent, wrists, frames_along(figure, Q))
        if turn is None:
            return
        # In the axes of the pelvis: z, y, x, half in the waist and half in the chest.
        turn = 1.2 * gaussian_filter1d(turn, 2.0, axis=0, mode="nearest")
        Q[:, columns] = np.clip(Q[:, columns] + 0.5 * np.tile(turn[:, ::-1], 2), lower, upper)


def _wanted(agent: Agent, wrists: list[Array], frames: Array) -> Array | None:
    """The turn of the trunk (T, 3), about the pelvis' axes at the waist, that brings shoulders near enough; none where they are.

    By least squares over the arms: each shoulder moves by turn × r along the line to its wrist.
    """
    index = agent.figure.frame_index
    R = frames[:, index["pelvis"], :3, :3]
    waist = frames[:, index["waist"], :3, 3]
    A, b, far = STIFF * np.eye(3) + np.zeros((len(R), 1, 1)), np.zeros((len(R), 3)), False
    for hold, shell, wrist in zip(agent.holds, agent.shells, wrists, strict=True):
        side = hold.tool.split("_")[0]
        shoulder = frames[:, index[f"{side}_shoulder"], :3, 3]
        line = wrist - shoulder
        d = np.sqrt((line**2).sum(1))
        most, least = shell.most + agent.spare - SPARE, shell.least - agent.spare + SPARE
        excess = np.maximum(d - most, 0.0) - np.maximum(least - d, 0.0)
        far = far or bool((np.abs(excess) > 1e-3).any())
        row = np.einsum("tji,tj->ti", R, np.cross(shoulder - waist, line / d[:, None]))  # of turn, in the pelvis' axes
        A = A + row[:, :, None] * row[:, None, :]
        b = b + row * excess[:, None]
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0], float) if far else None
