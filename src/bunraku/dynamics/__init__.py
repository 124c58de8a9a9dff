"""Dynamics: simulation of figures whose strings pull, slacken and catch; poses of rest; linearisation."""

from bunraku.dynamics.linearize import controllability, linearize, linearize_at_rest, observability, step_derivative
from bunraku.dynamics.quantities import energy, mass_matrix, momentum
from bunraku.dynamics.settle import settle
from bunraku.dynamics.simulate import simulate, simulate_many
from bunraku.dynamics.simulation import Simulation, Steps

__all__ = [
    "Simulation", "Steps", "controllability", "energy", "linearize", "linearize_at_rest", "mass_matrix", "momentum",
    "observability", "settle", "simulate", "simulate_many", "step_derivative",
]  # fmt: skip
