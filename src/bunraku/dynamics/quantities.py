"""Mass matrix, momentum and energy of a figure at (q, v)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.lagrangian import fill_mass, momenta, slopes
from bunraku.dynamics.rollout import energy as energy_at
from bunraku.dynamics.variational import workspace
from bunraku.figure import Figure
from bunraku.figure.records import FigureTree
from bunraku.kernels.compile import kernel
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place

Array = NDArray[np.float64]


@kernel
def _momentum(tree, q, v, p):
    w = workspace(tree)
    joints, nm = tree.joints, tree.n_massive
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), w.R, w.p, w.S)
    for j in range(nm):
        w.v[j] = v[joints[j].variable]
    momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
    for j in range(nm):
        if joints[j].variable < tree.n_dynamic:
            p[joints[j].variable] = slopes(joints[j], j, g, 0.0, w.v[j], w.S, w.T, w.I, w.P)[1]


@kernel
def _mass_matrix(tree, q, M):
    w = workspace(tree)
    joints, nm = tree.joints, tree.n_massive
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), w.R, w.p, w.S)
    for j in range(nm):
        w.v[j] = 0.0
    momenta(joints, nm, w.v, w.R, w.p, w.S, w.V, w.T, w.B, w.I, w.P)
    fill_mass(joints, nm, w.S, w.T, w.I, w.P, M)


@kernel
def _energy(tree, q, v):
    w = workspace(tree)
    return energy_at(tree, w, (0.0, 0.0, 0.0), q, v)


def momentum(figure: Figure, q: ArrayLike, v: ArrayLike) -> Array:
    """∂L/∂v of the dynamic variables of `figure` at configuration `q` and velocities `v`."""
    p = np.zeros(figure.n_dynamic)
    _momentum(figure.compiled.tree, configuration(figure, q), configuration(figure, v), p)
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
    w = workspace(tree)
    place(tree.joints, 0, tree.joints.shape[0], q, (0.0, 0.0, 0.0), w.R, w.p, w.S)
    gaps(tree, q, w.R, w.p, w.S, (0.0, 0.0, 0.0), w.x, w.f, w.n, h, A)


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
