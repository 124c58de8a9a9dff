"""Kernel of a small linear program: min c·x with M x = b, x ≥ 0. Two phases, Bland's rule against cycling."""

from __future__ import annotations

import math

from bunraku.kernels.compile import inline


@inline
def exchange(table, rows, basis, leave, enter):
    """Column `enter` becomes the basic one of row `leave`."""
    last = table.shape[1] - 1
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
    """Simplex steps on a tableau, in place, until its row `objective` has no negative entry in the first columns.

    Phase one is over as soon as nothing is missing: what looks like a gain then is rounding, and small pivots would blow it up.
    """
    last = table.shape[1] - 1
    for step in range(500):
        if objective > rows and table[objective, last] > -1e-13:
            return True
        enter, least = -1, -1e-10
        for c in range(columns):
            if table[objective, c] < least:
                enter, least = c, table[objective, c]
                if step > 100:  # Bland: the first one, so that degenerate steps cannot go round for ever
                    break
        if enter < 0:
            return True
        best = math.inf
        for r in range(rows):
            if table[r, enter] > 1e-9:
                best = min(best, max(table[r, last], 0.0) / table[r, enter])
        leave = -1
        for r in range(rows):  # of rows that are as good, the one with the largest pivot: small ones blow errors up
            tied = table[r, enter] > 1e-9 and max(table[r, last], 0.0) / table[r, enter] <= best + 1e-12
            if tied and (leave < 0 or (basis[r] < basis[leave] if step > 100 else table[r, enter] > table[leave, enter])):
                leave = r
        if leave < 0:
            return False
        exchange(table, rows, basis, leave, enter)
    return False


@inline
def minimize(table, rows, n, basis):
    """Solves the program whose M and b ≥ 0 (in the last column) stand in the first rows of a tableau, and its cost in the next.

    Columns n … n + rows are for the artificial variables; row `rows + 1` is used. True if a bottom was found: x is then
    table[r, −1] at basis[r], and the prices of the equations are −table[rows, n + r], of those as turned.
    """
    last = table.shape[1] - 1
    for c in range(last + 1):
        table[rows + 1, c] = 0.0
    for r in range(rows):
        basis[r] = n + r
        for c in range(rows):
            table[r, n + c] = 1.0 if r == c else 0.0
        table[rows, n + r] = 0.0
        for c in range(n):
            table[rows + 1, c] -= table[r, c]  # phase one: how much is still missing
        table[rows + 1, last] -= table[r, last]
    table[rows, last] = 0.0
    if not pivot(table, rows, basis, rows + 1, n) or table[rows + 1, last] < -1e-9:
        return False
    for r in range(rows):  # an artificial variable that stayed, at zero, must not grow in phase two
        if basis[r] >= n:
            largest = -1
            for c in range(n):
                if abs(table[r, c]) > 1e-7 and (largest < 0 or abs(table[r, c]) > abs(table[r, largest])):
                    largest = c
            if largest >= 0:  # else the equation says nothing new
                exchange(table, rows, basis, r, largest)
    return pivot(table, rows, basis, rows, n)
