"""The contacts of a step: those that it may need, those that it turns out to need, and those that were none."""

from __future__ import annotations

import math

from bunraku.collision.manifold.broad_phase import near_pairs_of, put_bodies, put_centres, put_features, put_once
from bunraku.collision.manifold.contact_rows import put_away, rub_from
from bunraku.collision.manifold.pair_contacts import are_far, pair_contacts
from bunraku.collision.manifold.round_features import inside_face
from bunraku.collision.manifold.support import apart_along
from bunraku.collision.manifold.touch_arrays import BODY, MANIFOLD, KnownStart, near_room, place_room
from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, borrow, keep, kernel, unit, woven
from bunraku.kinematics.feature_gaps import along_lines, curves_of
from bunraku.kinematics.rim_gaps import nearest_places
from bunraku.spatial.algebra import axpy3, dot3, get3, scale3, sub3


@bare
def _put_half_spaces(world, o, placed):
    for b in range(world.kind.shape[0]):
        if world.kind[b] == BODY.half_space:
            put_features(world, b, o, placed)


@bare
def find_contacts(tree, world, t, joints, q0, q1, o, start, end, near):
    """The contacts that a step from q0 to about q1 may need."""
    t.number[0], t.number[1], t.number[2] = 0, tree.n_links, t.number[5]
    if near.known[KnownStart.JOINTS]:
        put_centres(world, o, start, near)
    else:
        put_bodies(world, joints, q0, o, start, near)
    put_bodies(world, joints, q1, o, end, near)
    _put_half_spaces(world, o, start)
    _put_half_spaces(world, o, end)
    for a in range(world.kind.shape[0]):
        near.put[a, 0] = near.put[a, 1] = near.known_turn[a] = False
    count = near_pairs_of(world, o, start, end, near)
    near.count[0], near.count[1] = count, 0
    if count > near.pairs.shape[0]:
        t.number[3] = 1
        return
    for k in range(count):
        near.count[1] += _find_early(tree, world, t, o, start, end, near, near.pairs[k, 0], near.pairs[k, 1])


@bare
def _find_early(tree, world, t, o, start, end, near, a, b):
    """Contacts of a and b by the features that they have at the start, as far as they may come within the step.

    Returns 1 where there are none although they may meet: a corner beyond the rim of a cylinder is beside neither its mantle nor
    its end.
    """
    way, away = 0.0, 0.0
    for i in range(3):
        way += (end.c[a, i] - start.c[a, i] - end.c[b, i] + start.c[b, i]) ** 2
        away += (start.c[a, i] - start.c[b, i]) ** 2
    reach = MANIFOLD.reach + math.sqrt(way)
    if away > (world.bound[a] + world.bound[b] + reach) ** 2:
        return 0
    for body in (a, b):
        put_once(world, o, start, near.put, body, 0)
        if not near.known_turn[body]:
            near.turned[body] = _turned(world, start, end, body)
            near.known_turn[body] = True
    if world.kind[a] == BODY.polytope and world.kind[b] == BODY.polytope:  # only these need features at the end
        put_once(world, o, end, near.put, a, 1)
        put_once(world, o, end, near.put, b, 1)
    reach += near.turned[a] + near.turned[b]
    before = t.number[0]
    pair_contacts(t, world, tree.chain, start, end, start, o, a, b, reach, near.polygon)
    return 1 if t.number[0] == before and _has_rim(world, a, b) and not are_far(world, start, a, b, reach) else 0


@bare
def _knows(t, contacts, a, b):
    """Whether one of the first `contacts` is one of a and b."""
    known = False
    for k in range(contacts):
        known |= (t.key[k, 0] == a and t.key[k, 1] == b) or (t.key[k, 0] == b and t.key[k, 1] == a)
    return known


@woven
def _all_known(world, a, b):
    """Whether no other features of a and b can meet than those that were near at the start: two points, or corners and a plane."""
    ka, kb = min(world.kind[a], world.kind[b]), max(world.kind[a], world.kind[b])
    return kb == BODY.point or (kb == BODY.half_space and ka <= BODY.polytope)


@woven
def _has_rim(world, a, b):
    """Whether a or b is a cylinder, and neither a half-space."""
    ka, kb = world.kind[a], world.kind[b]
    return (ka == BODY.cylinder or kb == BODY.cylinder) and ka != BODY.half_space and kb != BODY.half_space


@bare
def needs_look(world, t, near):
    """Whether bodies may meet by other features than those that were near at the start."""
    unsure = near.count[1] > 0
    for k in range(t.number[0]):
        unsure |= not _all_known(world, t.key[k, 0], t.key[k, 1])
    return unsure


@bare
def act_between(world, t, lam):
    """Whether a contact acts that is not on a half-space."""
    out = False
    for k in range(t.number[0]):
        out |= lam[t.head[k]] > 0.0 and world.kind[t.key[k, 1]] != BODY.half_space
    return out


@unit("int64")
def find_more(tree, world, t, o, start, end, near, as_guessed):
    """Contacts of bodies that are in each other at the end of the step, where joints are placed. Returns how many there are.

    Where two bodies had no contact yet, it was not known how far they would come: then their features at the start count. Otherwise
    they are in each other by features that they have at the end only. Where the step ended `as_guessed`, bodies without contacts
    are still apart, but for cylinders, and of the others some can meet by no other features: only the rest needs a look.
    """
    before = t.number[0]
    if as_guessed and not needs_look(world, t, near):
        return 0
    put_centres(world, o, end, near)
    _put_half_spaces(world, o, end)
    if not as_guessed:
        near.count[0] = near_pairs_of(world, o, start, end, near)
    count = near.count[0]
    if count > near.pairs.shape[0]:
        t.number[3] = 1
        return 0
    for a in range(world.kind.shape[0]):
        near.put[a, 1] = False
    for k in range(count):
        a, b = near.pairs[k, 0], near.pairs[k, 1]
        missed = near.count[1] > 0 and _has_rim(world, a, b)
        if as_guessed and (_all_known(world, a, b) or not (missed or _knows(t, before, a, b))):
            continue
        for body in near.pairs[k]:
            put_once(world, o, start, near.put, body, 0)
            put_once(world, o, end, near.put, body, 1)
        contacts, links, points = t.number[0], t.number[1], t.number[2]
        pair_contacts(t, world, tree.chain, start, end, end, o, a, b, -MANIFOLD.max_depth, near.polygon)
        if t.number[0] > contacts and not _knows(t, before, a, b):
            t.number[0], t.number[1], t.number[2] = contacts, links, points
            near.turned[a], near.turned[b] = _turned(world, start, end, a), _turned(world, start, end, b)
            _find_early(tree, world, t, o, start, end, near, a, b)
            if t.number[0] == contacts:
                pair_contacts(t, world, tree.chain, start, end, end, o, a, b, -MANIFOLD.max_depth, near.polygon)
        for i in range(contacts, t.number[0]):
            rub_from(t, world, start, o, i)
    return t.number[0] - before


@bare
def leaps(world, start, end, near):
    """Whether bodies move so far in a step that they may pass through each other unseen."""
    for k in range(near.count[0]):
        a, b = near.pairs[k, 0], near.pairs[k, 1]
        way = (0.0, 0.0, 0.0)
        for body in range(2):
            i, sign = (a, 1.0) if body == 0 else (b, -1.0)
            way = axpy3(sign, sub3(get3(end.c, i), get3(start.c, i)), way)
        size = math.sqrt(dot3(way, way))
        turned = _turned(world, start, end, a) + _turned(world, start, end, b)
        if size + turned < world.inner[a] + world.inner[b]:
            continue
        apart = sub3(get3(start.c, a), get3(start.c, b))
        s = min(max(-dot3(apart, way) / max(size * size, 1e-300), 0.0), 1.0)
        nearest = axpy3(s, way, apart)
        if math.sqrt(dot3(nearest, nearest)) < world.bound[a] + world.bound[b]:
            return True
    return False


@bare
def _turned(world, start, end, a):
    """How far turning moves the surface of body a outward, at most."""
    j = world.joint[a]
    if j < 0 or world.kind[a] == BODY.half_space:
        return 0.0
    square = 0.0
    for i in range(3):
        for k in range(3):
            square += (end.R[j, i, k] - start.R[j, i, k]) ** 2
    return math.sqrt(0.5 * square * max(world.bound[a] ** 2 - world.inner[a] ** 2, 0.0))


@bare
def drop_ghosts(world, t, w, o, end, lam):
    """Removes contacts that push although the bodies do not touch there. Returns how many.

    `w` holds points and normals at the end of the step. A contact that is found again after it was removed stays: its plane keeps
    the bodies apart, if only beside where they are.
    """
    count = 0
    for k in range(t.number[0]):
        c = t.head[k]
        if c < w.h.shape[0] and lam[c] > 0.0 and not _touches(world, t, w, o, end, k) and not _found_before(t, k):
            put_away(t, k)
            for i in range(c, t.head[k + 1]):
                lam[i] = 0.0
            count += 1
    return count


@bare
def _found_before(t, k):
    """Whether an earlier contact has the same features as contact k."""
    for i in range(k):
        if t.key[i, 2] == t.key[k, 2] and t.key[i, 3] == t.key[k, 3] and t.key[i, 0] == t.key[k, 0] and t.key[i, 1] == t.key[k, 1]:
            return True
    return False


@bare
def _touches(world, t, w, o, end, k):
    """Whether contact k is within its features at the end of the step, and its normal separates the bodies."""
    link, a, b, fa, fb = t.links[t.head[k]], t.key[k, 0], t.key[k, 1], t.key[k, 2], t.key[k, 3]
    first = link.first
    x = get3(w.x, first)
    if link.kind == LinkKind.FEATURES or (link.kind == LinkKind.RIM and link.count > 4):
        put_features(world, a, o, end)
        put_features(world, b, o, end)
        y = get3(w.x, first + 1)
        if link.kind == LinkKind.RIM:
            rims, d, e, f, axis, m = curves_of(link, w.x)
            s, _ = nearest_places(rims, d, e, f, axis, m)
            return _on_edge(world, end, fa, axpy3(s, e, x)) and _separates(world, w, end, a, b, first)
        s1, s2, _, _, _ = along_lines(link, w.x, sub3(x, y))
        if link.count == 4:
            x, y = axpy3(s1, get3(w.x, first + 2), x), axpy3(-s2, get3(w.x, first + 3), y)
        elif link.count == 3 and BODY.edge <= fa < BODY.face:
            x = axpy3(s1, get3(w.x, first + 2), x)
        elif link.count == 3:
            y = axpy3(-s1, get3(w.x, first + 2), y)
        if not (_on_edge(world, end, fa, x) and _on_edge(world, end, fb, y)):
            return False
        return _separates(world, w, end, a, b, first)
    if world.kind[b] == BODY.half_space:
        return True
    put_features(world, b, o, end)
    f = fb - BODY.face
    if link.kind == LinkKind.RIM:
        n, axis = get3(w.x, first + 3), get3(w.x, first + 2)
        down = axpy3(-dot3(n, axis), axis, n)
        size = math.sqrt(dot3(down, down))
        x = axpy3(-link.ratio / size, down, x) if size > 1e-6 else x
    if world.kind[b] == BODY.polytope:
        return inside_face(world, end, f, x, MANIFOLD.beside)
    return _beyond(world, end, b, x) < (world.radius[a] if fa < BODY.rim else 0.0) + MANIFOLD.beside


@bare
def _separates(world, w, end, a, b, first):
    """Whether the normal at the point `first` separates a and b."""
    return apart_along(world, end, a, b, scale3(-1.0, get3(w.f, first))) > -MANIFOLD.false


@bare
def _beyond(world, end, a, x):
    """How far the point x is from the cylinder a."""
    y, axis = get3(end.x, world.first[a, 0]), get3(end.n, world.first[a, 2] + 1)
    d = sub3(x, y)
    along, length = dot3(axis, d), dot3(axis, sub3(get3(end.x, world.first[a, 0] + 1), y))
    d = axpy3(-along, axis, d)
    return math.hypot(max(math.sqrt(dot3(d, d)) - world.radius[a], 0.0), max(along - length, -along, 0.0))


@bare
def _on_edge(world, end, feature, x):
    """Whether the point x of a line is on the edge that it belongs to, or beside it by little; True where it is no edge."""
    if not BODY.edge <= feature < BODY.face:
        return True
    e = feature - BODY.edge
    y = get3(end.x, world.edges[e, 0])
    u = sub3(get3(end.x, world.edges[e, 1]), y)
    length = math.sqrt(dot3(u, u))
    along = dot3(u, sub3(x, y)) / length
    return -MANIFOLD.beside < along < length + MANIFOLD.beside


@kernel
def overlaps(figure, bodies, watch, contacts, q):
    """Contacts of bodies that are in each other at q: contacts.key says which, its speed how deep [m]. Returns how many."""
    tree, world, t = borrow(figure), borrow(bodies), borrow(contacts)
    owned_end, owned_near = place_room(tree.joints.shape[0], world), near_room(world, watch, t.key.shape[0])
    end, near = borrow(owned_end), borrow(owned_near)
    t.number[0], t.number[1], t.number[2], t.number[3] = 0, tree.n_links, t.number[5], 0
    o = (0.0, 0.0, 0.0)
    put_bodies(world, tree.joints, q, o, end, near)
    found = find_more(tree, world, t, o, end, end, near, False)
    keep(figure)
    keep(bodies)
    keep(watch)
    keep(contacts)
    keep(owned_end)
    keep(owned_near)
    return found
