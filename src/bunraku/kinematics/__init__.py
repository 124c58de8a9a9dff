"""Where everything is, how it moves with q, and which q brings it where it should be."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bunraku.kinematics.forward import Pose, frames_along, pose

if TYPE_CHECKING:
    from bunraku.kinematics.balance import Balance
    from bunraku.kinematics.inverse.arm import ClosedArm, closed_form
    from bunraku.kinematics.inverse.drag import Drag
    from bunraku.kinematics.inverse.solution import Outcome, Solution
    from bunraku.kinematics.inverse.solver import Inverse
    from bunraku.kinematics.inverse.tasks import (
        CentreOfMass,
        Clearance,
        Closing,
        Direction,
        FramePose,
        FrameRotation,
        LookAt,
        PointPosition,
        Posture,
        Task,
    )

__all__ = [
    "Balance", "CentreOfMass", "Clearance", "ClosedArm", "Closing", "Direction", "Drag", "FramePose", "FrameRotation", "Inverse",
    "LookAt", "Outcome", "PointPosition", "Pose", "Posture", "Solution", "Task", "closed_form", "frames_along", "pose",
]  # fmt: skip

# Whoever only wants a pose does not wait for the solvers.
_HOME = {
    "Balance": "balance", "ClosedArm": "inverse.arm", "Drag": "inverse.drag", "Inverse": "inverse.solver",
    "Outcome": "inverse.solution", "Solution": "inverse.solution", "closed_form": "inverse.arm",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME.get(name, 'inverse.tasks')}"), name)
