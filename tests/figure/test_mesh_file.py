"""Damaged mesh files: whoever reads them gives one clear error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trimesh

from bunraku import io
from bunraku.collision import triangle_meshes
from bunraku.errors import FileError
from bunraku.figure import Mesh
from bunraku.figure.build import figure, fixed, mesh
from bunraku.render.image import image
from bunraku.stage.mesh_store import Meshes

STL = trimesh.creation.box((1.0, 1.0, 1.0)).export(file_type="stl")
GLB = trimesh.creation.box((1.0, 1.0, 1.0)).export(file_type="glb")
DAMAGED = {
    "two.obj": b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n",
    "beyond.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
    "words.obj": b"v 0 0 x\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "nan.obj": b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "points.obj": b"v 0 0 0\nv 1 0 0\n",
    "empty.stl": b"",
    "short.stl": STL[:200],
    "head.stl": STL[:84],
    "many.stl": STL[:80] + b"\xff\xff\xff\x7f" + STL[84:],
    "text.stl": b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nendloop\nendfacet\nendsolid s\n",
    "noise.stl": bytes(range(256)) * 3,
    "short.glb": GLB[:90],
    "noise.glb": bytes(range(256)) * 3,
    "noise.ply": bytes(range(256)) * 3,
}


def readers(file: Path) -> dict[str, Callable[[], Any]]:
    own = figure("r", fixed("a", mesh(str(file))))
    return {
        "collision": lambda: triangle_meshes.load(Mesh(str(file))),
        "picture": lambda: image(own, size=(32, 32)),
        "stage": lambda: Meshes().add_file(str(file)),
        "glb": lambda: io.save(own, file.with_name("out.glb")),
    }


@pytest.mark.parametrize("reader", ["collision", "picture", "stage", "glb"])
@pytest.mark.parametrize("name", DAMAGED)
def test_one_clear_error(name: str, reader: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(DAMAGED[name])
    with pytest.raises(FileError) as caught:
        readers(file)[reader]()
    assert str(caught.value).startswith(f"{file}: ")
    assert len(str(caught.value).splitlines()) <= 3
    assert not (tmp_path / "out.glb").exists()
