"""Pictures as PNG files, with the time in a corner: an imaging library would be 21 MB."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]

_STROKES: dict[str, list[tuple[float, float]]] = {
    "0": [(2, 0), (0, 2), (0, 8), (2, 10), (4, 10), (6, 8), (6, 2), (4, 0), (2, 0)], "1": [(1, 8), (3, 10), (3, 0)],
    "2": [(0, 8), (1, 10), (5, 10), (6, 8), (6, 7), (0, 0), (6, 0)],
    "3": [(0, 10), (6, 10), (3, 6), (5, 6), (6, 4), (6, 2), (4, 0), (1, 0), (0, 1)], "4": [(5, 0), (5, 10), (0, 3), (7, 3)],
    "5": [(6, 10), (1, 10), (0, 5), (4, 6), (6, 4), (6, 2), (4, 0), (1, 0), (0, 1)],
    "6": [(5, 10), (2, 8), (0, 4), (0, 2), (2, 0), (4, 0), (6, 2), (6, 4), (4, 6), (2, 6), (0, 4)], "7": [(0, 10), (6, 10), (2, 0)],
    "8": [(2, 5.4), (0, 7), (0, 8), (2, 10), (4, 10), (6, 8), (6, 7), (4, 5.4), (2, 5.4), (0, 4), (0, 2), (2, 0), (4, 0), (6, 2),
          (6, 4), (4, 5.4)],
    "9": [(1, 0), (4, 2), (6, 6), (6, 8), (4, 10), (2, 10), (0, 8), (0, 6), (2, 4), (4, 4), (6, 6)], ".": [(1, 0), (1, 0)], " ": [],
    "s": [(5, 5), (4, 6), (2, 6), (0, 5), (0, 4), (5, 2), (5, 1), (4, 0), (1, 0), (0, 1)], "-": [(1, 4), (5, 4)],
}  # fmt: skip
"""Polylines of characters, in tenths of the height of a digit."""


def png(pixels: Pixels) -> bytes:
    """The PNG file of a picture (`pixels`, (height, width, 3))."""
    height, width = pixels.shape[:2]
    above = np.concatenate([np.zeros_like(pixels[:1]), pixels[:-1]])
    # Filter 2: each row less the one above.
    rows = np.concatenate(
        [np.full((height, 1), 2, np.uint8), (pixels - above).reshape(height, -1)], axis=1
    )  # each less the one above
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def with_time(picture: Pixels, t: float, digits: int = 2) -> Pixels:
    """A copy of the `picture` with the time `t` [s] in its upper left corner, with so many `digits` after the point."""
    size = max(7.0, picture.shape[0] / 27)  # height of a digit [pixels]
    ink, pad = np.array([60.0, 60.0, 60.0]), picture.shape[0] // 40
    cover = _drawn(f"{t:.{digits}f} s", size)
    height, width = (min(a, b - pad) for a, b in zip(cover.shape, picture.shape[:2], strict=True))
    out, cover = picture.copy(), cover[:height, :width, None]
    part = out[pad : pad + height, pad : pad + width]
    part[:] = np.rint(part * (1.0 - cover) + ink * cover)
    return out


def _drawn(text: str, size: float) -> Array:
    """How much of each pixel the strokes of a `text` cover, 0 to 1."""
    scale, thick = size / 10.0, max(0.55, size / 18)
    widths = [3.0 + max((a for a, _ in _STROKES[char]), default=2.0) for char in text]
    height, width = int(size + 2 * thick) + 2, int(sum(widths) * scale + 2 * thick) + 2
    y, x = np.mgrid[:height, :width] + 0.5
    distance, left = np.full((height, width), np.inf), 0.0
    for char, wide in zip(text, widths, strict=True):
        way = [(thick + (left + a) * scale, thick + size - b * scale) for a, b in _STROKES[char]]
        for (x0, y0), (x1, y1) in pairwise(way):
            dx, dy = x1 - x0, y1 - y0
            along = np.clip(((x - x0) * dx + (y - y0) * dy) / max(dx * dx + dy * dy, 1e-9), 0.0, 1.0)
            distance = np.minimum(distance, np.hypot(x - x0 - along * dx, y - y0 - along * dy))
        left += wide
    return np.clip(thick + 0.5 - distance, 0.0, 1.0)
