"""Pictures without a browser or a graphics card: figures, floor, shadows and strings by a small software renderer.

from bunraku.render.image import image
pixels = image(figure)                         # at its start
pixels = image(figure, pose(figure, q).frames, strings=strands(figure, frames, q, tension))
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color
from bunraku.kinematics import pose
from bunraku.render import light, raster
from bunraku.render.camera import Camera, vector
from bunraku.render.strands import Strand, color, hanging, strands
from bunraku.render.triangle_heap import carriers, corners, heap, obstacles_of, shapes_of
from bunraku.scene import Plane, Scene

__all__ = ["Camera", "Strand", "image", "outline", "strands"]
Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]
Made = TypeVar("Made")


@dataclass(frozen=True)
class Look:
    """Light and colours of a picture, those of the stage. Colours are values of a screen (not linear light), 0 to 1."""

    sky: Color = (0.90, 0.86, 0.79)
    """Background at the top of the picture."""
    horizon: Color = (0.94, 0.91, 0.86)
    """Background at the bottom, into which the floor fades."""
    floor: Color = (0.97, 0.95, 0.91)
    """The floor near the figures."""
    sun: Color = (1.0, 0.96, 0.88)
    """Light from one direction, which casts shadows."""
    ambient: Color = (0.42, 0.45, 0.50)
    """Light from all sides."""
    sun_samples: int = 768
    """Samples across the sun's view; more make shadows sharper."""
    floor_samples: int = 256
    """Samples across the soft shadow on the floor."""


def outline(figure: Figure, frames: Array) -> Array:
    """Points (n, 3) [m] whose hull contains the whole `figure`, strings included, when its frames X_WF are `frames` (n, 4, 4)."""
    solids = heap(shapes_of(figure.shapes))
    X_WS = carriers(figure, frames) @ solids.places
    bare = [] if len(solids.boxes) else [frames[:, :3, 3]]
    return np.concatenate([corners(solids.boxes, X_WS), *(s.points for s in strands(figure, frames)), *bare])


def _around(scene: Scene | None) -> Array:
    """Corners of all obstacles except infinite planes: what the camera should see where there is no figure."""
    solids = heap(tuple(solid for solid in obstacles_of(scene) if not isinstance(solid.geometry, Plane)) if scene else ())
    return corners(solids.boxes, solids.places) if len(solids.boxes) else np.zeros((1, 3))


@functools.lru_cache(maxsize=64)
def _lowest(figure: Figure) -> float:
    """Height of a floor that the figure does not swing through; a figure that hangs is lowest with all its angles at zero."""
    lowest = outline(figure, pose(figure, figure.start).frames)[:, 2].min(initial=0.0)
    if not any(joint.kind == "free" for joint in figure.groups):
        swings = [v.name for v in figure.variables if v.motion == "rotate" and not v.kinematic]
        hangs = figure.configuration(**dict.fromkeys(swings, 0.0))
        lowest = min(lowest, outline(figure, pose(figure, hangs).frames)[:, 2].min())
    return float(lowest)


def image(
    figures: Figure | Sequence[Figure], frames: Array | Sequence[Array] | None = None, *, scene: Scene | None = None,
    camera: Camera | None = None, size: tuple[int, int] = (640, 480), strings: Sequence[Strand] | None = None,
    samples: int = 2, look: Look = Look(),
) -> Pixels:  # fmt: skip
    """A picture (height, width, 3) of one figure or several.

    figures: one, or several
    frames: poses X_WF (n, 4, 4) of each figure; those of its start by default
    scene: obstacles and floor; by default a floor under the figures
    camera: by default one that sees everything
    size: width and height [pixels]
    strings: what to draw instead of the figures' own strings and wires
    samples: each pixel is the mean of samples² samples, which smooths edges
    look: light and colours

    Raises BunrakuError if the frames do not fit the figures, NotFinite if they are not finite.
    """
    several = (figures,) if isinstance(figures, Figure) else tuple(figures)
    if frames is None:
        stands = [pose(figure, figure.start).frames for figure in several]
        drawn = [s for f, X in zip(several, stands, strict=True) for s in strands(f, X, f.start)]
    else:
        stands = [np.asarray(X, float) for X in ((frames,) if isinstance(figures, Figure) else frames)]
        drawn = [s for f, X in zip(several, stands, strict=True) for s in strands(f, X)]
    if strings is not None:
        drawn = list(strings)
    for figure, X in zip(several, stands, strict=True):
        if X.shape != (len(figure.frames), 4, 4):
            raise BunrakuError(f"{figure.name} has {len(figure.frames)} frames, but `frames` has shape {X.shape}")
        if not np.isfinite(X).all():
            raise NotFinite(f"frames of {figure.name} are not finite")
    width, height = size
    if camera is None:
        points = np.concatenate([outline(f, X) for f, X in zip(several, stands, strict=True)] or [_around(scene)])
        wide, tall = np.ptp(points[:, :2], 0).max(), np.ptp(points[:, 2])
        elevation = min(max(0.12 * wide / max(tall, 1e-9), 0.2), 0.6)  # flat figures are seen from higher up
        camera = Camera.around(points, elevation=float(elevation), aspect=width / height)
    return _picture(several, stands, scene, camera, (width, height), drawn, samples, look)


def _picture(
    figures: tuple[Figure, ...], stands: list[Array], scene: Scene | None, camera: Camera, size: tuple[int, int],
    drawn: Sequence[Strand], samples: int, look: Look,
) -> Pixels:  # fmt: skip
    width, height = size
    still = () if scene is None else obstacles_of(scene)
    all_ = heap((*(solid for figure in figures for solid in shapes_of(figure.shapes)), *still))
    moving = [carriers(figure, X) for figure, X in zip(figures, stands, strict=True)]
    X_WS = np.concatenate([*moving, np.broadcast_to(np.eye(4), (len(still), 4, 4))]) @ all_.places
    points, directions = np.empty_like(all_.vertices), np.empty_like(all_.vertices)
    raster.placed(all_.vertices, all_.normals, all_.owner, X_WS, points, directions)

    n = len(X_WS) - len(still) if figures else len(X_WS)
    stage = corners(all_.boxes[:n], X_WS[:n])  # what the sun and the floor are centred on: the figures, if any
    view, sun = _view(camera, width * samples, height * samples), _sun(camera, stage, look.sun_samples)
    seen, sunny = _at_once(
        lambda: _covered(points, all_.faces, view, (height * samples, width * samples)),
        lambda: _covered(points, all_.faces, sun, (look.sun_samples, look.sun_samples)),
    )
    screen, closeness, nearest = seen
    mask, scratch = np.empty((2, look.floor_samples, look.floor_samples), np.float32)
    ground = _ground(figures, scene, camera, stage)
    raster.blurred(sunny[1], sun, float(ground[0]), 2, mask, scratch)
    linear = np.empty((height, width, 3), np.float32)
    colors_of_light = np.array([look.sky, look.horizon, look.floor, look.sun, look.ambient]) ** 2.2

    def band(first: int, last: int) -> None:
        light.lit(
            closeness, nearest, screen, points, directions, all_.faces, all_.owner, all_.colors, view, sun, sunny[1],
            mask, ground, colors_of_light, samples, first, last, linear,
        )  # fmt: skip

    edges = np.linspace(0, height, 9).astype(int).tolist()
    _at_once(*(functools.partial(band, a, b) for a, b in itertools.pairwise(edges)))
    if drawn:
        ends, colors, widths = _pieces(drawn, view, height)
        raster.stroke(ends, colors, widths, closeness, samples, linear)
    out = np.empty((height, width, 3), np.uint8)
    raster.finished(linear, out)
    return out


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Threads that shade bands of the picture at the same time; kernels release Python's global lock."""
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), thread_name_prefix="bunraku-picture")


def _at_once(*jobs: Callable[[], Made]) -> list[Made]:
    pool = _pool(os.getpid())  # a forked process does not inherit the threads of its parent
    return [future.result() for future in [pool.submit(job) for job in jobs]]


def _view(camera: Camera, width: int, height: int) -> Array:
    focal = 0.5 * height / math.tan(camera.field / 2)
    return np.array([camera.eye, *camera.axes, (focal, width / 2, height / 2)])


def _covered(
    points: Array, faces: NDArray[np.int64], view: Array, shape: tuple[int, int]
) -> tuple[Array, NDArray[np.float32], NDArray[np.int32]]:
    parallel = bool(view[4, 0] < 0)
    screen = np.empty_like(points)
    raster.projected(points, view, screen)
    closeness = np.full(shape, -np.inf if parallel else 0.0, np.float32)
    nearest = np.full(shape, -1, np.int32)
    raster.cover(screen, faces, parallel, closeness, nearest)
    return screen, closeness, nearest


def _sun(camera: Camera, points: Array, samples: int) -> Array:
    """The view from the sun, which is high behind the camera, to its left."""
    right, _, back = camera.axes
    toward = np.array([back[0], back[1], 0.0])
    toward = toward / max(float(np.linalg.norm(toward)), 1e-9) - 0.6 * right + np.array([0.0, 0.0, 1.1])
    centre = (points.min(0) + points.max(0)) / 2 if len(points) else np.zeros(3)
    axes = Camera(vector(centre + toward), vector(centre)).axes
    reach = float(np.abs((points - centre) @ axes[:2].T).max(initial=1e-3)) if len(points) else 1.0
    return np.array([centre, *axes, (-0.46 * samples / reach, samples / 2, samples / 2)])


def _ground(figures: tuple[Figure, ...], scene: Scene | None, camera: Camera, points: Array) -> Array:
    """The floor: its height, centre, fading radius, spacing of its grid, and whether there is one."""
    height: float | None = scene.floor if scene is not None else min((_lowest(f) for f in figures), default=0.0)
    if scene is None and height is not None and height > -0.02:
        height = 0.0
    middle = (points.min(0) + points.max(0)) / 2 if len(points) else np.zeros(3)
    reach = float(np.linalg.norm(np.subtract(camera.eye, camera.target))) * math.tan(camera.field / 2)
    spacing = 10.0 ** math.floor(math.log10(reach))
    spacing *= 1.0 if reach / spacing > 4 else 0.5 if reach / spacing > 2 else 0.2
    return np.array([height or 0.0, middle[0], middle[1], 3.0 * reach, spacing, float(height is not None)])


def _pieces(drawn: Sequence[Strand], view: Array, height: int) -> tuple[Array, Array, Array]:
    """Strings as straight pieces on the screen, with their colours and widths [pixels]."""
    pulls = [s.tension for s in drawn if s.tension is not None]
    most = max(max(pulls, default=0.0), 1e-9)
    ends, colors, widths = [], [], []
    for strand in drawn:
        path, slack = hanging(strand)
        screen = np.empty_like(path)
        raster.projected(path, view, screen)
        pieces = np.stack([screen[:-1], screen[1:]], 1)
        ends.append(pieces)
        colors.append(np.tile(np.array(color(strand, slack, most)) ** 2.2, (len(pieces), 1)))
        widths.append(np.full(len(pieces), max(height / 480.0, 0.8) * (1.0 if slack else 1.5)))
    return np.concatenate(ends), np.concatenate(colors), np.concatenate(widths)
