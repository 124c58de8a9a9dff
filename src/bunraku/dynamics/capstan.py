"""Capstan friction: a string that rubs where it bends, inside the step.

A string that rubs at k places has k + 1 stretches. From the spindle, whose tension impulse is λ, to the hook, each place adds an
impulse f: the stretch before a place pulls with T, the one behind it with T + f. Since f acts through the length H of the way from
the hook to that place, Σ T_i δL_i = λ δL + Σ f δH. In a step the amount s = H(q1) − H(q0) of string passes the place toward the
hook, and

    (e^{−μφ} − 1) T ≤ f ≤ (e^{μφ} − 1) T        sticks: s = 0;  slips: f at the bound on the side of s

with φ the angle by which the string bends at q0, where impulses act. With z = e^{−μφ} and the impulses (tight, loose) of the two
sides, T + f and T where it slips toward the hook, a place that slips has the row z·tight − loose = 0.

No other state is needed: a taut string is taut in all stretches, so that the configuration tells how much of it is in each; where
one stretch is slack, all tensions are zero, and what lies where does not matter. On a pulley H ends at a place that is fixed on it,
so that a pulley which turns takes the string along; its angle counts modulo a turn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bunraku.dynamics.complementarity import LINKS
from bunraku.kernels.compile import bare, unit, woven
from bunraku.kinematics.wrap_angle import rubs, wrap_angle
from bunraku.spatial.linalg import pivoted_solve


class CapstanOptions(NamedTuple):
    """Numbers that tune which places of a string slip."""

    max_exponent: float = 60.0
    """Of μφ: more is as good as tied."""
    leeway: float = 1e-12
    """How far a friction that sticks may be beyond its bound, relative to the tension."""
    least_slip: float = 1e-14
    """How far a string may slip against its friction [m]: rounding."""
    max_rounds: int = 100
    """Sets of links that act and slip that are tried."""


CAPSTAN = CapstanOptions()


@woven
def rubs_somewhere(tree):
    """Whether any string does."""
    nc = tree.links.shape[0]
    return nc > 0 and rubs(tree.links[nc - 1])  # they are the last links


@unit("none")
def exponents(tree, f, n, out):
    """μφ of every place where a string rubs, with `gaps` at q0."""
    for c in range(tree.links.shape[0]):
        if rubs(tree.links[c]):
            out[c] = min(tree.links[c].friction * wrap_angle(tree.links, tree.points, c, f, n), CAPSTAN.max_exponent)


@woven
def passed(tree, c, h0, h1):
    """s: how much string has passed the place of link c toward the hook."""
    link, slip = tree.links[c], h1 - h0
    last = link.first + link.count - 1
    radius = tree.points[last - 2].radius if link.count > 3 else 0.0
    if radius > 0.0:
        turn = 2.0 * math.pi * radius
        slip -= turn * math.floor(slip / turn + 0.5)
    return slip


@woven
def tension_before(links, c, lam):
    """T at link c: the impulse of its string on the side of the spindle."""
    total, k = lam[links[c].normal], c - 1
    while k >= 0 and links[k].normal == links[c].normal and rubs(links[k]):
        total += lam[k]
        k -= 1
    return total


@woven
def tight_loose(links, c, lam, side):
    """The impulses of both sides of link c: the tighter one first, where it slips to this `side` (1: toward the hook)."""
    T = tension_before(links, c, lam)
    return (T + lam[c], T) if side > 0.0 else (T, T + lam[c])


@unit("boolean")
def capstan(links, S, g, lam, near, alive, slides, side, exponent, delta, B, order):
    """δλ of all links, which of them act, and which slip to which `side`. Returns False where nothing fits.

    It is `complementarity` with strings that rub: given which strings pull and which places stick or slip, all equations are
    linear, and what violates its condition changes.
    """
    nc = links.shape[0]
    scale = 0.0
    for c in range(nc):
        if near[c]:
            scale = max(scale, abs(S[c, c]))
    for turn in range(CAPSTAN.max_rounds):
        m = _acting(links, lam, near, alive, slides, delta, order)
        for a in range(m):
            i = order[a]
            if slides[i]:
                _slip_row(links, lam, side[i], math.exp(-exponent[i]), a, m, i, scale, B, order)
                continue
            x = g[i]
            for c in range(nc):
                if not alive[c] and lam[c] != 0.0:
                    x -= S[i, c] * lam[c]
            B[a, m] = x
            for b in range(m):
                B[a, b] = S[i, order[b]]
            B[a, a] -= LINKS.redundant * scale
        if not pivoted_solve(B, m):
            return False
        for a in range(m):
            delta[order[a]] = B[a, m]
        if not _flip(links, S, g, lam, near, alive, slides, side, exponent, delta, order, turn > LINKS.max_joint_rounds):
            return True
    return False


@woven
def _acting(links, lam, near, alive, slides, delta, order):
    """The links that act, in `order`; the others lose their impulse. Returns how many."""
    m = 0
    for c in range(links.shape[0]):
        if links[c].normal >= 0:
            alive[c] = near[c] and alive[links[c].normal]
        elif links[c].pulls == 0 or not near[c]:
            alive[c] = near[c]
        if alive[c]:
            order[m] = c
            m += 1
        else:
            delta[c], slides[c] = lam[c], False
    return m


@woven
def _slip_row(links, lam, side, z, a, m, i, scale, B, order):
    """Row a of B: z·tight − loose = 0 of the new impulses at link i, by their changes."""
    tight, loose = tight_loose(links, i, lam, side)
    B[a, m] = scale * (z * tight - loose)
    for b in range(m):
        c = order[b]
        if c == i:
            B[a, b] = scale * (z if side > 0.0 else -1.0)
        elif c == links[i].normal or (c < i and links[c].normal == links[i].normal and rubs(links[c])):
            B[a, b] = scale * (z - 1.0)
        else:
            B[a, b] = 0.0


@bare
def _flip(links, S, g, lam, near, alive, slides, side, exponent, delta, changed, single):
    """Changes what violates its condition; only the first where `single`. Returns whether anything does.

    Places first, from spindle to hook: one that holds too much may leave its string a negative impulse, but does not slacken it.
    """
    nc, T = links.shape[0], 0.0
    for c in range(nc):
        changed[c] = 0
    for c in range(nc):
        if not (rubs(links[c]) and alive[c]):
            continue
        if not (rubs(links[c - 1]) and links[c - 1].normal == links[c].normal):
            T = lam[links[c].normal] - delta[links[c].normal]
        f = lam[c] - delta[c]
        if _flip_place(c, T, f, _gap(S, g, delta, c), slides, side, math.exp(-exponent[c])):
            changed[links[c].normal] = 1
            if single:
                return True
        T += f
    found = False
    for c in range(nc):
        if changed[c]:
            found = True
        elif links[c].pulls and near[c] and (lam[c] - delta[c] < 0.0 if alive[c] else _gap(S, g, delta, c) > 1e-14):
            alive[c], found = not alive[c], True
            if single:
                return True
    return found


@woven
def _gap(S, g, delta, c):
    """What link c measures after the change."""
    x = g[c]
    for k in range(delta.shape[0]):
        x -= S[c, k] * delta[k]
    return x


@woven
def _flip_place(c, T, f, slip, slides, side, z):
    """Lets a place that holds too much slip, and one that slips the wrong way hold. Returns whether it did."""
    if slides[c]:
        wrong = z < 1.0 and side[c] * slip < -CAPSTAN.least_slip
        if wrong:
            slides[c] = False
        return wrong
    leeway = CAPSTAN.leeway * max(abs(T), abs(T + f))
    forward, back = z * (T + f) > T + leeway, z * T > T + f + leeway
    if forward or back:
        slides[c], side[c] = True, 1.0 if forward else -1.0
    return forward or back


# -- beside contacts that rub (bunraku.dynamics.friction): there the links that may act are numbered anew, as `own` tells ---------


@woven
def place_in(own, c):
    """The new number of link c."""
    k = 0
    while own[k] != c:
        k += 1
    return k


@woven
def _tension_before(links, own, x, c):
    """T at link c, of the impulses x."""
    link, k = links[own[c]], c - 1
    total = x[place_in(own, link.normal)]
    while k >= 0 and links[own[k]].normal == link.normal and rubs(links[own[k]]):
        total += x[k]
        k -= 1
    return max(total, 0.0)


@bare
def held_within(links, own, x, c, f, exponent):
    """The nearest to f that the friction of link c can hold."""
    T = _tension_before(links, own, x, c)
    return min(max(f, math.expm1(-exponent) * T), math.expm1(exponent) * T)


@bare
def slipping_row(links, own, x, c, side, exponent, B):
    """Row c of B: z·tight − loose = 0, linearised at x."""
    m, z, link, T = x.shape[0], math.exp(-exponent), links[own[c]], _tension_before(links, own, x, c)
    for k in range(m):
        other = links[own[k]]
        earlier = own[k] == link.normal or (k < c and other.normal == link.normal and rubs(other))
        B[c, k] = (z - 1.0) if earlier else 0.0
    B[c, c] = z if side > 0.0 else -1.0
    B[c, m] = T - z * (T + x[c]) if side > 0.0 else T + x[c] - z * T
