"""Kernels of the gecko: its feet and its body by whole-body increments, and the normal equations of a whole motion.

The body is a free rigid frame: columns 0–2 move it along, 3–5 turn it about, the world's axes; the active variables
follow. The passive feet have no column: they turn as they like.
"""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np

from bunraku.kinematics.balls import ball_angles, ball_rotation, exp_rotation, times
from bunraku.kinematics.tree import on_joint, place
from bunraku.spatial.kernel import inline, kernel

Body = namedtuple("Body", "joints chain carrier local column active")
"""Points are fixed to joints `carrier` at `local`; the first four are the feet. `column` of each variable, or −1."""
FEET = 12  # equations of four feet


@inline
def points(body, q, R, p, S, x, J):
    """Where the points are, and how they move."""
    joints, chain = body.joints, body.chain
    place(joints, 0, joints.shape[0], q, (0.0, 0.0, 0.0), R, p, S)
    n = body.active.shape[0] + 6
    for i in range(body.carrier.shape[0]):
        j = body.carrier[i]
        y = on_joint(R, p, j, body.local[i])
        for r in range(3):
            x[i, r] = y[r]
            for c in range(n):
                J[3 * i + r, c] = 1.0 if c == r else 0.0
        d0, d1, d2 = y[0] - q[0], y[1] - q[1], y[2] - q[2]
        J[3 * i, 4], J[3 * i, 5] = d2, -d1
        J[3 * i + 1, 3], J[3 * i + 1, 5] = -d2, d0
        J[3 * i + 2, 3], J[3 * i + 2, 4] = d1, -d0
        for a in range(1, chain[j, 0] + 1):
            k = chain[j, a]
            c = body.column[joints[k].q]
            if c >= 6:
                J[3 * i, c] = S[k, 1] * y[2] - S[k, 2] * y[1] + S[k, 3]
                J[3 * i + 1, c] = S[k, 2] * y[0] - S[k, 0] * y[2] + S[k, 4]
                J[3 * i + 2, c] = S[k, 0] * y[1] - S[k, 1] * y[0] + S[k, 5]


@inline
def retract(body, q, d):
    """Moves q by d, in place."""
    for r in range(3):
        q[r] += d[r]
    R = times(exp_rotation((d[3], d[4], d[5])), ball_rotation(q[3], q[4], q[5]))
    q[3], q[4], q[5] = ball_angles(R, q[3], q[4], q[5])
    for i in range(body.active.shape[0]):
        q[body.active[i]] += d[6 + i]


@inline
def factor(A, n):
    """A = L Lᵀ, in place; False where A is not positive."""
    for j in range(n):
        for k in range(j):
            A[j, j] -= A[j, k] * A[j, k]
        if not A[j, j] > 0.0:
            return False
        A[j, j] = math.sqrt(A[j, j])
        for i in range(j + 1, n):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
    return True


@inline
def solve(L, n, b):
    for i in range(n):
        for k in range(i):
            b[i] -= L[i, k] * b[k]
        b[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            b[i] -= L[k, i] * b[k]
        b[i] /= L[i, i]


@inline
def onto_feet(J, ease, e, A, b, d):
    """Adds to d the least change, in the metric 1/ease, that gives J d = e at the feet (eq. 13: J⁺ = Jᵀ(JJᵀ)⁻¹)."""
    n = d.shape[0]
    for i in range(FEET):
        b[i] = e[i]
        for c in range(n):
            b[i] -= J[i, c] * d[c]
        for k in range(i + 1):
            total = 0.0
            for c in range(n):
                total += J[i, c] * ease[c] * J[k, c]
            A[i, k] = total
    for i in range(FEET):
        A[i, i] += 1e-12
    if not factor(A, FEET):
        return False
    solve(A, FEET, b)
    for c in range(n):
        for i in range(FEET):
            d[c] += ease[c] * J[i, c] * b[i]
    return True


@kernel
def walk(body, q, feet, normals, heights, wanted, ease, alpha, beta, gamma, unit, correct, Q, error):
    """Closed-loop increments (eq. 16, 17) from q on: feet (T, 4, 3) where they must be, and the null space down H (eq. 14).

    Returns how many samples were reached. The increment of a foot is where it must be at t + dt minus where it *is*.
    """
    n, count = body.joints.shape[0], body.carrier.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((count, 3)), np.empty((3 * count, body.active.shape[0] + 6))
    A, b, e, d = np.empty((FEET, FEET)), np.empty(FEET), np.empty(FEET), np.empty(J.shape[1])
    for t in range(feet.shape[0]):
        points(body, q, R, p, S, x, J)
        for c in range(d.shape[0]):
            d[c] = 0.0
            if c >= 6:
                d[c] = -2.0 * alpha * (q[body.active[c - 6]] - wanted[t, c - 6])
            for k in range(normals.shape[1]):
                i = 4 + k % 3
                over = -heights[t, k]
                slope = 0.0
                for r in range(3):
                    over += normals[t, k, r] * x[i, r]
                    slope += normals[t, k, r] * J[3 * i + r, c]
                d[c] -= 2.0 * beta * over * slope / (unit * unit)
            d[c] *= gamma * ease[c]
        for again in range(1 + correct):
            for i in range(4):
                for r in range(3):
                    e[3 * i + r] = feet[t, i, r] - x[i, r]
            if not onto_feet(J, ease, e, A, b, d):
                return t
            retract(body, q, d)
            if again < correct:
                points(body, q, R, p, S, x, J)
                for c in range(d.shape[0]):
                    d[c] = 0.0
        points(body, q, R, p, S, x, J)
        worst = 0.0
        for i in range(4):
            square = 0.0
            for r in range(3):
                square += (feet[t, i, r] - x[i, r]) ** 2
            worst = max(worst, math.sqrt(square))
        error[t] = worst
        if not worst < 1.0:
            return t
        for k in range(q.shape[0]):
            Q[t, k] = q[k]
    return feet.shape[0]


@kernel
def points_along(body, Q, X, J):
    """Points (T, n, 3) and their Jacobians (T, 3n, columns)."""
    n = body.joints.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    for t in range(Q.shape[0]):
        points(body, Q[t], R, p, S, X[t], J[t])


@kernel
def rows_along(body, Q, normals, active, rows):
    """How points move along normals (T, n, 3): rows (T, n, columns), where `active` (T, n)."""
    n, count = body.joints.shape[0], body.carrier.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((count, 3)), np.empty((3 * count, rows.shape[2]))
    for t in range(Q.shape[0]):
        some = False
        for i in range(count):
            some = some or active[t, i]
        if some:
            points(body, Q[t], R, p, S, x, J)
        for i in range(count):
            for c in range(rows.shape[2]):
                total = 0.0
                if active[t, i]:
                    for r in range(3):
                        total += normals[t, i, r] * J[3 * i + r, c]
                rows[t, i, c] = total


@kernel
def places_along(body, Q, X):
    """Points (T, n, 3)."""
    n = body.joints.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    for t in range(Q.shape[0]):
        place(body.joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, p, S)
        for i in range(body.carrier.shape[0]):
            y = on_joint(R, p, body.carrier[i], body.local[i])
            for r in range(3):
                X[t, i, r] = y[r]


@kernel
def retract_along(body, Q, D, share):
    """Moves every sample of Q by a share of D, in place."""
    for t in range(Q.shape[0]):
        retract(body, Q[t], share * D[t])


@kernel
def add_second_differences(N, ab, weight):
    """Adds |second differences of N z|² to a banded matrix, lower form; N (T, joints, m)."""
    T, k, m = N.shape
    for t in range(T):
        for s in range(min(3, T - t)):
            if T < 5:
                continue
            if s == 0:
                c = 1.0 if t in (0, T - 1) else 5.0 if t in (1, T - 2) else 6.0
            elif s == 1:
                c = -2.0 if t in (0, T - 2) else -4.0
            else:
                c = 1.0
            for i in range(m):
                for j in range(m):
                    if s == 0 and j < i:
                        continue
                    total = 0.0
                    for a in range(k):
                        total += N[t, a, i] * N[t + s, a, j]
                    row = s * m + j - i
                    ab[row, t * m + i] += weight * c * total


@kernel
def add_rows(rows, ab, weight):
    """Adds Σ weight·(row z)² for rows (T, r, m), weights (T, r)."""
    T, k, m = rows.shape
    for t in range(T):
        for a in range(k):
            w = weight[t, a]
            if w == 0.0:
                continue
            for i in range(m):
                for j in range(i, m):
                    ab[j - i, t * m + i] += w * rows[t, a, i] * rows[t, a, j]


@kernel
def pivot(table, basis, objective, columns):
    """Simplex steps on a tableau, in place, until its row `objective` has no negative entry in the first columns."""
    rows = basis.shape[0]
    for step in range(500):
        enter, least = -1, -1e-10
        for c in range(columns):
            if table[objective, c] < least:
                enter, least = c, table[objective, c]
                if step > 100:  # Bland: the first one, so that degenerate steps cannot go round for ever
                    break
        if enter < 0:
            return True
        leave, best = -1, math.inf
        for r in range(rows):
            if table[r, enter] > 1e-11:
                ratio = table[r, table.shape[1] - 1] / table[r, enter]
                if ratio < best or (ratio == best and basis[r] < basis[leave]):
                    leave, best = r, ratio
        if leave < 0:
            return False
        basis[leave] = enter
        table[leave] /= table[leave, enter]
        for r in range(table.shape[0]):
            if r != leave:
                share = table[r, enter]
                if share != 0.0:
                    table[r] -= share * table[leave]
    return False
