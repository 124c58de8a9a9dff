"""Drums that wind a string in layers.

Wound in by the angle η = −ratio·q, a drum has the radius ρ(η) = r + thickness · Σ_k S((η − kΘ)/π + ½) over k ≥ 1: each layer that
is full after Θ makes the next one larger over half a turn, with the step S(x) = 6x⁵ − 15x⁴ + 10x³ between 0 and 1, which is smooth
twice. The length that is wound off is length − ∫ρ dη, so the gap, and its derivatives by q, have

    gap = … − length + ∫ρ dη        gap_q = −ratio ρ        gap_qq = ratio² ρ′        gap_qqq = −ratio³ ρ″.

The derivatives are kept in the row of n of the link's last point, which is carried by the joint that turns the drum.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import PointRole
from bunraku.kernels.compile import unit, woven


@woven
def has_layers(link, points):
    """Whether a string over pulleys ends on a drum that winds in layers."""
    return points[link.first + link.count - 1].role == PointRole.LAYERS


@unit("n")
def layers_wound(link, points, q, f, n):
    """The wound length; leaves gap_q, gap_qq and gap_qqq in n, and the first in f."""
    last = link.first + link.count - 1
    thick, full, r = points[last].radius, points[last].weight, points[last - 3].radius
    eta = -link.ratio * q[link.variable]
    layers = max(np.floor(eta.real / full + 0.5), 0.0)  # the boundary that is nearest
    x = (eta - layers * full) / np.pi + 0.5
    s = x
    if x.real < 0.0:
        s = 0.0 * x
    elif x.real > 1.0:
        s = 0.0 * x + 1.0
    rho, slope, bend, taken = r + 0.0 * x, 0.0 * x, 0.0 * x, r * eta
    if layers > 0.0:
        inside = x - s if x.real > 1.0 else 0.0 * x
        rho += thick * (layers - 1.0 + s * s * s * (10.0 + s * (6.0 * s - 15.0)))
        slope += thick * 30.0 * s * s * (1.0 - s) * (1.0 - s) / np.pi
        bend += thick * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / (np.pi * np.pi)
        taken += thick * ((layers - 1.0) * (eta - 0.5 * layers * full))
        taken += thick * np.pi * (s * s * s * s * (2.5 + s * (s - 3.0)) + inside)
    n[last, 0], n[last, 1], n[last, 2] = -link.ratio * rho, link.ratio**2 * slope, -(link.ratio**3) * bend
    f[last, 0], f[last, 1], f[last, 2] = -link.ratio * rho, 0.0, 0.0
    return link.length - taken
