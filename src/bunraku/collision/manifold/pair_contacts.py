"""Contacts of one pair of bodies, whatever their kinds."""

from __future__ import annotations

from bunraku.collision.closest_points import between_segments
from bunraku.collision.manifold.broad_phase import around, end_of
from bunraku.collision.manifold.cylinders import cylinder_pair
from bunraku.collision.manifold.round_features import above_half_space, round_pair, round_to_polytope
from bunraku.collision.manifold.separating_axes import polytope_pair
from bunraku.collision.manifold.touch_arrays import BODY
from bunraku.kernels.compile import bare
from bunraku.spatial.algebra import dot3, sub3


@bare
def pair_contacts(t, world, chain, start, end, at, o, a, b, reach, polygon):
    """Adds the contacts of a and b whose features are less than `reach` apart, as they are placed `at` the start or the end."""
    if are_far(world, at, a, b, reach):
        return
    ka, kb = world.kind[a], world.kind[b]
    if ka > kb:
        a, b, ka, kb = b, a, kb, ka
    if kb == BODY.cylinder:
        cylinder_pair(t, world, chain, start, end, at, o, b, a, reach, polygon)
    elif kb == BODY.half_space:
        above_half_space(t, world, chain, at, o, a, b, reach)
    elif kb == BODY.polytope and ka == BODY.polytope:
        polytope_pair(t, world, chain, start, end, at, o, a, b, reach, polygon)
    elif kb == BODY.polytope:
        round_to_polytope(t, world, chain, at, o, a, b, reach)
    else:
        round_pair(t, world, chain, at, o, a, b, reach)


@bare
def are_far(world, at, a, b, reach):
    """Whether the capsules around two bodies are more than `reach` apart; a half-space is never far."""
    if world.kind[a] == BODY.half_space or world.kind[b] == BODY.half_space:
        return False
    x, y = between_segments(end_of(world, at, a, 0), end_of(world, at, a, 1), end_of(world, at, b, 0), end_of(world, at, b, 1))
    d, r = sub3(x, y), around(world, a) + around(world, b) + reach
    return dot3(d, d) > r * r
