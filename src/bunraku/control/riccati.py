"""The Riccati sweep, backward along a linearised motion: one compiled call.

With cost-to-go V, v after a step, the Hessian over z = (q, p, u) is M = Tᵀ V T + cost, where T is the linearised step. The inputs
are eliminated by M_uu⁻¹:

    δu = −d − K δx,    K = M_uu⁻¹ M_ux,    d = M_uu⁻¹ m_u,    V ← M_xx − M_xu K,    v ← m_x − M_xu d
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.control.linear_steps import add_curvature, add_turns, fill, fill_links, impulse
from bunraku.kernels.compile import borrow, inline, keep, kernel, unit, woven
from bunraku.spatial.linalg import cholesky, cholesky_solve_rows


@woven
def _kinematic_blocks(V, hands, n, nq, i1, M):
    """M += the part of the cost-to-go that depends on (k₊, w₊) only: k₊ = S₁ z, w₊ = (S₁ z − q_kin)/dt."""
    nk, m, nh, i2 = nq - n, nq + n, hands.shape[0], i1 * i1
    for i in range(nk):
        for j in range(nk):
            M[n + i, n + j] += V[m + i, m + j] * i2
    for a in range(nh):
        ka = hands[a]
        for j in range(nk):
            x = -i1 * (V[n + ka, m + j] + i1 * V[m + ka, m + j])
            M[m + a, n + j] += x
            M[n + j, m + a] += x
        for b in range(nh):
            kb = hands[b]
            M[m + a, m + b] += V[n + ka, n + kb] + i1 * (V[n + ka, m + kb] + V[m + ka, n + kb]) + i2 * V[m + ka, m + kb]


class RiccatiWork(NamedTuple):
    """Scratch arrays of the sweep; z = (q, p, u)."""

    F: Any
    """(2n, z) ∂(q_dyn, p)₊/∂z of the step."""
    Y: Any
    """(2n, z) Y: the cost-to-go applied to F."""
    M: Any
    """(z, z) Hessian of the step and all that follows."""
    Vdd: Any
    """(2n, 2n) half of the dynamic block of V."""
    mz: Any
    """(z,) the gradient m."""
    Ux: Any
    """(inputs, states + 1) right-hand sides of the elimination."""
    V: Any
    """(states, states) Hessian V of the cost-to-go."""
    v: Any
    """(states,) gradient v of the cost-to-go."""
    A: Any
    """(inputs, inputs) M_uu, then its factor."""
    cross: Any
    """(inputs, states) M_ux."""
    product: Any
    """(states, states) M_xu K."""
    G: Any
    """(links, z) G = ∂λ/∂z, used if impulses λ have a cost."""
    Gw: Any
    """(links, z) G times weights."""


@inline
def room(steps, slopes):
    """Scratch arrays for a sweep along these steps."""
    n, nq, nc = steps.shape
    nu = steps.hands.shape[0] + steps.E.shape[2]
    nx, nz, links = 2 * nq, nq + n + nu, nc if slopes.hl.shape[0] > 0 else 0
    return RiccatiWork(
        F=np.empty((2 * n, nz)), Y=np.empty((2 * n, nz)), M=np.empty((nz, nz)), Vdd=np.empty((2 * n, 2 * n)), mz=np.empty(nz),
        Ux=np.empty((nu, nx + 1)), V=np.zeros((nx, nx)), v=np.empty(nx), A=np.empty((nu, nu)), cross=np.empty((nu, nx)),
        product=np.empty((nx, nx)), G=np.empty((links, nz)), Gw=np.empty((links, nz)),
    )  # fmt: skip


@inline
def at_end(steps, slopes, mu, bends, V, v):
    """The cost-to-go at the last sample: the cost of that sample."""
    nx, nq, N, more = v.shape[0], steps.shape[1], slopes.gx.shape[0] - 1, 1.0 + mu
    for i in range(nx):
        v[i] = slopes.gx[N, i]
        V[i, i] = more * slopes.hx[N, i]
    if slopes.end.shape[0] > 0:
        for i in range(nx):
            for j in range(nx):
                V[i, j] += more * slopes.end[i, j]
    if slopes.Hq.shape[0] > 0:
        for i in range(nq):
            for j in range(nq):
                V[i, j] += more * slopes.Hq[N, i, j] + bends * slopes.bend[N, i, j]


@kernel
def riccati(steps, slopes, H, mu, shift, K, d, first):
    """Gains K and feedforward d of the LQ problem along the motion: δu = −d − K δx.

    With H, the curvature of the steps, the Hessian is exact; without it, it is the Gauss–Newton Hessian. The Gauss–Newton part is
    multiplied by 1 + μ, which keeps the change small if the curvature is negative. `shift` times its diagonal is added to the
    Hessian of the inputs. Returns (−1, Σ d·gradient) if the problem is convex. Otherwise, the first number is the step at which
    the Hessian of the inputs is not positive definite. `first` receives the cost-to-go at the start: its matrix and, in the last
    column, its gradient.
    """
    own = room(steps, slopes)
    r, s, a = borrow(own), borrow(steps), borrow(slopes)
    at_end(s, a, mu, 1.0 if H.shape[0] > 0 else 0.0, r.V, r.v)
    failed, total = sweep(steps.D.shape[0], 0, s, a, H, mu, shift, r, K, d)
    if failed < 0:
        nx = r.v.shape[0]
        for i in range(nx):
            first[i, nx] = r.v[i]
            for j in range(nx):
                first[i, j] = r.V[i, j]
    keep(own)
    keep(steps)
    keep(slopes)
    return failed, total


@unit("int64, float64", allocates=True)
def sweep(last, first, steps, slopes, H, mu, shift, r, K, d):
    """Carries the cost-to-go r.V, r.v from sample `last` back to sample `first`.

    Callers that have linearised all steps call it once; those that linearise on the way call it for each step.
    """
    hands, share, gx, hx, Ra = steps.hands, steps.share, slopes.gx, slopes.hx, slopes.acceleration
    F, Y, M, Vdd, mz, Ux, V, v = r.F, r.Y, r.M, r.Vdd, r.mz, r.Ux, r.V, r.v
    A, cross, product, G, Gw = r.A, r.cross, r.product, r.G, r.Gw
    n, nq, nc = steps.shape
    m, nu, i1, more = nq + n, A.shape[0], 1.0 / steps.dt, 1.0 + mu
    total = 0.0
    for k in range(last - 1, first - 1, -1):
        E = impulse(steps.E, k)
        fill(steps.D, k, E, hands, n, nq, nc, share, F)
        # M = Tᵀ V T and m = Tᵀ v. Dense rows first: Y = ½ V_dd F + V_d,kin S₁ + V_dw (S₁ − S₀)/dt
        _halve(V, n, nq, Vdd)
        np.dot(Vdd, F, Y)
        _add_kinematic(V, hands, n, nq, i1, Y)
        np.dot(F.T, Y, M)
        _pull_back(V, v, F, hands, n, nq, i1, M, mz)
        _add_cost(slopes, k, more, 1.0 if H.shape[0] > 0 else 0.0, m, nq, nu, M, mz)
        if G.shape[0] > 0:
            fill_links(steps.D[k], E, hands, n, nq, nc, share, G)
            _add_tension(slopes.gl[k], slopes.hl[k], more, G, Gw, M, mz)
        if H.shape[0] > 0:
            add_curvature(H[k], E, hands, n, nq, share, M)
            if steps.turn.shape[0] > 0:
                add_turns(steps.turn[k], F, hands, n, nq, M)
        if Ra.shape[0] > 0:
            _add_acceleration(Ra, hands, more * i1**4, n, m, M)
        _split(M, Ra, hands, more * i1**3, m, A, cross)
        if not _eliminate(shift, mz, m, A, cross, Ux, k, K, d):
            return k, total
        for a in range(nu):
            total += d[k, a] * mz[m + a]
        np.dot(cross.T, K[k], product)
        _step_back(gx, hx, k, Ra, more, i1, M, mz, n, m, cross, d, product, V, v)
    return -1, total


@woven
def _halve(V, n, nq, Vdd):
    """½ V_dd."""
    for i in range(2 * n):
        ri = i if i < n else i + nq - n
        for j in range(2 * n):
            Vdd[i, j] = 0.5 * V[ri, j if j < n else j + nq - n]


@woven
def _add_kinematic(V, hands, n, nq, i1, Y):
    """Y += V_d,kin S₁ + V_dw (S₁ − S₀)/dt."""
    nk, m = nq - n, nq + n
    for i in range(2 * n):
        ri = i if i < n else i + nk
        for j in range(nk):
            Y[i, n + j] -= V[ri, m + j] * i1
        for a in range(hands.shape[0]):
            Y[i, m + a] += V[ri, n + hands[a]] + V[ri, m + hands[a]] * i1


@woven
def _pull_back(V, v, F, hands, n, nq, i1, M, mz):
    """M = Tᵀ V T from Fᵀ Y, which is half of its dense part; m = Tᵀ v."""
    nk, m = nq - n, nq + n
    for i in range(M.shape[0]):
        for j in range(i + 1):
            x = M[i, j] + M[j, i]
            M[i, j] = x
            M[j, i] = x
    _kinematic_blocks(V, hands, n, nq, i1, M)
    for j in range(M.shape[0]):
        x = 0.0
        for i in range(n):
            x += F[i, j] * v[i] + F[n + i, j] * v[nq + i]
        mz[j] = x
    for j in range(nk):
        mz[n + j] -= v[m + j] * i1
    for a in range(hands.shape[0]):
        mz[m + a] += v[n + hands[a]] + v[m + hands[a]] * i1


@woven
def _add_cost(slopes, k, more, bends, m, nq, nu, M, mz):
    """Adds the cost of step k by state and input."""
    for i in range(m):
        mz[i] += slopes.gx[k, i]
        M[i, i] += more * slopes.hx[k, i]
    for a in range(nu):
        mz[m + a] += slopes.gu[k, a]
        M[m + a, m + a] += more * slopes.hu[k, a]
    if slopes.Hq.shape[0] > 0:
        for i in range(nq):
            for j in range(nq):
                M[i, j] += more * slopes.Hq[k, i, j] + bends * slopes.bend[k, i, j]


@inline
def _add_tension(g, h, more, G, Gw, M, mz):
    """Adds the cost of impulses λ = G z."""
    for c in range(G.shape[0]):
        for j in range(G.shape[1]):
            Gw[c, j] = more * h[c] * G[c, j]
            mz[j] += g[c] * G[c, j]
    M += np.dot(G.T, Gw)


@woven
def _add_acceleration(Ra, hands, scale, n, m, M):
    """Adds the Hessian of ½ Ra (S₁ z − q_kin − dt w)²/dt⁴ with respect to z; its gradient is already in gx and gu."""
    for j in range(Ra.shape[0]):
        M[n + j, n + j] += scale * Ra[j]
    for a in range(hands.shape[0]):
        x = scale * Ra[hands[a]]
        M[m + a, m + a] += x
        M[m + a, n + hands[a]] -= x
        M[n + hands[a], m + a] -= x


@woven
def _split(M, Ra, hands, scale, m, A, cross):
    """M_uu, and M_ux with the columns of w, on which only the cost of accelerations depends."""
    for a in range(A.shape[0]):
        for j in range(m):
            cross[a, j] = M[m + a, j]
        for j in range(m, cross.shape[1]):
            cross[a, j] = 0.0
        for b in range(A.shape[0]):
            A[a, b] = M[m + a, m + b]
    if Ra.shape[0] > 0:
        for a in range(hands.shape[0]):
            cross[a, m + hands[a]] = -scale * Ra[hands[a]]


@woven
def _eliminate(shift, mz, m, A, cross, Ux, k, K, d):
    """K = M_uu⁻¹ M_ux and d = M_uu⁻¹ m_u; False if M_uu is not positive definite."""
    nu, nx = cross.shape
    for a in range(nu):
        A[a, a] += shift * abs(A[a, a])
        for j in range(nx):
            Ux[a, j] = cross[a, j]
        Ux[a, nx] = mz[m + a]
    if not cholesky(A, nu):
        return False
    cholesky_solve_rows(A, nu, Ux)
    for a in range(nu):
        for j in range(nx):
            K[k, a, j] = Ux[a, j]
        d[k, a] = Ux[a, nx]
    return True


@woven
def _step_back(gx, hx, k, Ra, more, i1, M, mz, n, m, cross, d, product, V, v):
    """V ← M_xx − M_xu K, v ← m_x − M_xu d; the part of w, which is not in M, comes from the cost of the step."""
    accelerates, i2 = Ra.shape[0] > 0, i1 * i1
    for i in range(v.shape[0]):
        for j in range(i + 1):
            x = 0.5 * (product[i, j] + product[j, i])
            y = 0.0
            if i < m:
                y = 0.5 * (M[i, j] + M[j, i])
            elif i == j:
                y = more * (hx[k, i] + (Ra[i - m] * i2 if accelerates else 0.0))
            elif accelerates and j == n + i - m:
                y = more * Ra[i - m] * i1 * i2
            V[i, j] = y - x
            V[j, i] = y - x
        x = mz[i] if i < m else gx[k, i]
        for a in range(d.shape[1]):
            x -= cross[a, i] * d[k, a]
        v[i] = x
