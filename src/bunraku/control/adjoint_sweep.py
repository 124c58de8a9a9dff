"""The adjoint sweep, backward along a motion under feedback: gradient of the cost, and one covector per step output."""

from __future__ import annotations

from bunraku.control.linear_steps import impulse
from bunraku.kernels.compile import inline


@inline
def adjoint_step(k, steps, slopes, K, chi, row, weights, gradient):
    """Propagates χ, the derivative ∂cost/∂x, back over step k (*trep*, Lemma 3.1, and eq. 12: u = ū − K(x − x̄)).

    `gradient[k]` receives ∂cost/∂ū_k. `weights[k]` receives the covectors of the outputs (q₊, λ, p₊) of step k.
    Contracting the second derivative of the projection with them gives Dg·D²P(ζ, ζ) = Σ weights·D²step(ζ, ζ).
    """
    E, hands, i1, share, D = impulse(steps.E, k), steps.hands, 1.0 / steps.dt, steps.share, steps.D
    n, nq, nc = steps.shape
    nk, nh, nf, m, nx = nq - n, hands.shape[0], E.shape[1], nq + n, chi.shape[0]
    w = weights[k]
    for i in range(n):
        w[i] = chi[i]
        w[n + nc + i] = chi[nq + i]
    for c in range(nc):
        w[n + c] = slopes.gl[k, c] if slopes.gl.shape[0] > 0 else 0.0
    for j in range(2 * nq):
        row[j] = 0.0
    for o in range(2 * n + nc):
        x = w[o]
        if x != 0.0:
            for j in range(2 * nq):
                row[j] += x * D[k, o, j]
    for a in range(nh):
        gradient[k, a] = slopes.gu[k, a] + row[m + hands[a]] + chi[n + hands[a]] + chi[m + hands[a]] * i1
    for f in range(nf):
        x = slopes.gu[k, nh + f]
        for i in range(n):
            x += E[i, f] * (share * row[nq + i] + (1.0 - share) * w[n + nc + i])
        gradient[k, nh + f] = x
    for j in range(nk):
        row[n + j] -= chi[m + j] * i1
    for i in range(nx):
        x = slopes.gx[k, i] + (row[i] if i < m else 0.0)
        for a in range(nh + nf):
            x -= K[k, a, i] * gradient[k, a]
        chi[i] = x
