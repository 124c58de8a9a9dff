"""A glTF 2.0 file that is being read: its JSON, its numbers, and the movements of its nodes. Every number is checked before use."""

from __future__ import annotations

import base64
import binascii
import json
import struct
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class GltfLimits:
    """How large a glTF file may be; what exceeds these numbers is a mistake."""

    bytes: int = 1 << 30
    """Size of the file, and of each buffer beside it."""
    nodes: int = 20_000
    """Nodes."""
    samples: int = 200_000
    """Times of an animation."""


@dataclass(eq=False)
class GltfFile:
    """The JSON document `tree` of the file at `path`, and the bytes of its buffers."""

    path: Path
    tree: dict[str, Any]
    binary: bytes = b""
    """The binary chunk of a GLB file."""
    limits: GltfLimits = GltfLimits()
    buffers: dict[int, bytes] = field(default_factory=dict)

    def refuse(self, message: str, advice: str = "is the file whole? export it again") -> FileError:
        """The error with this `message` and `advice`, about this file."""
        return FileError(message, path=str(self.path), advice=advice)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def parts(self, kind: str, of: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """The list called `kind` of the document, or `of` one of its parts."""
        found = (self.tree if of is None else of).get(kind, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.refuse(f"{kind!r} is not a list of objects")
        return found

    def part(self, kind: str, number: Any) -> dict[str, Any]:
        """Part `number` of a `kind` ("nodes")."""
        known = self.parts(kind)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(known):
            raise self.refuse(f"there is no {kind}[{str(number)[:20]}]")
        return known[number]

    def whole(self, part: dict[str, Any], name: str, default: int | None = None) -> int:
        """The whole number called `name` of a `part`; the `default` where there is none."""
        value = part.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 40:
            raise self.refuse(f"{name!r} is {str(value)[:30]!r}, not a whole number")
        return value

    def row(self, part: dict[str, Any], name: str, default: Any) -> Array:
        """The numbers called `name` of a `part`, as many as the `default` has."""
        try:
            values = np.array(part.get(name, default), float)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if values.shape != np.shape(default) or not np.isfinite(values).all():
            raise self.refuse(f"{name!r} is not {len(default)} numbers")
        return values

    # -- numbers -------------------------------------------------------------------------------------------------------

    def array(self, number: Any) -> Array:
        """The accessor `number` as floats, (count,) or (count, width)."""
        accessor = self.part("accessors", number)
        if "sparse" in accessor:
            raise self.refuse("sparse accessors are not read", "export the file without them")
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}.get(str(accessor.get("type")), 0)
        kinds = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
        code = accessor.get("componentType")
        kind = kinds.get(code) if isinstance(code, int) else None
        if not width or kind is None:
            raise self.refuse(f"accessors[{number}] has no type that can be read")
        count = self.whole(accessor, "count")
        view = self.part("bufferViews", accessor.get("bufferView"))
        data = self._buffer(self.whole(view, "buffer"))
        size = width * np.dtype(kind).itemsize
        step = self.whole(view, "byteStride", size) or size
        start = self.whole(view, "byteOffset", 0) + self.whole(accessor, "byteOffset", 0)
        if step < size or (count and start + step * (count - 1) + size > len(data)):
            raise self.refuse(f"accessors[{number}] goes beyond the end of the data")
        rows = np.ndarray((count, width), np.dtype(kind).newbyteorder("<"), data, start, (step, np.dtype(kind).itemsize))
        out = rows.astype(float)
        if accessor.get("normalized") and kind is not np.float32:
            out = np.maximum(out / float(np.iinfo(rows.dtype).max), -1.0)
        if not np.isfinite(out).all():
            raise self.refuse(f"accessors[{number}] has a number that is not finite")
        return out[:, 0] if width == 1 else out

    def _buffer(self, number: int) -> bytes:
        if number not in self.buffers:
            buffer = self.part("buffers", number)
            uri = buffer.get("uri")
            self.buffers[number] = self.binary if uri is None else self._bytes_at(uri)
        return self.buffers[number]

    def _bytes_at(self, uri: Any) -> bytes:
        if isinstance(uri, str) and uri.startswith("data:"):
            try:
                return base64.b64decode(uri.partition(",")[2], validate=True)
            except (binascii.Error, ValueError):
                raise self.refuse("a buffer is not base64") from None
        name = urllib.parse.unquote(uri) if isinstance(uri, str) else ""
        if not name or "\0" in name or Path(name).is_absolute() or ".." in Path(name).parts or "://" in name:
            raise self.refuse(f"a buffer is at {str(uri)[:60]!r}", "keep the .bin file in the folder of the .gltf file")
        return read_bytes(self.path.parent / name, self.limits)

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def parents(self) -> list[int]:
        """The number of the node above each node; −1 where there is none."""
        nodes = self.parts("nodes")
        if len(nodes) > self.limits.nodes:
            raise self.refuse(f"{len(nodes)} nodes", f"at most {self.limits.nodes} are read")
        above = [-1] * len(nodes)
        for k, node in enumerate(nodes):
            children = node.get("children", [])
            if not isinstance(children, list):
                raise self.refuse(f"'children' of nodes[{k}] is not a list")
            for child in children:
                self.part("nodes", child)
                if above[child] >= 0:
                    raise self.refuse(f"nodes[{child}] has two parents")
                above[child] = k
        for k in range(len(nodes)):  # no node is above itself
            slow = fast = k
            while fast >= 0 and above[fast] >= 0:
                slow, fast = above[slow], above[above[fast]]
                if slow == fast:
                    raise self.refuse(f"nodes[{k}] is below itself")
        return above

    def still(self, number: int) -> tuple[Array, Array, Array]:
        """Translation [m], rotation (w, x, y, z) and scale of node `number`, where nothing animates it."""
        node = self.part("nodes", number)
        if "matrix" in node:
            M = self.row(node, "matrix", [0.0] * 16).reshape(4, 4).T
            scale = np.linalg.norm(M[:3, :3], axis=0)
            if np.linalg.det(M[:3, :3]) < 0.0:
                scale[0] *= -1.0
            R = M[:3, :3] / np.where(np.abs(scale) > 1e-12, scale, 1.0)
            return M[:3, 3], so3.quaternion(R), scale
        turn = self.row(node, "rotation", [0.0, 0.0, 0.0, 1.0])[[3, 0, 1, 2]]
        size = float(np.linalg.norm(turn))
        unit = turn / size if size > 1e-9 else np.array(so3.IDENTITY)
        return self.row(node, "translation", [0.0] * 3), unit, self.row(node, "scale", [1.0] * 3)


def open_gltf(path: Path, limits: GltfLimits = GltfLimits()) -> GltfFile:
    """The glTF or GLB file at `path`; raises FileError if it is none, or larger than `limits`."""
    data = read_bytes(path, limits)
    text, binary = data, b""
    advice = "is the file whole? export it again, as glTF 2.0"
    if data[:4] == b"glTF":
        chunks: dict[bytes, bytes] = {}
        place = 12
        if len(data) < 20 or struct.unpack_from("<I", data, 4)[0] != 2:
            raise FileError("not a GLB file of version 2", path=str(path), advice=advice)
        while place + 8 <= len(data):
            length, kind = struct.unpack_from("<I4s", data, place)
            if place + 8 + length > len(data):
                raise FileError("the file is cut off", path=str(path), advice=advice)
            chunks.setdefault(kind, data[place + 8 : place + 8 + length])
            place += 8 + length
        text, binary = chunks.get(b"JSON", b""), chunks.get(b"BIN\0", b"")
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        raise FileError("not a glTF file: its text is no JSON", path=str(path), advice=advice) from None
    if not isinstance(tree, dict) or not isinstance(tree.get("asset"), dict):
        raise FileError("not a glTF file: it has no 'asset'", path=str(path), advice=advice)
    needs = tree.get("extensionsRequired", [])
    if isinstance(needs, list) and "EXT_meshopt_compression" in needs:
        raise FileError("it is compressed (EXT_meshopt_compression)", path=str(path), advice="export it without compression")
    return GltfFile(path, tree, binary, limits)


def read_bytes(path: Path, limits: GltfLimits) -> bytes:
    """The bytes of the file at `path`; raises FileError if it cannot be read or is larger than `limits`."""
    try:
        if path.stat().st_size > limits.bytes:
            raise FileError("larger than 1 GB", path=str(path), advice="is this a glTF file?")
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check the name") from None
