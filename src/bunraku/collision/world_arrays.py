"""The world as flat arrays for kernels, which know things by number.

Things are numbered: first the shapes that move, in the order of the figures, then the static things.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

from bunraku.kernels.compile import inline


class RowStatus(NamedTuple):
    """What the value in a row of answers is."""

    bound: int = 0
    """A lower bound of the distance; coal must compute the distance."""
    exact: int = 1
    """The distance."""
    deep: int = 2
    """The two overlap; coal must compute how deep."""


class StaticKind(NamedTuple):
    """How kernels represent a static thing."""

    round: int = 0
    """A segment with a radius: a sphere or a capsule."""
    hull: int = 1
    """A segment with a radius that contains it; only coal knows its shape."""
    surface: int = 2
    """Triangles."""
    plane: int = 3
    """A half-space."""


class SurfaceKind(NamedTuple):
    """What the triangles of a static thing enclose."""

    open: int = 0
    """Nothing: it has no inside."""
    solid: int = 1
    """A closed, consistently oriented surface."""
    convex: int = 2
    """The same, and convex."""


class QueryMode(NamedTuple):
    """Which pairs a query returns."""

    all: int = 0
    """Every pair that is near."""
    nearest: int = 1
    """Pairs that may be the nearest."""
    first: int = 2
    """The first pair that is near for certain; the query stops there."""


STATUS, STATIC, SURFACE, MODE = RowStatus(), StaticKind(), SurfaceKind(), QueryMode()
ROW_NUMBERS = 11  # floats of a row of answers: value, p_A (3), p_B (3), normal (3), margin
ORIGIN = (0.0, 0.0, 0.0)

WorldArrays = namedtuple(
    "WorldArrays",
    "joints chain joint pose ends radius ball half round pairs "  # shapes that move; pairs as in `world_layout._pairs`
    "kind static_ends static_radius root surface static_box tested planes "  # static things
    "top_ints top_boxes top_order ints boxes triangles",  # the tree over static things, and those over triangles
)


@inline
def start_of(ends, k):
    """The first end of segment k."""
    return ends[k, 0], ends[k, 1], ends[k, 2]


@inline
def end_of(ends, k):
    """The second end of segment k."""
    return ends[k, 3], ends[k, 4], ends[k, 5]
