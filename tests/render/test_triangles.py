from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import FileError
from bunraku.figure import Box, Capsule, Cylinder, Mesh, Sphere
from bunraku.render.triangles import triangles

SIZES = st.floats(0.01, 2.0)
GEOMETRIES = st.one_of(
    st.builds(Sphere, SIZES), st.builds(Capsule, SIZES, SIZES), st.builds(Cylinder, SIZES, SIZES),
    st.builds(Box, st.tuples(SIZES, SIZES, SIZES)),
)  # fmt: skip


def volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


@given(GEOMETRIES)
def test_faces_wind_outward_and_agree_with_unit_normals(geometry: object) -> None:
    vertices, normals, faces = triangles(geometry)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    winding = np.cross(b - a, c - a)
    for k in range(3):
        assert np.all(np.sum(winding * normals[faces[:, k]], axis=1) > 0)


@given(GEOMETRIES)
def test_surface_is_closed(geometry: object) -> None:
    vertices, _, faces = triangles(geometry)
    # Vertices on sharp edges stand there once a normal: weld them by place.
    _, place = np.unique(np.round(vertices / np.abs(vertices).max(), 9), axis=0, return_inverse=True)
    welded = place.reshape(-1)[faces]
    edges = np.concatenate([welded[:, [0, 1]], welded[:, [1, 2]], welded[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    assert len(forward) == len(edges)
    assert forward == {(b, a) for a, b in forward}


@pytest.mark.parametrize(
    ("geometry", "exact"),
    [
        (Sphere(0.5), 4 / 3 * math.pi * 0.125),
        (Capsule(0.2, 1.0), math.pi * 0.04 + 4 / 3 * math.pi * 0.008),
        (Cylinder(0.3, 0.7), math.pi * 0.09 * 0.7),
        (Box((1.0, 2.0, 3.0)), 6.0),
    ],
)
def test_volume(geometry: object, exact: float) -> None:
    vertices, _, faces = triangles(geometry, 200)
    assert volume(vertices, faces) == pytest.approx(exact, rel=1e-3)


def test_mesh_file_is_scaled_and_a_mirrored_one_stays_right_side_out(tmp_path: Path) -> None:
    import trimesh

    file = tmp_path / "brick.stl"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(file)
    for scale in ((2.0, 1.0, 1.0), (-2.0, 1.0, 1.0)):
        vertices, normals, faces = triangles(Mesh(str(file), scale))
        assert volume(vertices, faces) == pytest.approx(12.0)
        np.testing.assert_allclose(np.abs(vertices).max(0), (1.0, 1.0, 1.5))
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0)


def test_a_file_that_is_no_mesh_gives_one_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "junk.stl"
    file.write_text("solid nothing\nendsolid nothing\n")
    with pytest.raises(FileError, match=r"junk\.stl"):
        triangles(Mesh(str(file)))
    with pytest.raises(FileError, match=r"missing\.obj"):
        triangles(Mesh(str(tmp_path / "missing.obj")))


def test_shared_results_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        triangles(Sphere(1.0)).vertices[0] = 0.0
