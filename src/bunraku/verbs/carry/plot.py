"""Pictures of carrying: stills along the path, and a plan view with the roadmap."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bunraku.ensemble.carry_on_stage import moved, roadmap_lines
from bunraku.ensemble.carry_result import Carry
from bunraku.ensemble.team import OBJECT
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.render.camera import Camera
from bunraku.render.image import Pixels, image, outline
from bunraku.render.plots import require_matplotlib
from bunraku.render.video import save_pixels, sheet
from bunraku.scene import Scene
from bunraku.writing import writing


def still(
    motion: Motion, scene: Scene, at: Sequence[int] | int, *, camera: Camera | None = None, size: tuple[int, int] = (960, 600),
    azimuth: float = -0.9, elevation: float = 0.45,
) -> Pixels:  # fmt: skip
    """A picture of all figures of a `motion` in a `scene` at one sample, or at several samples in one picture.

    at: the sample, or samples
    camera: viewpoint; by default one that shows all figures, from `azimuth` and `elevation` [rad]
    size: width and height [pixels]
    """
    moments = [at] if isinstance(at, int) else list(at)
    figures = [track.figure for _ in moments for track in motion.tracks]
    frames = [frames_along(track.figure, track.q[[k]])[0] for k in moments for track in motion.tracks]
    if camera is None:
        points = np.concatenate([outline(own, X) for own, X in zip(figures, frames, strict=True)])
        camera = Camera.around(points, azimuth=azimuth, elevation=elevation, aspect=size[0] / size[1], margin=1.15)
    return image(figures, frames, scene=scene, camera=camera, size=size)


def save_stills(done: Carry, path: str | os.PathLike[str], *, count: int = 6, size: tuple[int, int] = (640, 420)) -> None:
    """Writes a contact sheet of `count` samples of a result `done`, each of this `size` [pixels], to a PNG file at `path`.

    Raises BunrakuError if there is no motion.
    """
    motion = moved(done)
    scene = _without_ceiling(done.errand.scene)
    moments = np.linspace(0, len(motion) - 1, count).round().astype(int).tolist()
    pictures = [still(motion, scene, k, size=size) for k in moments]
    save_pixels(sheet(pictures, 3, motion.t[moments], digits=1), path)


def _without_ceiling(scene: Scene) -> Scene:
    return scene.replace(obstacles=tuple(o for o in scene.obstacles if not o.name.startswith("high_")))


# -- from above ------------------------------------------------------------------------------------------------------


def save_plan_view(done: Carry, path: str | os.PathLike[str], *, moments: int = 6, width: int = 1200) -> None:
    """Writes a view of a result `done` from above to a file at `path` (PNG, SVG or PDF).

    It shows the scene, the team at `moments` samples, the roadmap and the path of the object. `width` is that of the picture
    [pixels].
    """
    require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    edge_color, path_color = "#2f6f9f", "#d1481f"
    (x0, x1), (y0, y1) = done.errand.area
    x0, x1, y0, y1 = x0 - 0.5, x1 + 0.5, y0 - 0.5, y1 + 0.5
    field = 0.06  # [rad] field of view of a distant camera, so that heights hardly distort the view
    size = (width, int(width * (y1 - y0) / (x1 - x0)))
    away = 0.5 * (y1 - y0) / math.tan(0.5 * field)
    middle = (0.5 * (x0 + x1), 0.5 * (y0 + y1))
    camera = Camera((*middle, away), (*middle, 0.0), up=(0.0, 1.0, 0.0), field=field)
    scene = _without_ceiling(done.errand.scene)
    if done.motion is None:
        pixels = image((), (), scene=scene, camera=camera, size=size)
    else:
        ticks = np.linspace(0, len(done.motion) - 1, moments).round().astype(int).tolist()
        pixels = still(done.motion, scene, ticks, camera=camera, size=size)
    canvas = Canvas(figsize=(size[0] / 100, size[1] / 100), dpi=100)
    axes = canvas.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.imshow(pixels, extent=(x0, x1, y0, y1))
    axes.axis("off")
    if done.roadmap is not None:
        for edge in roadmap_lines(done, done.roadmap):
            axes.plot(*edge[:, :2].T, color=edge_color, lw=0.9, alpha=0.6)
        if len(done.roadmap):
            axes.plot(*done.errand.team.in_world(done.roadmap.nodes)[1][:, :2].T, "o", color=edge_color, ms=3)
    if done.motion is not None:
        axes.plot(*done.motion.track(OBJECT).q[:, :2].T, color=path_color, lw=2.6, solid_capstyle="round")
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    with writing(path) as temporary:
        canvas.savefig(temporary, format=Path(path).suffix[1:].lower())
