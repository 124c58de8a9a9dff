"""The physical quantity of each variable and each force input of a figure, which determines its units in files."""

from __future__ import annotations

from bunraku.figure import Effort, Figure, Force
from bunraku.io.yaml.quantity import Quantity

TURNS = ("rotate", "screw")


def measures(figure: Figure, names: tuple[str, ...]) -> dict[str, Quantity]:
    """Angle or length, for each of the variables `names` of a `figure`."""
    motions = {v.name: v.motion for v in figure.variables}
    return {name: Quantity.ANGLE if motions[name] in TURNS else Quantity.LENGTH for name in names}


def efforts(figure: Figure) -> dict[str, Quantity]:
    """Torque or force, for each force input of a `figure`, by name."""
    return {force.name: _effort(figure, force) for force in figure.forces}


def _effort(figure: Figure, force: Force) -> Quantity:
    turns = isinstance(force, Effort) and figure.variables[figure.index(force.variable)].motion in TURNS
    return Quantity.TORQUE if turns else Quantity.FORCE
