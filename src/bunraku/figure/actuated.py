"""Actuators as bodies: the same figure with its carriages and winches driven by motors (*marionettes*, section VI).

Every kinematic variable becomes dynamic, with the inertia of what moves it and a servo: a spring and damper toward a place
that the motor's input moves; without input it holds where it starts. As the servo stiffens, the figure moves as if its strings were
set by hand.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.errors import FigureError
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort
from bunraku.figure.frame import WORLD, Frame, Variable

MOTOR = "_motor"


def actuated(figure: Figure, *, carriage: float = 0.5, winch: float = 0.2, bandwidth: float = 20.0) -> Figure:
    """The figure with motors: inertia of each carriage and winch [kg], and the bandwidth of their servos [Hz].

    A motor's input is the way [m or rad] from its start to the place that it is sent to, times the stiffness of its servo: see
    dynamics.servo, and the puppeteers of simulation files.
    """
    for field, value in (("carriage", carriage), ("winch", winch), ("bandwidth", bandwidth)):
        if not 0.0 < value < math.inf:
            raise FigureError(f"{value} is not allowed", name=figure.name, field=field, advice="give a positive number")

    def driven(variable: Variable, inertia: float) -> Variable:
        w = 2.0 * math.pi * bandwidth
        return replace(
            variable, kinematic=False, armature=inertia, stiffness=inertia * w * w, damping=2.0 * inertia * w, rest=variable.start,
            lower=-math.inf, upper=math.inf, motion="translate" if variable.motion == "length" else variable.motion,
        )  # fmt: skip

    frames = [
        replace(f, variable=driven(f.variable, carriage)) if f.variable is not None and f.variable.kinematic else f
        for f in figure.frames
    ]
    # A winch stands by itself and moves nothing but its string.
    frames += [Frame(f"{v.name}{MOTOR}", WORLD, variable=driven(v, winch)) for v in figure.lengths]
    motors = tuple(Effort(f"{name}{MOTOR}", name) for name in figure.kinematic)
    kinematic = {f.name for f in figure.frames if f.variable is not None and f.variable.kinematic}
    return figure.replace(
        frames=tuple(frames), lengths=(), forces=(*figure.forces, *motors),
        groups=tuple(g for g in figure.groups if g.frames[-1] not in kinematic),
    )  # fmt: skip


def motors(figure: Figure) -> dict[str, Variable]:
    """The variables that have a motor, by the name of its input."""
    moved = {v.name: v for v in figure.variables}
    names = (force.name for force in figure.forces if force.name.endswith(MOTOR))
    return {name: moved[name.removesuffix(MOTOR)] for name in names if name.removesuffix(MOTOR) in moved}
