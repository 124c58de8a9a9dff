"""Damped least squares in levels of priority: small, dense, in place.

Variables are scaled by the metric D (posture weights plus damping), y = D^½ dq, so that the last level reads

    minimise |J y − r|² + |y − y₀|²        y = y₀ + Jᵀ (J Jᵀ + 1)⁻¹ (r − J y₀)

with y₀ the step that posture alone would take: one Cholesky factor of the size of the rows or of the variables,
whichever is smaller. A level above it is strict: its rows span a basis Q (pivoted Gram–Schmidt, which finds the
rank), every lower level lives in the null space 1 − QᵀQ, and its own step is damped without any effect on that
projection, so that damping slows a level near a singularity but never lets a lower one disturb it.
"""

from __future__ import annotations

import math

from bunraku.kernels.compile import inline
from bunraku.kinematics.inverse.options import DESCENT
from bunraku.spatial.linalg import cholesky, cholesky_solve


@inline
def dot(a, b, n):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


@inline
def last_level(J, first, last, n, r, y, A, z):
    """y += Jᵀ (J Jᵀ + 1)⁻¹ (r − J y) for the rows first … last − 1 of J; z and A are scratch."""
    m = last - first
    if m == 0:
        return
    if m <= n:
        for i in range(m):
            for j in range(i + 1):
                A[i, j] = dot(J[first + i], J[first + j], n)
            A[i, i] += 1.0
            z[i] = r[first + i] - dot(J[first + i], y, n)
        cholesky(A, m)
        cholesky_solve(A, m, z)
        for i in range(m):
            x, row = z[i], J[first + i]
            for k in range(n):
                y[k] += row[k] * x
        return
    for i in range(n):
        z[i] = 0.0
        for j in range(i + 1):
            A[i, j] = 0.0
        A[i, i] = 1.0
    for k in range(first, last):
        row = J[k]
        x = r[k] - dot(row, y, n)
        for i in range(n):
            z[i] += row[i] * x
            f = row[i]
            if f != 0.0:
                for j in range(i + 1):
                    A[i, j] += f * row[j]
    cholesky(A, n)
    cholesky_solve(A, n, z)
    for i in range(n):
        y[i] += z[i]


@inline
def project(row, n, Q, rank):
    """Removes from a row its components along Q[:rank]."""
    for k in range(rank):
        q = Q[k]
        f = dot(row, q, n)
        for i in range(n):
            row[i] -= f * q[i]


@inline
def strict_level(J, first, last, n, r, damping, Q, rank, y, L, A, z, size, least):
    """One strict level: y takes its damped step within the null space of Q, and Q grows. Returns the new rank.

    The rows become J̃ = L Q_new; the step is Q_newᵀ c with c minimising |L c − (r − J y)|² + damping |c|².
    """
    m = last - first
    for i in range(m):
        row = J[first + i]
        z[i] = r[first + i] - dot(row, y, n)
        least[i] = DESCENT.dependent_row**2 * dot(row, row, n)
        project(row, n, Q, rank)
        project(row, n, Q, rank)  # once more, for what rounding left
        left = dot(row, row, n)
        size[i] = left if left > least[i] else -1.0  # squared length of what is left; −1: done
    base = rank
    for step in range(m):
        pivot = -1
        for i in range(m):
            if size[i] > 0.0 and (pivot < 0 or size[i] > size[pivot]):
                pivot = i
        if pivot < 0 or rank == n:
            break
        q, row = Q[rank], J[first + pivot]
        for k in range(n):
            q[k] = row[k]
        project(q, n, Q, rank)
        inverse = 1.0 / math.sqrt(dot(q, q, n))
        for k in range(n):
            q[k] *= inverse
        for i in range(m):
            L[i, step] = 0.0
            if size[i] > 0.0:
                row = J[first + i]
                f = dot(row, q, n)
                L[i, step] = f
                for k in range(n):
                    row[k] -= f * q[k]
                size[i] = dot(row, row, n)
                if size[i] <= least[i]:
                    size[i] = -1.0
        size[pivot] = -1.0
        rank += 1
    c = rank - base
    for i in range(c):
        for j in range(i + 1):
            total = damping if i == j else 0.0
            for k in range(m):
                total += L[k, i] * L[k, j]
            A[i, j] = total
        size[i] = 0.0
        for k in range(m):
            size[i] += L[k, i] * z[k]
    cholesky(A, c)
    cholesky_solve(A, c, size)
    for i in range(c):
        x, q = size[i], Q[base + i]
        for k in range(n):
            y[k] += x * q[k]
    return rank


@inline
def hierarchy(J, levels, n, r, prior, damping, y, Q, L, A, z, size, least):
    """The step y of all levels; `levels` holds the first row of each, and the end. J and r are used up."""
    last = levels.shape[0] - 2
    first, end = levels[last], levels[last + 1]
    if last == 0:
        for k in range(n):
            y[k] = prior[k]
        last_level(J, first, end, n, r, y, A, z)
        return
    for k in range(n):
        y[k] = 0.0
    rank = 0
    for level in range(last):
        rank = strict_level(J, levels[level], levels[level + 1], n, r, damping[level], Q, rank, y, L, A, z, size, least)
    project(prior, n, Q, rank)
    for k in range(n):
        y[k] += prior[k]
        size[k] = 0.0
    for i in range(first, end):
        r[i] -= dot(J[i], y, n)
        project(J[i], n, Q, rank)
    last_level(J, first, end, n, r, size, A, z)
    for k in range(n):
        y[k] += size[k]
