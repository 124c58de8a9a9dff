"""bunraku brings articulated figures to life.

Docstrings cite five papers by one word in italics; these pages give their titles: *marionettes* and *trep* in docs/derivations.md,
*carrying* in docs/carrying.md, *guiding* in docs/guiding.md, *gecko* in docs/climbing.md.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

# The module of each public name, imported when the name is first used.
_HOME = {
    "BunrakuError": "errors",
    "Outcome": "outcome",
    "Progress": "progress",
    "Result": "result",
    "Order": "verbs.order",
    "Figure": "figure",
    "build": "figure.build",
    "library": "figure.library",
    "Motion": "motion",
    "Scene": "scene",
    "Pose": "kinematics",
    "pose": "kinematics",
    "inverse_kinematics": "kinematics",
    "Simulation": "dynamics",
    "linearize": "dynamics",
    "step_derivatives": "dynamics",
    "settle": "dynamics",
    "simulate": "dynamics",
    "optimize": "control",
    "perform": "choreography",
    "plan": "verbs.plan.run",
    "carry": "ensemble.carry",
    "guide": "verbs.guide.run",
    "climb": "locomotion.climb.climb",
    "sweep": "sweeps.sweep",
    "load": "verbs.loading",
    "save": "io",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bunraku' has no attribute {name!r}")
    module = importlib.import_module(f"bunraku.{_HOME[name]}")
    if name in ("build", "library"):
        return module
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
