"""How far bodies reach along a direction, and how far apart two of them are along it."""

from __future__ import annotations

import math

from bunraku.collision.manifold.touch_arrays import BODY
from bunraku.kernels.compile import bare
from bunraku.spatial.algebra import dot3, get3, scale3


@bare
def support(world, at, a, n):
    """The largest n·x of the points of body a, for a unit vector n; a half-space must have n as its normal."""
    far = -math.inf
    for v in range(world.first[a, 0], world.first[a, 0] + world.count[a, 0]):
        far = max(far, dot3(n, get3(at.x, v)))
    if world.kind[a] == BODY.cylinder:
        cosine = dot3(n, get3(at.n, world.first[a, 2] + 1))
        return far + world.radius[a] * math.sqrt(max(1.0 - cosine * cosine, 0.0))
    return far + world.radius[a]


@bare
def apart_along(world, at, a, b, n):
    """How far apart a and b are along the unit vector n from b to a."""
    return -support(world, at, a, scale3(-1.0, n)) - support(world, at, b, n)
