"""Where the ZMP may be: footprints, and the support polygon that they span.

A foot is (x, y, z, yaw): position and direction of its sole's frame. If feet stand at different heights, their corners are
projected onto one floor between them, along lines through the centre of mass, because all forces pass through it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.compile import inline, kernel

Array = NDArray[np.float64]
MAX_CORNERS = 16
"""Maximum number of corners of a support polygon."""


@inline
def _turn(P, a, b, c):
    return (P[b, 0] - P[a, 0]) * (P[c, 1] - P[a, 1]) - (P[b, 1] - P[a, 1]) * (P[c, 0] - P[a, 0])


@inline
def _hull(P, order, out):
    """Convex hull of P (m, 2) by Andrew's monotone chain; `out` receives the indices of its corners, counter-clockwise; returns
    their number."""
    m = P.shape[0]
    for i in range(m):  # sort by x, then y
        order[i] = i
        k = i
        while k > 0:
            a, b = order[k - 1], order[k]
            if P[a, 0] < P[b, 0] or (P[a, 0] == P[b, 0] and P[a, 1] <= P[b, 1]):
                break
            order[k - 1], order[k] = b, a
            k -= 1
    count = 0
    for way in range(2):
        floor = count
        for j in range(m):
            i = order[j] if way == 0 else order[m - 1 - j]
            while count - floor > 1 and _turn(P, out[count - 2], out[count - 1], i) <= 1e-12:
                count -= 1
            out[count] = i
            count += 1
        count -= 1  # the last point of one chain is the first of the other
    return count


@kernel
def _region(sole, feet, com, floor, edges, corners):
    """Polygon of the feet (k, 4) on a floor: edges (m, 3) are inward normals and offsets; returns their number."""
    s = sole.shape[0]
    P = np.empty((feet.shape[0] * s, 2))
    for f in range(feet.shape[0]):
        c, sn, z = np.cos(feet[f, 3]), np.sin(feet[f, 3]), feet[f, 2]
        share = (com[2] - floor) / (com[2] - z)
        for k in range(s):
            x = feet[f, 0] + c * sole[k, 0] - sn * sole[k, 1]
            y = feet[f, 1] + sn * sole[k, 0] + c * sole[k, 1]
            P[f * s + k, 0] = com[0] + (x - com[0]) * share
            P[f * s + k, 1] = com[1] + (y - com[1]) * share
    order, out = np.empty(P.shape[0], np.int64), np.empty(2 * P.shape[0] + 2, np.int64)
    m = _hull(P, order, out)
    for k in range(m):
        a, b = out[k], out[(k + 1) % m]
        dx, dy = P[b, 0] - P[a, 0], P[b, 1] - P[a, 1]
        size = np.sqrt(dx * dx + dy * dy)
        edges[k, 0], edges[k, 1] = -dy / size, dx / size
        edges[k, 2] = edges[k, 0] * P[a, 0] + edges[k, 1] * P[a, 1]
        corners[k, 0], corners[k, 1] = P[a, 0], P[a, 1]
    return m


@dataclass(frozen=True, eq=False)
class Region:
    """A convex polygon on a floor at some height: n·x ≥ offset for every edge (nx, ny, offset)."""

    edges: Array
    corners: Array
    floor: float
    feet: int
    """Number of feet that stand on it. The polygon of one foot lies within that of two."""

    def margin(self, points: Array) -> Array:
        """Distance of `points` (…, 2) from the nearest edge [m]; negative outside."""
        return np.asarray((points[..., :2] @ self.edges[:, :2].T - self.edges[:, 2]).min(-1))

    @property
    def centre(self) -> Array:
        """Mean of its corners (2,) [m]."""
        return np.asarray(self.corners.mean(0))


def region(sole: Array, feet: Array, com: Array) -> Region:
    """The support polygon of `feet` (k, 4) with a `sole` of these corners (m, 2), for a centre of mass near `com` (3,). [m]"""
    edges, corners = np.empty((MAX_CORNERS, 3)), np.empty((MAX_CORNERS, 2))
    floor = float(feet[:, 2].mean())
    m = _region(sole, feet, com, floor, edges, corners)
    return Region(edges[:m], corners[:m], floor, len(feet))
