"""Rows of tasks: the error of every task and its derivative, as flat arrays for kernels.

A task is about a frame F on joint `joint`, seen from a frame B on joint `viewer` (world: −1): everything is measured in
B's axes, so a task between two moving frames is no special case. (ω_i, v_i) is the screw of variable i if it carries F, and
its negative if it carries B (a variable that carries both cancels). x is the position of F, R_B the rotation of B:

    POINT  e = p_BF − target                          e_i = R_Bᵀ (ω_i × x + v_i)
    TURN   e = log(R_BF R_targetᵀ)                    e_i = J⁻¹(e) R_Bᵀ ω_i       J: left Jacobian of SO(3)
    AXIS   e = θ u, the rotation from d to F's axis   d given, or (LOOK) the direction from x to a point
    COM    e = com_B − target
    LINK   e = gap of a closure, wire or string
    VALUE  e = q − target
"""

from __future__ import annotations

import enum
import math

import numpy as np

from bunraku.kernels.compile import inline
from bunraku.kinematics.gaps import gap_of, gradient
from bunraku.kinematics.tree import carry
from bunraku.spatial.algebra import add3, cross, dot3, get3, get6, move, put3, scale3, sub3
from bunraku.spatial.euler import left_inverse, log_rotation, times, transposed


class TaskKind(enum.IntEnum):
    """Kinds of records; their equations are above."""

    POINT = 0
    TURN = 1
    AXIS = 2
    LOOK = 3
    COM = 4
    LINK = 5
    VALUE = 6
    GIVEN = 7
    """Rows that Python computes: those of a `Bound`."""


AIM_SIZE = 9
"""How many numbers are reserved for the target of a record: a position, a direction, or a rotation matrix by rows."""

TASK_RECORD = np.dtype(
    [
        ("kind", "i8"),  # a TaskKind
        ("joint", "i8"), ("viewer", "i8"),  # the joints that carry F and B; −1: the world
        ("moved", "i8"),  # whether B is not the world itself
        ("row", "i8"),  # its first row
        ("axes", "i8"),  # one bit each for x, y, z; for GIVEN, the number of rows
        ("index", "i8"),  # number of the link, of the variable, or of the first given row
        ("x", "f8", 3), ("a", "f8", 3), ("R", "f8", (3, 3)),  # point, axis and rotation of F in the axes of `joint`
        ("b", "f8", 3), ("B", "f8", (3, 3)),  # position and rotation of B in the axes of `viewer`
    ],
    align=True,
)  # fmt: skip


@inline
def carried_axes(R, p, j, M):
    """World directions of the axes of a frame whose rotation in joint j is M."""
    o = (0.0, 0.0, 0.0)
    return (
        carry(R, p, o, j, (M[0, 0], M[1, 0], M[2, 0]), 0.0),
        carry(R, p, o, j, (M[0, 1], M[1, 1], M[2, 1]), 0.0),
        carry(R, p, o, j, (M[0, 2], M[1, 2], M[2, 2]), 0.0),
    )


@inline
def seen(moved, B, x):
    """The world vector x in the axes B."""
    if moved:
        return dot3(B[0], x), dot3(B[1], x), dot3(B[2], x)
    return x


@inline
def put_rows(J, row, axes, i, y, sign):
    """Adds sign · y to column i, in the rows that `axes` selects."""
    if axes == 7:
        J[row, i] += sign * y[0]
        J[row + 1, i] += sign * y[1]
        J[row + 2, i] += sign * y[2]
        return
    for r in range(3):
        if axes >> r & 1:
            J[row, i] += sign * y[r]
            row += 1


@inline
def put_errors(e, row, axes, y):
    for r in range(3):
        if axes >> r & 1:
            e[row] = y[r]
            row += 1


@inline
def _both(record, joints, chain, S, x, J, B):
    """Derivatives of the point x (in the world) as seen from B, for all variables that carry F or B."""
    for side in range(2):
        j = record.joint if side == 0 else record.viewer
        if j >= 0:
            sign = 1.0 - 2.0 * side
            for k in range(1, chain[j, 0] + 1):
                i = chain[j, k]
                put_rows(J, record.row, record.axes, joints[i].variable, seen(record.moved, B, move(get6(S, i), x)), sign)


@inline
def point_rows(record, aim, joints, chain, R, p, S, B, b, e, J):
    x = carry(R, p, (0.0, 0.0, 0.0), record.joint, record.x, 1.0)
    y = seen(record.moved, B, sub3(x, b))
    put_errors(e, record.row, record.axes, (y[0] - aim[0], y[1] - aim[1], y[2] - aim[2]))
    _both(record, joints, chain, S, x, J, B)


@inline
def turn_rows(record, aim, joints, chain, R, p, S, B, e, J):
    F = carried_axes(R, p, record.joint, record.R)
    f0, f1, f2 = seen(record.moved, B, F[0]), seen(record.moved, B, F[1]), seen(record.moved, B, F[2])
    R_BF = (f0[0], f1[0], f2[0], f0[1], f1[1], f2[1], f0[2], f1[2], f2[2])
    R_target = (aim[0], aim[1], aim[2], aim[3], aim[4], aim[5], aim[6], aim[7], aim[8])
    error = log_rotation(times(R_BF, transposed(R_target)))
    put_errors(e, record.row, record.axes, error)
    for side in range(2):
        j = record.joint if side == 0 else record.viewer
        if j >= 0:
            sign = 1.0 - 2.0 * side
            for k in range(1, chain[j, 0] + 1):
                i = chain[j, k]
                w = left_inverse(error, seen(record.moved, B, get3(S, i)))
                put_rows(J, record.row, record.axes, joints[i].variable, w, sign)


@inline
def _sideways(a):
    """Some unit vector perpendicular to a."""
    u = cross(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.6 else (0.0, 1.0, 0.0))
    return scale3(1.0 / math.sqrt(dot3(u, u)), u)


@inline
def axis_rows(record, aim, joints, chain, R, p, S, B, b, e, J):
    """Error θ u with u = d × a / sin θ. With φ = θ / sin θ: e = φ c, c = d × a, e_i = φ c_i + φ' θ_i c."""
    looks = record.kind == TaskKind.LOOK
    world_a = carry(R, p, (0.0, 0.0, 0.0), record.joint, record.a, 0.0)
    world_x = carry(R, p, (0.0, 0.0, 0.0), record.joint, record.x, 1.0)
    a = seen(record.moved, B, world_a)
    d = (aim[0], aim[1], aim[2])
    inverse = 0.0
    if looks:
        d = sub3(d, seen(record.moved, B, sub3(world_x, b)))
        size = math.sqrt(dot3(d, d))
        inverse = 1.0 / max(size, 1e-12)  # [m] avoids division by zero at the point itself
        d = scale3(inverse, d)
    c = cross(d, a)
    sine, cosine = math.sqrt(dot3(c, c)), dot3(d, a)
    angle = math.atan2(sine, cosine)
    if sine > 1e-6:
        phi, slope = angle / sine, (sine - angle * cosine) / (sine * sine * sine)
    elif cosine > 0.0:
        phi, slope = 1.0, 1.0 / 3.0
    else:  # a points opposite to d: the error is a half turn about any perpendicular axis
        c, phi, slope = scale3(1e-6, _sideways(a)), math.pi * 1e6, 0.0
    error = scale3(phi, c)
    put_errors(e, record.row, record.axes, error)
    flipped = sine <= 1e-6 and cosine < 0.0
    for side in range(2):
        j = record.joint if side == 0 else record.viewer
        if j < 0:
            continue
        sign = 1.0 - 2.0 * side
        for k in range(1, chain[j, 0] + 1):
            i = chain[j, k]
            s = get6(S, i)
            w = seen(record.moved, B, (s[0], s[1], s[2]))
            if flipped:
                put_rows(J, record.row, record.axes, joints[i].variable, w, sign)
                continue
            da = cross(w, a)
            dc = cross(d, da)
            dcos = dot3(d, da)
            if looks:
                v = seen(record.moved, B, move(s, world_x))
                along = dot3(d, v)
                dd = scale3(-inverse, (v[0] - along * d[0], v[1] - along * d[1], v[2] - along * d[2]))
                dc = add3(dc, cross(dd, a))
                dcos += dot3(dd, a)
            # θ_i = −cos_i / sin θ, and slope = φ' / sin θ.
            g = -slope * dcos
            y = (phi * dc[0] + g * c[0], phi * dc[1] + g * c[1], phi * dc[2] + g * c[2])
            put_rows(J, record.row, record.axes, joints[i].variable, y, sign)


@inline
def com_rows(record, aim, joints, chain, R, p, S, B, b, m, h, e, J):
    """A subtree's first moment moves with the joint that carries it."""
    n = joints.shape[0]
    for j in range(n):
        m[j] = joints[j].mass
        put3(h, j, scale3(m[j], carry(R, p, (0.0, 0.0, 0.0), j, joints[j].com, 1.0)))
    total, moment = 0.0, (0.0, 0.0, 0.0)
    for j in range(n - 1, -1, -1):
        i = joints[j].parent
        if i >= 0:
            m[i] += m[j]
            put3(h, i, add3(get3(h, i), get3(h, j)))
        else:
            total += m[j]
            moment = add3(moment, get3(h, j))
    inverse = 1.0 / total
    x = scale3(inverse, moment)
    y = seen(record.moved, B, sub3(x, b))
    put_errors(e, record.row, record.axes, (y[0] - aim[0], y[1] - aim[1], y[2] - aim[2]))
    for j in range(n):
        mass = m[j]
        if mass > 0.0:
            s, moved = get6(S, j), get3(h, j)
            v = cross((s[0], s[1], s[2]), moved)
            v = (inverse * (v[0] + mass * s[3]), inverse * (v[1] + mass * s[4]), inverse * (v[2] + mass * s[5]))
            put_rows(J, record.row, record.axes, joints[j].variable, seen(record.moved, B, v), 1.0)
    if record.viewer >= 0:
        for k in range(1, chain[record.viewer, 0] + 1):
            i = chain[record.viewer, k]
            put_rows(J, record.row, record.axes, joints[i].variable, seen(record.moved, B, move(get6(S, i), x)), -1.0)


@inline
def link_row(record, joints, chain, points, links, q, R, p, S, e, J):
    link = links[record.index]
    x, f, n = np.zeros((points.shape[0], 3)), np.zeros((points.shape[0], 3)), np.zeros((points.shape[0], 4))
    e[record.row] = gap_of(link, points, q, R, p, (0.0, 0.0, 0.0), x, f, n)
    gradient(link, points, joints, chain, S, x, f, J[record.row])


@inline
def rows(records, joints, chain, points, links, aims, q, R, p, S, m, h, e, J):
    """All errors e (rows) and J (rows, variables), for joints placed by `tree.place`. J must be zero."""
    for k in range(records.shape[0]):
        record = records[k]
        kind, aim = record.kind, aims[AIM_SIZE * k : AIM_SIZE * k + AIM_SIZE]
        if kind == TaskKind.GIVEN:
            continue
        if kind == TaskKind.LINK:
            link_row(record, joints, chain, points, links, q, R, p, S, e, J)
            continue
        if kind == TaskKind.VALUE:
            e[record.row] = q[record.index] - aim[0]
            J[record.row, record.index] = 1.0
            continue
        B, b = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0)
        if record.moved:
            B = carried_axes(R, p, record.viewer, record.B)
            b = carry(R, p, (0.0, 0.0, 0.0), record.viewer, record.b, 1.0)
        if kind == TaskKind.POINT:
            point_rows(record, aim, joints, chain, R, p, S, B, b, e, J)
        elif kind == TaskKind.TURN:
            turn_rows(record, aim, joints, chain, R, p, S, B, e, J)
        elif kind == TaskKind.COM:
            com_rows(record, aim, joints, chain, R, p, S, B, b, m, h, e, J)
        else:
            axis_rows(record, aim, joints, chain, R, p, S, B, b, e, J)
