"""Kernel of a small linear program: min c·x with M x = b, x ≥ 0. Two-phase simplex, with Bland's rule against cycling."""

from __future__ import annotations

import math

from bunraku.kernels.compile import inline


@inline
def exchange(table, rows, basis, last, leave, enter):
    """Column `enter` replaces the basic column of row `leave`; `last` is the column of b."""
    basis[leave] = enter
    share = 1.0 / table[leave, enter]
    for c in range(last + 1):
        table[leave, c] *= share
    for r in range(rows + 2):
        if r != leave:
            share = table[r, enter]
            if share != 0.0:
                for c in range(last + 1):
                    table[r, c] -= share * table[leave, c]


@inline
def pivot(table, rows, basis, objective, columns):
    """Simplex steps on a tableau, in place, until its row `objective` has no negative entry in the first `columns` columns.

    Phase one ends as soon as the artificial variables sum to zero: later gains are rounding, which small pivots would amplify.
    """
    last = columns + rows
    for step in range(500):
        if objective > rows and table[objective, last] > -1e-13:
            return True
        enter, least = -1, -1e-10
        for c in range(columns):
            if table[objective, c] < least:
                enter, least = c, table[objective, c]
                if step > 100:  # Bland: the first candidate, so that degenerate steps cannot cycle
                    break
        if enter < 0:
            return True
        best = math.inf
        for r in range(rows):
            if table[r, enter] > 1e-9:
                best = min(best, max(table[r, last], 0.0) / table[r, enter])
        leave = -1
        for r in range(rows):  # among equal rows, the one with the largest pivot: small pivots amplify errors
            tied = table[r, enter] > 1e-9 and max(table[r, last], 0.0) / table[r, enter] <= best + 1e-12
            if tied and (leave < 0 or (basis[r] < basis[leave] if step > 100 else table[r, enter] > table[leave, enter])):
                leave = r
        if leave < 0:
            return False
        exchange(table, rows, basis, last, leave, enter)
    return False


@inline
def minimize(table, rows, n, basis):
    """Solves the program of a tableau: the first `rows` rows hold M and, in column n + rows, b ≥ 0; the next row holds the cost.

    Columns n … n + rows − 1 are for the artificial variables; row `rows + 1` is scratch. Returns whether a minimum exists. Then
    x[basis[r]] is table[r, n + rows], and the dual variables are −table[rows, n + r].
    """
    last = n + rows
    for c in range(last + 1):
        table[rows + 1, c] = 0.0
    for r in range(rows):
        basis[r] = n + r
        for c in range(rows):
            table[r, n + c] = 1.0 if r == c else 0.0
        table[rows, n + r] = 0.0
        for c in range(n):
            table[rows + 1, c] -= table[r, c]  # phase one: the sum of the artificial variables
        table[rows + 1, last] -= table[r, last]
    table[rows, last] = 0.0
    if not pivot(table, rows, basis, rows + 1, n) or table[rows + 1, last] < -1e-9:
        return False
    for r in range(rows):  # an artificial variable that remains basic, at zero, must not grow in phase two
        if basis[r] >= n:
            largest = -1
            for c in range(n):
                if abs(table[r, c]) > 1e-7 and (largest < 0 or abs(table[r, c]) > abs(table[r, largest])):
                    largest = c
            if largest >= 0:  # otherwise the equation is redundant
                exchange(table, rows, basis, last, r, largest)
    return pivot(table, rows, basis, rows, n)
