from __future__ import annotations

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
from bunraku.kinematics import frames_along, pose
from bunraku.motion import Mark, Motion, Track, together
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
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a.type]
        kind = {pygltflib.FLOAT: np.float32, pygltflib.UNSIGNED_INT: np.uint32}[a.componentType]
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
        stack = [(self.gltf.scenes[0].nodes[0], np.tile(Z_UP, (samples, 1, 1)))]
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


def wandering(figure: Figure, samples: int = 40, seed: int = 0) -> Motion:
    rng = np.random.default_rng(seed)
    q = figure.start + np.cumsum(rng.normal(scale=0.05, size=(samples, figure.n_q)), 0)
    return Motion.of(figure, 3.0 + 0.02 * np.arange(samples), q)


@pytest.mark.parametrize("name", ["pendulum", "chain5", "arm3d", "marionette22", "mannequin", "humanoid", "gecko", "hand"])
def test_read_back_gives_the_same_poses(name: str, tmp_path: Path) -> None:
    motion = wandering(library.named(name))
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    assert np.allclose(file.times, motion.t - motion.t[0], atol=1e-6)
    poses = file.poses(len(motion))
    X = frames_along(motion.figure, motion.q)
    for k, frame in enumerate(motion.figure.frames):
        assert np.max(np.abs(poses[frame.name] - X[:, k])) < 1e-6, frame.name


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


def test_shapes_stand_in_their_frames(tmp_path: Path) -> None:
    motion = wandering(everything(), 5)
    save_glb(motion, tmp_path / "a.glb")
    file = Reader(tmp_path / "a.glb")
    poses = file.poses(5)
    head = next(s for s in motion.figure.shapes if s.name == "head")
    want = pose(motion.figure, motion.q[3]).X("bolt") @ se3.pose(head.position, head.rotation)
    assert np.allclose(poses["head shape"][3], want, atol=1e-6)
    node = next(n for n in file.gltf.nodes if n.name == "head shape")
    primitive = file.gltf.meshes[node.mesh].primitives[0]
    corners = file.array(primitive.attributes.POSITION)
    assert np.allclose(np.ptp(corners, axis=0), [0.1, 0.2, 0.3])
    assert np.allclose(np.linalg.norm(file.array(primitive.attributes.NORMAL), axis=1), 1.0, atol=1e-6)
    assert file.array(primitive.indices).max() < len(corners)


def test_strings_reach_from_hook_to_spindle(tmp_path: Path) -> None:
    motion = wandering(everything(), 5)
    save_glb(motion, tmp_path / "a.glb")
    poses = Reader(tmp_path / "a.glb").poses(5)
    for k, q in enumerate(motion.q):
        hook, spindle = pose(motion.figure, q).path("w")
        ends = [se3.transform(poses["w wire"][k], (0, 0, z)) for z in (-0.5, 0.5)]
        assert np.allclose(ends, [hook, spindle], atol=2e-6)
    names = [node.name for node in Reader(tmp_path / "a.glb").gltf.nodes]
    assert names.count("s string") == 2  # one piece on each side of the eyelet


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
    last = b.figure.frames[-1].name
    assert np.allclose(poses[f"double_pendulum/{last}"], frames_along(b.figure, b.q)[:, -1], atol=1e-6)
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
