"""Exact derivatives of a step: first, and the second contracted with any number of covectors.

Outputs are (q1, λ, p1) of the dynamic variables and links, inputs x = (q0, p0, k1): all variables at the start, the
momentum, and the kinematic variables at the end. A force input enters like momentum. One row of weights serves optimal
control; the identity gives the full tensor, with no more memory than that takes.
"""

from __future__ import annotations

from bunraku.dynamics.first import fresh_end, fresh_middle, linearise, look
from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.second import Expansion, curvature, fresh_tangents
from bunraku.dynamics.variational import workspace
from bunraku.spatial.kernel import borrow, inline, keep, kernel


@inline
def _read_states(states, w):
    for c in range(states.shape[0]):
        w.alive[c] = states[c] > 0
        w.slides[c] = states[c] > 1


@kernel
def expand(tree, states, q0, q1, lam, u, dt, share, weights, D, H):
    """D (outputs × inputs) and H[r] = Σ_o weights[r, o] D²(output o). No rows: the first derivative alone.

    `states` are those of the links at the end of the step: 0 slack, 1 acting, 2 sliding.
    """
    figure, lent, first, last, rest = borrow(tree), workspace(tree), fresh_end(tree), fresh_end(tree), fresh_middle(tree)
    owned = states, q0, q1, lam, u, weights, D, H
    w, start, end, m, given = borrow(lent), borrow(first), borrow(last), borrow(rest), borrow(owned)
    states, q0, q1, lam, u, weights, D, H = given
    o = (0.0, 0.0, 0.0)
    _read_states(states, w)
    kappa = total_mass(figure.joints) / dt
    look(figure, w, o, q0, start)
    linearise(figure, w, o, q0, q1, lam, u, dt, share, kappa, start, end, m, D)
    if weights.shape[0] > 0:
        tangents = fresh_tangents(figure)
        t = borrow(tangents)
        X = Expansion(start, end, m.N, m.p1, D)
        for r in range(weights.shape[0]):
            curvature(figure, w, o, lam, u, dt, share, kappa, X, t, weights[r], H[r])
        keep(tangents)
    keep(tree)
    keep(owned)
    keep(lent)
    keep(first)
    keep(last)
    keep(rest)


@kernel
def expand_along(tree, states, Q, L, U, dt, share, weights, D, H):
    """D and, for a row of weights a step, H of every step k of a motion, from Q[k] to Q[k + 1] with impulses L[k]."""
    figure, lent, rest, tangents = borrow(tree), workspace(tree), fresh_middle(tree), fresh_tangents(tree)
    first, last = fresh_end(tree), fresh_end(tree)
    owned = states, Q, L, U, weights, D, H
    w, start, end, m, t, given = borrow(lent), borrow(first), borrow(last), borrow(rest), borrow(tangents), borrow(owned)
    states, Q, L, U, weights, D, H = given
    o = (0.0, 0.0, 0.0)
    kappa = total_mass(figure.joints) / dt
    look(figure, w, o, Q[0], start)
    for k in range(L.shape[0]):
        _read_states(states[k], w)
        linearise(figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, start, end, m, D[k])
        if weights.shape[0] > 0:
            X = Expansion(start, end, m.N, m.p1, D[k])
            curvature(figure, w, o, L[k], U[k], dt, share, kappa, X, t, weights[k], H[k])
        start, end = end, start  # where one step ends, the next begins
    keep(tree)
    keep(owned)
    keep(lent)
    keep(first)
    keep(last)
    keep(rest)
    keep(tangents)
