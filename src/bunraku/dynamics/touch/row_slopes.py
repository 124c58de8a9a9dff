"""Gaps of the rows of a step with touch, and their gradients, kept for the joints that move each row only.

A figure of many parts has many variables, of which a contact moves with a dozen: whole rows would fill the processor's cache with
zeros.
"""

from __future__ import annotations

from bunraku.kernels.compile import bare
from bunraku.kinematics.gaps import clear_row, gap_of, gradient


@bare
def row_slopes(tree, w, o, q, R, p, S, first, last, h, A):
    """Gaps h of the rows from `first` to before `last`, and A[c, s] = ∂gap/∂q of joint s in the row's support; A[c, 0] is that of
    its own variable."""
    row, joints = w.block[0], tree.joints
    for c in range(first, last):
        link, support = tree.links[c], tree.support[c]
        h[c] = gap_of(link, tree.points, q, R, p, o, w.x, w.f, w.n)
        clear_row(link, joints, support, row)
        gradient(link, tree.points, joints, tree.chain, S, w.x, w.f, row)
        A[c, 0] = row[link.variable] if link.variable >= 0 else 0.0
        for s in range(1, support[0] + 1):
            A[c, s] = row[joints[support[s]].variable]


@bare
def row_gaps(tree, w, o, q, first, h):
    """The gaps alone, for the joints that are placed in w."""
    for c in range(first, tree.links.shape[0]):
        h[c] = gap_of(tree.links[c], tree.points, q, w.R, w.p, o, w.x, w.f, w.n)
