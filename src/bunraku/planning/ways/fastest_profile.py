"""The fastest speed profile along a path, as kernels: one backward and one forward pass.

The path q(s) is sampled at places s_i with spacing h; x = s'² is the squared speed, u = s'' the acceleration along the path. q_s
and q_ss are the derivatives of q with respect to s; v and a limit speed and acceleration of every variable.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import inline, kernel


@inline
def _range(q_s, q_ss, i, a, x, h):
    """Smallest and largest u = s'' that keep |q_s u + q_ss x| ≤ a at place i, and at the next place, where s'² is x + 2 h u."""
    least, most = -np.inf, np.inf
    for j in range(2):
        for k in range(a.shape[0]):
            slope, offset = q_s[i + j, k] + j * 2.0 * h * q_ss[i + j, k], q_ss[i + j, k] * x
            if abs(slope) < 1e-9:
                if abs(offset) > a[k] + 1e-9:
                    return np.inf, -np.inf
                continue
            low, high = (-a[k] - offset) / slope, (a[k] - offset) / slope
            if low > high:
                low, high = high, low
            least, most = max(least, low), min(most, high)
    return least, most


@inline
def _fits(q_s, q_ss, i, a, x, h, ceiling):
    """Whether some u at place i, with s'² = x there, makes s'² at the next place nonnegative and at most `ceiling`."""
    least, most = _range(q_s, q_ss, i, a, x, h)
    return least <= most and x + 2.0 * h * least <= ceiling and x + 2.0 * h * most >= 0.0


@kernel
def profile(q_s, q_ss, v, a, h, x):
    """Fills x with s'² at every place, zero at both ends. Returns False if no profile exists."""
    n, m = q_s.shape
    ceiling = np.empty(n)
    for i in range(n):
        top = np.inf
        for k in range(m):
            if abs(q_s[i, k]) > 1e-12:
                top = min(top, (v[k] / q_s[i, k]) ** 2)
        ceiling[i] = min(top, 1e12)
    ceiling[0] = ceiling[n - 1] = 0.0
    for i in range(n - 2, -1, -1):  # backward: the largest x from which one can still stop
        low, high = 0.0, ceiling[i]
        if _fits(q_s, q_ss, i, a, high, h, ceiling[i + 1]):
            continue
        if not _fits(q_s, q_ss, i, a, 0.0, h, ceiling[i + 1]):
            return False
        for _ in range(50):  # bisection: the feasible x form an interval that contains zero
            middle = 0.5 * (low + high)
            if _fits(q_s, q_ss, i, a, middle, h, ceiling[i + 1]):
                low = middle
            else:
                high = middle
        ceiling[i] = low
    x[0] = 0.0
    for i in range(n - 1):
        _, most = _range(q_s, q_ss, i, a, x[i], h)
        x[i + 1] = max(min(x[i] + 2.0 * h * most, ceiling[i + 1]), 0.0)
        if i + 1 < n - 1 and x[i + 1] <= 0.0:
            return False
    return True
