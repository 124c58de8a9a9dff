"""Gaps between the rim of a cylinder and a point, a line or another rim, each of which may have a radius around it.

Feature b is the rim about c with the unit axis a and a point c + m where the search begins; ρ = |m|. Feature a is the line through
x_a along the unit vector e, the point x_a where e is zero, or a rim as well. With the nearest points p_a and p_b of the two, and
the tangents t there,

    y = p_a − p_b,    t_a·y = t_b·y = 0          distance = n·y,   n = y/|y|,   gap = radius − distance ≤ 0 .

Where neither has a radius, n = ± t_a × t_b/|t_a × t_b| with the sign of the side on which a is (`ratio`), so that they may pass
through zero. Newton's method finds the places s and θ of both along their curves. Since the distance is least there, moving them
changes nothing: gap_k = −n by x_a, n by c, −s n by e; and since p_b − c stays square to the axis, −(n·a)(p_b − c) by a.

The points of such a link are x_a, c, a, m, e; or c_a, c, a, m, a_a, m_a.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import bare, woven
from bunraku.spatial.algebra import axpy3, cross, dot3, scale3, sub3


@woven
def _on_rim(a, m, angle):
    """The place at an angle from m, from the centre, and the tangent there."""
    s = cross(a, m)
    cosine, sine = np.cos(angle), np.sin(angle)
    return axpy3(sine, s, scale3(cosine, m)), axpy3(-sine, m, scale3(cosine, s))


@woven
def curves_at(rims, d, e, f, a, m, s, angle):
    """(p_a − x_a, t_a, p_b − c, t_b, y) at the places s and angle; d = x_a − c. For two rims, e and f are axis and start of a."""
    pb, tb = _on_rim(a, m, angle)
    pa, ta = _on_rim(e, f, s) if rims else (scale3(s, e), e)
    return pa, ta, pb, tb, sub3(axpy3(1.0, pa, d), pb)


@woven
def _places(rims, pa, ta, pb, tb, y, ra, rb):
    """What (s, θ) must change for t_a·y and t_b·y to change by ra and rb."""
    aa, ab, bb = dot3(ta, ta), dot3(ta, tb), dot3(tb, tb) + dot3(pb, y)
    if rims:
        aa = aa - dot3(pa, y)
    elif aa == 0.0:  # a point
        aa = aa + 1.0
    det = ab * ab - aa * bb
    scale = 1.0 / (det if abs(det) > 1e-30 else det + 1e300)
    return scale * (ab * rb - bb * ra), scale * (aa * rb - ab * ra)


@bare
def nearest_places(rims, d, e, f, a, m):
    """The places (s, θ) where the two are nearest, found from zero."""
    s, angle = 0.0 * d[0], 0.0 * d[0]
    for _ in range(30):
        pa, ta, pb, tb, y = curves_at(rims, d, e, f, a, m, s, angle)
        ds, turn = _places(rims, pa, ta, pb, tb, y, -dot3(ta, y), -dot3(tb, y))
        size = max(abs(turn), abs(ds) if rims else 0.0)
        part = 1.0 if size < 0.3 else 0.3 / size  # a rim turns by 0.3 rad at most
        s, angle = s + part * ds, angle + part * turn
        if size < 1e-9 and abs(ds) < 1e-9:
            break
    return s, angle


@woven
def rim_normal(ratio, ta, tb, y):
    """(n, distance)."""
    if ratio != 0.0:
        m = cross(ta, tb)
        n = scale3(ratio / np.sqrt(dot3(m, m) + 1e-300), m)
        return n, dot3(n, y)
    l = np.sqrt(dot3(y, y))
    return scale3(1.0 / (l if abs(l) > 1e-12 else l + 1e300), y), l


@woven
def rim_bend(rims, ratio, d, e, f, a, m, dd, de, da):
    """How the pulls by x_a, a and e (or the axis of a) change where d, e and a move by dd, de and da."""
    s, angle = nearest_places(rims, d, e, f, a, m)
    pa, ta, pb, tb, y = curves_at(rims, d, e, f, a, m, s, angle)
    n, distance = rim_normal(ratio, ta, tb, y)
    # with the places held, and then with what t·y = 0 makes of them
    dpb, dtb = scale3(-dot3(pb, da), a), cross(da, pb)
    dpa, dta = (scale3(-dot3(pa, de), e), cross(de, pa)) if rims else (scale3(s, de), de)
    dy = sub3(axpy3(1.0, dpa, dd), dpb)
    ds, turn = _places(rims, pa, ta, pb, tb, y, -dot3(dta, y) - dot3(ta, dy), -dot3(dtb, y) - dot3(tb, dy))
    dpa, dpb, dy = axpy3(ds, ta, dpa), axpy3(turn, tb, dpb), axpy3(ds, ta, axpy3(-turn, tb, dy))
    dta, dtb = axpy3(-ds if rims else 0.0 * ds, pa, dta), axpy3(-turn, pb, dtb)
    if ratio != 0.0:  # n·t = 0 stays, and so does |n|
        aa, ab, bb, ra, rb = dot3(ta, ta), dot3(ta, tb), dot3(tb, tb), -dot3(n, dta), -dot3(n, dtb)
        scale = 1.0 / (aa * bb - ab * ab + 1e-300)
        dn = axpy3(scale * (bb * ra - ab * rb), ta, scale3(scale * (aa * rb - ab * ra), tb))
    else:
        dn = scale3(1.0 / (distance if abs(distance) > 1e-12 else distance + 1e300), axpy3(-dot3(n, dy), n, dy))
    lean, dlean = dot3(n, a), dot3(dn, a) + dot3(n, da)
    by_axis = axpy3(-dlean, pb, scale3(-lean, dpb))
    by_line = axpy3(-ds, n, scale3(-s, dn))
    if rims:
        lean, dlean = dot3(n, e), dot3(dn, e) + dot3(n, de)
        by_line = axpy3(dlean, pa, scale3(lean, dpa))
    return scale3(-1.0, dn), by_axis, by_line
