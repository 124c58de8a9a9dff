"""Slips of several contacts of two bodies, measured in one plane, so that they never contradict each other.

Two points of a face that comes down on another, tilted by θ, move apart along it by a share θ²/2 of their distance: they cannot
both stay where they are, though nothing slips. Seen from body b, a point x of body a moves from x₀ to x₁, by

    x₁ − x₀ = D + φ × (x₀ + x₁)/2                  D and φ (Cayley's vector of the turn) the same for all points

so along the surface, with h the height above a plane of b with the normal n,

    x₁ − x₀ = D_t + φ_n n × (x₀ + x₁)/2 + (φ_t × n) (h₀ + h₁)/2.

The last term is that of the turn which closes the gap. With the same height H in place of (h₀ + h₁)/2 for all contacts, slips are
zero together: where D_t + (φ_t × n) H = 0 and φ_n = 0. With m the direction fixed in a that is n at q0, φ_t × n = 2 m_t/(1 + n·m)
where φ_n is zero, which gives the slip along u

    s = u·d − (u·m) (n·d + c)/(1 + n·m),           d = x − y,   c = h₀ − 2 H

for any y that is fixed in b. Friction then acts at the height H.

The points of such a link are x, y, u, n, m; c is its length.
"""

from __future__ import annotations

from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.wrapping import way_row
from bunraku.kinematics.wrapping_derivatives import MOVE, PULL
from bunraku.spatial.algebra import axpy3, dot3, get3, put3, scale3, sub3


@woven
def _terms(link, x):
    """d, u, n, m, then a = (u·m)/(1 + n·m) and b = (n·d + c)/(1 + n·m)."""
    k = link.first
    d, u, n, m = sub3(get3(x, k), get3(x, k + 1)), get3(x, k + 2), get3(x, k + 3), get3(x, k + 4)
    whole = 1.0 / (1.0 + dot3(n, m))
    return d, u, n, m, dot3(u, m) * whole, (dot3(n, d) + link.length) * whole, whole


@bare
def shared_slip_pulls(link, x, f):
    """f_k of every point. Returns the slip."""
    k = link.first
    d, u, n, m, a, b, whole = _terms(link, x)
    put3(f, k, axpy3(-a, n, u))
    put3(f, k + 1, axpy3(a, n, scale3(-1.0, u)))
    put3(f, k + 2, axpy3(-b, m, d))
    put3(f, k + 3, axpy3(a * b, m, scale3(-a, d)))
    put3(f, k + 4, axpy3(a * b, n, scale3(-b, u)))
    return dot3(u, d) - a * b / whole


@bare
def shared_slip_bend(link, points, x, n):
    """PULL: how the pulls of a link change where its points move by MOVE."""
    k = link.first
    d, u, e, m, a, b, whole = _terms(link, x)
    dd = sub3(get3(n, way_row(points, MOVE, k)), get3(n, way_row(points, MOVE, k + 1)))
    du, de, dm = get3(n, way_row(points, MOVE, k + 2)), get3(n, way_row(points, MOVE, k + 3)), get3(n, way_row(points, MOVE, k + 4))
    dwhole = dot3(de, m) + dot3(e, dm)
    da = whole * (dot3(du, m) + dot3(u, dm) - a * dwhole)
    db = whole * (dot3(de, d) + dot3(e, dd) - b * dwhole)
    dab = da * b + a * db
    along = axpy3(-da, e, axpy3(-a, de, du))
    put3(n, way_row(points, PULL, k), along)
    put3(n, way_row(points, PULL, k + 1), scale3(-1.0, along))
    put3(n, way_row(points, PULL, k + 2), axpy3(-db, m, axpy3(-b, dm, dd)))
    put3(n, way_row(points, PULL, k + 3), axpy3(-da, d, axpy3(-a, dd, axpy3(dab, m, scale3(a * b, dm)))))
    put3(n, way_row(points, PULL, k + 4), axpy3(-db, u, axpy3(-b, du, axpy3(dab, e, scale3(a * b, de)))))
