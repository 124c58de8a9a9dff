"""Meshes that are dropped beside their URDF file are used; those that are missing or damaged are told on the page."""

from __future__ import annotations

import importlib.util
import json
import struct
from contextlib import closing

import httpx
import pytest
import trimesh

from bunraku.errors import BunrakuError
from bunraku.stage import serve
from bunraku.stage.uploads import Uploads, mesh_files
from tests.patience import PATIENCE
from tests.stage.test_server import Page
from tests.stage.unconfined import Here

OPENER = "bunraku.verbs.entries:entries_of"
URDF = '<robot name="r"><link name="a"><visual><geometry><mesh filename="{}"/></geometry></visual></link></robot>'
BOX = trimesh.creation.box((1.0, 1.0, 1.0))
STL, GLB, OBJ, PLY = (BOX.export(file_type=kind) for kind in ("stl", "glb", "obj", "ply"))


@pytest.fixture
def uploads(monkeypatch: pytest.MonkeyPatch) -> Uploads:
    opened = Uploads(OPENER)
    monkeypatch.setattr(opened, "_confined", Here())
    return opened


def bytes_of(mesh: object) -> bytes:
    return mesh.encode() if isinstance(mesh, str) else mesh  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("named", "dropped", "mesh"),
    [
        ("x.stl", "x.stl", STL), ("meshes/x.stl", "x.stl", STL), ("package://name/meshes/x.stl", "x.stl", STL),
        ("package://name/meshes/my part.stl", "my part.stl", STL), ("file:///home/me/x.stl", "x.stl", STL),
        ("package://name/meshes/x.glb", "x.glb", GLB), ("..\\meshes\\x.obj", "x.obj", OBJ), ("x.ply", "x.ply", PLY),
    ],
)  # fmt: skip
def test_a_mesh_beside_its_figure_is_used(uploads: Uploads, named: str, dropped: str, mesh: object) -> None:
    warned: list[str] = []
    entry, *_ = uploads.open([("r.urdf", URDF.format(named).encode()), (dropped, bytes_of(mesh))], warned.append)
    assert len(set(mesh_files(entry.open()))) == 1
    assert warned == []


MJCF = """<mujoco>{}<asset><mesh name="m" file="{}"/></asset>
<worldbody><body><joint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    ("compiler", "named"),
    [
        ("", "x.stl"), ("", "meshes/arm/x.stl"), ("", "..\\meshes\\x.stl"), ("", "/home/me/x.stl"),
        ('<compiler meshdir="assets"/>', "x.stl"), ('<compiler meshdir="assets" strippath="true"/>', "arm/x.stl"),
        ('<compiler meshdir="/home/me"/>', "arm/x.stl"),
    ],
)  # fmt: skip
def test_a_mesh_beside_its_mjcf_file_is_used(uploads: Uploads, compiler: str, named: str) -> None:
    """Files are dropped without the folders in which they were."""
    pytest.importorskip("mujoco")
    entry, *_ = uploads.open([("m.xml", MJCF.format(compiler, named).encode()), ("x.stl", STL)])
    assert [name.rpartition("/")[2] for name in set(mesh_files(entry.open()))] == ["x.stl"]


def test_confined() -> None:
    """A mesh that is used, and a damaged one, through the process that sees their folder only."""
    with closing(Uploads(OPENER)) as uploads:
        entry, *_ = uploads.open([("r.urdf", URDF.format("x.stl").encode()), ("x.stl", STL)])
        assert len(set(mesh_files(entry.open()))) == 1
        if importlib.util.find_spec("mujoco"):
            entry, *_ = uploads.open([("m.xml", MJCF.format("", "meshes/x.stl").encode()), ("x.stl", STL)])
            assert len(set(mesh_files(entry.open()))) == 1
        with pytest.raises(BunrakuError, match=r"^x\.stl: ") as caught:
            uploads.open([("r.urdf", URDF.format("x.stl").encode()), ("x.stl", STL[:200])])
        assert "/tmp" not in str(caught.value)


def test_a_missing_mesh_is_told(uploads: Uploads) -> None:
    warned: list[str] = []
    entry, *_ = uploads.open([("r.urdf", URDF.format("package://name/meshes/x.stl").encode())], warned.append)
    assert not list(mesh_files(entry.open()))
    (text,) = warned
    assert text.startswith("r.urdf: not everything could be kept")
    assert "meshes not found: package://name/meshes/x.stl" in text


def test_a_missing_mesh_is_told_on_the_page() -> None:
    with serve([], opener=OPENER) as serving, Page(serving).hello() as page:
        with httpx.Client(base_url=serving.origin, headers={"Origin": serving.origin}, timeout=PATIENCE) as client:
            client.get(serving.address)
            urdf = URDF.format("meshes/x.stl").encode()
            head = json.dumps([["r.urdf", len(urdf)]]).encode()
            answer = client.post("/api/open", content=struct.pack("<I", len(head)) + head + urdf)
            assert answer.status_code == 200, answer.text
        assert "meshes not found: meshes/x.stl" in page.hear("notice")["text"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.stl", STL[:200]),
        ("x.stl", b""),
        ("x.stl", b"\xff" * 300),
        ("x.obj", b"v 0 0\nv 1 0\nv 0 1\nf 1 2 3\n"),
        ("x.glb", GLB[:90]),
    ],
)
def test_a_damaged_mesh_is_told_by_its_name(uploads: Uploads, name: str, data: bytes) -> None:
    with pytest.raises(BunrakuError) as caught:
        uploads.open([("r.urdf", URDF.format(name).encode()), (name, data)])
    assert str(caught.value).startswith(f"{name}: ")
    assert "advice" in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_two_files_of_one_name(uploads: Uploads) -> None:
    with pytest.raises(BunrakuError, match=r"two files are called x\.stl"):
        uploads.open([("r.urdf", URDF.format("x.stl").encode()), ("x.stl", STL), ("x.stl", STL)])
