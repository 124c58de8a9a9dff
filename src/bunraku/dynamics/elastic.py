"""Strings that stretch, inside the step.

The tension of a string of wound length l is (k gap + c d(gap)/dt)/l, and never negative, where k [N] is its stiffness and c
[N·s] its damping. Over a step, with the impulse λ = tension·dt and the mean length l̄,

    row = (1 − θ) gap(q0) + θ gap(q1) + c/k (gap(q1) − gap(q0))/dt − l̄ λ/(k dt) ≤ 0,    λ ≥ 0,    λ·row = 0

replaces gap(q1) ≤ 0. The share θ of the impulse acts at q0 and the rest at q1. With θ = ½ this is the variational
step of the potential k gap²/2l at the mean gap: second order, no energy lost. With θ = 1 and k → ∞ it is the step of a string that
does not stretch. θ goes from one to the other by the string's frequency ω: ½ as long as a step resolves the oscillation (ω dt
well below 2), 1 where it cannot. θ − ½ is of fourth order in dt, so the step stays of second order, and no stiffness is too large.
"""

from __future__ import annotations

from typing import NamedTuple

from bunraku.kernels.compile import bare
from bunraku.kinematics.gaps import wound


class Softness(NamedTuple):
    """What a link does within a step of length dt. For one that does not stretch: (1, 1, 0)."""

    theta: float
    """Share of the impulse that acts at the start."""
    end: float
    """θ + c/(k dt): weight of gap(q1) in the row; that of gap(q0) is the rest to 1."""
    compliance: float
    """1/(k dt) [1/(N·s)]."""


def early_share(frequency: float, dt: float) -> float:
    """θ of a string of this `frequency` [rad/s] in a step of `dt` [s]."""
    fourth = (0.5 * frequency * dt) ** 4
    return 1.0 if fourth > 1e30 else 0.5 + 0.5 * fourth / (1.0 + fourth)


_early_share = bare(early_share)


@bare
def softness(link, dt):
    """The Softness of a link."""
    if link.stiffness == 0.0:
        return Softness(1.0, 1.0, 0.0)
    theta = _early_share(link.frequency, dt)
    return Softness(theta, theta + link.damping / (link.stiffness * dt), 1.0 / (link.stiffness * dt))


@bare
def mean_length(link, q0, q1):
    """l̄ [m]: at least a millimetre, so that a string that is wound up still has a stiffness."""
    length = link.length
    if link.variable >= 0:
        length += 0.5 * link.ratio * (q0[link.variable] + q1[link.variable])
    return max(length, 1e-3)


@bare
def length_slope(link, q0, q1):
    """∂l̄/∂q of the variable that winds the link, at either end."""
    return 0.5 * link.ratio if link.variable >= 0 and mean_length(link, q0, q1) > 1e-3 else 0.0


@bare
def elastic_energy(link, q, gap):
    """k gap²/2l of a link that is longer than it was wound to; of a wire also where it is shorter."""
    return 0.5 * link.stiffness * gap * gap / mean_length(link, q, q) if gap > 0.0 or link.pulls == 0 else 0.0


@bare
def elastic_row(link, soft, h0, h1, q0, q1, impulse):
    """The row of the link."""
    return (1.0 - soft.end) * h0 + soft.end * h1 - soft.compliance * mean_length(link, q0, q1) * impulse


@bare
def early_impulses(tree, dt, lam, early):
    """The part of the impulses that acts at q0: θ λ."""
    for c in range(tree.links.shape[0]):
        early[c] = lam[c] if tree.links[c].stiffness == 0.0 else softness(tree.links[c], dt).theta * lam[c]


@bare
def has_elastic(tree):
    """Whether any string does."""
    some = False
    for c in range(tree.links.shape[0]):
        some |= tree.links[c].stiffness > 0.0
    return some


@bare
def soften(tree, alive, dt, q0, q1, lam, K):
    """Makes the rows and columns that `border` wrote for links that stretch those of their rows."""
    n = tree.n_dynamic
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        if link.stiffness == 0.0 or not alive[c]:
            continue
        soft = softness(link, dt)
        for j in range(n):
            K[n + c, j] *= soft.end
            K[j, n + c] *= soft.theta
        K[n + c, n + c] = -soft.compliance * mean_length(link, q0, q1)
        if 0 <= link.variable < n:
            K[n + c, link.variable] -= soft.compliance * lam[c] * length_slope(link, q0, q1)


@bare
def pull_at_end(tree, dt, A1, lam, p1):
    """The part of the impulses that acts at q1."""
    for c in range(tree.links.shape[0]):
        if tree.links[c].stiffness > 0.0 and lam[c] != 0.0:
            late = (1.0 - softness(tree.links[c], dt).theta) * lam[c]
            for i in range(tree.n_dynamic):
                p1[i] -= late * A1[c, i]


@bare
def tension(link, gap, A, q, v):
    """The tension (k gap + c A v)/l of a link at (q, v); 0 of one that is slack or does not stretch."""
    none = 0.0 * gap
    if link.stiffness == 0.0:
        return none
    rate = none
    for k in range(v.shape[0]):
        rate += A[k] * v[k]
    out = (link.stiffness * gap + link.damping * rate) / wound(link, q)
    return none if link.pulls and out.real <= 0.0 else out


@bare
def tension_slopes(link, tension, A, H, q, v, row):
    """∂tension/∂(q, v), where A and H are the first and second derivatives of the gap by q."""
    n, length = v.shape[0], wound(link, q)
    for j in range(n):
        bend = 0.0 * tension
        for i in range(n):
            bend += H[i, j] * v[i]
        row[j] = (link.stiffness * A[j] + link.damping * bend) / length
        row[n + j] = link.damping * A[j] / length
    if link.variable >= 0:
        row[link.variable] -= link.ratio * tension / length
