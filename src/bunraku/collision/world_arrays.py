"""The world as flat arrays. Kernels never see a name.

Things are numbered: the shapes that move, in the order of the figures, then the static ones.
"""

from __future__ import annotations

from collections import namedtuple

from bunraku.kernels.compile import inline

BOUND, EXACT, DEEP = 0, 1, 2  # status: value is a lower bound; is the distance; they overlap, ask coal how deep
ROUND, HULL, SURFACE, PLANE = 0, 1, 2, 3  # kinds of static things
OPEN, SOLID, CONVEX = 0, 1, 2  # kinds of surfaces
ALL, NEAREST, FIRST = 0, 1, 2  # modes: every near pair; those that may be the nearest; stop at the first overlap
COLUMNS = 11  # of a row: value, p_A, p_B, normal, margin
HOME = (0.0, 0.0, 0.0)

Flat = namedtuple(
    "Flat",
    "joints chain joint pose ends radius ball half round pairs "  # what moves, and its pairs: A, B, joints below their fork
    "kind static_ends static_radius root surface static_box tested planes "  # what does not
    "top_ints top_boxes top_order ints boxes triangles",  # the tree over static things, and those over triangles
)


@inline
def start_of(ends, k):
    return ends[k, 0], ends[k, 1], ends[k, 2]


@inline
def end_of(ends, k):
    return ends[k, 3], ends[k, 4], ends[k, 5]
