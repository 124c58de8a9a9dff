"""MCAP: motions for ROS 2 and Foxglove, out; joint states, in.

The topics are `/joint_states` (sensor_msgs/msg/JointState: all variables, with their speeds where these are known), `/tensions`
(the same type: those of strings and wires, as efforts), `/tf` and `/tf_static` (tf2_msgs/msg/TFMessage: every frame in its
parent; those that never move once), and `/scene` (foxglove_msgs/msg/SceneUpdate: shapes and obstacles once, strings at every
sample).

The topics of several figures begin with their names, in the letters that ROS 2 allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError, MissingExtra, did_you_mean
from bunraku.figure import WORLD, Figure
from bunraku.io.logs import ros_messages as ros
from bunraku.io.logs.joint_states import joint_state, motion_of_states
from bunraku.io.skeleton import identifiers
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors, hanging, strands
from bunraku.scene import Scene
from bunraku.spatial import se3, so3
from bunraku.writing import writing

Array = NDArray[np.float64]
Message = dict[str, Any]


def save_mcap(thing: Motion | Figure, path: str | PathLike[str], *, scene: Scene | None = None) -> None:
    """Writes a motion or a figure (`thing`) to `path`: joint states, transforms, and what Foxglove shows.

    scene: the obstacles around it.

    Times are those of the motion, in nanoseconds; one that starts before zero is shifted to zero.
    Raises MissingExtra if the package mcap-ros2-support is not installed.
    """
    writer_module = _module("mcap_ros2.writer")
    motion = as_motion(thing, path)
    begin = min(float(motion.t[0]), 0.0)
    times = np.round((motion.t - begin) * 1e9).astype(np.int64).tolist()
    with writing(path) as temporary, temporary.open("wb") as file:
        log = _Log(writer_module.Writer(file), {})
        if scene is not None:
            for obstacle in scene.obstacles:
                seen = ros.solid(obstacle.geometry, obstacle.position, obstacle.rotation, obstacle.color)
                log.see(times[0], [ros.entity(f"scene/{obstacle.name}", WORLD, times[0], **seen)])
        for track, name in zip(motion.tracks, identifiers(motion.names), strict=True):
            _write_track(log, track, times, f"{name}/" if len(motion.tracks) > 1 else "")
        log.writer.finish()


def _module(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtra("mcap-ros2-support", "log", "MCAP") from None


class _Log:
    """The file that is being written."""

    def __init__(self, writer: Any, schemas: dict[str, Any]) -> None:
        self.writer, self.schemas = writer, schemas

    def write(self, topic: str, kind: str, time: int, message: Message) -> None:
        """Adds a `message` of the type `kind` at a `time` [ns]."""
        if kind not in self.schemas:
            package, _, name = kind.partition("/")
            self.schemas[kind] = self.writer.register_msgdef(f"{package}/msg/{name}", ros.definition(kind))
        self.writer.write_message(f"/{topic}", self.schemas[kind], message, time, time)

    def see(self, time: int, entities: list[Message]) -> None:
        """Adds or replaces what Foxglove shows."""
        self.write("scene", "foxglove_msgs/SceneUpdate", time, {"deletions": [], "entities": entities})


def _write_track(log: _Log, track: Track, times: list[int], prefix: str) -> None:
    figure = track.figure
    shapes = [shape for shape in figure.shapes if shape.visible]
    seen = [ros.solid(shape.geometry, shape.position, shape.rotation, shape.color) for shape in shapes]
    log.see(times[0], [
        ros.entity(f"{prefix}{shape.name} {k}", _frame(prefix, shape.frame), times[0], **primitive)
        for k, (shape, primitive) in enumerate(zip(shapes, seen, strict=True))
    ])  # fmt: skip
    moving, still = _transforms(track)
    log.write("tf_static", "tf2_msgs/TFMessage", times[0], _tf(times[0], still, 0, prefix))
    ropes = [rope.name for rope in (*figure.strings, *figure.wires)]
    X = frames_along(figure, track.q) if ropes else np.empty(0)
    for k, time in enumerate(times):
        speeds = [] if track.v is None else track.v[k].tolist()
        state = joint_state(time, figure.names, position=track.q[k].tolist(), velocity=speeds)
        log.write(f"{prefix}joint_states", "sensor_msgs/JointState", time, state)
        log.write("tf", "tf2_msgs/TFMessage", time, _tf(time, moving, k, prefix))
        if not ropes:
            continue
        pulls = None if track.tension is None else track.tension[k]
        if pulls is not None:
            log.write(f"{prefix}tensions", "sensor_msgs/JointState", time, joint_state(time, ropes, effort=pulls.tolist()))
        drawn = strands(figure, X[k], track.q[k], pulls, None if track.laid is None else track.laid[k])
        lines = [ros.line(hanging(strand)[0].tolist(), StrandColors.plain) for strand in drawn]
        log.see(time, [ros.entity(f"{prefix}string {n}", WORLD, time, **drawn) for n, drawn in enumerate(lines)])


def _frame(prefix: str, name: str) -> str:
    return name if name == WORLD else prefix + name


Placed = list[tuple[str, str, Array, Array]]


def _transforms(track: Track) -> tuple[Placed, Placed]:
    """Frames that move, and those that do not: parent, name, positions (T, 3) and quaternions (T, 4) in the parent."""
    figure, X = track.figure, frames_along(track.figure, track.q)
    moving: Placed = []
    still: Placed = []
    for k, frame in enumerate(figure.frames):
        if frame.variable is None:
            still.append((frame.parent, frame.name, np.array([frame.position]), np.array([frame.rotation])))
            continue
        above = np.broadcast_to(np.eye(4), X[:, k].shape) if frame.parent == WORLD else X[:, figure.frame_index[frame.parent]]
        local = se3.inverse(above) @ X[:, k]
        moving.append((frame.parent, frame.name, local[:, :3, 3], continuous(so3.quaternion(local[:, :3, :3]))))
    return moving, still


def _tf(time: int, placed: Placed, k: int, prefix: str) -> Message:
    return {
        "transforms": [
            {
                "header": {"stamp": ros.stamp(time), "frame_id": _frame(prefix, parent)},
                "child_frame_id": _frame(prefix, name),
                "transform": {"translation": ros.point(positions[k]), "rotation": ros.quaternion(turns[k])},
            }
            for parent, name, positions, turns in placed
        ]
    }


# -- in ------------------------------------------------------------------------------------------------------------


def load_mcap(path: str | PathLike[str], figure: Figure | None = None, *, topic: str | None = None) -> Motion:
    """The motion of a figure in the joint states of the MCAP file at `path`.

    figure: whose motion it is; by default the figure of the library that has these variables.
    topic: the one to read, where the file has joint states of several.

    Joints are found by their names. Variables that the log does not have stay at the start; its joints that the figure does not
    have are left out; a warning names both. Raises FileError if nothing fits; MissingExtra if mcap-ros2-support is not installed.
    """
    _, states = _states(path, topic)
    return motion_of_states(states, figure, source=str(path))


def _states(path: str | PathLike[str], topic: str | None) -> tuple[str, list[tuple[int, Any]]]:
    """The topic that was chosen, and its messages, with their times [ns]."""
    found: dict[str, list[tuple[int, Any]]] = {}
    for name, time, message in _messages(path):
        if len(message.position) or topic is not None:  # tensions have efforts only
            found.setdefault(name, []).append((time, message))
    if topic is not None and topic not in found:
        raise FileError(f"there are no joint states in the topic {topic!r}", path=str(path), advice=did_you_mean(topic, found))
    if not found:
        raise FileError("there are no joint states", path=str(path), advice="only sensor_msgs/msg/JointState is read")
    if topic is None and len(found) > 1:
        raise FileError(f"{len(found)} topics have joint states", path=str(path), advice=f"choose one: topic={next(iter(found))!r}")
    name = topic or next(iter(found))
    return name, found[name]


def _messages(path: str | PathLike[str]) -> Iterator[tuple[str, int, Any]]:
    from struct import error as StructError

    reader, decoder = _module("mcap.reader"), _module("mcap_ros2.decoder")
    faults = (_module("mcap.exceptions").McapError, StructError, ValueError, KeyError, IndexError, EOFError, MemoryError)
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            source = reader.make_reader(file, decoder_factories=[decoder.DecoderFactory()])
            for schema, channel, record, message in source.iter_decoded_messages(log_time_order=True):
                if schema is not None and schema.name == "sensor_msgs/msg/JointState":
                    head = message.header.stamp
                    time = head.sec * 10**9 + head.nanosec
                    yield channel.topic, time or record.log_time, message
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check the name") from None
    except faults as error:
        raise FileError(f"not an MCAP file: {error}", path=str(path), advice="is it whole? `mcap doctor` checks it") from None
