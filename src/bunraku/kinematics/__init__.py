"""Forward kinematics (poses and Jacobians), inverse kinematics, balance, and retargeting of motions."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bunraku.kinematics.forward import Pose, frames_along, pose

if TYPE_CHECKING:
    from bunraku.kinematics.balance import Balance
    from bunraku.kinematics.inverse.arm import ClosedArm, closed_form
    from bunraku.kinematics.inverse.drag import Drag
    from bunraku.kinematics.inverse.inverse_kinematics import inverse_kinematics
    from bunraku.kinematics.inverse.options import InverseOptions
    from bunraku.kinematics.inverse.solution import Solution
    from bunraku.kinematics.inverse.solver import Inverse
    from bunraku.kinematics.inverse.tasks import (
        Bound,
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
    "Balance", "Bound", "CentreOfMass", "Clearance", "ClosedArm", "Closing", "Direction", "Drag", "FramePose", "FrameRotation",
    "Inverse", "InverseOptions", "LookAt", "PointPosition", "Pose", "Posture", "Solution", "Task", "closed_form", "frames_along",
    "inverse_kinematics", "pose",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used: a program that only needs poses does not load the solvers."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {
        "Balance": "balance", "ClosedArm": "inverse.arm", "Drag": "inverse.drag", "Inverse": "inverse.solver",
        "InverseOptions": "inverse.options", "Solution": "inverse.solution", "closed_form": "inverse.arm",
        "inverse_kinematics": "inverse.inverse_kinematics",
    }.get(name, "inverse.tasks")  # fmt: skip
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
