"""Message types of ROS 2 and Foxglove: their definitions, as log files carry them, and plain values as messages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from bunraku.figure.shape import Box, Color, Cylinder, Sphere
from bunraku.render.triangles import triangles
from bunraku.scene import Surface


@cache
def _fields() -> dict[str, str]:
    """The fields of each type, in order. Foxglove's types have had more fields since; a reader uses those that a file defines."""
    return {
        "builtin_interfaces/Time": "int32 sec, uint32 nanosec",
        "builtin_interfaces/Duration": "int32 sec, uint32 nanosec",
        "std_msgs/Header": "builtin_interfaces/Time stamp, string frame_id",
        "geometry_msgs/Vector3": "float64 x, float64 y, float64 z",
        "geometry_msgs/Point": "float64 x, float64 y, float64 z",
        "geometry_msgs/Quaternion": "float64 x, float64 y, float64 z, float64 w",
        "geometry_msgs/Pose": "geometry_msgs/Point position, geometry_msgs/Quaternion orientation",
        "geometry_msgs/Transform": "geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation",
        "geometry_msgs/TransformStamped": "std_msgs/Header header, string child_frame_id, geometry_msgs/Transform transform",
        "sensor_msgs/JointState": "std_msgs/Header header, string[] name, float64[] position, float64[] velocity, float64[] effort",
        "trajectory_msgs/JointTrajectoryPoint": "float64[] positions, float64[] velocities, float64[] accelerations, "
        "float64[] effort, builtin_interfaces/Duration time_from_start",
        "trajectory_msgs/JointTrajectory": "std_msgs/Header header, string[] joint_names, "
        "trajectory_msgs/JointTrajectoryPoint[] points",
        "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
        "foxglove_msgs/Color": "float64 r, float64 g, float64 b, float64 a",
        "foxglove_msgs/KeyValuePair": "string key, string value",
        "foxglove_msgs/ArrowPrimitive": "geometry_msgs/Pose pose, float64 shaft_length, float64 shaft_diameter, "
        "float64 head_length, float64 head_diameter, foxglove_msgs/Color color",
        "foxglove_msgs/CubePrimitive": "geometry_msgs/Pose pose, geometry_msgs/Vector3 size, foxglove_msgs/Color color",
        "foxglove_msgs/SpherePrimitive": "geometry_msgs/Pose pose, geometry_msgs/Vector3 size, foxglove_msgs/Color color",
        "foxglove_msgs/CylinderPrimitive": "geometry_msgs/Pose pose, geometry_msgs/Vector3 size, float64 bottom_scale, "
        "float64 top_scale, foxglove_msgs/Color color",
        "foxglove_msgs/LinePrimitive": "uint8 type, geometry_msgs/Pose pose, float64 thickness, bool scale_invariant, "
        "geometry_msgs/Point[] points, foxglove_msgs/Color color, foxglove_msgs/Color[] colors, uint32[] indices",
        "foxglove_msgs/TriangleListPrimitive": "geometry_msgs/Pose pose, geometry_msgs/Point[] points, foxglove_msgs/Color color, "
        "foxglove_msgs/Color[] colors, uint32[] indices",
        "foxglove_msgs/TextPrimitive": "geometry_msgs/Pose pose, bool billboard, float64 font_size, bool scale_invariant, "
        "foxglove_msgs/Color color, string text",
        "foxglove_msgs/ModelPrimitive": "geometry_msgs/Pose pose, geometry_msgs/Vector3 scale, foxglove_msgs/Color color, "
        "bool override_color, string url, string media_type, uint8[] data",
        "foxglove_msgs/SceneEntityDeletion": "builtin_interfaces/Time timestamp, uint8 type, string id",
        "foxglove_msgs/SceneEntity": "builtin_interfaces/Time timestamp, string frame_id, string id, "
        "builtin_interfaces/Duration lifetime, bool frame_locked, foxglove_msgs/KeyValuePair[] metadata, "
        "foxglove_msgs/ArrowPrimitive[] arrows, foxglove_msgs/CubePrimitive[] cubes, foxglove_msgs/SpherePrimitive[] spheres, "
        "foxglove_msgs/CylinderPrimitive[] cylinders, foxglove_msgs/LinePrimitive[] lines, "
        "foxglove_msgs/TriangleListPrimitive[] triangles, foxglove_msgs/TextPrimitive[] texts, "
        "foxglove_msgs/ModelPrimitive[] models",
        "foxglove_msgs/SceneUpdate": "foxglove_msgs/SceneEntityDeletion[] deletions, foxglove_msgs/SceneEntity[] entities",
    }


def fields(kind: str) -> list[tuple[str, str]]:
    """Type and name of every field of the type `kind` ("sensor_msgs/JointState"), in order."""
    return [(form, name) for form, name in (field.split() for field in _fields()[kind].split(", "))]


def used(kind: str) -> list[str]:
    """The type `kind`, and all types that it uses."""
    needed = [kind]
    for one in needed:
        inner = [form.removesuffix("[]") for form, _ in fields(one)]
        needed += [form for form in dict.fromkeys(inner) if form in _fields() and form not in needed]
    return needed


def definition(kind: str) -> str:
    """The text that defines the type `kind` and all types that it uses, as a log file holds it."""
    needed = used(kind)
    lines = {name: "\n".join(_fields()[name].split(", ")) + "\n" for name in needed}
    rule = "=" * 80
    return lines[kind] + "".join(f"{rule}\nMSG: {name}\n{lines[name]}" for name in needed[1:])


# -- values --------------------------------------------------------------------------------------------------------


def stamp(nanoseconds: int) -> dict[str, int]:
    """A time, given in `nanoseconds`, or a duration."""
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


def point(values: Sequence[float]) -> dict[str, float]:
    """A point or a vector of three `values`."""
    x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z}


def quaternion(values: Sequence[float]) -> dict[str, float]:
    """A rotation; `values` are w, x, y, z."""
    w, x, y, z = map(float, values)
    return {"x": x, "y": y, "z": z, "w": w}


def rgba(color: Color) -> dict[str, float]:
    """An opaque `color`."""
    r, g, b = color
    return {"r": r, "g": g, "b": b, "a": 1.0}


def entity(name: str, frame: str, nanoseconds: int, **primitives: list[dict[str, Any]]) -> dict[str, Any]:
    """Something to see that is called `name` and follows a `frame`, from the time `nanoseconds` on; `primitives` by their kind."""
    kinds = ("arrows", "cubes", "spheres", "cylinders", "lines", "triangles", "texts", "models")
    return {
        "timestamp": stamp(nanoseconds), "frame_id": frame, "id": name, "lifetime": stamp(0), "frame_locked": True, "metadata": [],
    } | {kind: primitives.get(kind, []) for kind in kinds}  # fmt: skip


def solid(geometry: Surface, position: Sequence[float], rotation: Sequence[float], color: Color) -> dict[str, list[dict[str, Any]]]:
    """A `geometry` of one `color` as a primitive of Foxglove; `position` [m] and `rotation` (w, x, y, z) are those in its frame."""
    common = {"pose": {"position": point(position), "orientation": quaternion(rotation)}, "color": rgba(color)}
    match geometry:
        case Box(size):
            return {"cubes": [common | {"size": point(size)}]}
        case Sphere(radius):
            return {"spheres": [common | {"size": point((2 * radius,) * 3)}]}
        case Cylinder(radius, length):
            across = point((2 * radius, 2 * radius, length))
            return {"cylinders": [common | {"size": across, "bottom_scale": 1.0, "top_scale": 1.0}]}
    vertices, _, faces = triangles(geometry)
    points = [point(vertex) for vertex in vertices.tolist()]
    return {"triangles": [common | {"points": points, "colors": [], "indices": faces.reshape(-1).tolist()}]}


def line(points: Sequence[Sequence[float]], color: Color, thickness: float = 0.003) -> dict[str, list[dict[str, Any]]]:
    """A line through `points` [m] of one `color`, as a primitive of Foxglove; `thickness` in metres."""
    origin = {"position": point((0, 0, 0)), "orientation": quaternion((1, 0, 0, 0))}
    return {
        "lines": [{
            "type": 0, "pose": origin, "thickness": thickness, "scale_invariant": False, "points": [point(p) for p in points],
            "color": rgba(color), "colors": [], "indices": [],
        }]
    }  # fmt: skip
