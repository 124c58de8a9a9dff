"""servo: what to tell the motors of an actuated figure so that they go where a puppeteer would put the strings."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.actuated import MOTOR
from bunraku.figure.frame import Variable

Array = NDArray[np.float64]


def servo(figure: Figure, asked: Callable[[float], ArrayLike], *, dt: float = 0.01) -> Callable[[float], Array]:
    """Force inputs over time: k·asked + c·d(asked)/dt for every motor, at the middle of each step; nothing for other inputs.

    `asked(t)` gives the values that the variables would have if they were kinematic, in the order of the motors.
    """
    motors = [(k, force) for k, force in enumerate(figure.forces) if force.name.endswith(MOTOR)]
    if not motors:
        raise BunrakuError(f"{figure.name} has no motors\n  advice: actuated(figure), or `actuators: dynamic` in its file")
    moved: dict[str, Variable] = {v.name: v for v in figure.variables}
    driven = [moved[force.name.removesuffix(MOTOR)] for _, force in motors]
    places = np.array([k for k, _ in motors])
    stiffness, damping = np.array([v.stiffness for v in driven]), np.array([v.damping for v in driven])

    def inputs(t: float) -> Array:
        before, after = np.asarray(asked(t - dt), float), np.asarray(asked(t), float)
        if after.shape != places.shape:
            names = ", ".join(v.name for v in driven)
            raise BunrakuError(f"{figure.name} has {len(driven)} motors: {names}; got shape {after.shape}")
        u = np.zeros(len(figure.forces))
        u[places] = stiffness * (before + after) / 2 + damping * (after - before) / dt
        return u

    return inputs
