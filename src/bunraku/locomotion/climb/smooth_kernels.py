"""Kernels of the whole-motion optimisation: correction of the feet, the cost of a motion, and its normal equations.

At every sample the standing feet are constraints. N, an orthonormal basis of their null space, comes from Householder reflections
of their scaled Jacobian. The unknowns z of a sample are coordinates in N. Second differences over three samples couple them, so the
matrix is banded. Columns 0–2 (the position of the body) are scaled by the leg length.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import on_joint, place
from bunraku.locomotion.climb.gecko_kernels import points, retract
from bunraku.locomotion.climb.ground_kernels import over
from bunraku.spatial.linalg import cholesky, cholesky_solve


class MotionAims(NamedTuple):
    """Targets of the motion at each sample."""

    feet: Any
    """Positions of the feet (T, feet, 3) [m]."""
    turns: Any
    """Rotations of the feet that turn on ankles (T, feet or 0, 3, 3)."""
    loose: Any
    """Which feet may leave their paths (T, feet); all others must be where they should be."""
    soles: Any
    """Centres of the balls of the feet relative to them, in the world's axes (T, feet, balls, 3) [m]."""
    lift: Any
    """Least height of the balls' centres over the surface while a foot swings (T, feet, balls) [m]."""
    joints: Any
    """Angles of the active joints (T, n) [rad]."""
    normals: Any
    """Normals of the planes for neck, waist and bottom (T, k, 3)."""
    heights: Any
    """Offsets of these planes (T, k) [m]."""
    lower: Any
    """Lower limits of the active joints (n,) [rad]."""
    upper: Any
    """Upper limits (n,) [rad]."""
    shanks: Any
    """Unit vectors from the ankles up the links that carry the feet, in their joints' frames (feet or 0, 3)."""
    upright: Any
    """Least cosine of the angle between each of them and the normal of its foot."""


class CostRates(NamedTuple):
    """Weights of the squared deviations, which are fourth powers of the rates of `SmoothOptions`; and lengths."""

    posture: float
    height: float
    limits: float
    clearance: float
    swing: float
    self_margin: float
    """Required clearance of the gecko from itself [m]."""
    unit: float
    """Length of the leg [m]."""


class NearBalls(NamedTuple):
    """Balls fixed to joints, and the pairs of them that must not come near each other."""

    carrier: Any
    """Index of the joint that carries each ball (n,)."""
    local: Any
    """Centre of each ball in its joint's frame (n, 3) [m]."""
    radius: Any
    """(n,) [m]."""
    first: Any
    """One ball of each pair (m,)."""
    second: Any
    """The other one (m,)."""


@inline
def put_balls(apart, R, p, y):
    """Centres (n, 3) of the balls."""
    for k in range(y.shape[0]):
        y[k, 0], y[k, 1], y[k, 2] = on_joint(R, p, apart.carrier[k], apart.local[k])


@inline
def too_near(apart, y, k, margin):
    """Clearance of pair k minus a margin, at most 0, and the distance of their centres."""
    a, b = apart.first[k], apart.second[k]
    wanted = apart.radius[a] + apart.radius[b] + margin
    square = (y[a, 0] - y[b, 0]) ** 2 + (y[a, 1] - y[b, 1]) ** 2 + (y[a, 2] - y[b, 2]) ** 2
    if square >= wanted * wanted:  # true for nearly all pairs; saves the square root
        return 0.0, wanted
    d = math.sqrt(square)
    return d - wanted, d


@inline
def standing(J, x, feet, loose, t, unit, A, e):
    """Rows of the scaled Jacobian (k, columns) and errors of the feet that stand at sample t; returns k."""
    k = 0
    for foot in range(feet.shape[1]):
        if loose[t, foot]:
            continue
        for r in range(3):
            for c in range(A.shape[1]):
                A[k, c] = J[3 * foot + r, c] * (unit if c < 3 else 1.0)
            e[k] = feet[t, foot, r] - x[foot, r]
            k += 1
    return k


@kernel
def restore_along(body, Q, feet, loose, unit, passes):
    """Moves the standing feet to their footholds by the smallest change of the scaled columns; returns the initial error [m].

    `feet` and `loose` are as in `MotionAims`.
    """
    n, cols = body.joints.shape[0], body.active.shape[0] + 6
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((body.carrier.shape[0], 3)), np.empty((3 * body.carrier.shape[0], cols))
    rows = 3 * feet.shape[1]
    A, e, G, d = np.empty((rows, cols)), np.empty(rows), np.empty((rows, rows)), np.empty(cols)
    worst = 0.0
    for t in range(Q.shape[0]):
        for again in range(passes):
            points(body, Q[t], R, p, S, x, J)
            k = standing(J, x, feet, loose, t, unit, A, e)
            most = 0.0
            for i in range(k):
                most = max(most, abs(e[i]))
                for j in range(i + 1):
                    total = 1e-12 if i == j else 0.0
                    for c in range(cols):
                        total += A[i, c] * A[j, c]
                    G[i, j] = total
            if again == 0:
                worst = max(worst, most)
            if most < 1e-13:
                break
            if not most < 1.0 or not cholesky(G, k):
                return math.inf
            cholesky_solve(G, k, e)
            for c in range(cols):
                d[c] = 0.0
                for i in range(k):
                    d[c] += A[i, c] * e[i]
                if c < 3:
                    d[c] *= unit
            retract(body, Q[t], d)
    return worst


@kernel
def cost_along(body, skin, keep, apart, Q, ground, aims, rates, spine, legs):
    """Sum of the squared deviations at all samples, without accelerations.

    `keep` is the distance that the centre of each ball of the skin keeps from the surface. Writes the points of the spine
    (T, points, 3) and the rotations of the links above the ankles (T, ankles, 3, 3), from which accelerations are computed.
    """
    n, n_feet = body.joints.shape[0], aims.feet.shape[1]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    balls, exact = np.empty(apart.local.shape), np.empty(7)
    total = 0.0
    unit = rates.unit * rates.unit
    for t in range(Q.shape[0]):
        for i in range(body.active.shape[0]):
            angle = Q[t, body.active[i]]
            beyond = min(angle - aims.lower[i], 0.0) + max(angle - aims.upper[i], 0.0)
            total += rates.posture * (angle - aims.joints[t, i]) ** 2 + rates.limits * beyond * beyond
        place(body.joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, p, S)
        for i in range(spine.shape[1]):
            j = n_feet + i
            spine[t, i, 0], spine[t, i, 1], spine[t, i, 2] = on_joint(R, p, body.carrier[j], body.local[j])
        for foot in range(legs.shape[1]):
            for r in range(3):
                for c in range(3):
                    legs[t, foot, r, c] = R[body.carrier[foot], c, r]  # rows of R are axes
            low = leaning(R, body.carrier[foot], aims, t, foot)[0]
            total += rates.limits * low * low
        for k in range(aims.heights.shape[1]):
            y = spine[t, k % spine.shape[1]]
            off = y[0] * aims.normals[t, k, 0] + y[1] * aims.normals[t, k, 1] + y[2] * aims.normals[t, k, 2] - aims.heights[t, k]
            total += rates.height * off * off / unit
        for foot in range(n_feet):
            if not aims.loose[t, foot]:
                continue
            y = on_joint(R, p, body.carrier[foot], body.local[foot])
            for r in range(3):
                total += rates.swing * (y[r] - aims.feet[t, foot, r]) ** 2 / unit
            for i in range(aims.soles.shape[2]):
                sole = aims.soles[t, foot, i]
                keeps = aims.lift[t, foot, i]
                low = min(over(ground, t, (y[0] + sole[0], y[1] + sole[1], y[2] + sole[2]), keeps, exact)[0] - keeps, 0.0)
                total += rates.clearance * low * low / unit
        for i in range(skin.carrier.shape[0]):
            y = on_joint(R, p, skin.carrier[i], skin.local[i])
            low = min(over(ground, t, y, keep[i], exact)[0] - keep[i], 0.0)
            total += rates.clearance * low * low / unit
        put_balls(apart, R, p, balls)
        for k in range(apart.first.shape[0]):
            low = too_near(apart, balls, k, rates.self_margin)[0]
            total += rates.clearance * low * low / unit
    return total


@kernel
def turning_along(legs, turns, w):
    """Rotation vectors w (T − 1, ankles, 3) by which the feet turn against the links above, in the axes of the feet."""
    A, B, D = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for i in range(legs.shape[1]):
        for t in range(legs.shape[0]):
            for r in range(3):
                for c in range(3):
                    B[r, c] = 0.0
                    for k in range(3):
                        B[r, c] += legs[t, i, k, r] * turns[t, i, k, c]
            if t > 0:
                for r in range(3):
                    for c in range(3):
                        D[r, c] = A[0, r] * B[0, c] + A[1, r] * B[1, c] + A[2, r] * B[2, c]
                x, y, z = D[2, 1] - D[1, 2], D[0, 2] - D[2, 0], D[1, 0] - D[0, 1]
                sine = 0.5 * math.sqrt(x * x + y * y + z * z)
                angle = math.atan2(sine, 0.5 * (D[0, 0] + D[1, 1] + D[2, 2] - 1.0))
                share = 0.5 * angle / sine if sine > 1e-9 else 0.5
                w[t - 1, i, 0], w[t - 1, i, 1], w[t - 1, i, 2] = share * x, share * y, share * z
            for r in range(3):
                for c in range(3):
                    A[r, c] = B[r, c]


@kernel
def clearance_along(skin, radius, Q, ground, out):
    """Distance of every ball of the skin from the surface (T, n) [m]."""
    n = skin.joints.shape[0]
    R, p, S, exact = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty(7)
    for t in range(Q.shape[0]):
        place(skin.joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, p, S)
        for i in range(radius.shape[0]):
            out[t, i] = over(ground, t, on_joint(R, p, skin.carrier[i], skin.local[i]), 1e9, exact)[0] - radius[i]


@inline
def leaning(R, j, aims, t, foot):
    """By how much a leg leans too far over its foot: the cosine less the least one, at most 0; and the derivative of the cosine by
    the rotation of the leg."""
    v, turn = aims.shanks[foot], aims.turns[t, foot]
    a0 = R[j, 0, 0] * v[0] + R[j, 1, 0] * v[1] + R[j, 2, 0] * v[2]
    a1 = R[j, 0, 1] * v[0] + R[j, 1, 1] * v[1] + R[j, 2, 1] * v[2]
    a2 = R[j, 0, 2] * v[0] + R[j, 1, 2] * v[1] + R[j, 2, 2] * v[2]
    n0, n1, n2 = turn[0, 2], turn[1, 2], turn[2, 2]
    low = min(a0 * n0 + a1 * n1 + a2 * n2 - aims.upright, 0.0)
    return low, (a1 * n2 - a2 * n1, a2 * n0 - a0 * n2, a0 * n1 - a1 * n0)


@inline
def row(body, R, p, S, q, j, y, normal, unit, out):
    """Derivative, by the scaled columns, of the motion of a point y of joint j along a normal."""
    for c in range(3):
        out[c] = normal[c] * unit
    d0, d1, d2 = y[0] - q[0], y[1] - q[1], y[2] - q[2]
    out[3] = d1 * normal[2] - d2 * normal[1]
    out[4] = d2 * normal[0] - d0 * normal[2]
    out[5] = d0 * normal[1] - d1 * normal[0]
    for c in range(6, out.shape[0]):
        out[c] = 0.0
    for a in range(1, body.chain[j, 0] + 1):
        k = body.chain[j, a]
        c = body.column[body.joints[k].variable]
        if c >= 6:
            u0 = S[k, 1] * y[2] - S[k, 2] * y[1] + S[k, 3]
            u1 = S[k, 2] * y[0] - S[k, 0] * y[2] + S[k, 4]
            u2 = S[k, 0] * y[1] - S[k, 1] * y[0] + S[k, 5]
            out[c] = normal[0] * u0 + normal[1] * u1 + normal[2] * u2


@inline
def turn_row(body, S, j, axis, out):
    """Derivative, by the scaled columns, of the rotation of joint j about an axis."""
    for c in range(out.shape[0]):
        out[c] = axis[c - 3] if 3 <= c < 6 else 0.0
    for a in range(1, body.chain[j, 0] + 1):
        k = body.chain[j, a]
        c = body.column[body.joints[k].variable]
        if c >= 6:
            out[c] = axis[0] * S[k, 0] + axis[1] * S[k, 1] + axis[2] * S[k, 2]


@inline
def gather(out, value, weight, W, g):
    """Adds weight·(value + out·d)² to a quadratic in d, with the lower triangle W and the gradient g."""
    for i in range(g.shape[0]):
        share = weight * out[i]
        if share != 0.0:
            g[i] += share * value
            for j in range(i + 1):
                W[i, j] += share * out[j]


@inline
def null_basis(A, k, M, v, N):
    """Columns of N: an orthonormal basis of {d: A d = 0} for the first k rows of A; surplus columns are zero."""
    n = A.shape[1]
    for i in range(n):
        for j in range(k):
            M[i, j] = A[j, i]
    for j in range(k):  # reflection j maps column j of Aᵀ onto axis j
        norm = 0.0
        for i in range(j, n):
            norm += M[i, j] * M[i, j]
        norm = math.sqrt(norm)
        head = M[j, j] + (norm if M[j, j] > 0.0 else -norm)
        square = 2.0 * norm * (norm + abs(M[j, j]))
        for i in range(n):
            v[j, i] = 0.0 if i < j else head if i == j else M[i, j]
        v[j, n] = 2.0 / square if square > 1e-300 else 0.0
        for c in range(j + 1, k):
            total = 0.0
            for i in range(j, n):
                total += v[j, i] * M[i, c]
            total *= v[j, n]
            for i in range(j, n):
                M[i, c] -= total * v[j, i]
    for c in range(N.shape[1]):
        for i in range(n):
            N[i, c] = 1.0 if i == k + c else 0.0
        if k + c >= n:
            continue
        for j in range(k - 1, -1, -1):
            total = 0.0
            for i in range(j, n):
                total += v[j, i] * N[i, c]
            total *= v[j, n]
            for i in range(j, n):
                N[i, c] -= total * v[j, i]


@inline
def bent_rows(body, S, J, N, aims, t, n_spine, unit, out):
    """Derivatives, by z, of what is differentiated twice: joints, points of the spine (in leg lengths), turns of the ankles."""
    n_act, n_feet, free = body.active.shape[0], aims.feet.shape[1], N.shape[1]
    for i in range(n_act):
        for c in range(free):
            out[i, c] = N[6 + i, c]
    for i in range(3 * n_spine):
        row_of, h = n_act + i, 3 * n_feet + i
        for c in range(free):
            out[row_of, c] = 0.0
        for k in range(J.shape[1]):
            share = J[h, k] * (1.0 if k < 3 else 1.0 / unit)
            if share != 0.0:
                for c in range(free):
                    out[row_of, c] += share * N[k, c]
    for foot in range(aims.turns.shape[1]):
        first = n_act + 3 * n_spine + 3 * foot
        j = body.carrier[foot]
        for r in range(3):
            for c in range(free):
                out[first + r, c] = 0.0
            for k in range(3):
                share = -aims.turns[t, foot, k, r]
                for c in range(free):
                    out[first + r, c] += share * N[3 + k, c]
        for a in range(1, body.chain[j, 0] + 1):
            k = body.chain[j, a]
            col = body.column[body.joints[k].variable]
            if col >= 6:
                for r in range(3):
                    share = 0.0
                    for i in range(3):
                        share -= aims.turns[t, foot, i, r] * S[k, i]
                    for c in range(free):
                        out[first + r, c] += share * N[col, c]


@kernel
def linearize_along(body, skin, keep, apart, Q, ground, aims, rates, bent, pull, rows, values, shares, N, band, grad):
    """The normal equations in z; a row of `band` holds the lower part of one column.

    Second differences of the quantities of `bent_rows` are weighted by `bent` (T, quantities), and `pull` is the gradient of their
    cost; those at the ends are as if it stood still before and after. `keep` is as in `cost_along`. Further terms have derivatives
    `rows` (T, r, columns), values and weights.
    """
    n, cols = body.joints.shape[0], body.active.shape[0] + 6
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((body.carrier.shape[0], 3)), np.empty((3 * body.carrier.shape[0], cols))
    n_feet, free, n_bent = aims.feet.shape[1], N.shape[2], bent.shape[1]
    n_spine, fixed = body.carrier.shape[0] - n_feet, 3 * n_feet
    A, e, M, v = np.empty((fixed, cols)), np.empty(fixed), np.empty((cols, fixed)), np.empty((fixed, cols + 1))
    W, g, out, WN = np.empty((cols, cols)), np.empty(cols), np.empty(cols), np.empty((cols, free))
    recent = np.empty((3, n_bent, free))  # what bends at this sample and the two before it
    other, balls, exact = np.empty(cols), np.empty(apart.local.shape), np.empty(7)
    unit = rates.unit * rates.unit
    T = Q.shape[0]
    for t in range(T):
        q = Q[t]
        points(body, q, R, p, S, x, J)
        k = standing(J, x, aims.feet, aims.loose, t, rates.unit, A, e)
        null_basis(A, k, M, v, N[t])
        for i in range(cols):
            g[i] = 0.0
            for j in range(cols):
                W[i, j] = 0.0
        for i in range(cols - 6):
            angle = q[body.active[i]]
            beyond = min(angle - aims.lower[i], 0.0) + max(angle - aims.upper[i], 0.0)
            g[6 + i] = rates.posture * (angle - aims.joints[t, i]) + rates.limits * beyond
            W[6 + i, 6 + i] = rates.posture + (rates.limits if beyond != 0.0 else 0.0)
        for h in range(aims.heights.shape[1]):
            i, normal = n_feet + h % n_spine, aims.normals[t, h]
            off = x[i, 0] * normal[0] + x[i, 1] * normal[1] + x[i, 2] * normal[2] - aims.heights[t, h]
            row(body, R, p, S, q, body.carrier[i], x[i], normal, rates.unit, out)
            gather(out, off, rates.height / unit, W, g)
        for foot in range(n_feet):
            if not aims.loose[t, foot]:
                continue
            for r in range(3):
                for c in range(cols):
                    out[c] = J[3 * foot + r, c] * (rates.unit if c < 3 else 1.0)
                gather(out, x[foot, r] - aims.feet[t, foot, r], rates.swing / unit, W, g)
            for i in range(aims.soles.shape[2]):
                sole = aims.soles[t, foot, i]
                keeps = aims.lift[t, foot, i]
                height, slope = over(
                    ground, t, (x[foot, 0] + sole[0], x[foot, 1] + sole[1], x[foot, 2] + sole[2]), keeps, exact
                )  # fmt: skip
                low = height - keeps
                if low < 0.0:
                    row(body, R, p, S, q, body.carrier[foot], x[foot], slope, rates.unit, out)
                    gather(out, low, rates.clearance / unit, W, g)
        for i in range(keep.shape[0]):
            y = on_joint(R, p, skin.carrier[i], skin.local[i])
            height, slope = over(ground, t, y, keep[i], exact)
            low = height - keep[i]
            if low < 0.0:
                row(body, R, p, S, q, skin.carrier[i], y, slope, rates.unit, out)
                gather(out, low, rates.clearance / unit, W, g)
        for foot in range(aims.turns.shape[1]):
            low, turn = leaning(R, body.carrier[foot], aims, t, foot)
            if low < 0.0:
                turn_row(body, S, body.carrier[foot], turn, out)
                gather(out, low, rates.limits, W, g)
        put_balls(apart, R, p, balls)
        for h in range(apart.first.shape[0]):
            low, d = too_near(apart, balls, h, rates.self_margin)
            if low < 0.0 < d:
                a, b = apart.first[h], apart.second[h]
                y, o = balls[a], balls[b]
                normal = ((y[0] - o[0]) / d, (y[1] - o[1]) / d, (y[2] - o[2]) / d)
                row(body, R, p, S, q, apart.carrier[a], y, normal, rates.unit, out)
                row(body, R, p, S, q, apart.carrier[b], o, normal, rates.unit, other)
                for c in range(cols):
                    out[c] -= other[c]
                gather(out, low, rates.clearance / unit, W, g)
        for i in range(rows.shape[1]):
            gather(rows[t, i], values[t, i], shares[t, i], W, g)
        for i in range(cols):
            for j in range(i):
                W[j, i] = W[i, j]
        for i in range(cols):  # innermost loops run along rows, so they are vectorised
            for c in range(free):
                WN[i, c] = 0.0
            for j in range(cols):
                share = W[i, j]
                if share != 0.0:
                    for c in range(free):
                        WN[i, c] += share * N[t, j, c]
        for c in range(free):
            grad[t, c] = 0.0
        for i in range(cols):
            for c in range(free):
                share = N[t, i, c]
                grad[t, c] += share * g[i]
                for b in range(c, free):
                    band[t * free + c, b - c] += share * WN[i, b]
        now = recent[t % 3]
        bent_rows(body, S, J, N[t], aims, t, n_spine, rates.unit, now)
        own = 1.0 if t == 0 or t == T - 1 else 2.0  # at the ends nothing moves before or after
        for i in range(n_bent):
            share = own * own * bent[t, i] + (bent[t - 1, i] if t > 0 else 0.0) + (bent[t + 1, i] if t + 1 < T else 0.0)
            for c in range(free):
                grad[t, c] += now[i, c] * pull[t, i]
                left = share * now[i, c]
                for b in range(c, free):
                    band[t * free + c, b - c] += left * now[i, b]
        for s in range(1, min(2, t) + 1):
            before = recent[(t - s) % 3]
            for i in range(n_bent):
                share = bent[t - 1, i] if s == 2 else -(1.0 if t == 1 else 2.0) * bent[t - 1, i] - own * bent[t, i]
                for c in range(free):
                    left = share * before[i, c]
                    for b in range(free):
                        band[(t - s) * free + c, s * free + b - c] += left * now[i, b]
