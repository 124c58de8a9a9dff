"""Rerun (.rrd): motions for the viewer of Rerun.

Every frame is an entity under that of its parent, with its transform over time; shapes are meshes in them, strings are lines.
Variables, speeds and tensions are curves below `plots`.
"""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.figure import WORLD, Figure
from bunraku.figure.shape import Color
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors, hanging, strands
from bunraku.render.triangles import triangles
from bunraku.scene import Scene, Surface
from bunraku.spatial import se3, so3
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_rrd(thing: Motion | Figure, path: str | PathLike[str], *, scene: Scene | None = None) -> None:
    """Writes a motion or a figure (`thing`) to `path`, for Rerun. The timeline `t` has the times of the motion.

    scene: the obstacles around it.

    Raises MissingExtra if the package rerun-sdk is not installed.
    """
    try:
        import rerun as rr
    except ImportError:
        raise MissingExtra("rerun-sdk", "rerun", "a file for Rerun") from None
    motion, part = as_motion(thing, path), rr.escape_entity_path_part
    with writing(path) as temporary:
        stream = rr.RecordingStream("bunraku", recording_id=f"bunraku-{'-'.join(motion.names)}")
        stream.save(str(temporary))
        stream.log("/", rr.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
        for obstacle in () if scene is None else scene.obstacles:
            X = se3.pose(obstacle.position, obstacle.rotation)
            stream.log(f"scene/{part(obstacle.name)}", _mesh(rr, obstacle.geometry, X, obstacle.color), static=True)
        for track in motion.tracks:
            _write_track(rr, stream, track, motion.t)
        stream.flush()
        stream.disconnect()


def _mesh(rr: Any, geometry: Surface, X: Array, color: Color) -> Any:
    vertices, normals, faces = triangles(geometry)
    shade = [round(255 * min(max(c, 0.0), 1.0)) for c in color]
    return rr.Mesh3D(
        vertex_positions=se3.transform(X, vertices), vertex_normals=normals @ X[:3, :3].T, triangle_indices=faces,
        albedo_factor=shade,
    )  # fmt: skip


def _write_track(rr: Any, stream: Any, track: Track, t: Array) -> None:
    figure, X, part = track.figure, frames_along(track.figure, track.q), rr.escape_entity_path_part
    name = part(track.name)
    entity = {WORLD: name}
    index = [rr.TimeColumn("t", duration=t)]
    for k, frame in enumerate(figure.frames):
        entity[frame.name] = f"{entity[frame.parent]}/{part(frame.name)}"
        above = np.broadcast_to(np.eye(4), X[:, k].shape) if frame.parent == WORLD else X[:, figure.frame_index[frame.parent]]
        local = se3.inverse(above) @ X[:, k]
        turn = continuous(so3.quaternion(local[:, :3, :3]))[:, [1, 2, 3, 0]]
        if frame.variable is None:
            place = rr.Transform3D(translation=local[0, :3, 3], quaternion=turn[0])
            stream.log(entity[frame.name], place, static=True)
        else:
            columns = rr.Transform3D.columns(translation=local[:, :3, 3], quaternion=turn)
            stream.send_columns(entity[frame.name], index, columns)
    for k, shape in enumerate(s for s in figure.shapes if s.visible):
        mesh = _mesh(rr, shape.geometry, se3.pose(shape.position, shape.rotation), shape.color)
        stream.log(f"{entity[shape.frame]}/{part(f'{shape.name} {k}')}", mesh, static=True)
    _write_strings(rr, stream, track, t, X, f"{name}/strings")
    ropes = [rope.name for rope in (*figure.strings, *figure.wires)]
    curves = {"q": (figure.names, track.q), "v": (figure.names, track.v), "tension": (ropes, track.tension)}
    for field, (names, values) in curves.items():
        for k, one in enumerate(names if values is not None else ()):
            assert values is not None
            stream.send_columns(f"plots/{name}/{field}/{part(one)}", index, rr.Scalars.columns(scalars=values[:, k]))


def _write_strings(rr: Any, stream: Any, track: Track, t: Array, X: Array, entity: str) -> None:
    if not (track.figure.strings or track.figure.wires):
        return
    color = [round(255 * c) for c in StrandColors.plain]
    for k, time in enumerate(t.tolist()):
        pulls = None if track.tension is None else track.tension[k]
        laid = None if track.laid is None else track.laid[k]
        drawn = [hanging(strand)[0] for strand in strands(track.figure, X[k], track.q[k], pulls, laid)]
        stream.set_time("t", duration=time)
        stream.log(entity, rr.LineStrips3D(drawn, colors=color, radii=0.0015))
    stream.reset_time()
