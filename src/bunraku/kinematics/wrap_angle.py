"""How far a string bends where it rubs, and the derivatives of that angle φ.

At an eyelet the pull on it is f = u − v, the directions of the string before and behind it: |f|² = 2 − 2 cos φ, and

    sin φ φ_i = f·f_i               sin φ φ_ij = f_i·f_j + f·f_ij − cos φ φ_i φ_j.

On a pulley φ is the angle between two pieces, about the axis and in the sense of the string, plus its whole turns. With the names
of `wrapping_derivatives`, a piece turns by δψ = n·y/t, and that changes by n·δδu + (u·δa)(n·a₁). A string that does not touch the
pulley has φ = 0. Where the angle has a kink (at an eyelet: 0 and π) its derivatives are 0.
"""

from __future__ import annotations

import numpy as np

from bunraku.figure.records import LinkKind, PointRole
from bunraku.kernels.compile import bare, inline, woven
from bunraku.kinematics.gap_derivatives import carries, moved_steps, tangent_screws
from bunraku.kinematics.gaps import velocity
from bunraku.kinematics.wrapping import next_circle, way_row
from bunraku.kinematics.wrapping_derivatives import (
    MOVE,
    MOVE_TANGENT,
    PULL,
    PULL_TANGENT,
    STATE,
    bend,
    bend_tangent,
    piece_change,
    piece_tangent,
)
from bunraku.spatial.algebra import cross, dot3, get3, get6, put3, scale3

LEAST_SINE = 1e-9  # of an angle at an eyelet that has derivatives


@woven
def rubs(link):
    """Whether a link is a place where a string rubs: it is the way from its hook to there."""
    return link.normal >= 0 and link.kind == LinkKind.WRAPPED


@woven
def _on_pulley(points, link):
    last = link.first + link.count - 1
    return link.count > 3 and points[last - 2].role == PointRole.DRUM


@woven
def _rubbing_point(links, points, c):
    """The point of its string where link c rubs: an eyelet, or the centre of a pulley. The points of c are those up to there."""
    return links[links[c].normal].first + links[c].count - (3 if _on_pulley(points, links[c]) else 1)


@woven
def _start(points, first, at):
    """The eyelet before the pulley `at`, and any others in its row."""
    k = at
    while k - 3 >= first and points[k - 3].role == PointRole.CYLINDER:
        k -= 3
    return k - 1


@woven
def _touched_before(points, k, at, n):
    """The circle that the string touches before the pulley `at`, or the eyelet k where the stretch begins."""
    i = k
    while next_circle(points, i, at, n) != at:
        i = next_circle(points, i, at, n)
    return i


@woven
def _touched_behind(points, at, n):
    """The circle that the string touches next, or the end of the stretch."""
    e = at + 3
    while points[e].role == PointRole.CYLINDER:
        e += 3
    return next_circle(points, at, e, n)


@bare
def wrap_angle(links, points, c, f, n):
    """φ of link c [rad]; f and n as `gaps` left them."""
    string, at = links[links[c].normal], _rubbing_point(links, points, c)
    if not _on_pulley(points, links[c]):
        F = get3(f, at)
        chord = min(0.5 * np.sqrt(dot3(F, F)), 1.0)
        return 2.0 * np.arcsin(chord)
    if n[at + 1, 0] == 0.0:
        return 0.0
    k = _start(points, string.first, at)
    a, u, v = get3(n, k + 3), get3(n, _touched_before(points, k, at, n)), get3(n, at)
    turned = np.arctan2(np.sign(n[at + 1, 0]) * dot3(a, cross(u, v)), dot3(u, v))
    if turned < -0.5 * np.pi:
        turned += 2.0 * np.pi
    return turned + points[at].weight


@woven
def _turned(points, string, at, x, n):
    """The angle by which the string turns more on the pulley `at` where its points move by MOVE."""
    if n[at + 1, 0] == 0.0:
        return 0.0
    k = _start(points, string.first, at)
    i, j = _touched_before(points, k, at, n), _touched_behind(points, at, n)
    a, da, none = get3(n, k + 3), get3(n, way_row(points, MOVE, k + 2)), (0.0, 0.0, 0.0)
    y1, _, _, _ = piece_change(points, i, at, x, n, a, da, none, none)
    y2, _, _, _ = piece_change(points, at, j, x, n, a, da, none, none)
    first, second = dot3(cross(a, get3(n, i)), y1) * n[i, 3], dot3(cross(a, get3(n, at)), y2) * n[at, 3]
    return np.sign(n[at + 1, 0]) * (second - first)


@bare
def angle_gradient(tree, c, S, x, f, n, row):
    """row[q] = φ_q of link c, zero where its string does not go."""
    links, points, joints = tree.links, tree.points, tree.joints
    string, at, support = links[links[c].normal], _rubbing_point(links, points, c), tree.support[links[c].normal]
    for k in range(row.shape[0]):
        row[k] = 0.0
    phi, pulley = wrap_angle(links, points, c, f, n), _on_pulley(points, links[c])
    if not pulley and np.sin(phi) < LEAST_SINE:
        return
    for b in range(1, support[0] + 1):
        j = support[b]
        for k in range(string.first, string.first + string.count):
            y = velocity(get6(S, j), get3(x, k), points[k].is_point)
            put3(n, way_row(points, MOVE, k), y if carries(tree.chain, j, points[k].joint) else scale3(0.0, y))
        if pulley:
            row[joints[j].variable] = _turned(points, string, at, x, n)
        else:
            bend(string, points, x, n)
            row[joints[j].variable] = dot3(get3(f, at), get3(n, way_row(points, PULL, at))) / np.sin(phi)


@inline
def angle_hessian(tree, c, S, x, f, n, row, H):
    """H[q, q] = φ_qq of link c, where `row` is φ_q; S, x, f, n are those of `gaps`, scratch layers of n included."""
    links, points, joints, nj = tree.links, tree.points, tree.joints, tree.joints.shape[0]
    string, at, support = links[links[c].normal], _rubbing_point(links, points, c), tree.support[links[c].normal]
    phi, pulley = wrap_angle(links, points, c, f, n), _on_pulley(points, links[c])
    along, W, dS, dx = np.zeros(tree.n_q), np.empty((nj, 6)), np.empty((nj, 6)), np.zeros((points.shape[0], 3))
    for i in range(tree.n_q):
        for j in range(tree.n_q):
            H[i, j] = 0.0
    if not pulley and np.sin(phi) < LEAST_SINE:
        return
    for a in range(1, support[0] + 1):
        qi = joints[support[a]].variable
        along[qi] = 1.0
        tangent_screws(joints, along, S, W, dS)
        along[qi] = 0.0
        for k in range(string.first, string.first + string.count):
            j = points[k].joint
            y = velocity(get6(W, j), get3(x, k), points[k].is_point) if j >= 0 else (0.0, 0.0, 0.0)
            put3(dx, k, y)
            put3(n, way_row(points, MOVE, k), y)
        bend(string, points, x, n)
        pull = get3(n, way_row(points, PULL, at))
        for b in range(1, support[0] + 1):
            j = support[b]
            qj = joints[j].variable
            for k in range(string.first, string.first + string.count):
                y, dy = moved_steps(k, 1.0, points, S, dS, x, dx, j)
                on = carries(tree.chain, j, points[k].joint)
                put3(n, way_row(points, MOVE, k), y if on else scale3(0.0, y))
                put3(n, way_row(points, MOVE_TANGENT, k), dy if on else scale3(0.0, dy))
            if pulley:
                H[qi, qj] = _turned_tangent(points, string, at, x, dx, n)
            else:
                bend_tangent(string, points, x, dx, n)
                both = dot3(pull, get3(n, way_row(points, PULL, at)))
                both += dot3(get3(f, at), get3(n, way_row(points, PULL_TANGENT, at)))
                H[qi, qj] = (both - np.cos(phi) * row[qi] * row[qj]) / np.sin(phi)


@woven
def _turned_tangent(points, string, at, x, dx, n):
    """How `_turned` changes along the direction in which points move by dx, whose changes of pieces are in STATE."""
    if n[at + 1, 0] == 0.0:
        return 0.0
    k = _start(points, string.first, at)
    a, da, da1 = get3(n, k + 3), get3(n, way_row(points, MOVE, k + 2)), get3(n, way_row(points, MOVE_TANGENT, k + 2))
    a1, none, total = get3(n, way_row(points, STATE, k + 3)), (0.0, 0.0, 0.0), 0.0
    for second in range(2):
        i = at if second else _touched_before(points, k, at, n)
        j = _touched_behind(points, at, n) if second else at
        _, du1, _, _ = piece_tangent(points, i, j, x, dx, n, a, a1, da, da1, none, none, none, none)
        u = get3(n, i)
        normal = cross(a, u)
        total += (1.0 if second else -1.0) * (dot3(normal, du1) + dot3(u, da) * dot3(normal, a1))
    return np.sign(n[at + 1, 0]) * total
