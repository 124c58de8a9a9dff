"""Gaps of the rows of a step with touch, and their gradients, kept for the joints that move each row only.

A figure of many parts has many variables, of which a contact moves with a dozen: whole rows would fill the processor's cache with
zeros.
"""

from __future__ import annotations

from bunraku.figure.records import PointRole
from bunraku.kernels.compile import bare
from bunraku.kinematics.gaps import clear_row, gap_of, gradient
from bunraku.spatial.algebra import add3, axpy3, cross, get3, get6


@bare
def row_slopes(tree, w, o, q, R, p, S, first, last, h, A):
    """Gaps h of the rows from `first` to before `last`, and A[c, s] = ∂gap/∂q of joint s in the row's support; A[c, 0] is that of
    its own variable."""
    row, joints = w.block[0], tree.joints
    for c in range(first, last):
        link, support = tree.links[c], tree.support[c]
        h[c] = gap_of(link, tree.points, q, R, p, o, w.x, w.f, w.n)
        if _on_one_chain(link, tree.points, tree.chain, support, S, w.x, w.f, A[c]):
            continue
        clear_row(link, joints, support, row)
        gradient(link, tree.points, joints, tree.chain, S, w.x, w.f, row)
        A[c, 0] = row[link.variable] if link.variable >= 0 else 0.0
        for s in range(1, support[0] + 1):
            A[c, s] = row[joints[support[s]].variable]


@bare
def _on_one_chain(link, points, chain, support, S, x, f, A):
    """The same row at once where one joint carries all its points that move, and it moves with the joints above in their order.

    Returns whether that is so: it is where a body touches what stands still. The pulls of all points are one wrench then.
    """
    j, turn, pull = -1, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(link.first, link.first + link.count):
        i = points[k].joint
        if i < 0:
            continue
        if (j >= 0 and i != j) or points[k].role == PointRole.SIDE:
            return False
        j, F = i, get3(f, k)
        turn, pull = add3(turn, cross(get3(x, k), F)), axpy3(points[k].is_point, F, pull)
    if j < 0 or link.variable >= 0 or support[0] != chain[j, 0]:
        return False
    A[0] = 0.0
    for s in range(1, support[0] + 1):
        i = support[s]
        if chain[j, support[0] + 1 - s] != i:
            return False
        v = get6(S, i)
        A[s] = v[0] * turn[0] + v[1] * turn[1] + v[2] * turn[2] + v[3] * pull[0] + v[4] * pull[1] + v[5] * pull[2]
    return True


@bare
def row_gaps(tree, w, o, q, R, p, first, h):
    """The gaps alone, without slips and turns, of which nobody asks at the end of a step."""
    for c in range(first, tree.links.shape[0]):
        if tree.links[c].normal < 0:
            h[c] = gap_of(tree.links[c], tree.points, q, R, p, o, w.x, w.f, w.n)
