"""One plane in which slips of several contacts of two bodies are measured: see bunraku.kinematics.shared_slips.

It is that of the first of them. Its height H above body b is the mean of those of all contacts at the start of the step, of which
the lowest count most: those that meet first. With h_i the heights,

    H = Σ w_i h_i / Σ w_i,   w_i = exp(−h_i/σ)
"""

from __future__ import annotations

import math

from bunraku.collision.manifold.contact_rows import in_joint, placed_point, rub_from
from bunraku.collision.manifold.touch_arrays import MANIFOLD
from bunraku.kernels.compile import bare
from bunraku.spatial.algebra import dot3, sub3


@bare
def share_planes(t, world, placed, o, late):
    """Contacts of two bodies share a plane, as they are `placed` at the start of the step; those from `late` on need not stand
    together with others of their bodies."""
    first = 0
    for k in range(t.number[0]):
        if not _same_bodies(t, k, first):
            first = k
        if t.plane[k] == MANIFOLD.is_away or not _rubs(t, k):
            continue
        if t.plane[k] >= 0:
            rub_from(t, world, placed, o, k)
        t.plane[k] = -1
        lead = _lead_of(t, placed, o, k, first if k < late else 0)
        if lead < k:
            t.plane[k] = t.plane[lead] = lead
    for k in range(t.number[0]):
        if t.plane[k] == k:
            _share(t, world, placed, o, k)


@bare
def _same_bodies(t, k, i):
    return (t.key[k, 0] == t.key[i, 0] and t.key[k, 1] == t.key[i, 1]) or _swapped(t, k, i)


@bare
def _swapped(t, k, i):
    """Whether body a of contact k is body b of contact i, and the other way round."""
    return t.key[k, 0] == t.key[i, 1] and t.key[k, 1] == t.key[i, 0]


@bare
def _lead_of(t, placed, o, k, first):
    """The first contact from `first` on whose plane contact k may share; k itself where there is none."""
    for i in range(first, k):
        if (t.plane[i] == -1 or t.plane[i] == i) and _same_bodies(t, k, i) and _parallel(t, placed, o, k, i):
            return i
    return k


@bare
def _rubs(t, k):
    return t.head[k + 1] - t.head[k] >= 3


@bare
def _normal(t, placed, o, k):
    """Of contact k, from b to a."""
    return placed_point(t, placed, o, t.links[t.head[k] + 1], 3)


@bare
def _parallel(t, placed, o, k, lead):
    return abs(dot3(_normal(t, placed, o, k), _normal(t, placed, o, lead))) > MANIFOLD.one_plane


@bare
def _share(t, world, placed, o, lead):
    """The plane of contact `lead` for all that share it."""
    n, first = _normal(t, placed, o, lead), t.links[t.head[lead] + 1]
    on, low, joint = placed_point(t, placed, o, first, 1), math.inf, world.joint[t.key[lead, 0]]
    for k in range(lead, t.number[0]):
        if t.plane[k] == lead:
            if _swapped(t, k, lead):
                _swap(t, k, joint)
            t.height[k] = dot3(n, sub3(placed_point(t, placed, o, t.links[t.head[k] + 1], 0), on))
            low = min(low, t.height[k])
    total, mean = 0.0, 0.0
    for k in range(lead, t.number[0]):
        if t.plane[k] == lead:
            weight = math.exp((low - t.height[k]) / MANIFOLD.lowest)
            total += weight
            mean += weight * t.height[k]
    mean /= total
    m = in_joint(placed, o, joint, n, 0.0)
    for k in range(lead, t.number[0]):
        if t.plane[k] == lead:
            for side in range(2):
                link, other = t.links[t.head[k] + 1 + side], t.links[t.head[lead] + 1 + side]
                link.count, link.length = 5, t.height[k] - 2.0 * mean
                for i in range(3):
                    t.points[link.first + 4].position[i] = m[i]
                    for point in range(1, 4):
                        t.points[link.first + point].position[i] = t.points[other.first + point].position[i]


@bare
def _swap(t, k, joint):
    """Slips of contact k are those of the point of its body b, which this `joint` carries, from now on."""
    for side in range(2):
        first = t.links[t.head[k] + 1 + side].first
        other = t.points[first].joint
        for i in range(3):
            t.points[first].position[i] = t.points[first + 1].position[i]
        t.points[first].joint = t.points[first + 4].joint = joint
        for point in range(1, 4):
            t.points[first + point].joint = other
