"""Kernels of the picture maker: triangles into a buffer of depths, then light, then strings.

Visibility and light are apart: the first pass notes for every sample which triangle is nearest, the second
lights each triangle of a pixel once, whatever the number of samples it fills there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.spatial.algebra import ZERO3, add3, axpy3, dot3, scale3, sub3
from bunraku.spatial.kernel import inline, kernel

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Ints = NDArray[np.int64]


@kernel
def placed(vertices: Array, normals: Array, owner: Ints, X_WS: Array, points: Array, directions: Array) -> None:
    """Vertices and normals of shapes carried into the world."""
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
    """Screen places x, y and closeness of points: 1/depth seen by an eye, −depth seen by the sun.

    `view` holds the eye, the axes right, up, back, then focal length, half width and half height in samples;
    a focal length below zero means parallel rays with that many samples a metre.
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
    """For every sample the closest triangle that faces the eye."""
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
        # Weights of b and c, and the closeness, are linear on the screen: step them.
        s = 1.0 / area
        wb_x, wb_y = -(yc - ya) * s, (xc - xa) * s
        wc_x, wc_y = (yb - ya) * s, -(xb - xa) * s
        za, zb, zc = screen[a, 2], screen[b, 2] - screen[a, 2], screen[c, 2] - screen[a, 2]
        for y in range(y0, y1 + 1):
            dx, dy = x0 + 0.5 - xa, y + 0.5 - ya
            wb, wc = wb_x * dx + wb_y * dy, wc_x * dx + wc_y * dy
            for x in range(x0, x1 + 1):
                if wb >= 0.0 and wc >= 0.0 and wb + wc <= 1.0:
                    z = np.float32(za + wb * zb + wc * zc)
                    if z > closeness[y, x]:
                        closeness[y, x] = z
                        nearest[y, x] = t
                wb += wb_x
                wc += wc_x


@kernel
def blurred(nearest: NDArray[np.int32], radius: int, mask: Single, scratch: Single) -> None:
    """How much of each place of the sun's view is covered, coarser and smoothed by three running means."""
    height, width = mask.shape
    step = nearest.shape[0] // height
    for y in range(height):
        for x in range(width):
            count = 0
            for i in range(y * step, y * step + step):
                for j in range(x * step, x * step + step):
                    count += nearest[i, j] >= 0
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
        for y in range(-radius, height):  # whole rows at a time: columns would jump through memory
            if y + radius < height:
                for x in range(width):
                    total[x] += scratch[y + radius, x]
            if y - radius > 0:
                for x in range(width):
                    total[x] -= scratch[y - radius - 1, x]
            if y >= 0:
                for x in range(width):
                    mask[y, x] = total[x] * share


@inline
def row3(A: Array, i: int) -> tuple[float, float, float]:
    return A[i, 0], A[i, 1], A[i, 2]


@inline
def _between(image: Single, x: float, y: float) -> float:
    """The value between samples; nothing outside."""
    if x < 0.5 or y < 0.5 or x >= image.shape[1] - 0.5 or y >= image.shape[0] - 0.5:
        return 0.0
    x -= 0.5
    y -= 0.5
    i, j = int(y), int(x)
    u, v = x - j, y - i
    top = image[i, j] * (1 - u) + image[i, j + 1] * u
    low = image[i + 1, j] * (1 - u) + image[i + 1, j + 1] * u
    return float(top * (1 - v) + low * v)


@inline
def _sunlit(depths: Single, u: float, v: float, w: float) -> float:
    """Share of the sun that reaches a point of a figure: comparisons with the nine samples round it, blended."""
    j, i = math.floor(u - 0.5), math.floor(v - 0.5)
    if i < 1 or j < 1 or i + 2 >= depths.shape[0] or j + 2 >= depths.shape[1]:
        return 1.0
    fu, fv = u - 0.5 - j, v - 0.5 - i
    total = 0.0
    for b in range(-1, 3):
        weight_b = 1.0 - fv if b == -1 else fv if b == 2 else 1.0
        for a in range(-1, 3):
            weight_a = 1.0 - fu if a == -1 else fu if a == 2 else 1.0
            if depths[i + b, j + a] <= w:
                total += weight_a * weight_b
    return total / 9.0


@inline
def _line(value: float, width: float) -> float:
    """How much of a pixel of this width a thin line at every whole number fills."""
    off = abs(value - math.floor(value + 0.5))
    fill = min(max((0.006 + width - off) / width, 0.0), 1.0)
    return fill * min(1.0, 0.012 / width)


# The sun's view as an affine map: (u, v, depth) of a point. Tuples stay in registers; rows of arrays would not.
@inline
def _seen(map_: tuple[float, ...], x: float, y: float, z: float) -> tuple[float, float, float]:
    return (
        map_[0] * x + map_[1] * y + map_[2] * z + map_[3],
        map_[4] * x + map_[5] * y + map_[6] * z + map_[7],
        map_[8] * x + map_[9] * y + map_[10] * z + map_[11],
    )


@inline
def _affine(sun: Array) -> tuple[float, ...]:
    o, f = row3(sun, 0), sun[4, 0]
    r, u, b = row3(sun, 1), row3(sun, 2), row3(sun, 3)
    return (
        -f * r[0], -f * r[1], -f * r[2], sun[4, 1] + f * dot3(r, o),
        f * u[0], f * u[1], f * u[2], sun[4, 2] - f * dot3(u, o),
        b[0], b[1], b[2], -dot3(b, o),
    )  # fmt: skip


@kernel
def lit(
    nearest: NDArray[np.int32], screen: Array, points: Array, directions: Array, faces: Ints, owner: Ints,
    colors: Array, view: Array, sun: Array, depths: Single, mask: Single, ground: Array, sky: Array, samples: int,
    image: Single,
) -> None:  # fmt: skip
    """The picture, in linear light: figures, floor with shadow, background.

    `ground`: height, centre x, centre y, fading radius, grid spacing, whether there is one. `sky`: colours of the
    background high and low, of the floor, of the sun and of the light from all around.
    """
    height, width = image.shape[0], image.shape[1]
    shade, toward, bias = _affine(sun), row3(sun, 3), 1.5 / abs(sun[4, 0])
    eye, right, up, back = row3(view, 0), row3(view, 1), row3(view, 2), row3(view, 3)
    focal, cx, cy = row3(view, 4)
    high, low, floor, bright, ambient = row3(sky, 0), row3(sky, 1), row3(sky, 2), row3(sky, 3), row3(sky, 4)
    above = eye[2] - ground[0] if ground[5] != 0.0 else -1.0
    place = (ground[0], ground[1], ground[2], 1.0 / ground[3] ** 2, 1.0 / ground[4])
    coarse = mask.shape[0] / depths.shape[0]
    ids, counts = np.empty(samples * samples, np.int64), np.empty(samples * samples, np.int64)
    for py in range(height):
        y = (py + 0.5) * samples
        s, v = y / (2.0 * cy), (cy - y) / focal
        backdrop = axpy3(s, sub3(low, high), high)
        row = sub3(scale3(v, up), back)
        for px in range(width):
            x = (px + 0.5) * samples
            kinds = 0
            for sy in range(py * samples, py * samples + samples):
                for sx in range(px * samples, px * samples + samples):
                    t, m = nearest[sy, sx], 0
                    while m < kinds and ids[m] != t:
                        m += 1
                    if m == kinds:
                        ids[m], counts[m], kinds = t, 0, kinds + 1
                    counts[m] += 1
            color = ZERO3
            for m in range(kinds):
                t = ids[m]
                if t >= 0:
                    paint = row3(colors, owner[faces[t, 0]])
                    part = _surface(
                        x, y, faces[t, 0], faces[t, 1], faces[t, 2], screen, points, directions, paint, eye, shade,
                        toward, depths, bias, bright, ambient,
                    )  # fmt: skip
                elif above > 0.0:
                    ray = axpy3((x - cx) / focal, right, row)
                    part = _floor(ray, eye, above, focal, shade, mask, coarse, place, floor, backdrop)
                else:
                    part = backdrop
                color = axpy3(counts[m] / (samples * samples), part, color)
            image[py, px, 0], image[py, px, 1], image[py, px, 2] = color


@inline
def _surface(  # type: ignore[no-untyped-def]
    x, y, a, b, c, screen, points, directions, color, eye, shade, toward, depths, bias, bright, ambient
):
    """Colour of a triangle at a place of the screen."""
    xa, ya, xb, yb, xc, yc = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
    area = (xc - xa) * (yb - ya) - (xb - xa) * (yc - ya)
    dx, dy = x - xa, y - ya
    wb = min(max((dy * (xc - xa) - dx * (yc - ya)) / area, 0.0), 1.0)
    wc = min(max((dx * (yb - ya) - dy * (xb - xa)) / area, 0.0), 1.0)
    # Weights linear in the world, not on the screen.
    wa, wb, wc = max(1.0 - wb - wc, 0.0) * screen[a, 2], wb * screen[b, 2], wc * screen[c, 2]
    total = wa + wb + wc
    wa, wb, wc = wa / total, wb / total, wc / total
    p = axpy3(wa, row3(points, a), axpy3(wb, row3(points, b), scale3(wc, row3(points, c))))
    n = axpy3(wa, row3(directions, a), axpy3(wb, row3(directions, b), scale3(wc, row3(directions, c))))
    n = scale3(1.0 / math.sqrt(dot3(n, n) + 1e-30), n)
    e = sub3(eye, p)
    e = scale3(1.0 / math.sqrt(dot3(e, e) + 1e-30), e)
    facing = dot3(n, toward)
    diffuse, shine = 0.0, 0.0
    if facing > 0.0:
        u, v, w = _seen(shade, p[0] + 2 * bias * n[0], p[1] + 2 * bias * n[1], p[2] + 2 * bias * n[2])
        reach = _sunlit(depths, u, v, w + bias)
        half = add3(e, toward)
        cosine = max(dot3(n, half), 0.0) / math.sqrt(dot3(half, half) + 1e-30)
        eighth = cosine * cosine
        eighth *= eighth
        eighth *= eighth
        diffuse, shine = reach * facing, reach * eighth * eighth * eighth * eighth * eighth
    front = max(dot3(n, e), 0.0)
    up = 0.5 + 0.5 * n[2]
    soft = 0.4 + 0.6 * up
    gloss = 0.2 * shine + 0.06 * (1.0 - front) ** 3 * up
    return (
        color[0] * (diffuse * bright[0] + soft * ambient[0] + 0.22 * front) + gloss,
        color[1] * (diffuse * bright[1] + soft * ambient[1] + 0.22 * front) + gloss,
        color[2] * (diffuse * bright[2] + soft * ambient[2] + 0.22 * front) + gloss,
    )


@inline
def _floor(ray, eye, above, focal, shade, mask, coarse, place, floor, backdrop):  # type: ignore[no-untyped-def]
    """Colour of the floor where a ray meets it, fading into the background."""
    if ray[2] >= -1e-6:
        return backdrop
    far = -above / ray[2]
    x, y = eye[0] + far * ray[0], eye[1] + far * ray[1]
    away = ((x - place[1]) ** 2 + (y - place[2]) ** 2) * place[3]
    fade = 1.0 / (1.0 + away * (1.0 + away))
    wide = far / focal * place[4] * min(1.0 / -ray[2], 20.0)
    grid = max(_line(x * place[4], wide), _line(y * place[4], wide))
    u, v, _ = _seen(shade, x, y, place[0])
    light = (1.0 - 0.12 * grid) * (1.0 - 0.6 * _between(mask, coarse * u, coarse * v))
    return axpy3(fade, sub3(scale3(light, floor), backdrop), backdrop)


@kernel
def stroke(ends: Array, color: Array, width: Array, closeness: Single, samples: int, image: Single) -> None:
    """Straight pieces of string, blended over what is behind them; `ends` (n, 2, 3) as on the screen, in samples."""
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
    """Linear light as bytes: a soft shoulder for highlights, the gamma of screens, and grains against banding."""
    table = np.empty(4097, np.float32)
    for k in range(4097):
        v = k / 2048.0
        v = v if v < 0.8 else 1.0 - 0.2 * math.exp(-(v - 0.8) / 0.2)
        table[k] = 255.0 * v ** (1.0 / 2.2)
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            # Interleaved gradient noise: even over any small square, and the same in every picture.
            grain = 0.06711056 * x + 0.00583715 * y
            grain = 52.9829189 * (grain - math.floor(grain))
            grain -= math.floor(grain)
            for c in range(3):
                v = min(max(image[y, x, c], np.float32(0.0)), np.float32(1.999)) * 2048.0
                k = int(v)
                out[y, x, c] = int(table[k] + (v - k) * (table[k + 1] - table[k]) + grain)
