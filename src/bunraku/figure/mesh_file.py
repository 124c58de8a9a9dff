"""Mesh files, read by trimesh: one reader for collision, pictures and the stage."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.figure.shape import Mesh


def read_mesh(geometry: Mesh, *, joined: bool = False) -> tuple[Any, NDArray[np.float64], NDArray[np.int64]]:
    """The triangles of a mesh file.

    geometry: names the file and the scale along each axis.
    joined: whether corners that coincide are merged.
    Returns the mesh as trimesh has it, its corners (n, 3) at their scale [m], and its faces (m, 3), counterclockwise from outside;
    raises FileError where the file cannot be read or has no triangle.
    """
    import trimesh

    advice = "a mesh is an STL, OBJ, GLB, PLY or DAE file with at least one triangle"
    try:
        mesh: Any = trimesh.load(geometry.file, force="mesh", process=joined)
        if joined:
            mesh.merge_vertices(merge_tex=True, merge_norm=True)
        vertices, faces = np.array(mesh.vertices, float), np.array(mesh.faces, np.int64)
    except Exception as error:  # noqa: BLE001 - the readers of trimesh fail in many ways
        raise FileError(f"cannot be read: {error}", path=geometry.file, advice=advice) from None
    if vertices.ndim != 2 or vertices.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3:
        raise FileError("its corners do not have three coordinates each", path=geometry.file, advice=advice)
    if faces.size and not (faces.min() >= 0 and faces.max() < len(vertices)):
        raise FileError("a face names a corner that does not exist", path=geometry.file, advice=advice)
    if not len(faces) or not np.isfinite(vertices).all():
        raise FileError("has no triangles, or is not finite", path=geometry.file, advice=advice)
    scale = np.array(geometry.scale)
    if np.prod(scale) < 0:  # a mirrored mesh is inside out
        faces = faces[:, ::-1].copy()
    return mesh, vertices * scale, faces
