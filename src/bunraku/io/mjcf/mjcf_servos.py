"""Servos of a robot in an MJCF file: gains and dry friction, which a figure does not have."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.errors import MissingExtra
from bunraku.io.mjcf.mjcf_codes import JointType, Transmission


@dataclass(frozen=True)
class Servo:
    """The motor of a joint."""

    stiffness: float = 0.0
    """Effort for each unit of error [N m/rad or N/m]; 0 if the file has no position servo for this joint."""
    damping: float = 0.0
    """Effort against each unit of speed [N m s/rad or N s/m]."""
    friction: float = 0.0
    """Dry friction [N m or N]."""


def servos_in(path: str | os.PathLike[str]) -> dict[str, Servo]:
    """The servos of the joints in the MJCF file `path`, by the name of the joint. Raises MissingExtra without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "mujoco", "an MJCF file") from None
    model: Any = mujoco.MjModel.from_xml_path(str(Path(path)))
    out = {}
    for j in range(model.njnt):
        if model.jnt_type[j] in (JointType.HINGE, JointType.SLIDE):
            out[model.joint(j).name] = Servo(friction=float(model.dof_frictionloss[model.jnt_dofadr[j]]))
    for a in range(model.nu):
        servo = model.actuator_gaintype[a] == 0 and model.actuator_biastype[a] == 1 and not model.actuator_dyntype[a]
        name = model.joint(int(model.actuator_trnid[a, 0])).name if model.actuator_trntype[a] == Transmission.JOINT else ""
        if servo and name in out and model.actuator_biasprm[a, 1] < 0.0:
            gear = float(model.actuator_gear[a, 0]) ** 2
            stiffness, damping = (-gear * float(model.actuator_biasprm[a, k]) for k in (1, 2))
            out[name] = Servo(stiffness, damping, out[name].friction)
    return out
