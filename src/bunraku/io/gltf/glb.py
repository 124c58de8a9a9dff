"""Animated GLB (binary glTF 2.0) of a motion: opens in Blender, in three.js, and in most viewers.

It has a node for each frame, shapes as meshes, strings as thin cylinders, and one animation; a root node turns the figure's
z axis, which points up, to glTF's y axis. Numbers are glTF's 32-bit floats.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import FileError
from bunraku.figure import WORLD, Figure, Frame, Shape, String
from bunraku.figure.shape import Color, Cylinder, Geometry
from bunraku.kinematics import frames_along
from bunraku.kinematics.ways import ways_along
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous, product
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors
from bunraku.render.triangles import triangles
from bunraku.spatial import se3
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_glb(thing: Motion | Figure, path: str | PathLike[str]) -> None:
    """Writes a motion or a figure (`thing`) to `path`: a node for each frame, and an animation of all samples.

    Raises FileError where samples are too close together for 32-bit times.
    """
    motion = as_motion(thing, path)
    times = motion.t - motion.t[0]  # glTF's time starts at zero
    if len(times) > 1 and np.any(np.diff(times.astype(np.float32)) <= 0.0):
        raise FileError("samples are too close together for GLB", path=str(path), advice="resample the motion first")
    file = _File(motion.t.size)
    root = file.node("motion", rotation=[-(0.5**0.5), 0.0, 0.0, 0.5**0.5])  # from z up to y up; x, y, z, w
    file.times = file.numbers(times, bounds=True)
    for track in motion.tracks:
        parent = file.node(track.name, parent=root)
        prefix = f"{track.name}/" if len(motion.tracks) > 1 else ""
        _add_figure(file, track, parent, prefix)
    marks = [{"t": mark.t - float(motion.t[0]), "text": mark.text, "kind": mark.kind} for mark in motion.marks]
    with writing(path) as temporary:
        temporary.write_bytes(file.packed({"marks": marks} if marks else {}))


@dataclass(eq=False)
class _File:
    """The parts of a glTF document, and the bytes that they point at."""

    samples: int
    times: int = -1
    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    materials: list[dict[str, Any]] = field(default_factory=list)
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)

    def numbers(self, values: ArrayLike, *, whole: bool = False, bounds: bool = False, target: int | None = None) -> int:
        """An accessor of an array of numbers."""
        array = np.ascontiguousarray(values, np.uint32 if whole else np.float32)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.data += array.tobytes()
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": 5125 if whole else 5126,  # unsigned int, float
            "count": len(array),
            "type": {(): "SCALAR", (3,): "VEC3", (4,): "VEC4"}[array.shape[1:]],
        }
        if bounds:
            low, high = np.atleast_1d(array.min(0)), np.atleast_1d(array.max(0))
            accessor |= {"min": low.tolist(), "max": high.tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def node(self, name: str, *, parent: int | None = None, **words: Any) -> int:
        self.nodes.append({"name": name, **words})
        number = len(self.nodes) - 1
        if parent is not None:
            self.nodes[parent].setdefault("children", []).append(number)
        return number

    def moves(self, node: int, path: str, values: Array) -> None:
        """A node's translation, rotation or scale over time; one that never changes is not animated."""
        self.nodes[node][path] = np.float32(values[0]).tolist()
        if np.ptp(values, axis=0).max() == 0.0:
            return
        self.samplers.append({"input": self.times, "output": self.numbers(values), "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def mesh(self, geometry: Geometry, color: Color) -> int:
        if (geometry, color) in self.known:
            return self.known[geometry, color]
        if geometry not in self.known:
            vertices, normals, faces = triangles(geometry)
            position = self.numbers(vertices, bounds=True, target=34962)
            self.numbers(normals, target=34962)
            self.numbers(faces.reshape(-1), whole=True, target=34963)
            self.known[geometry] = position
        position = self.known[geometry]
        primitive = {"attributes": {"POSITION": position, "NORMAL": position + 1}, "indices": position + 2}
        self.meshes.append({"primitives": [primitive | {"material": self.material(color)}]})
        self.known[geometry, color] = len(self.meshes) - 1
        return len(self.meshes) - 1

    def material(self, color: Color) -> int:
        if color not in self.known:
            linear = [min(max(c, 0.0), 1.0) ** 2.2 for c in color]
            surface = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}
            self.materials.append({"pbrMetallicRoughness": surface})
            self.known[color] = len(self.materials) - 1
        return self.known[color]

    def packed(self, extras: dict[str, Any]) -> bytes:
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "bunraku"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": self.nodes,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.data)}],
        }
        if self.channels:
            document["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        optional = {"meshes": self.meshes, "materials": self.materials, "extras": extras}
        document |= {name: parts for name, parts in optional.items() if parts}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.data)
        head = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON")
        return head + text + struct.pack("<I4s", len(self.data), b"BIN\0") + bytes(self.data)


# -- a figure --------------------------------------------------------------------------------------------------


def _add_figure(file: _File, track: Track, root: int, prefix: str) -> None:
    figure = track.figure
    node = {WORLD: root}
    for frame in figure.frames:
        node[frame.name] = file.node(prefix + frame.name, parent=node[frame.parent])
        _add_frame(file, node[frame.name], frame, track)
    for shape in figure.shapes:
        _add_shape(file, node[shape.frame], shape, prefix)
    if figure.strings or figure.wires:
        _add_strings(file, track, root, prefix)


def _add_frame(file: _File, node: int, frame: Frame, track: Track) -> None:
    """X_PF over time as translation and rotation."""
    turn = np.tile(np.array(frame.rotation), (len(track), 1))
    shift = np.tile(np.array(frame.position), (len(track), 1))
    variable = frame.variable
    if variable is not None:
        values, axis = track.column(variable.name)[:, None], np.array(variable.axis)
        if variable.motion in ("rotate", "screw"):
            turn = continuous(product(turn, np.hstack([np.cos(values / 2), np.sin(values / 2) * axis])))
        slide = {"translate": 1.0, "screw": variable.pitch}.get(variable.motion, 0.0)
        shift = shift + slide * values * (se3.pose(rotation=frame.rotation)[:3, :3] @ axis)
    file.moves(node, "translation", shift)
    file.moves(node, "rotation", turn[:, [1, 2, 3, 0]])


def _add_shape(file: _File, parent: int, shape: Shape, prefix: str) -> None:
    w, x, y, z = shape.rotation
    place = {"translation": list(shape.position), "rotation": [x, y, z, w]}
    file.node(f"{prefix}{shape.name} shape", parent=parent, mesh=file.mesh(shape.geometry, shape.color), **place)


def _add_strings(file: _File, track: Track, root: int, prefix: str) -> None:
    """Each straight piece is a cylinder that is turned, moved and stretched."""
    figure = track.figure
    X = frames_along(figure, track.q)
    place = {frame.name: k for k, frame in enumerate(figure.frames)}
    place[WORLD] = len(place)
    X = np.concatenate([X, np.broadcast_to(np.eye(4), (len(track), 1, 4, 4))], 1)
    for rope in (*figure.strings, *figure.wires):
        for a, b in _pieces(track, X, place, rope):
            piece = file.node(
                f"{prefix}{rope.name} {rope.kind}", parent=root, mesh=file.mesh(Cylinder(0.0015, 1.0), StrandColors.plain)
            )
            length = np.linalg.norm(b - a, axis=1, keepdims=True)
            file.moves(piece, "translation", (a + b) / 2)
            file.moves(piece, "rotation", continuous(_from_z((b - a) / np.maximum(length, 1e-12)))[:, [1, 2, 3, 0]])
            file.moves(piece, "scale", np.hstack([np.ones_like(length), np.ones_like(length), np.maximum(length, 1e-9)]))


def _pieces(track: Track, X: Array, place: dict[str, int], rope: String) -> Iterator[tuple[Array, Array]]:
    """Both ends of every straight piece, (T, 3) each; a way over pulleys is cut into pieces of equal length."""
    if not rope.wraps:
        yield from itertools.pairwise(_carried(X[:, place[at.frame]], at.position) for at in rope.path)
        return
    ways = ways_along(track.figure, track.q, rope)
    for branch in range(len(ways[0])):
        cut = np.array([_resampled(way[branch].points, 32) for way in ways])
        yield from itertools.pairwise(cut.swapaxes(0, 1))


def _resampled(points: Array, pieces: int) -> Array:
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    where = np.linspace(0.0, run[-1], pieces + 1)
    return np.stack([np.interp(where, run, x) for x in points.T], 1)


def _carried(X: Array, position: ArrayLike) -> Array:
    return np.asarray(X[:, :3, :3] @ np.asarray(position, float) + X[:, :3, 3])


def _from_z(direction: Array) -> Array:
    """Quaternions (T, 4) of the shortest turns that take z to directions (T, 3); half a turn about x where opposite."""
    x, y, z = direction.T
    q = np.stack([1.0 + z, -y, x, np.zeros_like(x)], 1)
    q[z < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
