"""Carrying on the stage: the motion with the roadmap, the path of the object and the reach of every arm."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.cleanup import TemporaryFolder
from bunraku.ensemble.carry_result import Carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.scenes.meshed_solids import tube
from bunraku.ensemble.team import OBJECT, Team
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, Mesh, Shape
from bunraku.figure.build import Attached, figure, rz, spindle
from bunraku.motion import Motion, Track
from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.steer import samples
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Recorded
from bunraku.writing import writing

Array = NDArray[np.float64]
Ways = Mapping[str, Sequence[Array]]


def on_stage(done: Carry) -> Recorded:
    """The motion of a result `done`, with the roadmap, the path of the object and the reach of every arm.

    Raises BunrakuError if there is no motion.
    """
    return drawn(done.errand, moved(done), drawn_ways(done))


def drawn(errand: Errand, motion: Motion, ways: Ways) -> Recorded:
    """A `motion` of an `errand` with the reach of every arm, and `ways` that are drawn in its scene."""
    folder = TemporaryFolder()  # stays: the page loads the meshes as long as the stage is open
    return Recorded(with_shells(errand.team, motion, folder.name), scene_with_ways(errand.scene, ways, folder.name))


def drawn_ways(done: Carry) -> dict[str, list[Array]]:
    """What is drawn in the scene of `done`: its roadmap, and the path of the object; points (n, 3) [m] along each line."""
    ways: dict[str, list[Array]] = {}
    if done.roadmap is not None and done.roadmap.edges:
        ways["roadmap"] = roadmap_lines(done, done.roadmap)
    if done.motion is not None:
        ways["way"] = [done.motion.track(OBJECT).q[:, :3]]
    return ways


def scene_with_ways(scene: Scene, ways: Ways, folder: str | os.PathLike[str]) -> Scene:
    """A `scene` with the lines `ways`, the roadmap (blue) and the path of the object (red), as thin tubes in files of `folder`."""
    drawn = []
    for name, lines in ways.items():
        radius, color = (0.006, (0.18, 0.44, 0.62)) if name == "roadmap" else (0.012, (0.82, 0.28, 0.12))
        file = _tubes(lines, Path(folder) / f"{name}.stl", radius)
        drawn.append(Obstacle(name, Mesh(str(file)), color=color, group="search"))
    return scene.replace(obstacles=(*scene.obstacles, *drawn))


def _tubes(lines: Sequence[Array], file: Path, radius: float) -> Path:
    import trimesh

    parts = []
    for line in lines:
        far = np.concatenate([[True], np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-4])
        if far.sum() > 1:
            parts.append(tube(line[far], radius, bend=0.0, sections=6, spacing=1.0))
    mesh: Any = trimesh.util.concatenate(parts) if parts else trimesh.creation.icosphere(radius=radius)
    with writing(file) as temporary:
        temporary.write_bytes(mesh.export(file_type=file.suffix[1:]))
    return file


def with_shells(team: Team, motion: Motion, folder: str | os.PathLike[str]) -> Motion:
    """A `motion` of a `team`, with a figure of rings for each arm: its wrist stays between the outer and the inner rings.

    Meshes are written to `folder`.
    """
    tracks = []
    for agent in team.agents:
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
    return Shape("world", Mesh(str(file)), color=(0.3, 0.6, 0.35), name="reach", collides=False)


def _shoulders(motion: Motion, name: str, base: Sequence[str], shoulder: Array, own: Figure) -> Array:
    """Positions of a shoulder over time, as configurations of the figure of its rings."""
    track = motion.track(name)
    x, y, turn = track.q[:, track.figure.indices(base[:3])].T
    c, s = np.cos(turn), np.sin(turn)
    Q = np.zeros((len(motion), own.n_q))
    place = {"x": x + c * shoulder[0] - s * shoulder[1], "y": y + s * shoulder[0] + c * shoulder[1], "z": 0.0 * x + shoulder[2]}
    for axis, values in place.items():
        Q[:, own.index(f"shoulder_{axis}")] = values
    Q[:, own.index("heading")] = turn
    return Q


def moved(done: Carry) -> Motion:
    """The motion of `done` with the samples that are kept; raises BunrakuError if there is none."""
    kept = done.kept
    if kept is None:
        raise BunrakuError(f"there is no motion to draw: {done.outcome}")
    return kept


def roadmap_lines(done: Carry, roadmap: Roadmap, *, count: int = 9) -> list[Array]:
    """Positions of the object of `done` along each edge of a `roadmap`: `count` points (count, 3) [m]."""
    s = np.linspace(0.0, 1.0, count)
    return [done.errand.team.in_world(samples(roadmap.edge_curve(i, j), s))[1][:, :3] for i, j in roadmap.edges]
