"""The best inputs for a wish, and the feedback that holds a figure to them."""

from bunraku.control.control_system import Curve, Rollout, System
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
from bunraku.control.limits import Limits
from bunraku.control.newton import Iteration, Outcome
from bunraku.control.optimize import Optimum, optimize

__all__ = [
    "Acceleration", "Centre", "Configuration", "CostToGo", "Curve", "Forces", "Iteration", "Limits", "Momentum", "Optimum",
    "Outcome", "PointAt", "Rollout", "Speed", "System", "Tension", "optimize",
]  # fmt: skip
