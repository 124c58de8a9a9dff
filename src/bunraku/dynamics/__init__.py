"""Dynamics: simulation of figures whose strings pull, slacken and catch; poses of rest; linearisation."""

from bunraku.dynamics.linearize import controllability, linearize, linearize_at_rest, observability
from bunraku.dynamics.quantities import energy, mass_matrix, momentum
from bunraku.dynamics.settle import settle
from bunraku.dynamics.simulate import simulate, simulate_many
from bunraku.dynamics.simulation import Simulation, Steps
from bunraku.dynamics.step_derivatives import StepDerivatives, step_derivatives

__all__ = [
    "Simulation", "StepDerivatives", "Steps", "controllability", "energy", "linearize", "linearize_at_rest", "mass_matrix",
    "momentum", "observability", "settle", "simulate", "simulate_many", "step_derivatives",
]  # fmt: skip
