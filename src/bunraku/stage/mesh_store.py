"""Triangles of mesh files, by a key that does not reveal the path of the file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import FileError
from bunraku.figure.mesh_file import read_mesh
from bunraku.figure.shape import Mesh
from bunraku.stage.stage_limits import StageLimits


class Meshes:
    """Each mesh as bytes: u32 vertex count, u32 triangle count, float32 positions, u32 corners; file sizes are within `limits`."""

    def __init__(self, limits: StageLimits = StageLimits()) -> None:
        self._most = limits.mesh_bytes
        self._key: dict[str, str] = {}
        self.data: dict[str, bytes] = {}

    def add_file(self, file: str) -> str:
        """The key of the triangles in a `file`; raises FileError if it has none or is too large."""
        if file not in self._key:
            self._key[file] = self.add(*_read(file, self._most), source=file)
        return self._key[file]

    def add(self, vertices: ArrayLike, faces: ArrayLike, *, source: str) -> str:
        """The key of triangles: `vertices` (n, 3) [m] and `faces` (m, 3). Raises FileError, naming `source`, if not finite."""
        V, F = np.asarray(vertices, "<f4"), np.asarray(faces, "<u4")
        if not len(F) or not np.isfinite(V).all():
            raise FileError("the mesh has no triangles, or corners that are not finite", path=source)
        data = np.array([len(V), len(F)], "<u4").tobytes() + V.tobytes() + F.tobytes()
        key = hashlib.sha256(data).hexdigest()[:24]
        self.data[key] = data
        return key


def _read(file: str, most: int) -> tuple[ArrayLike, ArrayLike]:
    path = Path(file)
    if not path.is_file():
        raise FileError("the mesh file does not exist", path=file)
    if path.stat().st_size > most:
        advice = f"simplify it to less than {most // 2**20} MB"
        raise FileError("the mesh file is too large for the stage", path=file, advice=advice)
    _, vertices, faces = read_mesh(Mesh(file), joined=True)
    return vertices, faces
