"""The continuous mixed dynamic–kinematic model (*marionettes*, eq. 1–12).

Given are (q, v), the accelerations of the kinematic variables, and the force inputs. (The paper's eq. 12 writes accelerations
too; the *velocities* are the inputs, and must be continuous.) Find the accelerations a of the dynamic variables and the tensions
τ with

    d/dt L_v − L_q − F + Aᵀ τ = 0             d/dt L_v = D(L_v)[(v, a)]
    A a + vᵀ gap_qq v = 0                     for the links that are taut

τ > 0 pulls the hook toward the spindle. The derivative of d/dt L_v is the tangent of the Hessian of L along (v, a), so first
derivatives take one more recursion. Second derivatives are complex steps of the first: every kernel here takes complex numbers, and
Im f(x + ih)/h with h = 1e-30 is the derivative up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.dynamics.acceleration import mixed
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AccelerationAndTension:
    """Accelerations of the dynamic variables and tensions of the links."""

    a: Array
    """Of the dynamic variables [rad/s² or m/s²]."""
    tension: Array
    """Of every link [N]; 0 where slack."""
    states: NDArray[np.int8]
    """Of every link: 1 taut, 0 slack."""

    __repr__ = brief


def _inputs(
    figure: Figure, q: ArrayLike, v: ArrayLike, kinematic: ArrayLike | None, forces: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    nk = figure.n_q - figure.n_dynamic
    ak = np.zeros(nk) if kinematic is None else np.ascontiguousarray(kinematic, float)
    u = np.zeros(len(figure.forces)) if forces is None else np.ascontiguousarray(forces, float)
    if ak.shape != (nk,) or u.shape != (len(figure.forces),):
        raise BunrakuError(f"{figure.name} has {nk} kinematic variables and {len(figure.forces)} force inputs")
    return configuration(figure, q), configuration(figure, v), ak, u


def acceleration(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> AccelerationAndTension:  # fmt: skip
    """Accelerations and tensions at (`q`, `v`).

    figure: what moves
    kinematic: accelerations of the kinematic variables, zero by default
    forces: force inputs [N or N·m], zero by default
    states: of every link, 1 taut or 0 slack; all are taut by default
    """
    tree = figure.compiled.tree
    q_, v_, ak, u = _inputs(figure, q, v, kinematic, forces)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    out = np.empty(figure.n_dynamic + len(tree.links))
    mixed(tree, taut, q_, v_, ak, u, out, np.zeros((0, 0)))
    return AccelerationAndTension(out[: figure.n_dynamic], out[figure.n_dynamic :], taut)


def acceleration_derivative(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """∂(a, τ)/∂(q, v, a_K, u), with a_K the accelerations of the kinematic variables and u the force inputs.

    `figure`, `q`, `v`, `kinematic` (a_K), `forces` (u) and `states` are those of `acceleration`.
    """
    tree = figure.compiled.tree
    q_, v_, ak, u = _inputs(figure, q, v, kinematic, forces)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    rows = figure.n_dynamic + len(tree.links)
    D = np.empty((rows, 2 * figure.n_q + len(ak) + len(u)))
    mixed(tree, taut, q_, v_, ak, u, np.empty(rows), D)
    return D


def acceleration_second_derivative(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """∂²(a, τ)/∂(q, v, a_K, u)², (outputs, inputs, inputs); outputs and inputs as in `acceleration_derivative`.

    `figure`, `q`, `v`, `kinematic` (a_K), `forces` (u) and `states` are those of `acceleration`.
    """
    tree = figure.compiled.tree
    x = np.concatenate(_inputs(figure, q, v, kinematic, forces)).astype(complex)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    rows, nq = figure.n_dynamic + len(tree.links), figure.n_q
    cuts = np.cumsum([nq, nq, nq - figure.n_dynamic])
    out, D = np.empty(rows, complex), np.empty((rows, len(x)), complex)
    H = np.empty((rows, len(x), len(x)))
    for k in range(len(x)):
        x[k] += 1e-30j
        q_, v_, ak, u = (np.ascontiguousarray(part) for part in np.split(x, cuts))
        mixed(tree, taut, q_, v_, ak, u, out, D)
        H[:, :, k] = D.imag * 1e30
        x[k] = x[k].real
    return H
