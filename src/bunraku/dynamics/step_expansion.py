"""Exact derivatives of a step: first, and the second contracted with any number of covectors.

Outputs are (q1, λ, p1) of the dynamic variables and links, inputs x = (q0, p0, k1): all variables at the start, the
momentum, and the kinematic variables at the end. A force input enters like momentum. One row of weights serves optimal
control; the identity gives the full tensor, with no more memory than that takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.first_derivative import fresh_end, fresh_middle, linearise, look, middle_of
from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import ROLLOUT
from bunraku.dynamics.second_derivative import StepExpansion, curvature, fresh_tangents, prepare
from bunraku.dynamics.variational import workspace
from bunraku.figure.records import FigureTree
from bunraku.kernels.compile import borrow, keep, kernel, woven

Array = NDArray[Any]


@woven
def _read_states(states, w):
    for c in range(states.shape[0]):
        w.alive[c] = states[c] > 0
        w.slides[c] = states[c] > 1


@kernel
def _expand(tree, states, Q, L, U, dt, share, weights, D, H):
    """D and H of every step k of a motion, with its rows of weights (steps × rows × outputs)."""
    figure, lent, rest, tangents = borrow(tree), workspace(tree), fresh_middle(tree), fresh_tangents(tree, weights.shape[1] > 1)
    first, last = fresh_end(tree), fresh_end(tree)
    owned = states, Q, L, U, weights, D, H
    w, start, end, m, t, given = borrow(lent), borrow(first), borrow(last), borrow(rest), borrow(tangents), borrow(owned)
    states, Q, L, U, weights, D, H = given
    o = (0.0, 0.0, 0.0)
    kappa = total_mass(figure.joints) / dt
    for k in range(L.shape[0]):
        if k % ROLLOUT.origin_every == 0:
            o = middle_of(figure, w, Q[k])
            look(figure, w, o, Q[k], start)
        _read_states(states[k], w)
        rank, refined = linearise(
            figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, start, end, m, D[k], weights.shape[0] > 0
        )
        if weights.shape[0] > 0:
            X = StepExpansion(start, end, m, rank, refined)
            prepare(figure, w, end, t)
            for r in range(weights.shape[1]):
                curvature(figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, X, t, weights[k, r], H[k, r])
        start, end = end, start  # where one step ends, the next begins
    keep(tree)
    keep(owned)
    keep(lent)
    keep(first)
    keep(last)
    keep(rest)
    keep(tangents)


def expand(
    tree: FigureTree, states: Array, q0: Array, q1: Array, lam: Array, u: Array, dt: float, share: float, weights: Array, D: Array,
    H: Array,
) -> None:  # fmt: skip
    """Fills `D` (outputs × inputs) and `H[r]` = Σ_o weights[r, o] D²(output o) of one step; only D where `weights` has no rows.

    tree: the figure as kernels take it (`figure.compiled.tree`)
    states: of every link at the end of the step: 0 slack, 1 acting, 2 sliding
    q0: the configuration before
    q1: the configuration after
    lam: impulse of every link [N·s]
    u: force inputs [N or N·m]
    dt: the time step [s]
    share: share of a force's impulse that acts before the step
    """
    _expand(tree, states[None], np.stack([q0, q1]), lam[None], _own(u[None]), dt, share, weights[None], D[None], H[None])


def expand_along(
    tree: FigureTree, states: Array, Q: Array, L: Array, U: Array, dt: float, share: float, weights: Array, D: Array, H: Array
) -> None:
    """Fills `D` and, where there is a row of `weights` a step, `H` of every step k of a motion (see `expand`).

    The step goes from `Q[k]` to `Q[k + 1]` with impulses `L[k]`, force inputs `U[k]` and `states[k]` of the links; `tree`, `dt`
    and `share` are those of `expand`.
    """
    _expand(tree, states, Q, L, _own(U), dt, share, weights[:, None], D, H[:, None])


def _own(U: Array) -> Array:
    """Inputs that may be read only, such as those of a motion, as an array like all others: else numba compiles it all twice."""
    return np.require(U, requirements=["W"])
