"""Coulomb friction of a contact inside the step.

The point of a contact slips by s = (s₁, s₂) along its plane within the step; friction answers with the impulse λ_t, |λ_t| ≤
μ λ_n: opposed to s where it slides, whatever holds s at 0 where it sticks. With y = λ_t + κ s both cases are one equation,

    λ_t = y                     |y| ≤ μ λ_n    (sticks: s = 0)
    λ_t = μ λ_n y/|y|           otherwise      (slides)

(Alart and Curnier), piecewise smooth, and solved with the step. The two slips of a contact are the links behind its normal.
"""

from __future__ import annotations

import math

from bunraku.spatial.kernel import inline


@inline
def slips(friction, kappa, normal, lam, h0, h):
    """(whether it slides, y₁, y₂, |y|, radius μ λ_n) of the contact whose normal is link `normal`."""
    a, b = normal + 1, normal + 2
    y1, y2 = lam[a] + kappa * (h[a] - h0[a]), lam[b] + kappa * (h[b] - h0[b])
    size, radius = math.sqrt(y1 * y1 + y2 * y2), friction * max(lam[normal], 0.0)
    return size > radius, y1, y2, size, radius


@inline
def slip_row(friction, kappa, normal, c, lam, h0, h):
    """λ_t − μ λ_n y/|y| of slip c of a sliding contact."""
    _, y1, y2, size, radius = slips(friction, kappa, normal, lam, h0, h)
    return lam[c] - radius * (y1 if c == normal + 1 else y2) / size


@inline
def slip_turn(y1, y2, size, radius):
    """radius · ∂(y/|y|)/∂y as (11, 12, 22)."""
    f = radius / (size * size * size)
    return f * y2 * y2, -f * y1 * y2, f * y1 * y1


@inline
def slip_rows(friction, kappa, normal, lam, h0, h, A, n, K):
    """Rows of a sliding contact in K: by q1 through A, by the impulses, and by the normal impulse."""
    a, b = normal + 1, normal + 2
    _, y1, y2, size, radius = slips(friction, kappa, normal, lam, h0, h)
    m11, m12, m22 = slip_turn(y1, y2, size, radius)
    for j in range(n):
        A1, A2 = A[a, j], A[b, j]
        K[n + a, j] = -kappa * (m11 * A1 + m12 * A2)
        K[n + b, j] = -kappa * (m12 * A1 + m22 * A2)
    K[n + a, n + a], K[n + a, n + b] = 1.0 - m11, -m12
    K[n + b, n + a], K[n + b, n + b] = -m12, 1.0 - m22
    if lam[normal] > 0.0:
        K[n + a, n + normal] = -friction * y1 / size
        K[n + b, n + normal] = -friction * y2 / size
