"""Modes of a figure: its continuous dynamics with inputs that are constant during the mode.

The state is (q, v) of all variables. Inputs are forces and accelerations of kinematic variables, so hands never jump, and taut
strings stay taut at a switch. In a mode some strings may be slack. A mode may also belong to another figure with the same
variables, for instance after a mass was dropped or a string was cut.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.choreography.mode_flow import Field
from bunraku.dynamics.continuous_model import acceleration, acceleration_derivative, acceleration_second_derivative
from bunraku.errors import UnknownName
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration

Array = NDArray[np.float64]


def mode_of(
    figure: Figure, *, forces: Mapping[str, float] | None = None, kinematic: Mapping[str, float] | None = None,
    slack: Collection[str] = (),
) -> Field:  # fmt: skip
    """d(q, v)/dt of a `figure` as a vector field.

    forces: force inputs by name [N or N·m]; zero for names not given.
    kinematic: accelerations of kinematic variables by name [m/s² or rad/s²]; zero for names not given.
    slack: names of slack strings. All others are treated as wires in this mode.

    Joint limits and contacts are ignored: a mode does not switch by itself. Raises UnknownName.
    """
    u = _row("force", forces or {}, tuple(force.name for force in figure.forces))
    hands = _row("kinematic variable", kinematic or {}, figure.kinematic)
    strings = tuple(string.name for string in figure.strings)
    for name in slack:
        if name not in strings:
            raise UnknownName("string", name, strings)
    held = {*strings, *(wire.name for wire in figure.wires), *(closure.name for closure in figure.closures)} - set(slack)
    states = np.array([name.split(".")[0] in held for name in figure.compiled.link_names], np.int8)
    n, nq = figure.n_dynamic, figure.n_q
    given: dict[str, Array | NDArray[np.int8]] = {"kinematic": hands, "forces": u, "states": states}

    def f(x: Array) -> Array:
        return np.concatenate([x[nq:], acceleration(figure, x[:nq], x[nq:], **given).a, hands])

    def f_x(x: Array) -> Array:
        out = np.zeros((2 * nq, 2 * nq))
        out[:nq, nq:] = np.eye(nq)
        out[nq : nq + n] = acceleration_derivative(figure, x[:nq], x[nq:], **given)[:n, : 2 * nq]
        return out

    def f_xx(x: Array, c: Array) -> Array:
        second = acceleration_second_derivative(figure, x[:nq], x[nq:], **given)
        return np.asarray(np.einsum("i,ijk->jk", c[nq : nq + n], second[:n, : 2 * nq, : 2 * nq]))

    return Field(f, f_x, f_xx)


def at_rest(figure: Figure, q: ArrayLike | None = None) -> Array:
    """The state (q, 0) of a `figure`; `q` is by default its start."""
    return np.concatenate([configuration(figure, figure.start if q is None else q), np.zeros(figure.n_q)])


def _row(kind: str, given: Mapping[str, float], names: tuple[str, ...]) -> Array:
    for name in given:
        if name not in names:
            raise UnknownName(kind, name, names)
    return np.array([float(given.get(name, 0.0)) for name in names])
