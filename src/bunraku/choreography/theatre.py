"""A theatre for marionettes: floor boards, a painted sky, curtains; and costumes that distinguish puppets of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.figure import Box, Cylinder, Mesh
from bunraku.figure.library.costume import dressed
from bunraku.figure.shape import Color
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.render.triangles import triangles
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import se3
from bunraku.stage import Recorded


@dataclass(frozen=True)
class TheatreLook:
    """Colours and dimensions of the theatre."""

    boards: tuple[Color, ...] = ((0.47, 0.31, 0.19), (0.43, 0.28, 0.17), (0.5, 0.34, 0.21), (0.45, 0.29, 0.18))
    """Planks of the floor, alternating."""
    velvet: Color = (0.42, 0.04, 0.07)
    """Curtains and apron."""
    gold: Color = (0.78, 0.58, 0.2)
    """Rim and cords."""
    sky: tuple[Color, ...] = (
        (0.86, 0.68, 0.5), (0.83, 0.72, 0.6), (0.75, 0.74, 0.68), (0.62, 0.72, 0.74), (0.5, 0.66, 0.75), (0.42, 0.59, 0.73),
    )  # fmt: skip
    """Colours of the sky, from the horizon up."""
    hills: tuple[Color, Color] = ((0.42, 0.5, 0.42), (0.33, 0.42, 0.3))
    """Colours of far and near hills."""
    sky_bands: int = 32
    """Number of colour bands of the sky."""
    sink: float = 0.005
    """How deep a sole may dip into the boards [m]."""


def in_theatre(motion: Motion, *, reference: Motion | None = None) -> Recorded:
    """A show for the stage: `motion` with costumes and a theatre, and `reference` as a translucent ghost."""
    return Recorded(costumed(motion), theatre(motion), reference=reference)


def costumed(motion: Motion) -> Motion:
    """The `motion`, with different costumes for figures of one kind."""
    seen: dict[str, int] = {}
    tracks = []
    for track in motion.tracks:
        number = seen.get(track.figure.name, 0)
        seen[track.figure.name] = number + 1
        tracks.append(replace(track, figure=dressed(track.figure, number)))
    return replace(motion, tracks=tuple(tracks))


def scenery_file(name: str) -> Path:
    """The mesh of a piece of scenery made by tools/scenery.py; `name` is "sheet", "far_hills" or "near_hills"."""
    return Path(__file__).parent / "scenery" / f"{name}.obj"


def theatre(motion: Motion, *, boards: float | None = None, look: TheatreLook = TheatreLook()) -> Scene:
    """A theatre around a `motion` whose puppets face +y; `look` has its colours.

    Its floor is at the height `boards` [m]; by default where figures stand most of the time, lowered a little if a foot would sink
    into it.
    """
    low, high, soles = _extent(motion)
    floor = float(min(np.median(soles), low[2] + look.sink)) if boards is None else boards
    left, right = low[0] - 0.9, high[0] + 0.9
    back, front = low[1] - 0.9, high[1] + 0.5
    top = high[2] + 0.15
    behind = (left, right, back, floor, top)
    parts = (*_boards(look, left, right, back, front, floor), *_sky(look, *behind), *_curtains(look, *behind))
    return Scene("theatre", parts, floor=None)


def _extent(motion: Motion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners of the box around all shapes at some samples, and the lowest point of every figure at each of them."""
    some = np.linspace(0, len(motion) - 1, 400).astype(int)  # dense enough: a foot dips for a tenth of a second
    corners, soles = [], []
    for track in motion.tracks:
        X_W = frames_along(track.figure, np.ascontiguousarray(track.q[some]))
        lowest = np.full(len(some), np.inf)
        for shape in track.figure.shapes:
            X_WS = X_W[:, track.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
            vertices = triangles(shape.geometry).vertices
            along = (X_WS[:, :3, :3].reshape(-1, 3) @ vertices.T).reshape(len(some), 3, -1)
            least, most = along.min(2) + X_WS[:, :3, 3], along.max(2) + X_WS[:, :3, 3]
            corners += [least.min(0), most.max(0)]
            lowest = np.minimum(lowest, least[:, 2])
        soles.append(lowest)
    return np.min(corners, 0), np.max(corners, 0), np.array(soles)


def _boards(look: TheatreLook, left: float, right: float, back: float, front: float, floor: float) -> Iterator[Obstacle]:
    """Planks from back to front, and the edge of the stage."""
    count = max(int((right - left) / 0.16), 1)
    width = (right - left) / count
    for k in range(count):
        at = (left + (k + 0.5) * width, (back + front) / 2, floor - 0.02)
        yield Obstacle(
            f"board {k + 1}",
            Box((width - 0.004, front - back, 0.04)),
            at,
            color=look.boards[(3 * k) % len(look.boards)],
            group="boards",
        )
    under = ((left + right) / 2, (back + front) / 2, floor - 0.06)
    yield Obstacle("joists", Box((right - left, front - back, 0.04)), under, color=look.boards[1], group="boards")
    yield Obstacle("apron", Box((right - left, 0.03, 0.14)), ((left + right) / 2, front + 0.015, floor - 0.07), color=look.velvet)
    yield Obstacle("rim", Box((right - left, 0.04, 0.025)), ((left + right) / 2, front + 0.02, floor - 0.0125), color=look.gold)


def _sky(look: TheatreLook, left: float, right: float, back: float, floor: float, top: float) -> Iterator[Obstacle]:
    """A backdrop with an evening sky, in colour bands, and hills cut out of board."""
    band = (top - floor) / look.sky_bands
    for k, share in enumerate(np.linspace(0.0, 1.0, look.sky_bands)):
        color: Color = tuple(float(np.interp(share, np.linspace(0.0, 1.0, len(look.sky)), c)) for c in zip(*look.sky, strict=True))  # type: ignore[assignment]
        yield _cut(f"sky {k + 1}", "sheet", (right - left, band), (left, back, floor + k * band), color)
    for k, (name, rise) in enumerate((("far hills", 0.24), ("near hills", 0.15))):
        at = (left, back + 0.02 * (k + 1), floor)
        yield _cut(name, name.replace(" ", "_"), (right - left, rise * (top - floor)), at, look.hills[k])


def _cut(name: str, file: str, size: tuple[float, float], at: tuple[float, float, float], color: Color) -> Obstacle:
    """A piece of scenery, scaled to `size`."""
    return Obstacle(name, Mesh(str(scenery_file(file)), (size[0], 1.0, size[1])), at, color=color, group="drop")


def _curtains(look: TheatreLook, left: float, right: float, back: float, floor: float, top: float) -> Iterator[Obstacle]:
    """Folds of velvet at either side, gathered by a cord."""
    for side, x0, way in (("left", left, 1.0), ("right", right, -1.0)):
        for k in range(7):
            radius = 0.045 + 0.012 * ((k * 5) % 3)
            at = (x0 + way * (0.03 + 0.075 * k), back + 0.13 + 0.02 * (k % 2), (floor + top) / 2)
            shade: Color = (look.velvet[0] + 0.03 * (k % 3), look.velvet[1], look.velvet[2])
            yield Obstacle(f"{side} fold {k + 1}", Cylinder(radius, top - floor), at, color=shade, group=f"{side} curtain")
        at = (x0 + way * 0.26, back + 0.14, floor + 0.36 * (top - floor))
        yield Obstacle(f"{side} cord", Box((0.6, 0.17, 0.035)), at, color=look.gold, group=f"{side} curtain")
