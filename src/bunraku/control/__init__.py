"""Optimal control: find the motion of least cost, its inputs, and the feedback that stabilises the figure along it."""

from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.cost import (
    Acceleration,
    Centre,
    Configuration,
    CostToGo,
    Forces,
    Momentum,
    PointAt,
    Speed,
    Tension,
)
from bunraku.control.motion_limits import Limits
from bunraku.control.newton import DescentOptions, Iteration
from bunraku.control.optimize import OptimizeOptions, optimize
from bunraku.control.optimum import Optimum

__all__ = [
    "Acceleration", "Centre", "Configuration", "ControlCurve", "CostToGo", "DescentOptions", "Forces", "Iteration", "Limits",
    "Momentum", "OptimizeOptions", "Optimum", "PointAt", "Rollout", "Speed", "System", "Tension", "optimize",
]  # fmt: skip
