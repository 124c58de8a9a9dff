"""Derivatives of a step with strings that rub: what they add to the derivatives of strings that run freely.

Letters are those of bunraku.dynamics.capstan: read that first. A place that sticks has the row s = H(q1) − H(q0). One that slips
has R = z·tight − loose, which depends on the impulses and, through z = e^{−μφ}, on q0: with x = μφ, R_x = −z·tight and
R_xx = z·tight.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.dynamics.capstan import CAPSTAN, exponents, tight_loose
from bunraku.kernels.compile import bare, inline, woven
from bunraku.kinematics.wrap_angle import angle_gradient, angle_hessian, rubs


@woven
def _side(c, lam):
    return 1.0 if lam[c] > 0.0 else -1.0


@woven
def _in_tight(links, k, c, side):
    """∂tight/∂λ_k at link c."""
    if k == c:
        return 1.0 if side > 0.0 else 0.0
    return 1.0 if k == links[c].normal or (k < c and links[k].normal == links[c].normal and rubs(links[k])) else 0.0


@woven
def _in_loose(links, k, c, side):
    """∂loose/∂λ_k at link c."""
    return _in_tight(links, k, c, -side)


@bare
def look_at_angles(tree, w, start, slope):
    """μφ at q0 in w.exponent, and slope[c] = μ φ_q of the places that slip."""
    exponents(tree, start.f, start.n, w.exponent)
    for c in range(tree.links.shape[0]):
        if rubs(tree.links[c]) and w.slides[c]:
            own = slope[c]
            angle_gradient(tree, c, start.S, start.x, start.f, start.n, own)
            rate = tree.links[c].friction if w.exponent[c] < CAPSTAN.max_exponent else 0.0
            for k in range(tree.n_q):
                own[k] *= rate


@bare
def rubbing_rows(tree, w, lam, start, end, slope, K, X):
    """The rows of strings that rub: ∂row/∂(d, λ) in K, in which `border` has written s, and −∂row/∂x in X."""
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    for c in range(nc):
        if not rubs(tree.links[c]) or not w.alive[c]:
            continue
        if not w.slides[c]:
            for k in range(nq):
                X[n + c, k] = start.A[c, k]
                X[n + c, nq + k] = 0.0
            for k in range(nq):
                X[n + c, k if k < n else nq + k] -= end.A[c, k]
            continue
        side, z = _side(c, lam), math.exp(-w.exponent[c])
        tight, _ = tight_loose(tree.links, c, lam, side)
        for j in range(n):
            K[n + c, j] = 0.0
        for k in range(nc):
            if w.alive[k]:
                K[n + c, n + k] = z * _in_tight(tree.links, k, c, side) - _in_loose(tree.links, k, c, side)
        for k in range(nq):
            X[n + c, k] = z * tight * slope[c, k]
            X[n + c, nq + k] = 0.0


@inline
def rubbing_curvature(tree, w, lam, X, nu, slope, half):
    """Adds to Φ of places that slip: Φ_ss to `half` (half of it) and −Φ_λs to `slope`."""
    n, nq, links = tree.n_dynamic, tree.n_q, tree.links
    H, gradient = np.empty((nq, nq)), np.empty(nq)
    for c in range(tree.n_links):
        if not rubs(links[c]) or not w.alive[c] or not w.slides[c]:
            continue
        s, own, side, z = X.start, X.m.slope[c], _side(c, lam), math.exp(-w.exponent[c])
        tight, _ = tight_loose(links, c, lam, side)
        rate = links[c].friction if w.exponent[c] < CAPSTAN.max_exponent else 0.0
        for k in range(nq):
            gradient[k] = own[k] / rate if rate > 0.0 else 0.0
        angle_hessian(tree, c, s.S, s.x, s.f, s.n, gradient, H)
        weight = 0.5 * nu[n + c] * z * tight
        for i in range(nq):
            for j in range(nq):
                half[i, j] += weight * (own[i] * own[j] - rate * H[i, j])
        for k in range(tree.n_links):
            by = nu[n + c] * z * _in_tight(links, k, c, side)
            if by != 0.0:
                for i in range(nq):
                    slope[k, i] += by * own[i]
