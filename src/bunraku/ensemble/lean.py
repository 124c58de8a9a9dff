"""lean: where a walk has taken shoulders out of reach of what hands hold, the spine leans after them."""

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
    """How a spine leans."""

    spare: float = 0.025
    """A spine begins to lean this far before an arm is stretched or folded as far as it goes [m]."""
    rounds: int = 6
    """How often the lean is corrected."""
    stiffness: float = 0.02
    """What a lean costs, against the reach that it brings [m²]."""


def lean(agent: Agent, X_WO: Array, Q: Array, *, options: LeanOptions = LeanOptions()) -> None:
    """Turns waist and chest in `Q` (T, n), in place, so that all wrists are within reach of their shoulders, as far as they go.

    `agent` holds an object at the poses `X_WO` (T, 4, 4). `options` say how its spine leans. A figure without waist and chest
    stays as it is.
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
        # In the axes of the pelvis: z, y, x, half in the waist and half in the chest.
        turn = 1.2 * gaussian_filter1d(turn, 2.0, axis=0, mode="nearest")
        Q[:, columns] = np.clip(Q[:, columns] + 0.5 * np.tile(turn[:, ::-1], 2), lower, upper)


def _wanted(agent: Agent, wrists: list[Array], frames: Array, options: LeanOptions) -> Array | None:
    """The turn of the trunk (T, 3), about the pelvis' axes at the waist, that brings shoulders near enough; None if they are.

    By least squares over the arms: each shoulder moves by turn × r along the line to its wrist.
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
        row = np.einsum("tji,tj->ti", R, np.cross(shoulder - waist, line / d[:, None]))  # of turn, in the pelvis' axes
        A = A + row[:, :, None] * row[:, None, :]
        b = b + row * excess[:, None]
    return np.asarray(np.linalg.solve(A, b[..., None])[..., 0], float) if far else None
