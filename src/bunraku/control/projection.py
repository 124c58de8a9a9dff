"""The projection operator P_d (*trep*, eq. 12): maps any curve of states and inputs to a motion that satisfies the dynamics.

x₀ = x̄₀,  x₊ = f(x, u),  u = ū − K(x − x̄): a rollout with feedback. It is a projection: a curve that satisfies the dynamics is
mapped to itself (Lemma 3.1, which prints a plus before K; the minus of eq. 12 is right).
"""

from __future__ import annotations

import numpy as np

from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import ROLLOUT, STEP_BITS, advance
from bunraku.dynamics.variational import begin, workspace
from bunraku.kernels.compile import borrow, keep, kernel
from bunraku.kinematics.tree import place


@kernel
def project(tree, states0, X, U, K, hands, thrusts, dt, share, tolerance, Xo, Uo, L, states, bits):
    """The motion (Xo, Uo) that follows the curve (X, U) with gains K. Returns the number of steps before the first failure.

    U has all kinematic variables and all forces; K corrects those in `hands` and `thrusts`. `states0` are the states of the links
    (strings, wires, loop constraints) before the first step.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    nk, m, nh, nf = nq - n, nq + n, hands.shape[0], thrusts.shape[0]
    nx = m + nk
    figure, lent = borrow(tree), workspace(tree)
    w = borrow(lent)
    kappa = total_mass(figure.joints) / dt
    q, q1, p1, lam, u, dx = np.empty((3, n)), np.empty(nq), np.empty(n), np.zeros(nc), np.zeros(U.shape[1] - nk), np.empty(nx)
    for c in range(nc):
        w.alive[c] = states0[c] > 0
    for i in range(nx):
        Xo[0, i] = X[0, i]
    for i in range(n):
        q[0, i] = q[1, i] = q[2, i] = 0.0
    origin = (0.0, 0.0, 0.0)
    done = 0
    for k in range(U.shape[0]):
        if k % ROLLOUT.origin_every == 0:
            place(figure.joints, 0, figure.joints.shape[0], Xo[k], (0.0, 0.0, 0.0), w.R, w.p, w.S)
            last = max(tree.n_massive - 1, 0)
            origin = (w.p[last, 0], w.p[last, 1], w.p[last, 2])
            begin(figure, w, origin, Xo[k, :nq])
        for i in range(nx):
            dx[i] = Xo[k, i] - X[k, i]
        for i in range(U.shape[1]):
            Uo[k, i] = U[k, i]
        if K.shape[0] > 0:
            for a in range(nh + nf):
                x = 0.0
                for i in range(nx):
                    x += K[k, a, i] * dx[i]
                Uo[k, hands[a] if a < nh else nk + thrusts[a - nh]] -= x
        for i in range(u.shape[0]):
            u[i] = Uo[k, nk + i]
        for i in range(n):  # first guess: the curve plus the extrapolated deviation from it
            q1[i] = X[k + 1, i] + 3.0 * (q[0, i] - q[1, i]) + q[2, i]
        for i in range(nk):
            q1[n + i] = Uo[k, i]
        here = Xo[k, :nq]
        bits[k] = advance(figure, w, origin, here, Xo[k, nq:m], u, dt, share, kappa, q1, lam, p1, tolerance)
        if bits[k] & (STEP_BITS.held | STEP_BITS.frozen | STEP_BITS.divided):  # such a step has no derivative
            break
        largest = 0.0
        for i in range(nq):
            Xo[k + 1, i] = q1[i]
            largest = max(largest, abs(q1[i]))
        for i in range(n):
            Xo[k + 1, nq + i] = p1[i]
            largest = max(largest, abs(p1[i]))
        for i in range(nk):
            Xo[k + 1, m + i] = (q1[n + i] - here[n + i]) / dt
        for c in range(nc):
            L[k, c] = lam[c]
            states[k, c] = w.alive[c] + w.slides[c]
        if not largest < 1e4:  # [rad, m, or their momenta] the rollout diverges
            break
        for i in range(n):
            q[2, i] = q[1, i]
            q[1, i] = q[0, i]
            q[0, i] = q1[i] - X[k + 1, i]
        done += 1
    keep(tree)
    keep(lent)
    return done
