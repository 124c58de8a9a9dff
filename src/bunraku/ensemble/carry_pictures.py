"""Pictures of an errand: stills along the way, a plan view with roadmap and path, and what the stage draws beside the motion."""

from __future__ import annotations

import atexit
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.carry_result import Carry
from bunraku.ensemble.scenes.meshed_solids import tube
from bunraku.ensemble.team import OBJECT
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, Mesh, Shape
from bunraku.figure.build import Attached, figure, rz, spindle
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion, Track
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.steer import samples
from bunraku.render.camera import Camera
from bunraku.render.image import Pixels, image, outline
from bunraku.render.video import save_pixels, sheet
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Recorded
from bunraku.writing import writing

Array = NDArray[np.float64]
EDGES, WAY = "#2f6f9f", "#d1481f"
BLUE, GREEN, RED = (0.18, 0.44, 0.62), (0.3, 0.6, 0.35), (0.82, 0.28, 0.12)


def still(
    motion: Motion, scene: Scene, at: Sequence[int] | int, *, camera: Camera | None = None, size: tuple[int, int] = (960, 600),
    azimuth: float = -0.9, elevation: float = 0.45,
) -> Pixels:  # fmt: skip
    """Everybody at one sample, or at several in one picture."""
    moments = [at] if isinstance(at, int) else list(at)
    figures = [track.figure for _ in moments for track in motion.tracks]
    frames = [frames_along(track.figure, track.q[[k]])[0] for k in moments for track in motion.tracks]
    if camera is None:
        points = np.concatenate([outline(own, X) for own, X in zip(figures, frames, strict=True)])
        camera = Camera.around(points, azimuth=azimuth, elevation=elevation, aspect=size[0] / size[1], margin=1.15)
    return image(figures, frames, scene=scene, camera=camera, size=size)


def save_stills(done: Carry, path: str | os.PathLike[str], *, count: int = 6, size: tuple[int, int] = (640, 420)) -> None:
    """A sheet of moments along the way."""
    motion = _moved(done)
    scene = _without_ceiling(done.errand.scene)
    moments = np.linspace(0, len(motion) - 1, count).round().astype(int).tolist()
    labels = [f"{motion.t[k]:.1f} s" for k in moments]
    save_pixels(sheet([still(motion, scene, k, size=size) for k in moments], 3, labels), path)


def _moved(done: Carry) -> Motion:
    if done.motion is None:
        raise BunrakuError(f"there is no motion to draw: {done.outcome.value}")
    return done.motion


def _without_ceiling(scene: Scene) -> Scene:
    return scene.replace(obstacles=tuple(o for o in scene.obstacles if not o.name.startswith("high_")))


# -- from above ------------------------------------------------------------------------------------------------------


def save_plan_view(done: Carry, path: str | os.PathLike[str], *, moments: int = 6, width: int = 1200) -> None:
    """From above: the scene, the team at some moments, the roadmap as the object sees it, and the ways of all."""
    from matplotlib.figure import Figure as Canvas

    (x0, x1), (y0, y1) = done.errand.area
    x0, x1, y0, y1 = x0 - 0.5, x1 + 0.5, y0 - 0.5, y1 + 0.5
    field = 0.06  # so narrow that heights hardly show
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
        for edge in edges_of(done, done.roadmap):
            axes.plot(*edge[:, :2].T, color=EDGES, lw=0.9, alpha=0.6)
        if len(done.roadmap):
            axes.plot(*done.errand.team.in_world(done.roadmap.nodes)[1][:, :2].T, "o", color=EDGES, ms=3)
    if done.motion is not None:
        axes.plot(*done.motion.track(OBJECT).q[:, :2].T, color=WAY, lw=2.6, solid_capstyle="round")
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    with writing(path) as temporary:
        canvas.savefig(temporary, format="png")


def edges_of(done: Carry, roadmap: Roadmap, *, count: int = 9) -> list[Array]:
    """Where the object is along each edge, (count, 3)."""
    s = np.linspace(0.0, 1.0, count)
    return [done.errand.team.in_world(samples(roadmap.edge_curve(i, j), s))[1][:, :3] for i, j in roadmap.edges]


# -- on the stage ----------------------------------------------------------------------------------------------------


def on_stage(done: Carry) -> Recorded:
    """The motion, as far as it got, with the roadmap, the way of the object and the reach of every arm."""
    _moved(done)
    folder = tempfile.TemporaryDirectory(prefix="bunraku-")
    atexit.register(folder.cleanup)  # the page asks for meshes as long as the stage is open
    return Recorded(with_shells(done, folder.name), scene_with_roadmap(done, folder.name))


def scene_with_roadmap(done: Carry, folder: str | os.PathLike[str]) -> Scene:
    """The scene with the roadmap (blue) and the way of the object (red) in it, as thin tubes in files of `folder`."""
    ways: dict[str, tuple[list[Array], tuple[float, float, float]]] = {}
    if done.roadmap is not None and done.roadmap.edges:
        ways["roadmap"] = (edges_of(done, done.roadmap), BLUE)
    if done.motion is not None:
        ways["way"] = ([done.motion.track(OBJECT).q[:, :3]], RED)
    drawn = []
    for name, (lines, color) in ways.items():
        file = _tubes(lines, Path(folder) / f"{name}.stl", 0.006 if name == "roadmap" else 0.012)
        drawn.append(Obstacle(name, Mesh(str(file)), color=color, group="search"))
    return done.errand.scene.replace(obstacles=(*done.errand.scene.obstacles, *drawn))


def _tubes(lines: list[Array], file: Path, radius: float) -> Path:
    import trimesh

    parts = []
    for line in lines:
        far = np.concatenate([[True], np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-4])
        if far.sum() > 1:
            parts.append(tube(line[far], radius, bend=0.0, sections=6, spacing=1.0))
    mesh = trimesh.util.concatenate(parts) if parts else trimesh.creation.icosphere(radius=radius)
    with writing(file) as temporary:
        mesh.export(temporary)
    return file


def with_shells(done: Carry, folder: str | os.PathLike[str]) -> Motion:
    """The motion, and a figure of rings for each arm: wrists stay between the outer and the inner ones."""
    motion, tracks = _moved(done), []
    for agent in done.errand.team.agents:
        for hold, shell in zip(agent.holds, agent.shells, strict=True):
            name = f"reach of {agent.name}'s {hold.tool}"
            rings = [_ring(radius, axis, Path(folder)) for radius in (shell.least, shell.most) for axis in range(3)]
            place = spindle("shoulder", rz("heading", Attached(shapes=tuple(rings)), kinematic=True), moves="xyz")
            own = figure(name.replace(" ", "_").replace("'", ""), place)
            tracks.append(Track(own, _shoulders(motion, agent.name, agent.base, shell.shoulder, own), name=name))
    return Motion(motion.t, (*motion.tracks, *tracks), motion.marks)


def _ring(radius: float, axis: int, folder: Path) -> Shape:
    angle = np.linspace(0.0, 2.0 * np.pi, 49)
    line = np.insert(radius * np.stack([np.cos(angle), np.sin(angle)], 1), axis, 0.0, axis=1)
    file = _tubes([line], folder / f"ring_{axis}_{1000 * radius:.0f}.stl", 0.003)
    return Shape("world", Mesh(str(file)), color=GREEN, name="reach", collides=False)


def _shoulders(motion: Motion, name: str, base: Sequence[str], shoulder: Array, own: Figure) -> Array:
    """Where a shoulder is over time, as the configuration of its rings."""
    track = motion.track(name)
    x, y, turn = track.q[:, track.figure.indices(base[:3])].T
    c, s = np.cos(turn), np.sin(turn)
    Q = np.zeros((len(motion), own.n_q))
    place = {"x": x + c * shoulder[0] - s * shoulder[1], "y": y + s * shoulder[0] + c * shoulder[1], "z": 0.0 * x + shoulder[2]}
    for axis, values in place.items():
        Q[:, own.index(f"shoulder_{axis}")] = values
    Q[:, own.index("heading")] = turn
    return Q
