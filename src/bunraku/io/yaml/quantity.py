"""Quantities: what a number in a file measures, and the units that may follow it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class Quantity(Enum):
    """What a number measures. Without a unit it is in SI; each line has its
    `label` in messages, its SI `unit`, and `others` with the factor to SI."""

    NUMBER = "number", ""
    LENGTH = "length", "m", {"cm": 0.01, "mm": 0.001}
    ANGLE = "angle", "rad", {"deg": math.radians(1.0), "°": math.radians(1.0)}
    MASS = "mass", "kg", {"g": 0.001}
    TIME = "time", "s", {"ms": 0.001, "min": 60.0}
    FREQUENCY = "frequency", "Hz"
    SPEED = "speed", "m/s", {"cm/s": 0.01, "mm/s": 0.001}
    TURNING_SPEED = "angular speed", "rad/s", {"deg/s": math.radians(1.0), "°/s": math.radians(1.0)}
    ACCELERATION = "acceleration", "m/s²", {"m/s^2": 1.0, "m/s2": 1.0, "cm/s²": 0.01, "cm/s^2": 0.01}
    TURNING_ACCELERATION = (
        "angular acceleration",
        "rad/s²",
        {"rad/s^2": 1.0, "deg/s²": math.radians(1.0), "deg/s^2": math.radians(1.0), "°/s²": math.radians(1.0)},
    )
    FORCE = "force", "N", {"kN": 1000.0}
    TORQUE = "torque", "N·m", {"Nm": 1.0, "N*m": 1.0}
    INERTIA = "moment of inertia", "kg·m²", {"kg*m^2": 1.0, "g·cm²": 1e-7}
    STIFFNESS = "stiffness", "N/m"
    TURNING_STIFFNESS = "rotational stiffness", "N·m/rad", {"Nm/rad": 1.0, "N*m/rad": 1.0}
    STRING_DAMPING = "damping of a string", "N·s", {"Ns": 1.0, "N*s": 1.0}
    DAMPING = "damping", "N·s/m", {"Ns/m": 1.0, "N*s/m": 1.0}
    TURNING_DAMPING = "rotational damping", "N·m·s/rad", {"Nms/rad": 1.0, "N*m*s/rad": 1.0}

    def __init__(self, label: str, unit: str, others: Mapping[str, float] = MappingProxyType({})) -> None:
        self.label, self.unit, self.others = label, unit, others

    def __str__(self) -> str:
        return f"{'an' if self.label[0] in 'aeiou' else 'a'} {self.label}"

    def factor(self, unit: str) -> float | None:
        """The factor that converts a number with this `unit` to SI; None where the unit measures something else."""
        return 1.0 if unit == self.unit else self.others.get(unit)
