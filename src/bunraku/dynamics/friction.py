"""Coulomb friction of a contact inside the step.

The point of a contact slips by s = (s₁, s₂) along its plane within the step; friction answers with the impulse λ_t, |λ_t| ≤
μ λ_n: opposed to s where it slides, whatever holds s at 0 where it sticks. With y = λ_t + κ s both cases are one equation,

    λ_t = y                     |y| ≤ μ λ_n    (sticks: s = 0)
    λ_t = μ λ_n y/|y|           otherwise      (slides)

(Alart and Curnier), which is piecewise smooth. A step linearises gaps and slips; `frictional` solves these equations exactly.
The two slips of a contact are the links behind its normal. Two turns may follow, with rolling resistance in place of friction.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.dynamics.capstan import held_within, place_in, slipping_row
from bunraku.dynamics.complementarity import LINKS
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import padded
from bunraku.kernels.compile import bare, inline, unit, woven
from bunraku.kinematics.wrap_angle import rubs
from bunraku.spatial.linalg import padded_solve


class FrictionOptions(NamedTuple):
    """Numbers that tune how the impulses of rubbing contacts are found."""

    first_sweeps: int = 8
    """Sweeps of Gauss and Seidel before Newton's method is tried; twice as many where it fails, and so on."""
    max_sweeps: int = 100
    """More sweeps at once than this are the last."""
    newton_steps: int = 10
    """Iterations of Newton's method, at most."""
    settling: float = 1e-8
    """How firmly impulses that could be shared otherwise stay as they are, relative to the softest contact."""


FRICTION_SOLVER = FrictionOptions()


class Slip(NamedTuple):
    """What a contact does along its plane."""

    slides: bool
    y1: float
    """y = λ_t + κ s along the first direction of the plane [N·s]."""
    y2: float
    """The same along the second."""
    size: float
    """|y|."""
    radius: float
    """μ λ_n: the largest impulse that friction can take [N·s]."""


@woven
def is_first(link, c):
    """Whether the slip or turn c is the first of its two."""
    return (c - link.normal) % 2 == 1


@bare
def slips(friction, kappa, normal, a, lam, h0, h):
    """The Slip of the contact whose normal is link `normal`, along its slips (or turns) a and a + 1."""
    b = a + 1
    y1, y2 = lam[a] + kappa * (h[a] - h0[a]), lam[b] + kappa * (h[b] - h0[b])
    size, radius = math.sqrt(y1 * y1 + y2 * y2), friction * max(lam[normal], 0.0)
    return Slip(size > radius, y1, y2, size, radius)


@bare
def slip_turn(y1, y2, size, radius):
    """radius · ∂(y/|y|)/∂y as (11, 12, 22)."""
    f = radius / (size * size * size)
    return f * y2 * y2, -f * y1 * y2, f * y1 * y1


@bare
def slip_rows(friction, kappa, normal, a, lam, h0, h, A, n, K):
    """Rows a, a + 1 of a sliding contact in K: by q1 through A, by the impulses, and by the normal impulse."""
    b = a + 1
    _, y1, y2, size, radius = slips(friction, kappa, normal, a, lam, h0, h)
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


@unit("none", allocates=True)
def frictional(links, S, g, lam, near, alive, slides, side, exponent, delta):
    """δλ of a linearised step with friction (see `complementarity`); S and g of slips are those of their displacements.

    Sweeps of Gauss and Seidel find which contacts stick, slide and let go; Newton's method then finds the numbers. The points of
    one rigid foot can share their load in many ways: the solution stays near what it was. In the first iterations of a step the
    slips of such points may contradict each other; then the result of the sweeps is good enough. Strings that rub take part
    (bunraku.dynamics.capstan): `exponent` and `side` are theirs.
    """
    nc, m = links.shape[0], 0
    own = np.empty(nc, np.int64)
    for c in range(nc):
        if near[c]:
            own[m] = c
            m += 1
        else:
            delta[c], alive[c], slides[c] = lam[c], False, False
    W, B = np.empty((m, m)), np.zeros((m, padded(m + 1)))
    x, y, rest, active, sliding = np.empty(m), np.empty(m), np.empty(m), np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    scale, wrong = 0.0, 0.0
    for a in range(m):
        x[a], rest[a] = lam[own[a]], g[own[a]]
        for b in range(m):
            W[a, b] = S[own[a], own[b]]
        scale = max(scale, abs(W[a, a]))
        wrong = max(wrong, abs(rest[a]))
    for c in range(nc):
        if not near[c] and lam[c] != 0.0:
            for a in range(m):
                rest[a] -= S[own[a], c] * lam[c]
    sweeps = FRICTION_SOLVER.first_sweeps
    while True:
        _sweeps(links, own, W, rest, x, sweeps, scale, exponent)
        for a in range(m):
            y[a] = x[a]
        exact = newton_impulses(links, own, W, rest.copy(), y, active, sliding, side, exponent, B, scale, 1e-15 + 1e-10 * wrong)
        if exact or sweeps > FRICTION_SOLVER.max_sweeps:
            break
        sweeps *= 2
    for a in range(m):
        c = own[a]
        delta[c], alive[c], slides[c] = lam[c] - (y[a] if exact else x[a]), active[a], sliding[a]


@bare
def _add(W, rest, c, change):
    """Updates the gaps for a change of impulse c."""
    if change != 0.0:
        for k in range(rest.shape[0]):
            rest[k] += W[k, c] * change


@bare
def _sweeps(links, own, W, rest, x, count, scale, exponent):
    for _ in range(count):
        for c in range(x.shape[0]):
            link = links[own[c]]
            if not W[c, c] < -LINKS.redundant * scale:
                continue
            if link.kind != LinkKind.SLIP:
                value = x[c] - rest[c] / W[c, c]
                if rubs(link):
                    value = held_within(links, own, x, c, value, exponent[own[c]])
                if link.pulls:
                    value = max(value, 0.0)
                _add(W, rest, c, value - x[c])
                x[c] = value
            elif is_first(link, own[c]):
                a, b, size = _trial(W, rest, x, c)
                radius = link.friction * x[c - own[c] + link.normal]
                part = 1.0 if size <= radius else radius / size
                _add(W, rest, c, part * a - x[c])
                _add(W, rest, c + 1, part * b - x[c + 1])
                x[c], x[c + 1] = part * a, part * b


@bare
def _trial(W, rest, x, c):
    """(y₁, y₂, |y|) of the contact whose first slip is c, with the weight that suits W."""
    weight = min(W[c, c], W[c + 1, c + 1])
    a, b = x[c] - rest[c] / weight, x[c + 1] - rest[c + 1] / weight
    return a, b, math.sqrt(a * a + b * b)


@inline
def newton_impulses(links, own, W, rest, x, active, sliding, side, exponent, B, scale, tolerance):
    """Semismooth Newton from x, in place; `rest` are the gaps there, in place. B is scratch (m, padded(m + 1)).

    Returns whether it converged.
    """
    m = x.shape[0]
    for iteration in range(FRICTION_SOLVER.newton_steps):
        changed, moves, worst = iteration == 0, False, 0.0
        for c in range(m):
            link = links[own[c]]
            was, slid = active[c], sliding[c]
            if rubs(link):
                active[c] = active[place_in(own, link.normal)]
                trial = x[c] - rest[c] / min(W[c, c], -LINKS.redundant * scale)
                within = held_within(links, own, x, c, trial, exponent[own[c]])
                sliding[c] = active[c] and trial != within
                side[own[c]] = 1.0 if trial > within else -1.0
            elif link.kind != LinkKind.SLIP:
                sound = W[c, c] < -LINKS.redundant * scale
                active[c] = sound and (link.pulls == 0 or x[c] - rest[c] / W[c, c] > 0.0)
            else:
                active[c] = active[c - 1]
                if is_first(link, own[c]):
                    sliding[c] = active[c] and _trial(W, rest, x, c)[2] > link.friction * max(x[c - own[c] + link.normal], 0.0)
                else:
                    sliding[c] = sliding[c - 1]
            changed |= active[c] != was or sliding[c] != slid
            moves |= sliding[c]
            worst = max(worst, abs(rest[c]) if active[c] else scale * abs(x[c]))
        if not changed and not moves and worst <= tolerance:
            return True
        worst = 0.0
        for c in range(m):
            for k in range(m):
                B[c, k] = W[c, k] if active[c] else 0.0
            B[c, c] += -FRICTION_SOLVER.settling * scale if active[c] else 1.0
            B[c, m] = -rest[c] if active[c] else -x[c]
        for c in range(m):
            if sliding[c] and rubs(links[own[c]]):
                slipping_row(links, own, x, c, side[own[c]], exponent[own[c]], B)
            elif sliding[c] and is_first(links[own[c]], own[c]):
                _slide(links[own[c]].friction, W, rest, x, c, c - own[c] + links[own[c]].normal, B)
        for c in range(m):
            worst = max(worst, abs(B[c, m]) * (scale if sliding[c] or not active[c] else 1.0))
        if not changed and worst <= tolerance:
            return True
        if not worst < math.inf or not padded_solve(B, m):
            return False
        for c in range(m):
            x[c] += B[c, m]
            total = 0.0
            for k in range(m):
                total += W[c, k] * B[k, m]
            rest[c] += total
    return False


@bare
def _slide(friction, W, rest, x, c, normal, B):
    """Rows c, c + 1 of B: λ_t = μ λ_n y/|y|, linearised, in place of s = 0."""
    m = x.shape[0]
    y1, y2, size = _trial(W, rest, x, c)
    u1, u2, radius = y1 / size, y2 / size, friction * max(x[normal], 0.0)
    m11, m12, m22 = slip_turn(y1, y2, size, radius)
    weight = min(W[c, c], W[c + 1, c + 1])
    for k in range(m):
        d1, d2 = W[c, k] / weight, W[c + 1, k] / weight
        B[c, k], B[c + 1, k] = m11 * d1 + m12 * d2, m12 * d1 + m22 * d2
    B[c, c] += 1.0 - m11
    B[c, c + 1] -= m12
    B[c + 1, c] -= m12
    B[c + 1, c + 1] += 1.0 - m22
    B[c, normal] -= friction * u1
    B[c + 1, normal] -= friction * u2
    B[c, m], B[c + 1, m] = radius * u1 - x[c], radius * u2 - x[c + 1]
