"""Charts of ball joints. Three angles are singular somewhere, so the chart is changed before they get there.

A ball is C·Rz(a)·Ry(b)·Rx(c). When b nears ±90° at the end of a step, the chart is re-centred: C takes the rotation and
the angles become zero. A momentum is a covector, so with E the axes of the three angles p' = E'ᵀ E⁻ᵀ p; nothing physical
changes. C is kept in the joint's constant rotation, in the rollout's own copy of the joints. It becomes the identity again ("comes
home") as soon as the angles there are well away from ±90°, so that damping or effort along an angle means what its file says.

While a ball turns fast (bunraku.dynamics.fast_turns), its chart is centred before every step, and every part of one, where the
middle of that step will be.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bunraku.dynamics.fast_turns import turn
from bunraku.kernels.compile import bare, inline, unit
from bunraku.spatial.algebra import scale3
from bunraku.spatial.euler import ball_rotation, exp_rotation, log_rotation, times, transposed


class ChartAngles(NamedTuple):
    """When a chart is re-centred, by the size of its second angle [rad]."""

    leave: float = 1.05
    """|b| beyond which a chart leaves home."""
    centre: float = 0.2
    """|b| beyond which a chart that is away is centred again. The smaller the angles, the less a step depends on the chart."""
    at_pole: float = 1e-10
    """Cosine of b below which a is not determined, and may be any."""
    come_home: float = 1.0
    """|b| at home below which a chart comes back: near where it left, or what leaving did to the energy of a step would add up."""


CHART_ANGLES = ChartAngles()


@bare
def rotation(a, b, c, R):
    """Rz(a) Ry(b) Rx(c)."""
    ca, sa, cb, sb, cc, sc = math.cos(a), math.sin(a), math.cos(b), math.sin(b), math.cos(c), math.sin(c)
    R[0, 0], R[0, 1], R[0, 2] = ca * cb, ca * sb * sc - sa * cc, ca * sb * cc + sa * sc
    R[1, 0], R[1, 1], R[1, 2] = sa * cb, sa * sb * sc + ca * cc, sa * sb * cc - ca * sc
    R[2, 0], R[2, 1], R[2, 2] = -sb, cb * sc, cb * cc


@bare
def angles(R):
    """(a, b, c) of a rotation, |b| ≤ 90°."""
    a = math.atan2(R[1, 0], R[0, 0])
    return a, math.atan2(-R[2, 0], math.sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])), last_angle(R, a)


@bare
def last_angle(R, a):
    """c of a rotation whose first angle is a. Near the pole, a is hardly determined, but what a and c make together is."""
    ca, sa = math.cos(a), math.sin(a)
    return math.atan2(sa * R[0, 2] - ca * R[1, 2], ca * R[1, 1] - sa * R[0, 1])


@bare
def near(x, y):
    """x moved by whole turns to be nearest to y."""
    return x - 2.0 * math.pi * math.floor((x - y) / (2.0 * math.pi) + 0.5)


@bare
def angles_near(R, a0, b0, c0):
    """Of the angles of a rotation, those nearest to (a0, b0, c0)."""
    a, b, c = angles(R)
    if abs(R[0, 0]) + abs(R[1, 0]) < CHART_ANGLES.at_pole:
        a, c = a0, last_angle(R, a0)
    a1, b1, c1 = near(a, a0), near(b, b0), near(c, c0)
    a2, b2, c2 = near(a + math.pi, a0), near(math.pi - b, b0), near(c + math.pi, c0)
    if abs(a1 - a0) + abs(b1 - b0) + abs(c1 - c0) <= abs(a2 - a0) + abs(b2 - b0) + abs(c2 - c0):
        return a1, b1, c1
    return a2, b2, c2


@bare
def lean(b):
    """How near b is to ±90°, as an angle from 0 to 90°."""
    return math.asin(min(abs(math.sin(b)), 1.0))


@bare
def moment(a, b, p1, p2, p3):
    """Π with Eᵀ Π = p, where E = [e_z, Rz e_y, Rz Ry e_x] and det E = cos b."""
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    flat = (p3 + sb * p1) / cb  # Π·(ca, sa, 0), from Π·(ca cb, sa cb, −sb) = p3
    return flat * ca - p2 * sa, flat * sa + p2 * ca, p1


@bare
def momentum(a, b, x, y, z):
    """Eᵀ Π."""
    ca, sa, cb, sb = math.cos(a), math.sin(a), math.cos(b), math.sin(b)
    return z, ca * y - sa * x, cb * (ca * x + sa * y) - sb * z


@bare
def _times(A, B, out):
    for r in range(3):
        for c in range(3):
            out[r, c] = A[r, 0] * B[0, c] + A[r, 1] * B[1, c] + A[r, 2] * B[2, c]


@bare
def _transposed_times(A, B, out):
    for r in range(3):
        for c in range(3):
            out[r, c] = A[0, r] * B[0, c] + A[1, r] * B[1, c] + A[2, r] * B[2, c]


@bare
def _straighten(A, out):
    """A (3 − AᵀA)/2: the rotation that A is but for rounding, which would add up over thousands of charts."""
    for r in range(3):
        for c in range(3):
            x = 1.5 * A[r, c]
            for k in range(3):
                x -= 0.5 * A[r, k] * (A[0, k] * A[0, c] + A[1, k] * A[1, c] + A[2, k] * A[2, c])
            out[r, c] = x


@bare
def recentre(tree, home, C, q, p, history, fast):
    """Re-centres the charts that need it, and brings home those that may. Returns how many changed.

    `home` are the joints with all charts at their start; `history` (m × q) are earlier configurations, a step apart, re-expressed
    too so that they can be extrapolated; `fast` is what `fast_turns` returns.
    """
    moved = 0
    for k in range(tree.balls.shape[0]):
        i = tree.joints[tree.balls[k]].variable
        away = not centred(C, k)
        turns = history.shape[0] > 0 and turn(q, history[0], i) > fast[k] * (0.5 if away else 1.0)
        limit = CHART_ANGLES.centre if away else CHART_ANGLES.leave
        near_pole = abs(q[i + 1]) > limit and lean(q[i + 1]) > limit
        if near_pole or away or turns:
            moved += _move_chart(tree, home, C, q, p, history, k, near_pole, turns)
    return moved


@inline
def _half_further(R, history, i, out):
    """Where a ball that is at R will be after half a step, if it turns as it did since the last configuration of `history`."""
    before = ball_rotation(history[0, i], history[0, i + 1], history[0, i + 2])
    now = (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
    there = times(now, exp_rotation(scale3(0.5, log_rotation(times(transposed(before), now)))))
    for k in range(9):
        out[k // 3, k % 3] = there[k]


@unit("int64", allocates=True)
def _move_chart(tree, home, C, q, p, history, k, near_pole, turns):
    """Centres chart k in the middle of the next step where its ball `turns` fast. Else brings it home where the ball is far from
    the pole there, or centres it where it is `near_pole`. Returns 1 if it has moved."""
    R, M, T, to = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    i = tree.joints[tree.balls[k]].variable
    rotation(q[i], q[i + 1], q[i + 2], R)
    _times(C[k], R, M)
    a, b, c = angles(M)
    if turns:
        _half_further(R, history, i, T)
        _times(C[k], T, R)
        _straighten(R, to)
        _transposed_times(C[k], to, T)
        rotation(q[i], q[i + 1], q[i + 2], R)
        _transposed_times(T, R, M)
        a, b, c = angles(M)
    elif not centred(C, k) and abs(b) < CHART_ANGLES.come_home:
        for r in range(3):
            for s in range(3):
                to[r, s] = 1.0 if r == s else 0.0
    elif near_pole:
        a, b, c = 0.0, 0.0, 0.0
        for r in range(3):
            for s in range(3):
                to[r, s] = M[r, s]
    else:
        return 0
    x, y, z = moment(q[i], q[i + 1], p[i], p[i + 1], p[i + 2])
    _transposed_times(to, C[k], T)
    x, y, z = (
        T[0, 0] * x + T[0, 1] * y + T[0, 2] * z,
        T[1, 0] * x + T[1, 1] * y + T[1, 2] * z,
        T[2, 0] * x + T[2, 1] * y + T[2, 2] * z,
    )
    p[i], p[i + 1], p[i + 2] = momentum(a, b, x, y, z)
    q[i], q[i + 1], q[i + 2] = a, b, c
    for row in range(history.shape[0]):
        rotation(history[row, i], history[row, i + 1], history[row, i + 2], R)
        _times(T, R, M)
        history[row, i], history[row, i + 1], history[row, i + 2] = angles_near(M, a, b, c)
    for r in range(3):
        for s in range(3):
            C[k, r, s] = to[r, s]
    apply_chart(tree, home, C, k)
    return 1


@unit("none", allocates=True)
def unwind(tree, C, q, p, history, seen):
    """Makes the angles of charts that have come home continue those before: by whole turns, or on the other side of 90°."""
    R = np.empty((3, 3))
    for k in range(tree.balls.shape[0]):
        if not centred(C, k):
            continue
        i = tree.joints[tree.balls[k]].variable
        rotation(q[i], q[i + 1], q[i + 2], R)
        b = q[i + 1]
        q[i], q[i + 1], q[i + 2] = angles_near(R, seen[i], seen[i + 1], seen[i + 2])
        if math.cos(b) * math.cos(q[i + 1]) < 0.0:  # the second axis has turned round
            p[i + 1] = -p[i + 1]
        for row in range(history.shape[0]):
            rotation(history[row, i], history[row, i + 1], history[row, i + 2], R)
            history[row, i], history[row, i + 1], history[row, i + 2] = angles_near(R, q[i], q[i + 1], q[i + 2])


@bare
def apply_chart(tree, home, C, k):
    """The joint's constant rotation is its own, followed by the chart."""
    j = tree.balls[k]
    tree.joints[j].turned = 0 if centred(C, k) and home[j].turned == 0 else 1
    for a in range(3):
        for b in range(3):
            x = 0.0
            for c in range(3):
                x += home[j].rotation[a, c] * C[k, c, b]
            tree.joints[j].rotation[a, b] = x


@bare
def centred(C, k):
    return C[k, 0, 0] == 1.0 and C[k, 1, 1] == 1.0 and C[k, 2, 2] == 1.0


@bare
def outside(tree, C, q, before, out):
    """The configuration with all charts at home; angles continue from `before`."""
    for i in range(q.shape[0]):
        out[i] = q[i]
    for k in range(tree.balls.shape[0]):
        if not centred(C, k):
            _at_home(tree, C, q, before, out, k)


@unit("none", allocates=True)
def _at_home(tree, C, q, before, out, k):
    """The angles of ball k as if its chart were at home."""
    R, M = np.empty((3, 3)), np.empty((3, 3))
    i = tree.joints[tree.balls[k]].variable
    rotation(q[i], q[i + 1], q[i + 2], R)
    _times(C[k], R, M)
    out[i], out[i + 1], out[i + 2] = angles_near(M, before[i], before[i + 1], before[i + 2])
