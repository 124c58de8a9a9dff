"""Files that were dropped on the page cannot lead to other files of the machine."""

from __future__ import annotations

import ctypes
import errno
import json
import pickle
import re
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bunraku import io, library
from bunraku.errors import BunrakuError
from bunraku.figure import Mesh, Shape
from bunraku.io.shipped import found, shipped_orders
from bunraku.kernels.folders import cache_root, user_cache
from bunraku.motion import Motion
from bunraku.progress import Progress
from bunraku.sound.soundtrack import Soundtrack
from bunraku.stage import Recorded, confinement
from bunraku.stage.confined import Cancelled, Confined
from bunraku.stage.uploads import ReadEntry, UploadLimits, Uploads
from bunraku.teleop.viewing_places import standing
from bunraku.verbs.loading import load
from tests.patience import PATIENCE
from tests.stage.confined_work import answer_with, attempts, caches, die, fill, reach_out, shout, wait
from tests.stage.test_plain_answer import Bomb
from tests.stage.unconfined import Here

OPENER = "bunraku.verbs.entries:entries_of"
STL = b"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n"
URDF = '<robot name="{name}"><link name="a"><visual><geometry>{mesh}</geometry></visual></link></robot>'
SDF = """<sdf version="1.9"><model name="{name}"><link name="a"><visual name="v"><geometry>{geometry}</geometry></visual></link>
</model></sdf>"""
MJCF = '<mujoco model="SECRET"><worldbody><body name="b"><joint/><geom size="1"/></body></worldbody></mujoco>'


@pytest.fixture(scope="module")
def confined() -> Iterator[Confined]:
    with Confined(*Uploads(OPENER).modules) as started:
        yield started


def secrets(folder: Path) -> None:
    """Files that would be read if anything led to them."""
    io.save(library.arm2d().replace(name="SECRET"), folder / "figure.yaml")
    (folder / "figure.urdf").write_text(URDF.format(name="SECRET", mesh='<sphere radius="1"/>'))
    (folder / "figure.xml").write_text(MJCF)
    (folder / "figure.sdf").write_text(SDF.format(name="SECRET", geometry="<sphere><radius>1</radius></sphere>"))
    (folder / "motion.mcap").write_bytes(b"\x89MCAP0\r\nSECRET")
    (folder / "scene.yaml").write_text("scene: SECRET\n")
    (folder / "mesh.stl").write_bytes(STL)
    (folder / "song.wav").write_bytes(Soundtrack(np.zeros((80000, 1), np.int16), 8000).wav())
    (folder / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    (folder / "secret.txt").write_text("SECRET")
    (folder / "secret.png").write_bytes(b"\x89PNG SECRET")
    (folder / "log.json").write_text('{"SECRET": 1}')
    arm = library.arm2d()
    io.save(Motion.of(arm, [0.0, 1.0], np.repeat(arm.start[None], 2, 0)), folder / "motion.npz")
    io.save(Motion.of(arm, [0.0, 1.0], np.repeat(arm.start[None], 2, 0)), folder / "motion.csv")
    secret = arm.replace(name="SECRET")
    for suffix in (".usda", ".glb"):
        io.save(Motion.of(secret, [0.0, 1.0], np.repeat(arm.start[None], 2, 0)), folder / f"motion{suffix}")


def escapes(out: str) -> dict[str, str]:
    """Files by name, each of which names a file in the folder `out`."""
    shape = f"{{mesh: {out}/mesh.stl, name: s}}"
    carry = "area: [[-3, 3], [-2, 2]]\nobject: {shapes: [{box: [0.7, 0.5, 0.04]}]}\n"
    carry += "agents: {robot: {kind: rover, holds: {tool: {at: [0, 0, 0.02]}}}}\n"
    carry += "start: {object: [0, 0, 1], robot: [-1, 0, 0]}\ngoal: {object: [1, 0, 1], robot: [0, 0, 0]}\n"
    show = "perform: Hello\ntempo: 60\nfigures: {anna: %s}\nscript:\n  - anna: wave\n"
    body = "<mujoco>{}<worldbody><body name='b'><joint/><geom {}/></body></worldbody></mujoco>"
    asset = "<asset>{}</asset>"
    return {
        "simulate.yaml": f"simulate: {out}/figure.yaml\nduration: 1\n",
        "simulate_urdf.yaml": f"simulate: {out}/figure.urdf\nduration: 1\n",
        "simulate_mjcf.yaml": f"simulate: {out}/figure.xml\nduration: 1\n",
        "optimize.yaml": f"optimize: {out}/figure.yaml\nduration: 1\ncost: [{{configuration: 1}}]\n",
        "imitate_npz.yaml": f"optimize: arm2d\nimitate: {{motion: {out}/motion.npz}}\ncost: [{{configuration: 1}}]\n",
        "imitate_csv.yaml": f"optimize: arm2d\nimitate: {{motion: {out}/motion.csv}}\ncost: [{{configuration: 1}}]\n",
        "avoid.yaml": f"optimize: arm2d\nduration: 1\ncost: [{{configuration: 1}}]\nlimits: {{scene: {out}/scene.yaml}}\n",
        "plan.yaml": f"plan: {out}/figure.yaml\ngoal: {{configuration: {{hand_x: 0.1}}}}\n",
        "plan_scene.yaml": f"plan: arm3d\ngoal: {{configuration: {{hand_x: 0.1}}}}\nscene: {out}/scene.yaml\n",
        "climb.yaml": f"climb: {out}/figure.yaml\npath: [straight: 10 cm]\n",
        "carry.yaml": f"carry: tray\nscene: {out}/scene.yaml\n{carry}",
        "carry_mesh.yaml": "carry: tray\n" + carry.replace("{box: [0.7, 0.5, 0.04]}", shape),
        "show.yaml": show % f"{out}/figure.yaml",
        "show_motions.yaml": show % "marionette22" + f"motions: {{secret: {{file: {out}/motion.npz}}}}\n",
        "show_music.yaml": show % "marionette22" + f"music: {out}/song.wav\n",
        "humanoid.yaml": f"humanoid: ours\nfigure: {out}/figure.yaml\nfeet: [a, b]\nsole: {{size: [0.1, 0.1]}}\ntrunk: a\n",
        "guide.yaml": f"guide: {out}/figure.yaml\n",
        "guide_log.yaml": f"guide: humanoid\ninputs: {out}/log.json\n",
        "guide_scene.yaml": f"guide: humanoid\nscene: {out}/scene.yaml\n",
        "mesh.yaml": f"figure: f\nframes:\n  - fixed: a\n    shapes: [{shape}]\n",
        "scene_mesh.yaml": f"scene: s\nobstacles: [{shape}]\n",
        "mesh.urdf": URDF.format(name="r", mesh=f'<mesh filename="{out}/mesh.stl"/>'),
        "mesh_uri.urdf": URDF.format(name="r", mesh=f'<mesh filename="file://{out}/mesh.stl"/>'),
        "mesh_package.urdf": URDF.format(name="r", mesh=f'<mesh filename="package://{out}/mesh.stl"/>'),
        "mesh.sdf": SDF.format(name="r", geometry=f"<mesh><uri>{out}/mesh.stl</uri></mesh>"),
        "mesh_uri.sdf": SDF.format(name="r", geometry=f"<mesh><uri>file://{out}/mesh.stl</uri></mesh>"),
        "simulate_sdf.yaml": f"simulate: {out}/figure.sdf\nduration: 1\n",
        "imitate_mcap.yaml": f"optimize: arm2d\nimitate: {{motion: {out}/motion.mcap}}\ncost: [{{configuration: 1}}]\n",
        "include.xml": f'<mujoco><include file="{out}/figure.xml"/></mujoco>',
        "include_any.xml": f'<mujoco><include file="{out}/secret.txt"/></mujoco>',
        "include_next.xml": '<mujoco><include file="include.xml"/></mujoco>',
        "mesh.xml": body.format(asset.format(f'<mesh name="m" file="{out}/mesh.stl"/>'), "type='mesh' mesh='m'"),
        "meshdir.xml": body.format(
            f'<compiler meshdir="{out}"/>' + asset.format('<mesh name="m" file="mesh.stl"/>'), "type='mesh' mesh='m'"
        ),
        "texture.xml": body.format(asset.format(f'<texture name="t" type="2d" file="{out}/secret.png"/>'), "size='1'"),
        "hfield.xml": body.format(asset.format(f'<hfield name="h" size="1 1 1 1" file="{out}/secret.png"/>'), "size='1'"),
        "skin.xml": body.format(asset.format(f'<skin name="s" file="{out}/secret.txt"/>'), "size='1'"),
        "attach.xml": body.format(asset.format(f'<model name="m" file="{out}/figure.xml"/>'), "size='1'"),
        "sublayer.usda": f"#usda 1.0\n(\n    subLayers = [@{out}/motion.usda@]\n)\n",
        "reference.usda": f'#usda 1.0\ndef Xform "a" (references = @{out}/motion.usda@)\n{{\n}}\n',
        "buffer.gltf": json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": f"{out}/motion.glb", "byteLength": 4}]}),
        "mtllib.obj": f"mtllib {out}/secret.txt\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "mtl_mesh.yaml": "figure: f\nframes:\n  - fixed: a\n    shapes: [{mesh: mtllib.obj, name: s}]\n",
    }


@pytest.mark.parametrize("way", ["absolute", "relative"])
def test_nothing_outside_is_opened(way: str, confined: Confined, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))  # as if a script had been started there
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    secrets(outside)
    files = escapes(str(outside) if way == "absolute" else "../outside")
    for name, text in files.items():
        (inside / name).write_text(text)
    if way == "relative":
        (inside / "link.yaml").symlink_to(outside / "figure.yaml")
        files["link.yaml"] = ""
    wanted = [inside / name for name in files]
    told, opened = confined.run(attempts, wanted, inside, folder=inside, seconds=PATIENCE)
    assert [name for name in opened if not name.startswith(str(user_cache().resolve()))] == []
    assert set(told) == set(files)
    assert not [name for name, text in told.items() if "SECRET" in text]
    right = r"outside|mesh\.stl: the mesh was not dropped|link\.yaml: cannot be read|^\[.Entry|mtllib\.obj: files ending in"
    right += r"|usda: there is no skeleton"  # what it wanted to take in is not there
    assert not [(name, text) for name, text in told.items() if not re.search(right, text)]  # none is refused for another reason
    read = {name for name, text in told.items() if not text.startswith("refused")}
    assert read == {"mtl_mesh.yaml", "texture.xml", "skin.xml"}  # which do without


# -- a process that a file has taken over ---------------------------------------------------------------------------


def test_it_writes_to_its_folder_only(confined: Confined, tmp_path: Path) -> None:
    """Another process would run a kernel that it had put into the user's cache."""
    inside = tmp_path / "inside"
    inside.mkdir()
    kept = confined.run(caches, folder=inside, seconds=PATIENCE)
    assert all(Path(one).is_relative_to(inside) for one in kept)
    if not has_landlock():
        pytest.skip("the kernel has no Landlock")
    (tmp_path / "other").write_text("precious")
    before = set(cache_root().iterdir())
    said = confined.run(reach_out, cache_root(), inside, folder=inside, seconds=PATIENCE)
    refused = {name for name, number in said.items() if number in (errno.EACCES, errno.EPERM)}
    assert refused == said.keys() - {"read the cache", "write to its folder"}
    assert (said["read the cache"], said["write to its folder"]) == (0, 0)
    assert not [path for path in set(cache_root().iterdir()) - before if path.name.startswith("bad")]
    assert {path.name for path in tmp_path.iterdir()} == {"inside", "other"}
    assert (tmp_path / "other").read_text() == "precious"


def has_landlock() -> bool:
    version = 1
    return sys.platform == "linux" and int(ctypes.CDLL(None).syscall(confinement._Call.CREATE_RULESET, None, 0, version)) >= 3


@pytest.mark.parametrize("size", [None, 10**18])
def test_its_answer_runs_no_code(size: int | None, confined: Confined, tmp_path: Path) -> None:
    bomb = pickle.dumps(Bomb(tmp_path / "ran"))
    for kind in (1, 2, 9):  # progress, the result, something else
        head = struct.pack("<BQ", kind, len(bomb) if size is None else size)
        with pytest.raises(BunrakuError):
            confined.run(answer_with, head + bomb, folder=tmp_path, seconds=PATIENCE, progress=lambda word: None)
    assert not (tmp_path / "ran").exists()


def test_a_mesh_elsewhere_in_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stage would read it and show it to visitors."""
    uploads = Uploads(OPENER)
    monkeypatch.setattr(uploads, "_confined", Here())
    (tmp_path / "secret.stl").write_bytes(STL)
    forged = library.arm2d().replace(shapes=(Shape("world", Mesh(str(tmp_path / "secret.stl"))),))
    entry = ReadEntry("t", partial(standing, forged), "", "", None, 0, 0)
    monkeypatch.setattr("bunraku.stage.uploads._read", lambda *_: ([entry], []))
    with pytest.raises(BunrakuError, match="was not dropped with the figure"):
        uploads.open([("arm.yaml", b"")])
    uploads.close()


# -- time, memory, cancelling ----------------------------------------------------------------------------------------


def test_work_that_needs_too_much(confined: Confined, tmp_path: Path) -> None:
    with pytest.raises(BunrakuError, match="needs more than 500 MB"):
        confined.run(fill, folder=tmp_path, seconds=PATIENCE, megabytes=500)
    with pytest.raises(BunrakuError, match="ended with status 3"):
        confined.run(die, folder=tmp_path, seconds=PATIENCE)


def test_work_that_takes_too_long(confined: Confined, tmp_path: Path) -> None:
    with pytest.raises(BunrakuError, match=r"takes longer than 0\.3 s"):
        confined.run(wait, folder=tmp_path, seconds=0.3)


def test_work_that_is_cancelled_or_fails(confined: Confined, tmp_path: Path) -> None:
    cancel = threading.Event()
    heard: list[Progress] = []

    def hear(word: Progress) -> None:
        heard.append(word)
        cancel.set()

    with pytest.raises(Cancelled):
        confined.run(wait, folder=tmp_path, seconds=PATIENCE, progress=hear, cancel=cancel)
    assert heard == [Progress("waiting", 0.5)]
    with pytest.raises(BunrakuError, match="failed while it read this file: ZeroDivisionError"):
        confined.run(shout, folder=tmp_path, seconds=PATIENCE)


def test_a_dropped_order_gives_what_it_gives_elsewhere(tmp_path: Path) -> None:
    order = b"simulate: pendulum\nduration: 0.2 s\nstart: {angle: 1}\n"
    (tmp_path / "swing.yaml").write_bytes(order)
    here = load(tmp_path / "swing.yaml").run()  # which also compiles kernels for everybody
    with closing(Uploads(OPENER)) as uploads:
        (entry,) = uploads.open([("swing.yaml", order)])
        shown = entry.open()
    assert isinstance(shown, Recorded)
    assert shown.motion.tracks == here.tracks


@pytest.mark.slow
def test_a_dropped_show_has_the_music_that_was_dropped_with_it() -> None:
    show = b"perform: A nod\ntempo: 100\nmusic: song.wav\nfigures: {anna: marionette22}\nscript:\n  - anna: nod\n    counts: 4\n"
    ramp = Soundtrack(np.arange(-16000, 16000, dtype=np.int16)[:, None], 8000)
    with closing(Uploads(OPENER, UploadLimits(reading=PATIENCE, working=10 * PATIENCE))) as uploads:
        (entry,) = uploads.open([("show.yaml", show), ("song.wav", ramp.wav())])
        shown = entry.open()
    assert isinstance(shown, Recorded)
    assert shown.sound is not None
    assert shown.sound.duration == pytest.approx(shown.motion.duration, abs=1e-3)
    assert np.array_equal(shown.sound.samples[:20000], ramp.samples[:20000])


@pytest.mark.slow
def test_every_shipped_order_can_be_dropped() -> None:
    """One process reads them all."""
    with closing(Uploads(OPENER)) as uploads:
        entries = uploads.open([(f"{name}.yaml", found(name).read_bytes()) for name in shipped_orders()])
    assert len(entries) == len(shipped_orders())
    assert all(entry.title and callable(entry.shows) for entry in entries)


@pytest.fixture(scope="module")
def patient() -> Iterator[Uploads]:
    """On a machine's first run kernels are compiled, which may take longer than the stage allows."""
    with closing(Uploads(OPENER, UploadLimits(reading=PATIENCE, working=10 * PATIENCE))) as uploads:
        yield uploads


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped_orders())
def test_every_shipped_order_runs_where_nothing_else_can_be_opened(name: str, patient: Uploads) -> None:
    """All verbs: scenes have meshes of bunraku's own, libraries make temporary files, and the work tells how far it is."""
    (entry,) = patient.open([(f"{name}.yaml", found(name).read_bytes())])
    told: list[Progress] = []
    shown = entry.open(progress=told.append)
    assert isinstance(shown, Recorded)
    assert shown.motion.duration > 0.0
    assert told
