"""The surface as kernels of a climb see it: planes of faces along a course, or a field of distances around a mesh.

The field is a grid of signed distances, stored in blocks of as many cells along each side. Only blocks near the surface exist; a
block repeats the first layer of its neighbours, so that one block is enough to interpolate in any of its cells. Beside sharp edges
what is interpolated errs by almost a cell, so points that may be too near are measured against the triangles themselves.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.collision.box_tree import STACK_DEPTH, inside, nearest, vertices
from bunraku.kernels.compile import inline, kernel, unit
from bunraku.spatial.algebra import cross, dot3, sub3


class Ground(NamedTuple):
    """What a climber is over: if `blocks` is empty, planes n·x = offset, of which a range is near at each sample; else a field."""

    normal: Any
    """(faces, 3)."""
    offset: Any
    """(faces,) [m]."""
    convex: Any
    """Whether the crease between each face and the next is convex."""
    first: Any
    """First face of the range (T,)."""
    last: Any
    """Last face of the range (T,)."""
    origin: Any
    """Corner of the field (3,) [m]."""
    spacing: Any
    """Length of a cell of the field [m]."""
    far: Any
    """The height that points outside of all blocks are given [m]."""
    blocks: Any
    """Which row of `values` holds each block, −1 for none (x, y, z)."""
    values: Any
    """Signed distances at the corners of the cells of each block (blocks, n + 1, n + 1, n + 1) [m]."""
    ints: Any
    """The tree of boxes around the triangles, as in `box_tree.build`; empty for planes."""
    boxes: Any
    """Its boxes."""
    triangles: Any
    """Corners of the triangles (n, 9) [m]."""


@inline
def over(ground, t, x, keep, exact):
    """Height of a point over the surface near at sample t, and its gradient; exact wherever the height is less than `keep`.

    `exact` is room for 7 numbers.
    """
    if ground.blocks.shape[0] > 0:
        height, slope = in_field(ground.origin, ground.spacing, ground.far, ground.blocks, ground.values, x)
        if height - keep > 0.87 * ground.spacing:  # √3/2 of a cell: the largest error of what is interpolated
            return height, slope
        exact[0], exact[1], exact[2], exact[3] = height, x[0], x[1], x[2]
        exact[4], exact[5], exact[6] = slope
        distance_at(ground.ints, ground.boxes, ground.triangles, ground.spacing, exact)
        return exact[0], (exact[4], exact[5], exact[6])
    k = ground.first[t]
    best = k
    height = x[0] * ground.normal[k, 0] + x[1] * ground.normal[k, 1] + x[2] * ground.normal[k, 2] - ground.offset[k]
    for f in range(k + 1, ground.last[t] + 1):
        other = x[0] * ground.normal[f, 0] + x[1] * ground.normal[f, 1] + x[2] * ground.normal[f, 2] - ground.offset[f]
        if (other > height) if ground.convex[f - 1] else (other < height):
            height, best = other, f
    return height, (ground.normal[best, 0], ground.normal[best, 1], ground.normal[best, 2])


@inline
def in_field(origin, spacing, far, blocks, values, x):
    """The distance of a point, interpolated linearly along each axis, and its gradient."""
    a, b, c = (x[0] - origin[0]) / spacing, (x[1] - origin[1]) / spacing, (x[2] - origin[2]) / spacing
    i, j, k = math.floor(a), math.floor(b), math.floor(c)
    if i < 0 or j < 0 or k < 0:
        return far, (0.0, 0.0, 0.0)
    side = values.shape[1] - 1
    block_i, block_j, block_k = i // side, j // side, k // side
    if block_i >= blocks.shape[0] or block_j >= blocks.shape[1] or block_k >= blocks.shape[2]:
        return far, (0.0, 0.0, 0.0)
    row = blocks[block_i, block_j, block_k]
    if row < 0:
        return far, (0.0, 0.0, 0.0)
    a, b, c = a - i, b - j, c - k
    i, j, k = i - side * block_i, j - side * block_j, k - side * block_k
    v = values[row]
    v00, d00 = v[i, j, k], v[i + 1, j, k] - v[i, j, k]
    v10, d10 = v[i, j + 1, k], v[i + 1, j + 1, k] - v[i, j + 1, k]
    v01, d01 = v[i, j, k + 1], v[i + 1, j, k + 1] - v[i, j, k + 1]
    v11, d11 = v[i, j + 1, k + 1], v[i + 1, j + 1, k + 1] - v[i, j + 1, k + 1]
    v00, v10, v01, v11 = v00 + a * d00, v10 + a * d10, v01 + a * d01, v11 + a * d11
    low, high = v00 + b * (v10 - v00), v01 + b * (v11 - v01)
    dx = (1.0 - c) * (d00 + b * (d10 - d00)) + c * (d01 + b * (d11 - d01))
    dy = (1.0 - c) * (v10 - v00) + c * (v11 - v01)
    return low + c * (high - low), (dx / spacing, dy / spacing, (high - low) / spacing)


@unit("none", allocates=True)
def distance_at(ints, boxes, triangles, spacing, exact):
    """Makes the height exact[0] of the point exact[1:4] exact, and its gradient exact[4:7], where the height is wrong by at most
    0.87 cells of length `spacing`."""
    height, x, stack = exact[0], (exact[1], exact[2], exact[3]), np.empty(STACK_DEPTH, np.int64)
    d, _, y, triangle = nearest(ints, boxes, triangles, 0, x, x, abs(height) + spacing, stack)
    if triangle < 0 or d < 1e-9:
        return
    sign = 1.0 if height > 0.0 else -1.0
    if abs(height) <= 0.87 * spacing:
        sign = -1.0 if inside(ints, boxes, triangles, 0, x, stack) else 1.0
    exact[0] = sign * d
    for r in range(3):
        exact[4 + r] = sign * (x[r] - y[r]) / d


@kernel
def field_at(origin, spacing, far, blocks, values, x, out, slopes):
    """Distances (n,) and gradients (n, 3) at points (n, 3)."""
    for k in range(x.shape[0]):
        out[k], g = in_field(origin, spacing, far, blocks, values, (x[k, 0], x[k, 1], x[k, 2]))
        slopes[k, 0], slopes[k, 1], slopes[k, 2] = g


@kernel
def signed_distances(ints, boxes, triangles, several, x, bound, out, places, normals):
    """Distances (n,) of points (n, 3) from a closed surface, negative inside, at most `bound`; the nearest places (n, 3) on it, and
    its normals there (n, 3), which at edges and corners point from the place to the point.

    If the surface encloses `several` solids, which may overlap, a triangle does not know whether what is before it is outside.
    """
    stack = np.empty(STACK_DEPTH, np.int64)
    last, found = (0.0, 0.0, 0.0), False  # the point before, and whether its nearest place is known
    for k in range(x.shape[0]):
        a = (x[k, 0], x[k, 1], x[k, 2])
        way = sub3(a, last)
        step, last = math.sqrt(dot3(way, way)), a
        most = min(bound, abs(out[k - 1]) + 1.001 * step + 1e-9) if found else bound  # no farther than by way of the last place
        d, _, y, triangle = nearest(ints, boxes, triangles, 0, a, a, most, stack)
        same = k > 0 and step < max(d, abs(out[k - 1]))  # so near to the last point that both are on the same side
        found = triangle >= 0
        n, sign, edge = (0.0, 0.0, 0.0), 1.0, True
        if found:
            p0, p1, p2 = vertices(triangles, triangle)
            n = cross(sub3(p1, p0), sub3(p2, p0))
            size = math.sqrt(dot3(n, n))
            n = (n[0] / size, n[1] / size, n[2] / size)
            side = dot3(sub3(a, y), n)
            sign = 1.0 if side >= 0.0 else -1.0
            edge = d > 1e-9 and abs(side) < 0.999 * d  # at an edge, one of its triangles does not know which side this is
        if edge or (several and sign > 0.0):
            if same:
                sign = 1.0 if out[k - 1] >= 0.0 else -1.0
            else:
                sign = -1.0 if inside(ints, boxes, triangles, 0, a, stack) else 1.0
        out[k] = sign * d
        if found:
            if edge:
                away = sub3(a, y)
                n = (sign * away[0] / d, sign * away[1] / d, sign * away[2] / d)
            places[k, 0], places[k, 1], places[k, 2] = y
            normals[k, 0], normals[k, 1], normals[k, 2] = n
