"""Shading kernels: sunlight, shadows, ambient light, and the floor.

Visibility is known before: `raster.cover` finds the nearest triangle of every sample. Each triangle in a pixel is then shaded
once, however many samples of that pixel it fills.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.kernels.compile import inline, kernel
from bunraku.spatial.algebra import add3, axpy3, dot3, scale3, sub3
from bunraku.spatial.algebra import get3 as row3

Array = NDArray[np.float64]
Single = NDArray[np.float32]
Ints = NDArray[np.int64]


@inline
def _between(image: Single, x: float, y: float) -> float:
    """Bilinear interpolation in an image; 0 outside of it."""
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
    """Fraction of the sunlight that reaches a point: compares its depth w with 3 × 3 samples of the sun's depth image."""
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
    """How dark a line of a grid is, one at every whole number, where a pixel is `width` wide; lines too dense to see fade out."""
    off = abs(value - math.floor(value + 0.5))
    return max(1.0 - off / width, 0.0) * max(1.0 - 2.0 * width, 0.0)


# (u, v, depth) of a point in the sun's view, an affine map. A tuple stays in registers; rows of an array would not.
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
    closeness: Single, nearest: NDArray[np.int32], screen: Array, points: Array, directions: Array, faces: Ints, owner: Ints,
    colors: Array, view: Array, sun: Array, depths: Single, mask: Single, ground: Array, sky: Array, samples: int,
    first: int, last: int, image: Single,
) -> None:  # fmt: skip
    """Shades rows first … last−1 of the picture, in linear light: figures, floor with shadow, background.

    `ground`: height, centre x, centre y, fading radius, grid spacing, whether there is one. `sky`: colours of the
    background at the top and the bottom, of the floor, of the sun and of the ambient light.
    """
    width = image.shape[1]
    shade, toward, bias = _affine(sun), row3(sun, 3), 1.5 / abs(sun[4, 0])
    eye, right, up, back = row3(view, 0), row3(view, 1), row3(view, 2), row3(view, 3)
    focal, cx, cy = row3(view, 4)
    high, low, floor, bright, ambient = row3(sky, 0), row3(sky, 1), row3(sky, 2), row3(sky, 3), row3(sky, 4)
    above = eye[2] - ground[0] if ground[5] != 0.0 else -1.0
    place = (ground[0], ground[1], ground[2], 1.0 / ground[3] ** 2, 1.0 / ground[4])
    coarse = mask.shape[0] / depths.shape[0]
    ids, counts = np.empty(samples * samples, np.int64), np.empty(samples * samples, np.int64)
    for py in range(first, last):
        y = (py + 0.5) * samples
        s, v = y / (2.0 * cy), (cy - y) / focal
        backdrop = axpy3(s, sub3(low, high), high)
        row = sub3(scale3(v, up), back)
        for px in range(width):
            x = (px + 0.5) * samples
            ray = axpy3((x - cx) / focal, right, row)
            sunk = -0.998 * ray[2] / above if above > 0.0 else 0.0  # a sample less close than this lies under the floor
            kinds = 0
            for sy in range(py * samples, py * samples + samples):
                for sx in range(px * samples, px * samples + samples):
                    t, m = nearest[sy, sx] if closeness[sy, sx] > sunk else -1, 0
                    while m < kinds and ids[m] != t:
                        m += 1
                    if m == kinds:
                        ids[m], counts[m], kinds = t, 0, kinds + 1
                    counts[m] += 1
            color = (0.0, 0.0, 0.0)
            for m in range(kinds):
                t = ids[m]
                if t >= 0:
                    paint = row3(colors, owner[faces[t, 0]])
                    part = _surface(
                        x, y, faces[t, 0], faces[t, 1], faces[t, 2], screen, points, directions, paint, eye, shade,
                        toward, depths, bias, bright, ambient,
                    )  # fmt: skip
                elif above > 0.0:
                    part = _floor(ray, eye, above, focal, shade, mask, coarse, place, floor, backdrop)
                else:
                    part = backdrop
                color = axpy3(counts[m] / (samples * samples), part, color)
            image[py, px, 0], image[py, px, 1], image[py, px, 2] = color


@inline
def _surface(  # type: ignore[no-untyped-def]
    x, y, a, b, c, screen, points, directions, color, eye, shade, toward, depths, bias, bright, ambient
):
    """Colour of the triangle a, b, c at (x, y) on the screen."""
    xa, ya, xb, yb, xc, yc = screen[a, 0], screen[a, 1], screen[b, 0], screen[b, 1], screen[c, 0], screen[c, 1]
    area = (xc - xa) * (yb - ya) - (xb - xa) * (yc - ya)
    dx, dy = x - xa, y - ya
    wb = min(max((dy * (xc - xa) - dx * (yc - ya)) / area, 0.0), 1.0)
    wc = min(max((dx * (yb - ya) - dy * (xb - xa)) / area, 0.0), 1.0)
    # Perspective: weights are linear in the world, not on the screen.
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
        reach = _sunlit(depths, u, v, w + 2.5 * bias)
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
    fine = max(_line(x * place[4], wide), _line(y * place[4], wide))
    coarse_lines = max(_line(0.2 * x * place[4], 0.2 * wide), _line(0.2 * y * place[4], 0.2 * wide))
    grid = max(0.35 * fine, 0.8 * coarse_lines)  # as on the stage
    u, v, _ = _seen(shade, x, y, place[0])
    light = (1.0 - 0.45 * grid) * (1.0 - 0.6 * _between(mask, coarse * u, coarse * v))
    return axpy3(fade, sub3(scale3(light, floor), backdrop), backdrop)
