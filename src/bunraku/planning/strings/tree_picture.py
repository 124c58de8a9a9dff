"""Pictures of a search: the tree over the scene (*marionettes*, Fig. 4), cost against time, and a mesh for the stage."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError
from bunraku.figure import Mesh
from bunraku.kinematics import pose
from bunraku.kinematics.loci import point_along
from bunraku.planning.strings.goal import marks_of
from bunraku.planning.strings.plan_result import Plan
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.plots import require_matplotlib
from bunraku.render.strands import strands
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Recorded
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_tree_picture(
    found: Plan, path: str | os.PathLike[str], *, azimuth: float = 1.0, size: tuple[int, int] = (900, 760), edges: int = 6000
) -> None:
    """Draws the tree of a search over the scene: the figure at start and end, nodes and edges of its first point, the plan.

    found: a plan with a tree. path: the PNG file. azimuth: direction of the camera, from +x toward +y [rad].
    size: width and height [pixels]. edges: maximum number of edges drawn.
    Raises BunrakuError if there is no tree.
    """
    require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    if found.tree is None:
        raise BunrakuError(f"there is no tree to draw: {found.outcome.kind}\n  advice: {found.outcome.advice}")
    figure, problem = found.problem.figure, found.problem
    ends = [problem.start] if found.motion is None else [problem.start, found.motion.q[-1]]
    frames = [pose(figure, q).frames for q in ends]
    moved = {at.frame for at in marks_of(figure)}
    limbs = [X[figure.frame_index[name], :3, 3] for X in frames for name in moved]
    shown = np.concatenate([found.tree.points.reshape(-1, 3), limbs, [pose(figure, ends[0]).com]])
    camera = Camera.around(shown, azimuth=azimuth, elevation=0.25, aspect=size[0] / size[1], margin=1.3)
    ropes = [rope for q, X in zip(ends, frames, strict=True) for rope in strands(figure, X, q)]
    pixels = image([figure] * len(ends), frames, scene=problem.scene, camera=camera, size=size, strings=ropes)
    canvas = Canvas(figsize=(size[0] / 100, size[1] / 100), dpi=100)
    axes = canvas.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.imshow(pixels)
    axes.axis("off")
    drawn = _seen(camera, found.tree.edges()[:edges].reshape(-1, 3), size).reshape(-1, 2, 2)
    gaps = np.full((len(drawn), 1, 2), np.nan)
    lines = np.concatenate([drawn, gaps], 1).reshape(-1, 2)
    axes.plot(*lines.T, color="#33557a", lw=0.5, alpha=0.55)
    axes.plot(*drawn[:, 1].T, ".", color="#16324f", ms=1.8, alpha=0.7)
    if found.motion is not None:
        at = problem.goal.points[0]
        way, color = _seen(camera, point_along(found.motion, at.frame, at.position), size), "#d1481f"
        axes.plot(*way.T, color=color, lw=2.6, solid_capstyle="round")
        axes.plot(*way[-1], "o", color=color, ms=6)
    axes.set_xlim(0, size[0])
    axes.set_ylim(size[1], 0)
    with writing(path) as temporary:
        canvas.savefig(temporary, format="png")


def _seen(camera: Camera, points: Array, size: tuple[int, int]) -> Array:
    """Positions of points in the picture, in pixels."""
    x, y, z = ((points - np.array(camera.eye)) @ camera.axes.T).T
    scale = 0.5 * size[1] / math.tan(camera.field / 2) / np.maximum(-z, 1e-6)
    return np.column_stack([0.5 * size[0] + scale * x, 0.5 * size[1] - scale * y])


def save_tree(found: Plan, path: str | os.PathLike[str]) -> None:
    """Writes the tree of the plan `found` as an NPZ file to `path`; raises BunrakuError if there is no tree."""
    if found.tree is None:
        raise BunrakuError(f"there is no tree to write: {found.outcome.kind}\n  advice: {found.outcome.advice}")
    found.tree.save(path)


def save_cost_picture(runs: Sequence[Plan], path: str | os.PathLike[str]) -> None:
    """Draws the cost of the best plan against processor time for several `runs`, one colour per planner, into a PNG at `path`."""
    require_matplotlib()
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(6.4, 3.6), dpi=130, layout="constrained")
    axes = canvas.add_subplot()
    colors = dict(zip(dict.fromkeys(run.planner.name for run in runs), ("#33557a", "#d1481f", "#4b8b3b", "#8a5aa8"), strict=False))
    named: set[str] = set()
    for run in runs:
        if not run.history:
            continue
        t, cost = np.array([*run.history, (run.seconds["search"], run.cost)]).T
        name = run.planner.name
        axes.step(t, cost, where="post", color=colors[name], lw=1.6, alpha=0.85, label=None if name in named else name)
        axes.plot(t[0], cost[0], "o", color=colors[name], ms=4)
        named.add(name)
    axes.set_xscale("log")
    axes.set_xlabel("processor time [s]")
    axes.set_ylabel("cost of the best plan")
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    with writing(path) as temporary:
        canvas.savefig(temporary, format="png")


def on_stage(found: Plan) -> Recorded:
    """The plan `found` as a recording for the stage, with its scene and tree; raises BunrakuError if there is no plan."""
    if found.motion is None:
        raise BunrakuError(f"there is no plan to play: {found.outcome.kind}: {found.outcome.why}\n  advice: {found.outcome.advice}")
    return Recorded(found.motion, with_edges(found.scene, tree_edges(found)))


def tree_edges(found: Plan, *, edges: int = 6000) -> Array:
    """The first `edges` edges of the search tree of the plan `found`, (n, 2, 3) [m]."""
    if found.tree is None or len(found.tree) < 2:
        return np.zeros((0, 2, 3))
    return found.tree.edges()[:edges]


def with_edges(scene: Scene, lines: Array, *, radius: float = 0.0015) -> Scene:
    """A `scene` with the edges `lines` (n, 2, 3) [m] of a search tree as a mesh of thin rods with this `radius` [m]."""
    import trimesh

    if not len(lines):
        return scene
    along = lines[:, 1] - lines[:, 0]
    flat = np.abs(along[:, 2:]) < 0.9 * np.linalg.norm(along, axis=1)[:, None]
    across = np.cross(along, np.where(flat, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]))
    across *= radius / np.maximum(np.linalg.norm(across, axis=1), 1e-12)[:, None]
    third = np.cross(along, across)
    third *= radius / np.maximum(np.linalg.norm(third, axis=1), 1e-12)[:, None]
    ring = [across, -0.5 * across + 0.87 * third, -0.5 * across - 0.87 * third]
    corners = np.stack([lines[:, k] + offset for k in range(2) for offset in ring], 1)  # (n, 6, 3)
    faces = np.array([face for a, b in ((0, 1), (1, 2), (2, 0)) for face in ((a, b, 3 + b), (a, 3 + b, 3 + a))])
    every = (faces + 6 * np.arange(len(lines))[:, None, None]).reshape(-1, 3)
    mesh: Any = trimesh.Trimesh(corners.reshape(-1, 3), every, process=False)
    folder = TemporaryFolder()  # kept: the page loads the mesh as long as the stage is open
    file = Path(folder.name) / f"{scene.name.replace(' ', '_')}_tree.stl"
    with writing(file) as temporary:
        temporary.write_bytes(mesh.export(file_type="stl"))
    tree = Obstacle("tree", Mesh(str(file)), color=(0.2, 0.33, 0.48), group="search")
    return scene.replace(obstacles=(*scene.obstacles, tree))
