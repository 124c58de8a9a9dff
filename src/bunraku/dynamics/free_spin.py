"""Bodies that spin freely: single bodies that nothing turns in this step.

Their angular momentum about their centre of mass stays, and Euler's equations say how it moves in the body. With m that momentum in
the body's axes, I the inertia and ω the rate in the middle of a step, the implicit midpoint rule

    m1 − m0 = h m × ω,   m = ½(m0 + m1) = I ω          R1 = R0 cay(h ω)

turns the body so that its energy and its angular momentum both stay to the last digit, at any rate (Austin, Krishnaprasad and Wang
1993, "Almost Poisson integration of rigid body systems"). h is the time step, stretched so that a body that turns about one axis
turns by the right angle. The step in three angles errs by the square of the turn instead.

It takes the place of what the step has found, where a chart is centred ahead because its ball turns fast: others are as they were.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.dynamics.ball_charts import angles_near, centred, moment, momentum
from bunraku.dynamics.fast_turns import FAST_TURNS, turn
from bunraku.kernels.compile import bare, inline, unit
from bunraku.spatial.algebra import add3, axpy3, cross, dot3, get3, scale3, sub3
from bunraku.spatial.euler import ball_rotation, exp_rotation, times, transposed


@bare
def spin_freely(tree, charts, near, q0, p0, q1, p1, dt, fast):
    """Corrects a step (q0, p0) to (q1, p1) of the free bodies that turn fast and that no link moves which is `near`.

    `fast` is what `fast_turns` returns. Returns how many bodies there are.
    """
    some = False
    for k in range(tree.balls.shape[0]):
        some |= _turns(tree, charts, q0, q1, fast, k)
    return _spin_all(tree, charts, near, q0, p0, q1, p1, dt, fast) if some else 0


@bare
def _turns(tree, charts, q0, q1, fast, k):
    """Whether ball k is that of a free body that turns fast, in a chart that is centred because it does."""
    i = tree.joints[tree.balls[k]].variable
    return fast[k] == FAST_TURNS.free and not centred(charts, k) and turn(q1, q0, i) > 0.5 * fast[k]


@unit("int64", allocates=True)
def _spin_all(tree, charts, near, q0, p0, q1, p1, dt, fast):
    """`spin_freely` where a body turns fast."""
    held, slides, count = np.zeros(tree.joints.shape[0], np.bool_), np.empty(3, np.int64), 0
    along, M, T = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for c in range(near.shape[0]):
        if near[c] and tree.links[c].normal < 0:
            for s in range(1, tree.support[c, 0] + 1):
                held[tree.support[c, s]] = True
    for k in range(tree.balls.shape[0]):
        if _turns(tree, charts, q0, q1, fast, k):
            last = _last_of(tree, k)
            if not held[last]:
                count += _spin(tree, q0, p0, q1, p1, dt, k, last, slides, along, M, T)
    return count


@bare
def _last_of(tree, k):
    """The third joint of ball k."""
    last = i = tree.balls[k]
    for j in range(i, tree.joints.shape[0]):
        if tree.joints[j].variable == tree.joints[i].variable + 2:
            last = j
            break
    return last


@inline
def _rotated(R, x):
    """R x, for a rotation of nine numbers."""
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2], R[3] * x[0] + R[4] * x[1] + R[5] * x[2], R[6] * x[0] + R[7] * x[1] + R[8] * x[2]
    )  # fmt: skip


@inline
def _by_inertia(I, x):
    """I x, of xx xy xz yy yz zz."""
    return (
        I[0] * x[0] + I[1] * x[1] + I[2] * x[2], I[1] * x[0] + I[3] * x[1] + I[4] * x[2], I[2] * x[0] + I[4] * x[1] + I[5] * x[2]
    )  # fmt: skip


@bare
def _spin(tree, q0, p0, q1, p1, dt, k, last, slides, along, end, other):
    """The same of ball k, whose third joint is `last`; the others are scratch. Returns 1, or 0 where it does not spin freely."""
    joint, i = tree.joints[last], tree.joints[tree.balls[k]].variable
    c = joint.com[0], joint.com[1], joint.com[2]
    shifted = dot3(c, c) > 0.0
    if shifted and not _drifts(tree, k, along, slides, end, other):
        return 0
    start, linear, after = ball_rotation(q0[i], q0[i + 1], q0[i + 2]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for s in range(3 if shifted else 0):
        linear, after = axpy3(p0[slides[s]], get3(along, s), linear), axpy3(p1[slides[s]], get3(along, s), after)
    total = sub3(moment(q0[i], q0[i + 1], p0[i], p0[i + 1], p0[i + 2]), cross(_rotated(start, c), linear))
    found, turned = _midpoint(joint.inertia, _rotated(transposed(start), total), dt)
    if not found:
        return 0
    R = times(start, turned)
    for r in range(9):
        end[r // 3, r % 3] = R[r]
    q1[i], q1[i + 1], q1[i + 2] = angles_near(end, q1[i], q1[i + 1], q1[i + 2])
    x, y, z = add3(total, cross(_rotated(R, c), after))
    p1[i], p1[i + 1], p1[i + 2] = momentum(q1[i], q1[i + 1], x, y, z)
    if shifted:  # the centre of mass goes by the mean momentum
        way = sub3(scale3(0.5 * dt / joint.mass, add3(linear, after)), sub3(_rotated(R, c), _rotated(start, c)))
        for s in range(3):
            q1[slides[s]] = q0[slides[s]] + dot3(get3(along, s), way)
    return 1


@inline
def _midpoint(I, m, dt):
    """(whether there is one, the rotation by which a body with the momentum m in its axes turns in dt)."""
    w, h, found = (0.0, 0.0, 0.0), dt, False
    for n in range(12):
        Iw = _by_inertia(I, w)
        f = axpy3(-0.5 * h, cross(Iw, w), sub3(Iw, m))
        x, y, z = (
            _slope(I, Iw, w, h, (1.0, 0.0, 0.0)), _slope(I, Iw, w, h, (0.0, 1.0, 0.0)), _slope(I, Iw, w, h, (0.0, 0.0, 1.0))
        )  # fmt: skip
        yz = cross(y, z)
        whole = dot3(x, yz)
        if not abs(whole) > 1e-9 * (I[0] + I[3] + I[5]) ** 3:  # such as a rod, which has no inertia about its axis
            break
        d = scale3(1.0 / whole, (dot3(f, yz), dot3(x, cross(f, z)), dot3(x, cross(y, f))))
        w = sub3(w, d)
        found = n > 1 and dot3(d, d) < 1e-28 * dot3(w, w)
        if found:
            break
        if n == 0:
            half = 0.5 * dt * math.sqrt(dot3(w, w))
            h = dt * (math.tan(half) / half if 1e-4 < half < 1.0 else 1.0 + half * half / 3.0)
    u = scale3(0.5 * h, w)
    size = math.sqrt(dot3(u, u))
    return found, exp_rotation(scale3(2.0 * math.atan(size) / size if size > 1e-9 else 2.0, u))


@inline
def _slope(I, Iw, w, h, e):
    """Column e of the derivative of I ω − ½ h I ω × ω by ω."""
    Ie = _by_inertia(I, e)
    return axpy3(-0.5 * h, add3(cross(Iw, e), cross(Ie, w)), Ie)


@bare
def _drifts(tree, k, along, slides, M, T):
    """Whether ball k is carried by three slides square to each other, along which nothing but gravity acts.

    Then `slides` are their variables, and `along` their directions, a row each, in the axes of the ball. M and T are scratch.
    """
    joints, count, j = tree.joints, 0, tree.balls[k]
    for r in range(3):
        for s in range(3):
            M[r, s] = joints[j].rotation[s, r]
    j = joints[j].parent
    while j >= 0:
        joint = joints[j]
        loose = joint.damping == 0.0 and joint.stiffness == 0.0 and joint.armature == 0.0 and joint.mass == 0.0
        if count == 3 or joint.kind < 3 or joint.variable >= tree.n_dynamic or not loose:
            return False
        for f in range(tree.forces.shape[0]):
            if tree.forces[f].joint == j:
                return False
        slides[count] = joint.variable
        for r in range(3):
            along[count, r] = M[r, joint.kind - 3]
        count += 1
        for r in range(3):
            for s in range(3):
                T[r, s] = M[r, 0] * joint.rotation[s, 0] + M[r, 1] * joint.rotation[s, 1] + M[r, 2] * joint.rotation[s, 2]
        for r in range(3):
            for s in range(3):
                M[r, s] = T[r, s]
        j = joint.parent
    square = count == 3
    for r in range(count):
        square &= abs(dot3(get3(along, r), get3(along, (r + 1) % 3))) < 1e-12
    return square
