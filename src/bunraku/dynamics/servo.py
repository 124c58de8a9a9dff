"""servo: force inputs with which the motors of an actuated figure follow what a puppeteer would do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.actuated import motors
from bunraku.figure.frame import Variable

Array = NDArray[np.float64]


def servo(figure: Figure, asked: Callable[[float], ArrayLike], *, dt: float = 0.01) -> Callable[[float], Array]:
    """The force inputs of `figure` over time that `motor_input` gives for every motor, at time steps `dt` [s]; zero for others.

    `asked(t)` gives the values that the variables would have if they were kinematic, in the order of the motors.
    """
    driven = motors(figure)
    if not driven:
        raise BunrakuError(f"{figure.name} has no motors\n  advice: actuated(figure), or `actuators: dynamic` in its file")
    places = np.array([k for k, force in enumerate(figure.forces) if force.name in driven])

    def inputs(t: float) -> Array:
        before, after = np.asarray(asked(t - dt), float), np.asarray(asked(t), float)
        if after.shape != places.shape:
            names = ", ".join(v.name for v in driven.values())
            raise BunrakuError(f"{figure.name} has {len(driven)} motors: {names}; the targets have the shape {after.shape}")
        u = np.zeros(len(figure.forces))
        u[places] = [_input(v, a, b, dt) for v, a, b in zip(driven.values(), before, after, strict=True)]
        return u

    return inputs


def motor_input(variable: Variable, asked: Callable[[float], float], *, dt: float) -> Callable[[float], float]:
    """The input over time of the motor of `variable`: k·(asked − start) + c·d(asked)/dt at the middle of each step of `dt` [s].

    `asked(t)` is where the variable should be.
    """
    return lambda t: _input(variable, asked(t - dt), asked(t), dt)


def _input(variable: Variable, before: float, after: float, dt: float) -> float:
    return variable.stiffness * (0.5 * (before + after) - variable.rest) + variable.damping * (after - before) / dt
