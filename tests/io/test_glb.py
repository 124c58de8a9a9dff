from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pygltflib
import pytest
import trimesh

from bunraku.errors import FileError
from bunraku.figure import Figure, library
from bunraku.figure.build import box, capsule, contact, figure, fixed, free, rx, screw, sphere, string, wire
from bunraku.io.gltf.glb import save_glb
from bunraku.io.skeleton import skeleton
from bunraku.kinematics import frames_along, pose
from bunraku.motion import Mark, Motion, Track, together
from bunraku.render.triangles import triangles
from bunraku.spatial import se3, so3

Z_UP = se3.pose(rotation=so3.about(0, np.pi / 2))  # ours from the file's


class Reader:
    """The file through pygltflib, with nothing of ours in between: X of every node, at every sample."""

    def __init__(self, path: Path) -> None:
        self.gltf = pygltflib.GLTF2().load(str(path))
        self.blob = self.gltf.binary_blob()

    def array(self, accessor: int) -> Any:
        a = self.gltf.accessors[accessor]
        view = self.gltf.bufferViews[a.bufferView]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[a.type]
        kinds = {pygltflib.FLOAT: np.float32, pygltflib.UNSIGNED_INT: np.uint32, pygltflib.UNSIGNED_SHORT: np.uint16}
        kind = kinds[a.componentType]
        out = np.frombuffer(self.blob, kind, a.count * width, view.byteOffset + (a.byteOffset or 0)).reshape(-1, width)
        if a.min:
            assert np.array_equal(out.min(0), np.float32(a.min))
            assert np.array_equal(out.max(0), np.float32(a.max))
        return out.astype(float)

    @property
    def times(self) -> Any:
        (animation,) = self.gltf.animations
        (accessor,) = {sampler.input for sampler in animation.samplers}
        return self.array(accessor)[:, 0]

    def poses(self, samples: int) -> dict[str, Any]:
        """X_W (samples, 4, 4) by node name, in our axes."""
        still = {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}
        tracks = {
            (n, path): np.tile(np.array(getattr(node, path) or value, float), (samples, 1))
            for n, node in enumerate(self.gltf.nodes)
            for path, value in still.items()
        }
        for animation in self.gltf.animations:
            for channel in animation.channels:
                values = self.array(animation.samplers[channel.sampler].output)
                assert len(values) == samples
                tracks[channel.target.node, channel.target.path] = values
        out: dict[str, Any] = {}
        stack = [(root, np.tile(Z_UP, (samples, 1, 1))) for root in self.gltf.scenes[0].nodes]
        while stack:
            n, X = stack.pop()
            turn = tracks[n, "rotation"]
            assert np.allclose(np.linalg.norm(turn, axis=1), 1.0, atol=1e-6)
            assert np.all(np.sum(turn[1:] * turn[:-1], 1) >= 0.0)  # no detours between samples
            local = np.tile(np.eye(4), (samples, 1, 1))
            local[:, :3, :3] = so3.matrix(turn[:, [3, 0, 1, 2]]) * tracks[n, "scale"][:, None, :]
            local[:, :3, 3] = tracks[n, "translation"]
            node = self.gltf.nodes[n]
            out[node.name] = X @ local
            stack += [(child, out[node.name]) for child in node.children or []]
        return out

    def vertices(self, name: str, poses: dict[str, Any]) -> Any:
        """The skinned vertices (samples, n, 3) of the node called `name`, in our axes, from joints and weights."""
        node = next(n for n in self.gltf.nodes if n.name == name)
        skin = self.gltf.skins[node.skin]
        unbind = self.array(skin.inverseBindMatrices).reshape(-1, 4, 4).swapaxes(1, 2)
        joints = np.stack([poses[self.gltf.nodes[j].name] for j in skin.joints], 1) @ unbind
        (primitive,) = self.gltf.meshes[node.mesh].primitives
        points = self.array(primitive.attributes.POSITION)
        numbers, weights = self.array(primitive.attributes.JOINTS_0).astype(int), self.array(primitive.attributes.WEIGHTS_0)
        assert np.allclose(weights.sum(1), 1.0)
        moved = sum(w[:, None, None] * joints[:, n] for n, w in zip(numbers.T, weights.T, strict=True))
        return np.einsum("tnij,nj->tni", moved[..., :3, :3], points) + moved[..., :3, 3]


def wandering(figure: Figure, samples: int = 40, seed: int = 0) -> Motion:
    rng = np.random.default_rng(seed)
    q = figure.start + np.cumsum(rng.normal(scale=0.05, size=(samples, figure.n_q)), 0)
    return Motion.of(figure, 3.0 + 0.02 * np.arange(samples), q)


FIGURES = ["pendulum", "chain5", "arm3d", "marionette22", "mannequin", "humanoid", "gecko", "hand", "crane"]


Written = Callable[[str], tuple[Motion, Reader]]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """A motion of the figure of that name, and its file, which is read once: that takes pygltflib as long as all the rest."""

    @cache
    def write(name: str) -> tuple[Motion, Reader]:
        known = library.named(name)
        shapes = tuple(replace(shape, name=f"{k}") for k, shape in enumerate(known.shapes))  # names need not differ
        motion, path = wandering(known.replace(shapes=shapes), 12), tmp_path_factory.mktemp(name) / "a.glb"
        save_glb(motion, path)
        return motion, Reader(path)

    return write


@pytest.mark.parametrize("name", FIGURES)
def test_every_vertex_is_where_the_figure_is(name: str, written: Written) -> None:
    motion, file = written(name)
    assert np.allclose(file.times, motion.t - motion.t[0], atol=1e-6)
    poses = file.poses(len(motion))
    X = frames_along(motion.figure, motion.q)
    for shape in motion.figure.shapes:
        place = X[:, motion.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        want = np.einsum("tij,nj->tni", place[:, :3, :3], triangles(shape.geometry).vertices) + place[:, None, :3, 3]
        assert np.max(np.abs(file.vertices(f"{shape.name} shape", poses) - want)) < 3e-6, shape.name


@pytest.mark.parametrize("name", FIGURES)
def test_a_bone_begins_at_its_joint(name: str, written: Written) -> None:
    motion, file = written(name)
    poses = file.poses(len(motion))
    X = frames_along(motion.figure, motion.q)
    (skin,) = file.gltf.skins
    bones = [file.gltf.nodes[j].name for j in skin.joints]
    for bone in bones:
        assert np.max(np.abs(poses[bone][:, :3, 3] - X[:, motion.figure.frame_index[bone], :3, 3])) < 1e-6, bone


def test_bones_are_the_parts_that_move() -> None:
    bones = skeleton(library.named("mannequin"))
    above = {name: bones.names[parent] if parent >= 0 else "" for name, parent in zip(bones.names, bones.parents, strict=True)}
    assert above["left_wrist"] == "left_elbow"
    assert above["left_elbow"] == "left_shoulder"
    assert above["pelvis"] == ""
    assert len(bones.names) == len(library.named("mannequin").joints)  # a ball joint is one bone, not three
    knee, ankle = (bones.rest[bones.names.index(name)] for name in ("left_knee", "left_ankle"))
    along = ankle[:3, 3] - knee[:3, 3]
    assert np.allclose(knee[:3, 1], along / np.linalg.norm(along))  # its y axis points to the next bone


def everything() -> Figure:
    return figure(
        "everything",
        free(
            "torso",
            capsule(0.1, 0.4, mass=1.0, color=(1.0, 0.0, 0.0)),
            screw("z", 0.05, "bolt", box((0.1, 0.2, 0.3), at=(0, 0, 0.1), rpy=(0.1, 0.2, 0.3), name="head")),
            rx("arm", sphere(0.05, color=(1.0, 0.0, 0.0)), fixed("hand", at=(0, 0, -0.3)), at=(0.2, 0, 0), rpy=(0, 1, 0)),
        ),
        fixed("beam", at=(0, 0, 2)),
        strings=[
            string("s", "hand", ("beam", (0.1, 0, 0)), through=[("torso", (0, 0.1, 0.3))]),
            wire("w", "torso", ("world", (0, 0, 3))),
        ],
        contacts=[contact("c", "hand")],
    )


def test_normals_and_sizes(tmp_path: Path) -> None:
    motion = wandering(everything(), 5)
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    node = next(n for n in file.gltf.nodes if n.name == "head shape")
    primitive = file.gltf.meshes[node.mesh].primitives[0]
    corners = file.array(primitive.attributes.POSITION)
    assert np.linalg.norm(corners.max(0) - corners.min(0)) > 0.1
    edges = np.linalg.norm(corners[:, None] - corners, axis=-1)
    assert np.isclose(edges.max(), np.linalg.norm([0.1, 0.2, 0.3]), atol=1e-6)
    normals = file.array(primitive.attributes.NORMAL)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    faces = file.array(primitive.indices).astype(int).reshape(-1, 3)
    a, b, c = (corners[faces[:, k]] for k in range(3))
    assert np.all(np.sum(np.cross(b - a, c - a) * normals[faces[:, 0]], 1) > 0.0)  # outward, and counterclockwise


def test_what_is_not_visible_is_left_out(tmp_path: Path) -> None:
    own = everything()
    hidden = own.replace(shapes=tuple(replace(shape, visible=shape.name != "head") for shape in own.shapes))
    save_glb(hidden, tmp_path / "a.glb")
    assert "head shape" not in [node.name for node in Reader(tmp_path / "a.glb").gltf.nodes]


def test_strings_follow_the_bones_they_are_tied_to(tmp_path: Path) -> None:
    motion = wandering(everything(), 5)
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    poses = file.poses(5)
    for name in ("s string", "w wire"):
        rope = name.split()[0]
        pieces = file.vertices(name, poses)
        for k, q in enumerate(motion.q):
            knots = pose(motion.figure, q).path(rope)
            rings = pieces[k].reshape(2 * (len(knots) - 1), -1, 3)
            want = [knot for pair in itertools.pairwise(knots) for knot in pair]
            assert np.allclose(rings.mean(1), want, atol=2e-6)
            assert np.allclose(np.linalg.norm(rings - np.array(want)[:, None], axis=-1), 0.0015, atol=2e-6)


def test_strings_over_pulleys_are_pieces(tmp_path: Path) -> None:
    motion = wandering(library.named("crane"), 3)
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    (rope,) = motion.figure.strings
    names = [node.name for node in file.gltf.nodes]
    assert names.count(f"{rope.name} string") % 32 == 0
    assert names.count(f"{rope.name} string") > 0


def test_colours_are_shared_and_linear(tmp_path: Path) -> None:
    save_glb(wandering(everything(), 2), tmp_path / "a.glb")
    materials = Reader(tmp_path / "a.glb").gltf.materials
    colours = [tuple(m.pbrMetallicRoughness.baseColorFactor) for m in materials]
    assert len(set(colours)) == len(colours) == 3  # red, wood, string
    assert (1.0, 0.0, 0.0, 1.0) in colours


def test_trimesh_opens_it(tmp_path: Path) -> None:
    figure = library.named("marionette22")
    save_glb(Motion.of(figure, [0.0], [figure.start]), tmp_path / "a.glb")
    scene: Any = trimesh.load(tmp_path / "a.glb")
    low, high = scene.bounds
    assert high[1] - low[1] > 1.0  # y is up there
    assert len(scene.geometry) >= 3


def test_several_figures_and_marks(tmp_path: Path) -> None:
    a, b = wandering(library.named("pendulum"), 3), wandering(library.named("double_pendulum"), 3)
    motion = together(a, b).replace(marks=(Mark(3.02, "swing", "cue"),))
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    poses = file.poses(3)
    last = skeleton(b.figure).names[-1]
    want = frames_along(b.figure, b.q)[:, b.figure.frame_index[last], :3, 3]
    assert np.allclose(poses[f"double_pendulum/{last}"][:, :3, 3], want, atol=1e-6)
    assert len(file.gltf.skins) == 2
    (mark,) = file.gltf.extras["marks"]
    assert mark == {"t": pytest.approx(0.02), "text": "swing", "kind": "cue"}


def test_a_single_sample_needs_no_animation(tmp_path: Path) -> None:
    figure = library.named("pendulum")
    save_glb(Motion.of(figure, [0.0], [figure.start]), tmp_path / "a.glb")
    assert Reader(tmp_path / "a.glb").gltf.animations == []


def test_times_that_floats_cannot_tell_apart(tmp_path: Path) -> None:
    figure = library.named("pendulum")
    motion = Motion(np.array([0.0, 1e6, 1e6 + 1e-3]), (Track(figure, np.zeros((3, 1))),))
    with pytest.raises(FileError, match="close together"):
        save_glb(motion, tmp_path / "a.glb")
    assert list(tmp_path.iterdir()) == []
