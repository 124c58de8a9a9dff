"""Taut or slack: the complementarity of a linearised step, for all links together.

The new impulses are λ' = λ − δλ, the new gaps gap' = g − S δλ, where S is the block that elimination of the dynamic variables
leaves. Find for every string gap' ≤ 0, λ' ≥ 0, λ'·gap' = 0, and for every wire gap' = 0. Up to the curvature of a step, −S is
positive semidefinite, so flipping violators ends: first all of them at once, later one at a time, the one with the lowest number
(Murty).
"""

from __future__ import annotations

from typing import NamedTuple

from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare
from bunraku.spatial.linalg import pivoted_solve


class LinkOptions(NamedTuple):
    """Numbers that tune which links act."""

    redundant: float = 1e-10
    """Softness of a link, relative to the softest: strings that share a load share it evenly."""
    max_rounds: int = 60
    """Sets of acting links that are tried."""
    max_joint_rounds: int = 5
    """Rounds in which all violators flip at once; later one at a time."""


LINKS = LinkOptions()


@bare
def complementarity(links, S, g, lam, near, alive, delta, B, order):
    """δλ of all links and the set that acts. Only links that are `near` may act. Returns False where no set fits."""
    nc = links.shape[0]
    scale = 0.0
    for c in range(nc):
        if near[c]:
            scale = max(scale, abs(S[c, c]))
    for turn in range(LINKS.max_rounds):
        m = 0
        for c in range(nc):
            if links[c].kind == LinkKind.SLIP:
                alive[c] = near[c] and alive[links[c].normal]
            elif links[c].pulls == 0:
                alive[c] = near[c]
            elif not near[c]:
                alive[c] = False
            if alive[c]:
                order[m] = c
                m += 1
            else:
                delta[c] = lam[c]
        for a in range(m):
            i = order[a]
            x = g[i]
            for c in range(nc):
                if not alive[c] and lam[c] != 0.0:
                    x -= S[i, c] * lam[c]
            B[a, m] = x
            for b in range(m):
                B[a, b] = S[i, order[b]]
            if links[i].kind != LinkKind.SLIP:
                B[a, a] -= LINKS.redundant * scale
        if not pivoted_solve(B, m):
            return False
        for a in range(m):
            delta[order[a]] = B[a, m]
        found = False
        for c in range(nc):
            if links[c].kind == LinkKind.SLIP or links[c].pulls == 0 or not near[c]:
                continue
            if alive[c]:
                wrong = lam[c] - delta[c] < 0.0
            else:
                x = g[c]
                for k in range(nc):
                    x -= S[c, k] * delta[k]
                wrong = x > 1e-14
            if wrong:
                alive[c] = not alive[c]
                found = True
                if turn > LINKS.max_joint_rounds:
                    break
        if not found:
            return True
    return False
