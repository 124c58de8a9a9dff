"""GltfDocument: the parts of a glTF 2.0 file, and the bytes that they point at."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.shape import Color
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@dataclass(eq=False)
class GltfDocument:
    """Grows by one part at a time; each method returns the number of the part that it added."""

    Y_UP: ClassVar[Array] = se3.pose(rotation=so3.about(0, -np.pi / 2))
    """The world of a figure, where z is up, in the world of glTF, where y is up."""

    times: int = -1
    """The accessor of the times of all animations [s]."""
    data: bytearray = field(default_factory=bytearray)
    views: list[dict[str, Any]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    meshes: list[dict[str, Any]] = field(default_factory=list)
    skins: list[dict[str, Any]] = field(default_factory=list)
    materials: list[dict[str, Any]] = field(default_factory=list)
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    known: dict[Color, int] = field(default_factory=dict)

    def numbers(self, values: ArrayLike, kind: type = np.float32, *, bounds: bool = False, target: int | None = None) -> int:
        """An accessor of the array `values` of numbers of a `kind`.

        bounds: with the smallest and the largest, which glTF asks of positions and times.
        target: what the numbers are for, in glTF's code, if they belong to a mesh.
        """
        array: NDArray[Any] = np.ascontiguousarray(values, kind)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.views.append(view | ({"target": target} if target else {}))
        self.data += array.tobytes()
        self.data += bytes(-len(self.data) % 4)
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "componentType": {"float32": 5126, "uint32": 5125, "uint16": 5123}[array.dtype.name],
            "count": len(array),
            "type": {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}[array.shape[1:]],
        }
        if bounds:
            low, high = np.atleast_1d(array.min(0)), np.atleast_1d(array.max(0))
            accessor |= {"min": low.tolist(), "max": high.tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def node(self, name: str, *, parent: int | None = None, **words: Any) -> int:
        """A node called `name`, with its other `words`; one without a `parent` is a root of the scene."""
        self.nodes.append({"name": name, **words})
        number = len(self.nodes) - 1
        if parent is None:
            self.roots.append(number)
        else:
            self.nodes[parent].setdefault("children", []).append(number)
        return number

    def moves(self, node: int, path: str, values: Array) -> None:
        """Animates a `node`: its translation, rotation or scale (`path`) takes the `values`, unless these are equal."""
        self.nodes[node][path] = np.float32(values[0]).tolist()
        if np.ptp(values, axis=0).max() == 0.0:
            return
        self.samplers.append({"input": self.times, "output": self.numbers(values), "interpolation": "LINEAR"})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def mesh(
        self, name: str, vertices: Array, normals: Array, faces: ArrayLike, color: Color, bones: ArrayLike | None = None
    ) -> int:  # fmt: skip
        """A mesh called `name`.

        vertices, normals: (n, 3) [m], [1].
        faces: numbers of vertices (m, 3), counterclockwise from outside.
        color: of all faces.
        bones: the number of the bone that carries each vertex, (n,), if it is skinned.
        """
        per_vertex, per_face = 34962, 34963  # glTF's codes
        attributes = {
            "POSITION": self.numbers(vertices, bounds=True, target=per_vertex),
            "NORMAL": self.numbers(normals, target=per_vertex),
        }
        if bones is not None:
            joints = np.zeros((len(vertices), 4))
            joints[:, 0] = bones
            attributes["JOINTS_0"] = self.numbers(joints, np.uint16, target=per_vertex)
            attributes["WEIGHTS_0"] = self.numbers(np.tile([1.0, 0.0, 0.0, 0.0], (len(vertices), 1)), target=per_vertex)
        indices = self.numbers(np.asarray(faces).reshape(-1), np.uint32, target=per_face)
        self.meshes.append({
            "name": name, "primitives": [{"attributes": attributes, "indices": indices, "material": self.material(color)}],
        })  # fmt: skip
        return len(self.meshes) - 1

    def skin(self, name: str, joints: list[int], rest: Array, skeleton: int) -> int:
        """The bones of meshes, as a skin called `name`.

        joints: their nodes.
        rest: where they are while the meshes have their own form, (n, 4, 4).
        skeleton: the node above them.
        """
        columns = np.swapaxes(np.linalg.inv(rest), 1, 2)  # glTF writes matrices by columns
        columns[:, :, 3] = [0.0, 0.0, 0.0, 1.0]
        matrices = self.numbers(columns)
        self.skins.append({"name": name, "joints": joints, "inverseBindMatrices": matrices, "skeleton": skeleton})
        return len(self.skins) - 1

    def material(self, color: Color) -> int:
        """A material of a `color`, shared by all that have it."""
        if color not in self.known:
            linear = [min(max(c, 0.0), 1.0) ** 2.2 for c in color]
            name = "#" + "".join(f"{round(255 * min(max(c, 0.0), 1.0)):02x}" for c in color)
            surface = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.7}
            self.materials.append({"name": name, "pbrMetallicRoughness": surface})
            self.known[color] = len(self.materials) - 1
        return self.known[color]

    def packed(self, extras: dict[str, Any]) -> bytes:
        """The bytes of the GLB file; `extras` are data of our own."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "bunraku"},
            "scene": 0,
            "scenes": [{"nodes": self.roots}],
            "nodes": self.nodes,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.data)}],
        }
        if self.channels:
            document["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        optional = {"meshes": self.meshes, "skins": self.skins, "materials": self.materials, "extras": extras}
        document |= {name: parts for name, parts in optional.items() if parts}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        size = 12 + 8 + len(text) + 8 + len(self.data)
        head = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<I4s", len(text), b"JSON")
        return head + text + struct.pack("<I4s", len(self.data), b"BIN\0") + bytes(self.data)
