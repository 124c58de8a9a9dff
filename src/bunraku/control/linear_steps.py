"""The linearised steps of a motion, and the expansion of the cost along it, as arrays.

The state is x = (q, p, w): all variables, the momenta, the rates w of the kinematic variables. The inputs u are the next kinematic
variables and the chosen forces. With z = (δq, δp, δu), a small change propagates over one step as

    δ(q_dyn, p)₊ = F z        δq_kin₊ = S₁ z        δw₊ = (S₁ z − δq_kin)/dt

Only F (2n rows) is dense. S₀ and S₁ select the kinematic variables before and after the step, so the sweeps skip their zeros.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bunraku.kernels.compile import inline


class LinearSteps(NamedTuple):
    """The first derivative of every step of a motion."""

    D: Any
    """(N, outputs, inputs), from bunraku.dynamics.step_expansion."""
    E: Any
    """(1, n, chosen forces) dt · ∂F/∂u, the same for all steps; with pushes (N, n, chosen forces)."""
    turn: Any
    """(N, chosen forces, n_q) ∂E/∂q contracted with the adjoint; empty without pushes."""
    hands: Any
    """Indices of the chosen kinematic variables, among the kinematic ones."""
    shape: Any
    """(n, n_q, n_links): numbers of dynamic variables, all variables, links (strings, wires, loop constraints)."""
    dt: Any
    """Time step [s]."""
    share: Any
    """Share of a force's impulse that acts before a step; the rest acts after it."""


class Slopes(NamedTuple):
    """The cost along a motion to second order: gradients g…, diagonals h… of the Hessian."""

    gx: Any
    """(N + 1, states) gradient with respect to states."""
    hx: Any
    """(N + 1, states) Hessian with respect to states."""
    gu: Any
    """(N, inputs) gradient with respect to inputs."""
    hu: Any
    """(N, inputs) Hessian with respect to inputs."""
    gl: Any
    """(N, links) gradient with respect to impulses; empty if impulses have no cost."""
    hl: Any
    """(N, links) Hessian with respect to impulses; empty if impulses have no cost."""
    Hq: Any
    """(N + 1, n_q, n_q) dense Gauss–Newton Hessian with respect to q; empty if no term needs it."""
    bend: Any
    """(N + 1, n_q, n_q) the part of the Hessian with respect to q that Gauss–Newton leaves out; empty if no term needs it."""
    acceleration: Any
    """(kinematic variables,) weights of their accelerations, or empty."""
    end: Any
    """(states, states) Hessian of the terminal cost, or empty."""


@inline
def impulse(E, k):
    """The matrix E (impulse per unit of force input) of step k."""
    return E[k if E.shape[0] > 1 else 0]


@inline
def fill(D, k, E, hands, n, nq, nc, share, F):
    """F = ∂(q_dyn, p)₊/∂z of one step."""
    m, nh = nq + n, hands.shape[0]
    for r in range(2 * n):
        o = r if r < n else r + nc
        for j in range(m):
            F[r, j] = D[k, o, j]
        for a in range(nh):
            F[r, m + a] = D[k, o, m + hands[a]]
        for f in range(E.shape[1]):
            F[r, m + nh + f] = (1.0 - share) * E[r - n, f] if r >= n else 0.0
    for f in range(E.shape[1]):
        for i in range(n):
            if E[i, f] != 0.0:
                s = share * E[i, f]
                for r in range(2 * n):
                    F[r, m + nh + f] += s * D[k, r if r < n else r + nc, nq + i]


@inline
def fill_links(D, E, hands, n, nq, nc, share, G):
    """G = ∂λ/∂z of one step."""
    m, nh = nq + n, hands.shape[0]
    for c in range(nc):
        row = D[n + c]
        for j in range(m):
            G[c, j] = row[j]
        for a in range(nh):
            G[c, m + a] = row[m + hands[a]]
        for f in range(E.shape[1]):
            x = 0.0
            for i in range(n):
                x += E[i, f] * row[nq + i]
            G[c, m + nh + f] = share * x


@inline
def add_curvature(H, E, hands, n, nq, share, M):
    """M += H, transformed from (q0, p0, k1) to z: the impulse of a force adds to the momentum."""
    m, nh = nq + n, hands.shape[0]
    for i in range(m):
        for j in range(m):
            M[i, j] += H[i, j]
        for a in range(nh):
            x = H[i, m + hands[a]]
            M[i, m + a] += x
            M[m + a, i] += x
    for a in range(nh):
        for b in range(nh):
            M[m + a, m + b] += H[m + hands[a], m + hands[b]]
    for f in range(E.shape[1]):
        for i in range(n):
            if E[i, f] == 0.0:
                continue
            s = share * E[i, f]
            for j in range(m):
                x = s * H[nq + i, j]
                M[m + nh + f, j] += x
                M[j, m + nh + f] += x
            for a in range(nh):
                x = s * H[nq + i, m + hands[a]]
                M[m + nh + f, m + a] += x
                M[m + a, m + nh + f] += x
            for g in range(E.shape[1]):
                for k in range(n):
                    if E[k, g] != 0.0:
                        M[m + nh + f, m + nh + g] += s * share * E[k, g] * H[nq + i, nq + k]


@inline
def add_turns(turn, F, hands, n, nq, M):
    """M += δu·(∂E/∂q)·δq, with q at mid-step: the effect of a push depends on the configuration."""
    m, nh = nq + n, hands.shape[0]
    for f in range(turn.shape[0]):
        for j in range(F.shape[1]):
            x = 0.5 * turn[f, j] if j < nq else 0.0
            if m <= j < m + nh:
                x += 0.5 * turn[f, n + hands[j - m]]
            for i in range(n):
                x += 0.5 * turn[f, i] * F[i, j]
            M[m + nh + f, j] += x
            M[j, m + nh + f] += x
