"""What every solver is asked to do: keep two feet and the centre of mass, and lead a hand along a path.

One solve a sample, each from the one before. Only numpy is needed here, because every peer has its own environment.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Problem:
    urdf: str
    joints: dict[str, float]
    feet: tuple[str, ...]
    hand: str
    targets: np.ndarray
    posture: float = 1e-4
    damping: float = 1e-8

    def save(self, path: str) -> None:
        np.savez(
            path, urdf=self.urdf, names=list(self.joints), values=list(self.joints.values()), feet=self.feet, hand=self.hand,
            targets=self.targets,
        )  # fmt: skip

    @classmethod
    def load(cls, path: str) -> Problem:
        data = np.load(path)
        joints = dict(zip(data["names"].tolist(), data["values"].tolist(), strict=True))
        return cls(str(data["urdf"]), joints, tuple(data["feet"].tolist()), str(data["hand"]), data["targets"])


def measure(
    problem: Problem, reset: Callable[[], None], solve: Callable[[np.ndarray], object], hand: Callable[[], np.ndarray],
    *, repeat: int = 20,
) -> dict[str, float]:  # fmt: skip
    """Microseconds a solve, every part of the path at the best of some rounds; and how well the hand followed [m, rad]."""
    blocks = np.split(problem.targets, 20)
    best = np.full(len(blocks), np.inf)
    for _ in range(repeat):
        reset()
        for k, block in enumerate(blocks):  # short enough that nobody else runs in the middle of the best one
            start = time.perf_counter()
            for target in block:
                solve(target)
            best[k] = min(best[k], time.perf_counter() - start)
    reset()
    far, turn = 0.0, 0.0
    for target in problem.targets:
        solve(target)
        X = hand()
        far = max(far, float(np.linalg.norm(X[:3, 3] - target[:3, 3])))
        cosine = (np.trace(X[:3, :3] @ target[:3, :3].T) - 1.0) / 2.0
        turn = max(turn, float(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return {"us": 1e6 * float(best.sum()) / len(problem.targets), "position": far, "rotation": turn}
