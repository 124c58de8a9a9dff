"""glTF in: skeletons of other programs, our own files, and files that are broken."""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bunraku
from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import library
from bunraku.figure.library.costume import dressed
from bunraku.io.yaml.figure_file import parse_figure
from bunraku.kinematics import frames_along
from bunraku.kinematics.anatomy import anatomy
from bunraku.kinematics.retarget import retarget
from bunraku.motion import Motion, Track
from bunraku.spatial import so3


def walker(samples: int = 15, seed: int = 1) -> Motion:
    figure = library.named("mannequin")
    steps = np.random.default_rng(seed).normal(scale=0.03, size=(samples, figure.n_q))
    return Motion.of(figure, 0.05 * np.arange(samples), figure.start + np.cumsum(steps, 0))


def stripped(source: Path, target: Path) -> None:
    """The file as another program would write it: without the figure."""
    file = pygltflib.GLTF2().load(str(source))
    for node in file.nodes:
        node.extras = {}
    file.save_binary(str(target))


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The walker's file, stripped."""
    folder = tmp_path_factory.mktemp("walker")
    bunraku.save(walker(), folder / "ours.glb")
    stripped(folder / "ours.glb", folder / "theirs.glb")
    return folder / "theirs.glb"


def test_a_skeleton_becomes_a_figure_of_its_own(theirs: Path) -> None:
    motion = walker()
    read = bunraku.load(theirs)
    assert read.figure != motion.figure
    ours, others = (frames_along(m.figure, m.q) for m in (motion, read))
    at_rest = frames_along(read.figure, read.figure.start[None])[0]
    rest = frames_along(motion.figure, motion.figure.start[None])[0]
    for joint in read.figure.groups:
        here, there = read.figure.frame_index[joint.name], motion.figure.frame_index[joint.name]
        assert np.allclose(others[:, here, :3, 3], ours[:, there, :3, 3], atol=2e-6), joint.name
        assert np.allclose(at_rest[here, :3, 3], rest[there, :3, 3], atol=2e-6), joint.name
    head = next(shape.color for shape in motion.figure.shapes if shape.name == "head")
    assert any(np.allclose(shape.color, head, atol=1e-6) for shape in read.figure.shapes)
    back = bunraku.load(theirs, figure=motion.figure)
    assert np.abs(back.q - motion.q).max() < 1e-6


def test_it_can_be_retargeted(theirs: Path) -> None:
    """A person in a GLB file moves a puppet as one in a BVH file does."""
    puppet = library.named("marionette22")
    want, got = retarget(walker(), puppet), retarget(bunraku.load(theirs), puppet)
    parts = anatomy(puppet).places

    def limbs(moved: Motion) -> Any:
        X = frames_along(puppet, moved.q)[..., :3, 3]
        pairs = [(part, part.below) for part in parts if part.name in ("upper_arm", "thigh") and part.below in parts]
        assert len(pairs) == 4
        ends = np.stack([X[:, puppet.frame_index[parts[b]]] - X[:, puppet.frame_index[parts[a]]] for a, b in pairs], 1)
        return ends / np.linalg.norm(ends, axis=-1, keepdims=True)

    assert np.degrees(np.arccos(np.clip(np.sum(limbs(want) * limbs(got), -1), -1, 1))).max() < 1.0


def test_costumes_and_materials_come_back(tmp_path: Path) -> None:
    puppet = dressed(library.named("marionette22"), 2)
    bunraku.save(puppet, tmp_path / "a.glb")
    assert bunraku.load(tmp_path / "a.glb").figure.shapes == puppet.shapes
    colors = {tuple(m.pbrMetallicRoughness.baseColorFactor[:3]) for m in pygltflib.GLTF2().load(str(tmp_path / "a.glb")).materials}
    for shape in puppet.shapes:
        linear = np.clip(shape.color, 0.0, 1.0) ** 2.2
        assert any(np.allclose(linear, color, atol=1e-6) for color in colors), shape.name


# -- other programs ------------------------------------------------------------------------------------------------


def arm(interpolation: str = "LINEAR", uri: bool = True) -> tuple[dict[str, Any], bytes]:
    """A shoulder and an elbow in an armature of centimetres that is turned; the shoulder is animated, the elbow is listed first."""
    times = np.float32([0.0, 1.0])
    turns = np.float32([[0, 0, 0, 1], [0, 0, np.sin(np.pi / 4), np.cos(np.pi / 4)]])
    zero = np.zeros((2, 4), np.float32)
    values = np.stack([zero, turns, zero], 1).reshape(-1, 4) if interpolation == "CUBICSPLINE" else turns
    data = times.tobytes() + values.tobytes()
    kinds = {"componentType": 5126}
    tree = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "Armature", "children": [1], "scale": [0.01] * 3, "rotation": [-np.sqrt(0.5), 0, 0, np.sqrt(0.5)]},
            {"name": "LeftArm", "children": [2], "translation": [0, 0, 150]},
            {"name": "LeftForeArm", "translation": [30, 0, 0]},
        ],
        "skins": [{"joints": [2, 1], "name": "Person"}],
        "animations": [{
            "name": "wave", "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}],
        }],
        "accessors": [
            {"bufferView": 0, "count": 2, "type": "SCALAR", **kinds},
            {"bufferView": 1, "count": len(values), "type": "VEC4", **kinds},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": len(data) - 8},
        ],
        "buffers": [{"byteLength": len(data), "uri": "data:;base64," + base64.b64encode(data).decode()} if uri else {}],
    }  # fmt: skip
    return tree, data


@pytest.mark.parametrize("interpolation", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_units_axes_and_interpolation_of_others(interpolation: str, tmp_path: Path) -> None:
    tree, _ = arm(interpolation)
    second = {"input": 0, "output": 1, "interpolation": interpolation}
    tree["accessors"].append(tree["accessors"][0] | {"bufferView": 2, "count": 3})
    middle = np.float32([0.0, 0.5, 1.0]).tobytes()  # more times, of another channel: a sample in between
    tree["bufferViews"].append({"buffer": 1, "byteLength": len(middle)})
    tree["buffers"].append({"byteLength": len(middle), "uri": "middle.bin"})
    (tmp_path / "middle.bin").write_bytes(middle + np.zeros((3, 3), np.float32).tobytes())
    tree["bufferViews"].append({"buffer": 1, "byteOffset": 12, "byteLength": 36})
    tree["accessors"].append({"bufferView": 3, "count": 3, "type": "VEC3", "componentType": 5126})
    tree["animations"][0]["samplers"] = [second, {"input": 2, "output": 3}]
    tree["animations"][0]["channels"].append({"sampler": 1, "target": {"node": 0, "path": "translation"}})
    (tmp_path / "arm.gltf").write_text(json.dumps(tree))
    motion = bunraku.load(tmp_path / "arm.gltf")
    assert np.allclose(motion.t, [0.0, 0.5, 1.0])
    elbow = frames_along(motion.figure, motion.q)[:, motion.figure.frame_index["LeftForeArm"], :3, 3]
    angles = {"LINEAR": [0, 45, 90], "STEP": [0, 0, 90], "CUBICSPLINE": [0, 45, 90]}[interpolation]
    want = [[0.3 * np.cos(a), 0.3 * np.sin(a), 1.5] for a in np.radians(angles)]
    assert np.allclose(elbow, want, atol=1e-6)


def test_several_animations(tmp_path: Path) -> None:
    tree, _ = arm()
    tree["animations"].append({"name": "rest", "channels": [], "samplers": []})
    (tmp_path / "arm.gltf").write_text(json.dumps(tree))
    with pytest.warns(BunrakuWarning, match="also: rest"):
        assert len(bunraku.load(tmp_path / "arm.gltf")) == 2
    assert len(bunraku.load(tmp_path / "arm.gltf", animation="rest")) == 1
    with pytest.raises(FileError, match="no animation 'wade'") as caught:
        bunraku.load(tmp_path / "arm.gltf", animation="wade")
    assert "wave" in caught.value.advice


def test_nodes_without_a_skin(tmp_path: Path) -> None:
    tree, _ = arm()
    del tree["skins"]
    (tmp_path / "arm.gltf").write_text(json.dumps(tree))
    assert [joint.name for joint in bunraku.load(tmp_path / "arm.gltf").figure.groups] == ["LeftArm"]


def test_an_edited_bone_that_a_hinge_cannot_follow(tmp_path: Path) -> None:
    """A hinge takes the angle that comes nearest; the ball joint below it keeps the orientation that the file asks for."""
    motion = walker(3)
    bunraku.save(motion, tmp_path / "a.glb")
    file = pygltflib.GLTF2().load(str(tmp_path / "a.glb"))
    elbow = next(k for k, node in enumerate(file.nodes) if node.name == "left_elbow")
    file.animations[0].channels = [c for c in file.animations[0].channels if c.target.node != elbow]
    w, x, y, z = so3.quaternion(so3.rpy(0.7, 0.4, -0.6)).tolist()
    file.nodes[elbow].rotation = [x, y, z, w]
    file.save_binary(str(tmp_path / "b.glb"))
    edited = bunraku.load(tmp_path / "b.glb")
    stripped(tmp_path / "b.glb", tmp_path / "c.glb")
    loose = bunraku.load(tmp_path / "c.glb")  # every joint is a ball there
    column = motion.figure.index("left_elbow")
    others = [k for k, name in enumerate(motion.figure.names) if "left_elbow" not in name and "left_wrist" not in name]
    assert np.abs(edited.q - motion.q)[:, others].max() < 1e-6

    def turned(m: Motion, name: str) -> Any:
        X, rest = frames_along(m.figure, m.q), frames_along(m.figure, m.figure.start[None])
        k = m.figure.frame_index[name]
        return X[:, k, :3, :3] @ rest[:, k, :3, :3].swapaxes(1, 2)

    assert np.allclose(turned(edited, "left_wrist"), turned(loose, "left_wrist"), atol=1e-5)
    want = turned(loose, "left_elbow")
    fit = np.trace(want.swapaxes(1, 2) @ turned(edited, "left_elbow"), axis1=1, axis2=2)
    for angle in np.linspace(-np.pi, np.pi, 60):
        q = np.array(edited.q)
        q[:, column] = angle
        other = turned(Motion.of(motion.figure, motion.t, q), "left_elbow")
        assert np.all(np.trace(want.swapaxes(1, 2) @ other, axis1=1, axis2=2) <= fit + 1e-6)


ODD = """
figure: "文楽 Puppe 1"
frames:
  - ball: épaule gauche
    shapes: [{capsule: 0.02, to: [0, 0, -0.3], mass: 0.4, name: Jäckchen}]
    frames:
      - rx: "coude.gauche:1/2"
        at: [0, 0, -0.3]
        shapes: [{capsule: 0.02, to: [0, 0, -0.3], mass: 0.4}]
        frames:
          - {ball: a b, at: [0, 0, -0.3], shapes: [{capsule: 0.02, to: [0, 0, -0.1], mass: 0.1}]}
          - {ball: a_b, at: [0.1, 0, -0.3], shapes: [{capsule: 0.02, to: [0, 0, -0.1], mass: 0.1}]}
  - ball: 肩
    at: [0.5, 0, 0]
    shapes: [{capsule: 0.02, to: [0, 0, -0.3], mass: 0.4}]
    frames:
      - {rx: 腰, at: [0, 0, -0.3], shapes: [{capsule: 0.02, to: [0, 0, -0.3], mass: 0.4}]}
"""


@pytest.mark.parametrize("suffix", [".glb", ".usdc", ".bvh"])
def test_names_with_blanks_signs_and_letters_of_any_language(suffix: str, tmp_path: Path) -> None:
    """Some of them become equal where a format allows fewer letters."""
    if suffix == ".usdc":
        pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    figure = parse_figure(ODD, "odd.yaml")
    steps = np.random.default_rng(3).normal(scale=0.05, size=(9, figure.n_q))
    motion = Motion.of(figure, 0.1 * np.arange(9), figure.start + np.cumsum(steps, 0))
    bunraku.save(motion, tmp_path / f"a{suffix}")
    assert np.abs(bunraku.load(tmp_path / f"a{suffix}", figure=figure).q - motion.q).max() < 1e-5
    if suffix != ".bvh":
        assert np.abs(bunraku.load(tmp_path / f"a{suffix}").q - motion.q).max() < 1e-5


def test_all_puppets_of_a_file_become_tracks(tmp_path: Path) -> None:
    figure = library.named("arm2d")
    q = figure.start + np.random.default_rng(6).normal(scale=0.2, size=(2, 5, figure.n_q))
    other = library.named("gecko")
    tracks = (Track(figure, q[0], name="left"), Track(figure, q[1], name="right"))
    motion = Motion(0.1 * np.arange(5), (*tracks, Track(other, np.tile(other.start, (5, 1)), name="gecko")))
    bunraku.save(motion, tmp_path / "a.glb")
    stripped(tmp_path / "a.glb", tmp_path / "b.glb")
    back = bunraku.load(tmp_path / "b.glb", figure=figure)
    assert [track.name for track in back.tracks] == ["left", "right"]
    moving = [k for k, variable in enumerate(figure.variables) if variable.motion != "length"]
    assert all(np.abs(track.q - one)[:, moving].max() < 1e-5 for track, one in zip(back.tracks, q, strict=True))


# -- broken files --------------------------------------------------------------------------------------------------


def test_fbx_is_told_the_way() -> None:
    with pytest.raises(FileError, match="cannot be read") as caught:
        bunraku.load("dance.fbx")
    assert "Blender" in caught.value.advice
    assert ".glb" in caught.value.advice


def test_a_file_of_another_figure(tmp_path: Path) -> None:
    bunraku.save(library.named("gecko"), tmp_path / "a.glb")
    with pytest.raises(FileError, match="no bone of pendulum") as caught:
        bunraku.load(tmp_path / "a.glb", figure=library.named("pendulum"))
    assert "retarget" in caught.value.advice
    bunraku.save(library.named("marionette22"), tmp_path / "b.glb")
    with pytest.raises(FileError, match="not the skeleton of marionette25"):
        bunraku.load(tmp_path / "b.glb", figure=library.named("marionette25"))


def test_every_cut_is_one_clear_error(tmp_path: Path) -> None:
    bunraku.save(walker(2), tmp_path / "a.glb")
    data = (tmp_path / "a.glb").read_bytes()
    for part in np.linspace(0, len(data) - 1, 16).astype(int):
        (tmp_path / "cut.glb").write_bytes(data[:part])
        with pytest.raises(FileError) as caught:
            bunraku.load(tmp_path / "cut.glb")
        assert caught.value.advice


TREE, BINARY = arm(uri=False)
VALUES = st.sampled_from([None, True, -1, 0, 1, 7, 10**9, 1.5, "x", [], {}, [0], [None], {"a": 1}, [1e300] * 3, [[1, 2], 3]])


def _places(tree: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [way, *(place for key, value in inner for place in _places(value, (*way, key)))]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.sampled_from(_places(TREE)[1:]), VALUES), min_size=1, max_size=3))
def test_whatever_stands_in_the_file(places: list[tuple[tuple[Any, ...], Any]], tmp_path: Path) -> None:
    tree = copy.deepcopy(TREE)
    for place, value in places:
        inner = tree
        for key in place[:-1]:
            try:
                inner = inner[key]
            except (KeyError, IndexError, TypeError):
                inner = None
                break
        if isinstance(inner, dict) or (isinstance(inner, list) and place[-1] in range(len(inner))):
            inner[place[-1]] = copy.deepcopy(value)
    text = json.dumps(tree).encode()
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(BINARY), b"BIN\0") + BINARY
    (tmp_path / "a.glb").write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)
    with contextlib.suppress(FileError):  # any other exception, and any other warning, is a fault
        assert isinstance(bunraku.load(tmp_path / "a.glb"), Motion)
