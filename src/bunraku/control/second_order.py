"""Derivatives of a motion to second order, in one backward pass over its steps.

At each step: linearise it, compute the gains of the projection, propagate the adjoint back under these gains, and contract the
second derivative of the step with it, while the factors of the linearisation are still in memory.
"""

from __future__ import annotations

import numpy as np

from bunraku.control.adjoint_sweep import adjoint_step
from bunraku.control.riccati import at_end, room, sweep
from bunraku.dynamics.first_derivative import fresh_end, fresh_middle, linearise, look, middle_of
from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import ROLLOUT
from bunraku.dynamics.second_derivative import StepExpansion, curvature, fresh_tangents
from bunraku.dynamics.variational import workspace
from bunraku.kernels.compile import borrow, keep, kernel


@kernel
def bend(tree, states, Q, L, U, steps, slopes, fresh, K, d, weights, gradient, H):
    """Fills steps.D; if `fresh`, Gauss–Newton gains K and feedforward d; the gradient ∂/∂ū under feedback with the gains; and
    H, the curvature of the steps contracted with the adjoint. Returns Σ d·gradient, NaN if the cost does not determine an input."""
    N, nc, dt, share = L.shape[0], L.shape[1], steps.dt, steps.share
    figure, lent, rest, tangents = borrow(tree), workspace(tree), fresh_middle(tree), fresh_tangents(tree)
    one, other, own = fresh_end(tree), fresh_end(tree), room(steps, slopes)
    nx = 2 * tree.n_q
    owned = states, Q, L, U, weights, H, steps.D, K, d, np.zeros((0, 0, 0)), np.empty(nx), np.empty(nx)
    w, m, t, start, end, given = borrow(lent), borrow(rest), borrow(tangents), borrow(one), borrow(other), borrow(owned)
    states, Q, L, U, weights, H, D, K, d, flat, chi, row = given
    o, total, r, s, a = (0.0, 0.0, 0.0), 0.0, borrow(own), borrow(steps), borrow(slopes)
    at_end(s, a, 0.0, 0.0, r.V, r.v)
    kappa = total_mass(figure.joints) / dt
    for i in range(nx):
        chi[i] = slopes.gx[N, i]
    for k in range(N - 1, -1, -1):
        if k == N - 1 or k % ROLLOUT.origin_every == 0:
            o = middle_of(figure, w, Q[k])
        for c in range(nc):
            w.alive[c] = states[k, c] > 0
            w.slides[c] = states[k, c] > 1
        look(figure, w, o, Q[k], start)
        rank, refined = linearise(figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, start, end, m, D[k], True)
        if fresh:
            failed, decrease = sweep(k + 1, k, s, a, flat, 0.0, 0.0, r, K, d)
            total += decrease if failed < 0 else np.nan
        adjoint_step(k, s, a, K, chi, row, weights, gradient)
        X = StepExpansion(start, end, m, rank, refined)
        curvature(figure, w, o, Q[k], Q[k + 1], L[k], U[k], dt, share, kappa, X, t, weights[k], H[k])
    keep(tree)
    keep(owned)
    keep(lent)
    keep(rest)
    keep(tangents)
    keep(one)
    keep(other)
    keep(own)
    keep(steps)
    keep(slopes)
    return total
