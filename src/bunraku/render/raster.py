"""Drawing kernels: the nearest triangle at every sample of the screen, strings, and the bytes of the finished picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.compile import inline, kernel

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Ints = NDArray[np.int64]


@kernel
def placed(vertices: Array, normals: Array, owner: Ints, X_WS: Array, points: Array, directions: Array) -> None:
    """Vertices and normals of shapes, transformed into the world."""
    for i in range(len(vertices)):
        X = X_WS[owner[i]]
        for a in range(3):
            x, n = X[a, 3], 0.0
            for b in range(3):
                x += X[a, b] * vertices[i, b]
                n += X[a, b] * normals[i, b]
            points[i, a] = x
            directions[i, a] = n


@kernel
def projected(points: Array, view: Array, screen: Array) -> None:
    """Screen coordinates x, y and closeness of points; closeness is 1/depth for a camera, −depth for the sun.

    `view` holds the eye, the axes right, up, back, then focal length, half width and half height in samples;
    a focal length below zero means parallel rays, and that many samples per metre.
    """
    f, cx, cy = view[4, 0], view[4, 1], view[4, 2]
    for i in range(len(points)):
        x, y, z = 0.0, 0.0, 0.0
        for b in range(3):
            d = points[i, b] - view[0, b]
            x += view[1, b] * d
            y += view[2, b] * d
            z -= view[3, b] * d
        if f < 0.0:
            screen[i, 0], screen[i, 1], screen[i, 2] = cx - f * x, cy + f * y, -z
        elif z < 1e-3:
            screen[i, 2] = -1.0  # behind the eye
        else:
            screen[i, 0], screen[i, 1], screen[i, 2] = cx + f * x / z, cy - f * y / z, 1.0 / z


@kernel
def cover(screen: Array, faces: Ints, parallel: bool, closeness: Single, nearest: NDArray[np.int32]) -> None:
    """Finds for every sample the closest triangle that faces the camera."""
    height, width = closeness.shape
    for t in range(len(faces)):
        a, b, c = faces[t, 0], faces[t, 1], faces[t, 2]
        if not parallel and (screen[a, 2] <= 0.0 or screen[b, 2] <= 0.0 or screen[c, 2] <= 0.0):
            continue
        xa, ya, xb, yb, xc, yc = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
        area = (xc - xa) * (yb - ya) - (xb - xa) * (yc - ya)  # y points down
        if area <= 1e-12:
            continue
        x0, x1 = max(0, math.ceil(min(xa, xb, xc) - 0.5)), min(width - 1, math.floor(max(xa, xb, xc) - 0.5))
        y0, y1 = max(0, math.ceil(min(ya, yb, yc) - 0.5)), min(height - 1, math.floor(max(ya, yb, yc) - 0.5))
        if x1 < x0 or y1 < y0:
            continue
        # Weights of the corners, and the closeness, are linear on the screen.
        s = 1.0 / area
        wb_x, wb_y = -(yc - ya) * s, (xc - xa) * s
        wc_x, wc_y = (yb - ya) * s, -(xb - xa) * s
        zb, zc = screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
        z_x, left = np.float32(wb_x * zb + wc_x * zc), x0 + 0.5 - xa
        for y in range(y0, y1 + 1):
            dy = y + 0.5 - ya
            wb, wc = wb_x * left + wb_y * dy, wc_x * left + wc_y * dy
            first, last = _span(0.0, x1 - x0, wb, wb_x)
            first, last = _span(first, last, wc, wc_x)
            first, last = _span(first, last, 1.0 - wb - wc, -wb_x - wc_x)
            z0 = np.float32(screen[a, 2] + wb * zb + wc * zc)
            for k in range(math.ceil(first), math.floor(last) + 1):
                z = z0 + np.float32(k) * z_x
                if z > closeness[y, x0 + k]:
                    closeness[y, x0 + k] = z
                    nearest[y, x0 + k] = t


@inline
def _span(first: float, last: float, weight: float, slope: float) -> tuple[float, float]:
    """The part of [first, last] where weight + slope · x ≥ 0, slightly wider so that adjacent triangles leave no gap."""
    if slope > 1e-12:
        return max(first, -weight / slope - 1e-9), last
    if slope < -1e-12:
        return first, min(last, -weight / slope + 1e-9)
    return (first, last) if weight >= -1e-9 else (1.0, 0.0)


@kernel
def blurred(closeness: Single, sun: Array, floor: float, radius: int, mask: Single, scratch: Single) -> None:
    """The shadow on the floor: the covered fraction of each coarse cell of the sun's view, smoothed by three moving averages."""
    height, width = mask.shape
    step = closeness.shape[0] // height
    # The height above the floor is linear in screen coordinates and closeness; closeness is −∞ where nothing is.
    zx, zy, zw = -sun[1, 2] / sun[4, 0], sun[2, 2] / sun[4, 0], sun[3, 2]
    z0 = sun[0, 2] - floor - zx * sun[4, 1] - zy * sun[4, 2] - 1e-3
    for y in range(height):
        for x in range(width):
            count = 0
            for i in range(y * step, y * step + step):
                for j in range(x * step, x * step + step):
                    count += z0 + zx * (j + 0.5) + zy * (i + 0.5) + zw * closeness[i, j] > 0.0
            mask[y, x] = count / (step * step)
    share = np.float32(1.0 / (2 * radius + 1))
    total = np.empty(width, np.float32)
    for _ in range(3):
        for y in range(height):
            sum_ = np.float32(0.0)
            for x in range(-radius, width):
                if x + radius < width:
                    sum_ += mask[y, x + radius]
                if x - radius > 0:
                    sum_ -= mask[y, x - radius - 1]
                if x >= 0:
                    scratch[y, x] = sum_ * share
        total[:] = 0.0
        for y in range(-radius, height):  # whole rows at a time, which are contiguous in memory
            if y + radius < height:
                for x in range(width):
                    total[x] += scratch[y + radius, x]
            if y - radius > 0:
                for x in range(width):
                    total[x] -= scratch[y - radius - 1, x]
            if y >= 0:
                for x in range(width):
                    mask[y, x] = total[x] * share


@kernel
def stroke(ends: Array, color: Array, width: Array, closeness: Single, samples: int, image: Single) -> None:
    """Draws straight pieces of string over the picture; `ends` (n, 2, 3) are screen coordinates, in samples, and closeness."""
    height, wide = image.shape[0], image.shape[1]
    for k in range(len(ends)):
        za, zb = ends[k, 0, 2], ends[k, 1, 2]
        if za <= 0.0 or zb <= 0.0:
            continue
        xa, ya, xb, yb = ends[k, 0, 0] / samples, ends[k, 0, 1] / samples, ends[k, 1, 0] / samples, ends[k, 1, 1] / samples
        dx, dy = xb - xa, yb - ya
        square = dx * dx + dy * dy
        if square < 1e-12:
            continue
        half = 0.5 * width[k]
        y0, y1 = max(0, int(min(ya, yb) - half - 1)), min(height - 1, int(max(ya, yb) + half + 1))
        for y in range(y0, y1 + 1):
            # Only the pixels of this row that the piece can touch.
            x0, x1 = min(xa, xb), max(xa, xb)
            if abs(dy) > 1e-9:
                reach = (half + 1.0) * math.sqrt(square) / abs(dy) + abs(dx / dy)
                middle = xa + (y + 0.5 - ya) / dy * dx
                x0, x1 = max(x0, middle - reach), min(x1, middle + reach)
            for x in range(max(0, int(x0 - half - 1)), min(wide - 1, int(x1 + half + 1)) + 1):
                ox, oy = x + 0.5 - xa, y + 0.5 - ya
                t = (ox * dx + oy * dy) / square
                if t < 0.0 or t >= 1.0:
                    continue
                cover = half + 0.5 - abs(ox * dy - oy * dx) / math.sqrt(square)
                if cover <= 0.0:
                    continue
                z = (za + t * (zb - za)) * 1.002
                free = 0
                for i in range(samples * samples):
                    if closeness[y * samples + i // samples, x * samples + i % samples] < z:
                        free += 1
                alpha = min(cover, 1.0) * free / (samples * samples)
                for c in range(3):
                    image[y, x, c] += np.float32(alpha * (color[k, c] - image[y, x, c]))


@kernel
def finished(image: Single, out: NDArray[np.uint8]) -> None:
    """Converts linear light to bytes: compresses highlights, applies the gamma of screens, adds noise against banding."""
    size = 16384
    table = np.empty(size, np.float32)
    for k in range(size):
        v = 2.0 * k / size
        v = v if v < 0.8 else 1.0 - 0.2 * math.exp(-(v - 0.8) / 0.2)
        table[k] = 255.0 * v ** (1.0 / 2.2)
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            # Interleaved gradient noise: even over any small square, and the same in every picture.
            grain = np.float32(0.06711056) * np.float32(x) + np.float32(0.00583715) * np.float32(y)
            grain = np.float32(52.9829189) * (grain - np.floor(grain))
            grain -= np.floor(grain)
            for c in range(3):
                at = int(image[y, x, c] * np.float32(size / 2))
                out[y, x, c] = np.uint8(table[min(max(at, 0), size - 1)] + grain)
