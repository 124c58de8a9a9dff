"""The same figure with motors on its carriages and winches (*marionettes*, section VI).

Every kinematic variable becomes dynamic. It gets the inertia of its carriage or winch and a servo: a spring and a damper toward
a position that the motor's input sets; without input, that is the start. The stiffer the servo, the closer the figure moves to
one whose strings the puppeteer sets directly.
"""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.errors import FigureError
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort
from bunraku.figure.frame import WORLD, Frame, Variable


def actuated(figure: Figure, *, carriage: float = 0.5, winch: float = 0.2, bandwidth: float = 20.0) -> Figure:
    """The figure with a motor on every kinematic variable.

    figure: the figure whose kinematic variables get motors.
    carriage: inertia of a motor that moves a frame [kg].
    winch: inertia of a motor that winds a string [kg].
    bandwidth: bandwidth of the servos [Hz].
    Returns a figure without kinematic variables; raises FigureError where a number is not positive and finite.

    A motor's input is the displacement [m or rad] from its start to the commanded position, times the stiffness of its servo:
    see dynamics.servo, and the puppeteers of simulation files.
    """
    for field, value in (("carriage", carriage), ("winch", winch), ("bandwidth", bandwidth)):
        if not 0.0 < value < math.inf:
            raise FigureError(f"{value} is not possible", name=figure.name, field=field, advice="give a positive number")

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
    # The variable of a winch moves a frame of its own, with nothing in it: only the string depends on it.
    frames += [Frame(_motor(v.name), WORLD, variable=driven(v, winch)) for v in figure.lengths]
    motors = tuple(Effort(_motor(name), name) for name in figure.kinematic)
    kinematic = {f.name for f in figure.frames if f.variable is not None and f.variable.kinematic}
    return figure.replace(
        frames=tuple(frames), lengths=(), forces=(*figure.forces, *motors),
        groups=tuple(g for g in figure.groups if g.frames[-1] not in kinematic),
    )  # fmt: skip


def motors(figure: Figure) -> dict[str, Variable]:
    """The variables of `figure` that have a motor, by the name of its input."""
    driven = {_motor(v.name): v for v in figure.variables}
    return {force.name: driven[force.name] for force in figure.forces if force.name in driven}


def _motor(variable: str) -> str:
    """The name of the motor that drives a variable."""
    return f"{variable}_motor"
