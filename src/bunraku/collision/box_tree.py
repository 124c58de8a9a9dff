"""A tree of axis-aligned bounding boxes over triangles or obstacles, and its queries: the nearest triangle, a point inside.

Nodes are stored depth first: the left child follows its parent, `right` is the index of the other child. A leaf
holds `count` items from index `first` on. Several trees may share the same arrays; each is identified by its root's index.
"""

from __future__ import annotations

import numpy as np

from bunraku.collision.closest_points import crosses, inverse_way, meets_box, to_triangle
from bunraku.kernels.compile import inline, kernel
from bunraku.spatial.algebra import get3, sub3

STACK_DEPTH = 512  # the most nodes that wait on the stack of a traversal
RAY = (0.5377216219, 0.3141864957, 0.7823913746)  # a direction that edges and faces of models are not parallel to


@kernel
def build(lo, hi, ints, boxes, order):
    """Builds a tree over items with the boxes lo–hi; returns the number of nodes.

    Writes a row of ints (right, first, count) and of boxes (lo, hi) for each node, and the items in the order of the leaves.
    Splits at the mean of the centres along the longest side; if one part would hold less than a sixteenth, into halves.
    """
    n = lo.shape[0]
    for i in range(n):
        order[i] = i
    stack = np.empty((STACK_DEPTH, 3), np.int64)  # first item, last item + 1, and the parent if this is its right child, else −1
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, -1
    top, nodes = 1, 0
    while top > 0:
        top -= 1
        first, last, parent = stack[top, 0], stack[top, 1], stack[top, 2]
        if parent >= 0:
            ints[parent, 0] = nodes
        node = nodes
        nodes += 1
        longest, side = 0, -1.0
        for k in range(3):
            low, high = np.inf, -np.inf
            for i in range(first, last):
                low, high = min(low, lo[order[i], k]), max(high, hi[order[i], k])
            boxes[node, k], boxes[node, 3 + k] = low, high
            if high - low > side:
                longest, side = k, high - low
        ints[node, 0], ints[node, 1], ints[node, 2] = -1, first, last - first
        if last - first <= 4:  # few enough for a leaf
            continue
        ints[node, 2] = 0
        middle = _parted(lo, hi, order, first, last, longest)
        sliver = (last - first) // 16
        if middle - first <= sliver or last - middle <= sliver:
            middle = (first + last) // 2
        stack[top, 0], stack[top, 1], stack[top, 2] = middle, last, node
        stack[top + 1, 0], stack[top + 1, 1], stack[top + 1, 2] = first, middle, -1
        top += 2
    return nodes


@inline
def _parted(lo, hi, order, first, last, k):
    """Reorders items so that those whose centre along axis k is below the mean come first; returns where the others begin."""
    total = 0.0
    for i in range(first, last):
        total += lo[order[i], k] + hi[order[i], k]
    mean = total / (last - first)
    middle = first
    for i in range(first, last):
        if lo[order[i], k] + hi[order[i], k] < mean:
            order[i], order[middle] = order[middle], order[i]
            middle += 1
    return middle


@inline
def corners(boxes, i):
    return get3(boxes, i), (boxes[i, 3], boxes[i, 4], boxes[i, 5])


@inline
def away(boxes, i, x):
    """Squared distance from the point x to box i; 0 inside."""
    total = 0.0
    for k in range(3):
        gap = max(boxes[i, k] - x[k], x[k] - boxes[i, 3 + k])
        if gap > 0.0:
            total += gap * gap
    return total


@inline
def may_be_nearer(boxes, i, a, way, square):
    """Whether the squared distance of box i from a segment, a to a + way, may be less than `square`; if not, it is not.

    The squared distance f from the box is convex along the segment, so f(t) + f'(t) (s − t) bounds it from below. Newton's method
    finds its minimum, but one point is mostly enough to know.
    """
    low, high, t = 0.0, 1.0, 0.5
    for _ in range(8):
        f, slope, curve = 0.0, 0.0, 0.0
        for k in range(3):
            at = a[k] + t * way[k]
            gap = at - min(max(at, boxes[i, k]), boxes[i, 3 + k])
            f += gap * gap
            slope += gap * way[k]
            if gap != 0.0:
                curve += way[k] * way[k]
        if f < square:
            return True
        if slope > 0.0:
            high = t
        else:
            low = t
        left = t - low if slope > 0.0 else high - t
        if f - 2.0 * abs(slope) * left >= square:
            return False
        t = min(max(t - slope / curve, low), high)
    return True


@inline
def vertices(triangles, i):
    return (
        (triangles[i, 0], triangles[i, 1], triangles[i, 2]),
        (triangles[i, 3], triangles[i, 4], triangles[i, 5]),
        (triangles[i, 6], triangles[i, 7], triangles[i, 8]),
    )


@inline
def nearest(ints, boxes, triangles, root, a, b, bound, stack):
    """(distance, x on the segment a–b, y on the surface, triangle), or (bound, …, −1) where no triangle is closer than the bound.

    A segment that passes through the surface has the distance 0.
    """
    square, triangle, way = bound * bound, -1, sub3(b, a)
    x = y = a
    middle = (0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2]))
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if not may_be_nearer(boxes, node, a, way, square):
            continue
        if ints[node, 2] > 0:
            for i in range(ints[node, 1], ints[node, 1] + ints[node, 2]):
                p0, p1, p2 = vertices(triangles, i)
                closer, on_segment, on_surface = to_triangle(a, b, p0, p1, p2, square)
                if closer < square:
                    square, x, y, triangle = closer, on_segment, on_surface, i
            if square == 0.0:
                break
        else:
            near, far = node + 1, ints[node, 0]
            if away(boxes, near, middle) > away(boxes, far, middle):
                near, far = far, near
            stack[top], stack[top + 1] = far, near
            top += 2
    return np.sqrt(square), x, y, triangle


@inline
def inside(ints, boxes, triangles, root, x, stack):
    """Whether the point x is inside of a closed, consistently oriented surface: a ray's signed crossings do not cancel."""
    far = 2.0 * (1.0 + abs(x[0]) + abs(x[1]) + abs(x[2]))
    for k in range(6):
        far += 2.0 * abs(boxes[root, k])
    end = (x[0] + far * RAY[0], x[1] + far * RAY[1], x[2] + far * RAY[2])
    inverse, winding = inverse_way(x, end), 0
    stack[0] = root
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        lo, hi = corners(boxes, node)
        if not meets_box(x, inverse, lo, hi, 0.0):
            continue
        if ints[node, 2] > 0:
            for i in range(ints[node, 1], ints[node, 1] + ints[node, 2]):
                p0, p1, p2 = vertices(triangles, i)
                winding += crosses(x, RAY, p0, p1, p2)
        else:
            stack[top], stack[top + 1] = ints[node, 0], node + 1
            top += 2
    return winding != 0
