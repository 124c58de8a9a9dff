"""Mass matrix, momentum and energy of a figure at (q, v)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.lagrangian import fill_mass, momenta, slopes
from bunraku.dynamics.rollout import energy as energy_at
from bunraku.dynamics.variational import workspace
from bunraku.figure import Figure
from bunraku.figure.records import FigureTree
from bunraku.kernels.compile import borrow, inline, keep, kernel
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place

Array = NDArray[np.float64]


class Inertias(NamedTuple):
    """What momentum and mass matrix are made of (bunraku.dynamics.lagrangian); a whole workspace takes longer to compile."""

    S: Any
    V: Any
    T: Any
    B: Any
    I: Any
    P: Any


@inline
def _inertias(tree, q, v):
    """At the configuration q, with the rates v of the joints that move mass."""
    joints, nj, nm = tree.joints, tree.joints.shape[0], tree.n_massive
    R, p, S = np.empty((nj, 3, 3)), np.empty((nj, 3)), np.empty((nj, 6))
    own = Inertias(S, np.empty((nm, 6)), np.empty((nm, 6)), np.empty((nm, 10)), np.empty((nm, 10)), np.empty((nm, 6)))
    place(joints, 0, nj, q, (0.0, 0.0, 0.0), R, p, S)
    momenta(joints, nm, v, R, p, S, own.V, own.T, own.B, own.I, own.P)
    return own


@kernel
def _momentum(tree, q, v, p):
    joints, nm = tree.joints, tree.n_massive
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    rates = np.empty(nm)
    for j in range(nm):
        rates[j] = v[joints[j].variable]
    own = _inertias(tree, q, rates)
    for j in range(nm):
        if joints[j].variable < tree.n_dynamic:
            p[joints[j].variable] = slopes(joints[j], j, g, 0.0, rates[j], own.S, own.T, own.I, own.P)[1]


@kernel
def _mass_matrix(tree, q, M):
    own = _inertias(tree, q, np.zeros(tree.n_massive))
    fill_mass(tree.joints, tree.n_massive, own.S, own.T, own.I, own.P, M)


@kernel
def _energy(tree, q, v):
    w = workspace(tree)
    return energy_at(tree, w, (0.0, 0.0, 0.0), q, v)


def momentum(figure: Figure, q: ArrayLike, v: ArrayLike) -> Array:
    """∂L/∂v of the dynamic variables of `figure` at configuration `q` and velocities `v`."""
    return momentum_of(figure.compiled.tree, configuration(figure, q), configuration(figure, v))


def momentum_of(tree: FigureTree, q: Array, v: Array) -> Array:
    """∂L/∂v of the dynamic variables of `tree` at configuration `q` and velocities `v`."""
    p = np.zeros(tree.n_dynamic)
    if v.any():  # at rest, nothing has to be compiled
        _momentum(tree, q, v, p)
    return p


def mass_matrix(figure: Figure, q: ArrayLike) -> Array:
    """∂²L/∂v∂v of all variables of `figure` at `q`; zero where a variable moves no mass."""
    M = np.zeros((figure.n_q, figure.n_q))
    _mass_matrix(figure.compiled.tree, configuration(figure, q), M)
    return M


def energy(figure: Figure, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
    """Kinetic and potential energy [J] of `figure` at configuration `q` and velocities `v`; heights count from z = 0."""
    kinetic, potential = _energy(figure.compiled.tree, configuration(figure, q), configuration(figure, v))
    return float(kinetic), float(potential)


@kernel
def _gaps(tree, q, h, A):
    nj, npt, o = tree.joints.shape[0], tree.points.shape[0], (0.0, 0.0, 0.0)
    R, p, S = np.empty((nj, 3, 3)), np.empty((nj, 3)), np.empty((nj, 6))
    place(tree.joints, 0, nj, q, o, R, p, S)
    # By address, as in a step: so the same code is compiled once.
    gaps(borrow(tree), q, R, p, S, o, np.empty((npt, 3)), np.empty((npt, 3)), np.zeros((tree.way_rows, 4)), h, A)
    keep(tree)


def gap_derivatives(figure: Figure, q: ArrayLike) -> tuple[Array, Array]:
    """Gaps [m] of all links of `figure` at `q` (in the order of Compiled.link_names), and ∂gap/∂q."""
    return link_gaps(figure.compiled.tree, configuration(figure, q))


def link_gaps(tree: FigureTree, q: Array) -> tuple[Array, Array]:
    """Gaps [m] of all links of `tree` at the configuration `q`, and ∂gap/∂q."""
    h, A = np.zeros(tree.n_links), np.zeros((tree.n_links, tree.n_q))
    _gaps(tree, q, h, A)
    return h, A


def compliances(figure: Figure, q: ArrayLike) -> Array:
    """How far each link of `figure` gives way at `q` [m/N]: 0 where it does not stretch."""
    links, at = figure.compiled.tree.links, configuration(figure, q)
    wound = links["length"] + np.where(links["variable"] >= 0, links["ratio"] * at[links["variable"]], 0.0)
    soft = links["stiffness"] > 0.0
    return np.where(soft, np.maximum(wound, 1e-3), 0.0) / np.where(soft, links["stiffness"], 1.0)
