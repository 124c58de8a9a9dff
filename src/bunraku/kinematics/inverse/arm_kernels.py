"""Arms solved in closed form, as kernels: ball – hinge – ball (7 variables), and hinge – two parallel hinges – ball (6).

Rotations are nine numbers, row by row. A "ball" is three rotations about one point in any order of axes. All solutions of a
pose are found: two bends of the elbow, two sets of angles for each ball, and a turret that faces the target or away from it.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.spatial.algebra import add3, cross, dot3, scale3, sub3
from bunraku.spatial.euler import near, times, transposed

ARM_RECORD = np.dtype(
    [
        ("kinds", "i8", 7),  # the joint's own axis (0, 1, 2) that each variable turns about
        # Constant poses: of the first joint in the base, of each later joint in the one before it, of the tool in the last joint.
        *((name, [("R", "f8", (3, 3)), ("p", "f8", 3)]) for name in ("start", "second", "third", "wrist", "tool")),
        ("down", "f8", 3),  # the direction in which the elbow points at swivel 0, in the base's axes
    ],
    align=True,
)  # fmt: skip
STRETCH_ROUNDING = 1e-9
"""A target that is farther than full stretch by at most this fraction of the arm counts as reached (rounding)."""


@inline
def as_tuple(R):
    return R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2]


@inline
def apply(R, x):
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
        R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
        R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
    )


@inline
def apply_inverse(R, x):
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )


@inline
def turn(kind, angle):
    c, s = math.cos(angle), math.sin(angle)
    if kind == 0:
        return 1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c
    if kind == 1:
        return c, 0.0, s, 0.0, 1.0, 0.0, -s, 0.0, c
    return c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0


@inline
def axis_of(kind):
    return (1.0 if kind == 0 else 0.0), (1.0 if kind == 1 else 0.0), (1.0 if kind == 2 else 0.0)


@inline
def unit(x):
    return scale3(1.0 / math.sqrt(dot3(x, x)), x)


@inline
def columns(a, b, c):
    return a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]


@inline
def ball_solution(R, i, j, k):
    """Angles (a, b, c) with turn_i(a) turn_j(b) turn_k(c) = R; the other set is (a + π, π − b or −b, c + π)."""
    third = 3 - i - j
    even = 1.0 if (j - i) % 3 == 1 else -1.0
    if k != i:  # three different axes
        across = math.hypot(R[3 * i + i], R[3 * i + j])
        b = math.atan2(even * R[3 * i + k], across)
        if across > 1e-12:
            return math.atan2(-even * R[3 * j + k], R[3 * k + k]), b, math.atan2(-even * R[3 * i + j], R[3 * i + i])
    else:
        across = math.hypot(R[3 * i + j], R[3 * i + third])
        b = math.atan2(across, R[3 * i + i])
        if across > 1e-12:
            a = math.atan2(R[3 * j + i], -even * R[3 * third + i])
            return a, b, math.atan2(R[3 * i + j], even * R[3 * i + third])
    return math.atan2(even * R[3 * third + j], R[3 * j + j]), b, 0.0  # gimbal lock: only a sum of the outer two is determined


@inline
def put_ball(out, row, first, angles, other, same):
    """Writes one of the two sets of angles of a ball; `same`: its first and last axis are the same."""
    if other:
        middle = -angles[1] if same else math.pi - angles[1]
        angles = angles[0] + math.pi, middle, angles[2] + math.pi
    for k in range(3):
        out[row, first + k] = near(angles[k], 0.0)


@inline
def bend(u, f, kind, square):
    """Angles θ of a hinge with |u + turn(θ) f|² = square: the law of cosines, for any u and f. (count, θ₁, θ₂)

    u·turn(θ) f = const + b cos θ + c sin θ.
    """
    a = axis_of(kind)
    along = dot3(u, a) * dot3(f, a)
    b, c = dot3(u, f) - along, dot3(u, cross(a, f))
    size = math.hypot(b, c)
    wanted = 0.5 * (square - dot3(u, u) - dot3(f, f)) - along
    scale = dot3(u, u) + dot3(f, f)
    if not abs(wanted) <= size + STRETCH_ROUNDING * scale or size <= 1e-12 * scale:
        return 0, 0.0, 0.0
    spread = math.acos(min(1.0, max(-1.0, wanted / size)))
    middle = math.atan2(c, b)
    return (2 if spread > 0.0 else 1), middle + spread, middle - spread


@inline
def wrist_place(arm, R, x):
    """The rotation of the last joint and the centre of the wrist, from the tool's rotation R and position x."""
    tool = as_tuple(arm.tool.R)
    rotation = times(R, transposed(tool))
    return rotation, sub3(x, apply(rotation, (arm.tool.p[0], arm.tool.p[1], arm.tool.p[2])))


@inline
def upright(p, down):
    """The unit vector perpendicular to p that is nearest to `down`."""
    r = sub3(down, scale3(dot3(down, p), p))
    if dot3(r, r) < 1e-12:  # p is parallel to `down`: another fixed direction serves
        other = (down[1], down[2], down[0])
        r = sub3(other, scale3(dot3(other, p), p))
    return unit(r)


@inline
def elbow_side(arm, theta):
    """In the shoulder's axes, at elbow angle θ: the direction of the wrist, and the direction perpendicular to it of the elbow."""
    kind = arm.kinds[3]
    C = as_tuple(arm.second.R)
    u = (arm.second.p[0], arm.second.p[1], arm.second.p[2])
    f = apply(times(C, turn(kind, theta)), (arm.third.p[0], arm.third.p[1], arm.third.p[2]))
    w = unit(add3(u, f))
    side = cross(apply(C, axis_of(kind)), w)  # does not vanish in a straight arm
    if dot3(side, u) < 0.0:
        side = scale3(-1.0, side)
    return w, unit(sub3(side, scale3(dot3(side, w), w)))


@inline
def swivel_solutions(arm, R, x, swivel, out):
    """All solutions (up to 8 rows of 7 angles) for the tool at rotation R, position x in the base's axes. Returns how many."""
    rotation, centre = wrist_place(arm, R, x)
    S = as_tuple(arm.start.R)
    p = apply_inverse(S, sub3(centre, (arm.start.p[0], arm.start.p[1], arm.start.p[2])))
    square = dot3(p, p)
    u = (arm.second.p[0], arm.second.p[1], arm.second.p[2])
    C = as_tuple(arm.second.R)
    f = (arm.third.p[0], arm.third.p[1], arm.third.p[2])
    bends, first, second = bend(apply_inverse(C, u), f, arm.kinds[3], square)
    if bends == 0 or square < 1e-18:
        return 0
    p = unit(p)
    r = upright(p, apply_inverse(S, (arm.down[0], arm.down[1], arm.down[2])))
    across = cross(p, r)
    c, s = math.cos(swivel), math.sin(swivel)
    m = add3(scale3(c, r), scale3(s, across))
    count = 0
    for k in range(bends):
        theta = first if k == 0 else second
        w, side = elbow_side(arm, theta)
        shoulder = times(columns(p, m, cross(p, m)), transposed(columns(w, side, cross(w, side))))
        above = times(times(times(S, shoulder), times(C, turn(arm.kinds[3], theta))), as_tuple(arm.third.R))
        a = ball_solution(shoulder, arm.kinds[0], arm.kinds[1], arm.kinds[2])
        b = ball_solution(times(transposed(above), rotation), arm.kinds[4], arm.kinds[5], arm.kinds[6])
        for branch in range(4):
            put_ball(out, count, 0, a, branch & 1, arm.kinds[0] == arm.kinds[2])
            out[count, 3] = near(theta, 0.0)
            put_ball(out, count, 4, b, branch & 2, arm.kinds[4] == arm.kinds[6])
            count += 1
    return count


@inline
def turret_solutions(arm, R, x, out):
    """All solutions (up to 8 rows of 6 angles) of a turret, two parallel hinges and a ball. Returns how many."""
    rotation, centre = wrist_place(arm, R, x)
    S = as_tuple(arm.start.R)
    p = apply_inverse(S, sub3(centre, (arm.start.p[0], arm.start.p[1], arm.start.p[2])))
    C2, C3 = as_tuple(arm.second.R), as_tuple(arm.third.R)
    up, hinge = axis_of(arm.kinds[0]), apply(C2, axis_of(arm.kinds[1]))
    ahead = cross(hinge, up)
    u = apply(C2, (arm.third.p[0], arm.third.p[1], arm.third.p[2]))
    f3 = (arm.wrist.p[0], arm.wrist.p[1], arm.wrist.p[2])
    o = (arm.second.p[0], arm.second.p[1], arm.second.p[2])
    # The hinges do not move the wrist along their axes: it keeps its offset from the turret's plane.
    third = axis_of(arm.kinds[2])
    offset = dot3(hinge, o) + dot3(hinge, u) + dot3(third, f3) * dot3(hinge, apply(times(C2, C3), third))
    px, py = dot3(p, ahead), dot3(p, hinge)
    flat = math.hypot(px, py)
    if abs(offset) > flat * (1.0 + STRETCH_ROUNDING):
        return 0
    toward, lean = math.atan2(py, px), math.asin(min(1.0, max(-1.0, offset / flat))) if flat > 0.0 else 0.0
    count = 0
    for back in range(2):
        q1 = toward - lean if back == 0 else toward + lean + math.pi
        T = turn(arm.kinds[0], q1)
        d = sub3(apply_inverse(T, p), o)  # from the first hinge to the wrist, in the turret's axes
        d = apply_inverse(C2, d)
        own = axis_of(arm.kinds[1])
        d = sub3(d, scale3(dot3(d, own), own))
        u2 = (arm.third.p[0], arm.third.p[1], arm.third.p[2])
        u2 = sub3(u2, scale3(dot3(u2, own), own))
        g = sub3(f3, scale3(dot3(f3, third), third))
        bends, first, second = bend(apply_inverse(C3, u2), g, arm.kinds[2], dot3(d, d))
        for k in range(bends):
            q3 = first if k == 0 else second
            v = add3(u2, apply(times(C3, turn(arm.kinds[2], q3)), g))
            q2 = math.atan2(dot3(own, cross(v, d)), dot3(v, d))
            above = times(times(S, times(T, C2)), times(turn(arm.kinds[1], q2), times(C3, turn(arm.kinds[2], q3))))
            above = times(above, as_tuple(arm.wrist.R))
            b = ball_solution(times(transposed(above), rotation), arm.kinds[3], arm.kinds[4], arm.kinds[5])
            for branch in range(2):
                out[count, 0], out[count, 1], out[count, 2] = near(q1, 0.0), near(q2, 0.0), near(q3, 0.0)
                put_ball(out, count, 3, b, branch, arm.kinds[3] == arm.kinds[5])
                count += 1
    return count


@inline
def solutions(arm, n, R, x, swivel, out):
    return swivel_solutions(arm, R, x, swivel, out) if n == 7 else turret_solutions(arm, R, x, out)


@kernel
def all_solutions(arms, R, x, swivel, out):
    """Writes all solutions for one pose in the base's axes into rows of `out`. Returns how many."""
    return solutions(arms[0], out.shape[1], as_tuple(R), (x[0], x[1], x[2]), swivel, out)


@kernel
def nearest_solutions(arms, X, swivel, lower, upper, reference, out, found):
    """For every pose (T, 4, 4): the solution within limits that is nearest to its reference; found[t]: whether there is one."""
    n = out.shape[1]
    rows = np.empty((8, n))
    for t in range(X.shape[0]):
        count = solutions(arms[0], n, as_tuple(X[t]), (X[t, 0, 3], X[t, 1, 3], X[t, 2, 3]), swivel[t], rows)
        best = math.inf
        for r in range(count):
            total, inside = 0.0, True
            for k in range(n):
                # Whole turns are added to come nearest to the reference; beyond a limit, one turn back.
                q = near(rows[r, k], reference[t, k])
                if q > upper[k] + 1e-12:
                    q -= 2.0 * math.pi
                elif q < lower[k] - 1e-12:
                    q += 2.0 * math.pi
                inside = inside and lower[k] - 1e-12 <= q <= upper[k] + 1e-12
                rows[r, k] = min(max(q, lower[k]), upper[k]) if inside else q
                total += (rows[r, k] - reference[t, k]) ** 2
            if inside and total < best:
                best = total
                for k in range(n):
                    out[t, k] = rows[r, k]
        found[t] = best < math.inf


@kernel
def swivels(arms, Q, out):
    """The swivel angle of every row of angles of a 7-variable arm."""
    arm = arms[0]
    S = as_tuple(arm.start.R)
    down = apply_inverse(S, (arm.down[0], arm.down[1], arm.down[2]))
    for t in range(Q.shape[0]):
        R = times(times(turn(arm.kinds[0], Q[t, 0]), turn(arm.kinds[1], Q[t, 1])), turn(arm.kinds[2], Q[t, 2]))
        w, side = elbow_side(arm, Q[t, 3])
        p, m = apply(R, w), apply(R, side)
        r = upright(p, down)
        out[t] = math.atan2(dot3(m, cross(p, r)), dot3(m, r))
