"""The contacts of a step: those that it may need, those that it turns out to need, and those that were none."""

from __future__ import annotations

import numpy as np

from bunraku.collision.manifold.broad_phase import near_pairs_of, put_bodies, put_features
from bunraku.collision.manifold.pair_contacts import pair_contacts, put_pair
from bunraku.collision.manifold.round_features import inside_face
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD, near_room, place_room
from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, borrow, keep, kernel
from bunraku.spatial.algebra import get3


@bare
def _put_half_spaces(world, o, placed):
    for b in range(world.kind.shape[0]):
        if world.kind[b] == BODY.half_space:
            put_features(world, b, o, placed)


@bare
def find_contacts(tree, world, t, joints, q0, q1, o, start, end, near):
    """The contacts that a step from q0 to about q1 may need."""
    t.number[0], t.number[1], t.number[2] = 0, tree.n_links, tree.points.shape[0]
    put_bodies(world, joints, q0, o, start)
    put_bodies(world, joints, q1, o, end)
    _put_half_spaces(world, o, start)
    _put_half_spaces(world, o, end)
    count = near_pairs_of(world, start, end, near)
    if count > near.pairs.shape[0]:
        t.number[3] = 1
        return
    for k in range(count):
        a, b = near.pairs[k, 0], near.pairs[k, 1]
        _find_early(tree, world, t, o, start, end, near, a, b)


@bare
def _find_early(tree, world, t, o, start, end, near, a, b):
    """Contacts of a and b by the features that they have at the start, as far as they may come within the step."""
    put_pair(world, o, start, end, a, b)
    way = 0.0
    for i in range(3):
        way += (end.c[a, i] - start.c[a, i] - end.c[b, i] + start.c[b, i]) ** 2
    pair_contacts(t, world, tree.chain, start, end, start, o, a, b, MANIFOLD.reach + np.sqrt(way), near.polygon)


@bare
def _knows(t, contacts, a, b):
    """Whether one of the first `contacts` is one of a and b."""
    known = False
    for k in range(contacts):
        known |= (t.key[k, 0] == a and t.key[k, 1] == b) or (t.key[k, 0] == b and t.key[k, 1] == a)
    return known


@bare
def find_more(tree, world, t, joints, q1, o, start, end, near, as_guessed):
    """Contacts of bodies that are in each other at q1. Returns how many there are.

    Where two bodies had no contact yet, it was not known how far they would come: then their features at the start count. Otherwise
    they are in each other by features that they have at the end only. Where the step ended `as_guessed`, bodies that were not near
    are still apart, and of round ones that were, all features have contacts: only others need a look.
    """
    before = t.number[0]
    if as_guessed and before == 0:
        return 0
    put_bodies(world, joints, q1, o, end)
    _put_half_spaces(world, o, end)
    count = near_pairs_of(world, start, end, near)
    if count > near.pairs.shape[0]:
        t.number[3] = 1
        return 0
    for k in range(count):
        a, b = near.pairs[k, 0], near.pairs[k, 1]
        if as_guessed and ((world.kind[a] <= BODY.segment and world.kind[b] <= BODY.half_space) or not _knows(t, before, a, b)):
            continue
        put_features(world, a, o, end)
        put_features(world, b, o, end)
        contacts, links, points = t.number[0], t.number[1], t.number[2]
        pair_contacts(t, world, tree.chain, end, end, end, o, a, b, -MANIFOLD.max_depth, near.polygon)
        if t.number[0] > contacts and not _knows(t, before, a, b):
            t.number[0], t.number[1], t.number[2] = contacts, links, points
            _find_early(tree, world, t, o, start, end, near, a, b)
            if t.number[0] == contacts:
                pair_contacts(t, world, tree.chain, end, end, end, o, a, b, -MANIFOLD.max_depth, near.polygon)
    return t.number[0] - before


@bare
def part_by(t, c, by):
    """Makes the two bodies of row c stay apart by a length."""
    link = t.links[c]
    if link.kind == LinkKind.PLANE:
        on, down = t.points[link.first + 1].position, t.points[link.first + 2].position
        for i in range(3):
            on[i] -= by * down[i]
    else:
        link.length += by


@bare
def drop_ghosts(world, t, w, o, end, lam):
    """Removes contacts that push although they have left their face within the step. Returns how many.

    `w` and `end` hold points and bodies at the end of the step.
    """
    count = 0
    for k in range(t.number[0]):
        c, b, f = t.head[k], t.key[k, 1], t.key[k, 3] - BODY.face
        if c >= w.h.shape[0] or lam[c] <= 0.0 or t.links[c].kind != LinkKind.PLANE or world.kind[b] != BODY.polytope:
            continue
        if not inside_face(world, end, f, get3(w.x, t.links[c].first), MANIFOLD.beside):
            part_by(t, c, -MANIFOLD.away)
            for i in range(c, t.head[k + 1]):
                lam[i] = 0.0
            count += 1
    return count


@kernel
def overlaps(tree, world, t, q):
    """Contacts of bodies that are in each other at q: t.key says which, t.speed how deep [m]. Returns how many."""
    owned_end, owned_near = place_room(tree.joints.shape[0], world), near_room(world, t.key.shape[0])
    end, near = borrow(owned_end), borrow(owned_near)
    t.number[0], t.number[1], t.number[2], t.number[3] = 0, tree.n_links, tree.points.shape[0], 0
    o = (0.0, 0.0, 0.0)
    put_bodies(world, tree.joints, q, o, end)
    found = find_more(tree, world, t, tree.joints, q, o, end, end, near, False)
    keep(owned_end)
    keep(owned_near)
    return found
