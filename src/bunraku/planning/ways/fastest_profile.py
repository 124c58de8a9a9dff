"""The fastest speed profile along a path, as kernels: one backward and one forward pass.

What moves along a path is sampled at places s_i with spacing h: y(s), in groups of columns. x = s'² is the squared speed, u = s''
the acceleration along the path. y_s and y_ss are the derivatives of y with respect to s; v and a limit the size of each group's
velocity and acceleration, and `rate` limits s' at each place.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import inline, kernel


@inline
def _range(y_s, y_ss, first, i, a, x, h):
    """Smallest and largest u = s'' that keep |y_s u + y_ss x| ≤ a at place i, and at the next place, where s'² is x + 2 h u."""
    least, most = -np.inf, np.inf
    for j in range(2):
        for g in range(a.shape[0]):
            # |slope u + offset|² ≤ a², a quadratic in u
            A, B, C = 0.0, 0.0, -a[g] * a[g]
            for k in range(first[g], first[g + 1]):
                slope, offset = y_s[i + j, k] + j * 2.0 * h * y_ss[i + j, k], y_ss[i + j, k] * x
                A += slope * slope
                B += slope * offset
                C += offset * offset
            if A < 1e-18:
                if 1e-9 * (1.0 + a[g]) < C:
                    return np.inf, -np.inf
                continue
            root = B * B - A * C
            if root < 0.0:
                return np.inf, -np.inf
            root = np.sqrt(root)
            least, most = max(least, (-B - root) / A), min(most, (-B + root) / A)
    return least, most


@inline
def _fits(y_s, y_ss, first, i, a, x, h, ceiling):
    """Whether some u at place i, with s'² = x there, makes s'² at the next place nonnegative and at most `ceiling`."""
    least, most = _range(y_s, y_ss, first, i, a, x, h)
    return least <= most and x + 2.0 * h * least <= ceiling and x + 2.0 * h * most >= 0.0


@kernel
def profile(y_s, y_ss, first, v, a, rate, h, x):
    """Fills x with s'² at every place, zero at both ends; group g has the columns first[g] to first[g + 1].

    Returns False if no profile exists.
    """
    n = y_s.shape[0]
    ceiling = np.empty(n)
    for i in range(n):
        top = rate[i] * rate[i]
        for g in range(v.shape[0]):
            size = 0.0
            for k in range(first[g], first[g + 1]):
                size += y_s[i, k] * y_s[i, k]
            if size > 1e-24:
                top = min(top, v[g] * v[g] / size)
        ceiling[i] = min(top, 1e12)
    ceiling[0] = ceiling[n - 1] = 0.0
    for i in range(n - 2, -1, -1):  # backward: the largest x from which one can still stop
        low, high = 0.0, ceiling[i]
        if _fits(y_s, y_ss, first, i, a, high, h, ceiling[i + 1]):
            continue
        if not _fits(y_s, y_ss, first, i, a, 0.0, h, ceiling[i + 1]):
            return False
        for _ in range(50):  # bisection: the feasible x form an interval that contains zero
            middle = 0.5 * (low + high)
            if _fits(y_s, y_ss, first, i, a, middle, h, ceiling[i + 1]):
                low = middle
            else:
                high = middle
        ceiling[i] = low
    x[0] = 0.0
    for i in range(n - 1):
        _, most = _range(y_s, y_ss, first, i, a, x[i], h)
        x[i + 1] = max(min(x[i] + 2.0 * h * most, ceiling[i + 1]), 0.0)
        if i + 1 < n - 1 and x[i + 1] <= 0.0:
            return False
    return True
