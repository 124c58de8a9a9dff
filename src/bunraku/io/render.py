"""Pictures without a browser or a graphics card: figures, floor, shadows and strings by a small software renderer.

    from bunraku.io.render import image
    pixels = image(figure)                         # at its start
    pixels = image(figure, pose(figure, q).frames, strings=strands(figure, frames, q, tension))
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure.figure import Figure
from bunraku.figure.frame import WORLD
from bunraku.figure.shape import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from bunraku.io import raster
from bunraku.io.camera import Camera, vector
from bunraku.io.strands import Strand, color, hanging, strands
from bunraku.io.triangles import triangles
from bunraku.kinematics import pose
from bunraku.spatial import se3

if TYPE_CHECKING:
    from bunraku.scene import Scene

__all__ = ["Camera", "Strand", "image", "outline", "strands"]
Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]

SUN, COARSE = 768, 256  # samples across the sun's view, and across the shadow on the floor
_SKY = np.array([[0.60, 0.68, 0.76], [0.93, 0.93, 0.92], [0.86, 0.84, 0.80], [1.0, 0.96, 0.88], [0.42, 0.45, 0.50]])


# -- shapes as one heap of triangles -----------------------------------------------------------------------------


class _Heap(NamedTuple):
    vertices: Array
    normals: Array
    owner: NDArray[np.int64]
    faces: NDArray[np.int64]
    places: Array
    """X_FS of every shape."""
    colors: Array
    corners: Array
    """Eight corners of the box round every shape, (shapes, 8, 3), in the shape's frame."""


@functools.lru_cache(maxsize=64)
def _heap(shapes: tuple[Shape, ...]) -> _Heap:
    parts = [triangles(shape.geometry, _segments(shape.geometry)) for shape in shapes]
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    places = np.array([se3.pose(shape.position, shape.rotation) for shape in shapes]).reshape(-1, 4, 4)
    cube = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    boxes = [np.where(cube, part.vertices.max(0), part.vertices.min(0)) for part in parts]
    return _Heap(
        _stacked([part.vertices for part in parts]),
        _stacked([part.normals for part in parts]),
        np.repeat(np.arange(len(parts)), [len(part.vertices) for part in parts]),
        _stacked([part.faces + start for part, start in zip(parts, first, strict=False)]).astype(np.int64),
        places,
        np.clip(np.array([shape.color for shape in shapes]).reshape(-1, 3), 0.0, 1.0) ** 2.2,
        np.array([se3.transform(X, box) for X, box in zip(places, boxes, strict=True)]).reshape(-1, 8, 3),
    )


def _stacked(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros((0, 3))


def _segments(geometry: Geometry) -> int:
    """Small things need fewer sides."""
    match geometry:
        case Sphere(radius) | Capsule(radius, _) | Cylinder(radius, _):
            return 28 if radius > 0.03 else 20 if radius > 0.012 else 12
        case Box() | Mesh():
            return 0


def _in_world(figure: Figure, frames: Array) -> Array:
    """X_WF of the frame of every shape."""
    index = {frame.name: k for k, frame in enumerate(figure.frames)}
    chosen = [index.get(shape.frame, len(index)) for shape in figure.shapes]
    return np.concatenate([frames, np.eye(4)[None]])[chosen]


def outline(figure: Figure, frames: Array) -> Array:
    """Points (n, 3) that hold the whole figure between them, strings included: what a camera should see."""
    corners = _heap(figure.shapes).corners
    X = _in_world(figure, frames)
    shapes = np.einsum("sab,skb->ska", X[:, :3, :3], corners) + X[:, None, :3, 3]
    ropes = [strand.points for strand in strands(figure, frames)]
    return np.concatenate([shapes.reshape(-1, 3), *ropes, *([frames[:, :3, 3]] if not figure.shapes else [])])


@functools.lru_cache(maxsize=64)
def _lowest(shapes: tuple[Shape, ...], figure: Figure) -> float:
    return float(outline(figure, pose(figure, figure.start).frames)[:, 2].min(initial=0.0))


# -- the picture -------------------------------------------------------------------------------------------------


def image(
    figures: Figure | Sequence[Figure], frames: Array | Sequence[Array] | None = None, *, scene: Scene | None = None,
    camera: Camera | None = None, size: tuple[int, int] = (640, 480), strings: Sequence[Strand] | None = None,
    samples: int = 2,
) -> Pixels:  # fmt: skip
    """A picture (height, width, 3) of figures whose frames X_WF stand at `frames` (their start where not given).

    Without a scene there is a floor under the figures. `samples`² samples a pixel smooth the edges.
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
            raise BunrakuError(f"{figure.name} has {len(figure.frames)} frames, but {X.shape} were given")
        if not np.isfinite(X).all():
            raise NotFinite(f"frames of {figure.name} are not finite")
    width, height = size
    if camera is None:
        points = np.concatenate([outline(f, X) for f, X in zip(several, stands, strict=True)] or [np.zeros((1, 3))])
        wide, tall = np.ptp(points[:, :2], 0).max(), np.ptp(points[:, 2])
        elevation = min(max(0.12 * wide / max(tall, 1e-9), 0.2), 0.6)  # flat things are seen from higher up
        camera = Camera.around(points, elevation=float(elevation), aspect=width / height)
    return _picture(several, stands, scene, camera, (width, height), drawn, samples)


def _picture(
    figures: tuple[Figure, ...], stands: list[Array], scene: Scene | None, camera: Camera, size: tuple[int, int],
    drawn: Sequence[Strand], samples: int,
) -> Pixels:  # fmt: skip
    width, height = size
    still = () if scene is None else tuple(
        Shape(WORLD, o.geometry, o.position, o.rotation, o.color) for o in scene.obstacles
    )  # fmt: skip
    heap = _heap((*(shape for figure in figures for shape in figure.shapes), *still))
    X_WF = [_in_world(f, X) for f, X in zip(figures, stands, strict=True)]
    X_WS = np.concatenate([*X_WF, np.broadcast_to(np.eye(4), (len(still), 4, 4))]) @ heap.places
    points, directions = np.empty_like(heap.vertices), np.empty_like(heap.vertices)
    raster.placed(heap.vertices, heap.normals, heap.owner, X_WS, points, directions)

    view = _view(camera, width * samples, height * samples)
    screen, closeness, nearest = _covered(points, heap.faces, view, (height * samples, width * samples))
    sun = _sun(camera, points)
    _, depths, shaded = _covered(points, heap.faces, sun, (SUN, SUN))
    mask, scratch = np.empty((2, COARSE, COARSE), np.float32)
    raster.blurred(shaded, 2, mask, scratch)

    linear = np.empty((height, width, 3), np.float32)
    ground = _ground(figures, scene, camera, points)
    raster.lit(
        nearest, screen, points, directions, heap.faces, heap.owner, heap.colors, view, sun, depths, mask, ground,
        _SKY**2.2, samples, linear,
    )  # fmt: skip
    if drawn:
        ends, colors, widths = _pieces(drawn, view, height)
        raster.stroke(ends, colors, widths, closeness, samples, linear)
    out = np.empty((height, width, 3), np.uint8)
    raster.finished(linear, out)
    return out


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


def _sun(camera: Camera, points: Array) -> Array:
    """The sun stands high behind the left shoulder of the eye."""
    right, _, back = camera.axes
    toward = np.array([back[0], back[1], 0.0])
    toward = toward / max(float(np.linalg.norm(toward)), 1e-9) - 0.6 * right + np.array([0.0, 0.0, 1.1])
    centre = (points.min(0) + points.max(0)) / 2 if len(points) else np.zeros(3)
    axes = Camera(vector(centre + toward), vector(centre)).axes
    reach = float(np.abs((points - centre) @ axes[:2].T).max(initial=1e-3)) if len(points) else 1.0
    return np.array([centre, *axes, (-0.46 * SUN / reach, SUN / 2, SUN / 2)])


def _ground(figures: tuple[Figure, ...], scene: Scene | None, camera: Camera, points: Array) -> Array:
    """Height, centre, fading radius, spacing of the grid, and whether there is a floor."""
    height: float | None = scene.floor if scene is not None else min((_lowest(f.shapes, f) for f in figures), default=0.0)
    if scene is None and height is not None and height > -0.02:
        height = 0.0
    middle = (points.min(0) + points.max(0)) / 2 if len(points) else np.zeros(3)
    reach = float(np.linalg.norm(np.subtract(camera.eye, camera.target))) * math.tan(camera.field / 2)
    spacing = 10.0 ** math.floor(math.log10(reach))
    spacing *= 1.0 if reach / spacing > 4 else 0.5 if reach / spacing > 2 else 0.2
    return np.array([height or 0.0, middle[0], middle[1], 3.0 * reach, spacing, float(height is not None)])


def _pieces(drawn: Sequence[Strand], view: Array, height: int) -> tuple[Array, Array, Array]:
    """Straight pieces on the screen with their colours and widths [pixels]."""
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
