"""Triangles of mesh files, under a key that tells nothing of where the file is."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import FileError

LARGEST = 64 * 2**20


class Meshes:
    """Each mesh as bytes: u32 vertices, u32 triangles, float32 positions, u32 corners."""

    def __init__(self) -> None:
        self._key: dict[str, str] = {}
        self.data: dict[str, bytes] = {}

    def add_file(self, file: str) -> str:
        """The key of a file's triangles."""
        if file not in self._key:
            self._key[file] = self.add(*_read(file), source=file)
        return self._key[file]

    def add(self, vertices: ArrayLike, faces: ArrayLike, *, source: str) -> str:
        """The key of some triangles."""
        V, F = np.asarray(vertices, "<f4"), np.asarray(faces, "<u4")
        if not len(F) or not np.isfinite(V).all():
            raise FileError("the mesh has no triangles, or corners that are not finite", path=source)
        data = np.array([len(V), len(F)], "<u4").tobytes() + V.tobytes() + F.tobytes()
        key = hashlib.sha256(data).hexdigest()[:24]
        self.data[key] = data
        return key


def _read(file: str) -> tuple[ArrayLike, ArrayLike]:
    import trimesh

    path = Path(file)
    if not path.is_file():
        raise FileError("the mesh file does not exist", path=file)
    if path.stat().st_size > LARGEST:
        raise FileError("the mesh file is too large for the stage", path=file, advice="simplify it to less than 64 MB")
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        return np.asarray(mesh.vertices), np.asarray(mesh.faces)
    except Exception as problem:  # noqa: BLE001 (a loader of many formats raises anything)
        raise FileError(f"the mesh cannot be read: {problem}", path=file, advice="STL, OBJ, GLB and DAE are read") from None
