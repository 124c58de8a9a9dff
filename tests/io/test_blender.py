"""What Blender makes of our files: bones, axes, scale, and every joint at every sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.figure import library
from bunraku.io.skeleton import skeleton
from bunraku.kinematics import frames_along
from bunraku.motion import Motion
from bunraku.render.triangles import triangles
from bunraku.spatial import se3
from tests.blender import blender, needs_blender

pytestmark = needs_blender


def wandering(name: str, samples: int = 25) -> Motion:
    """A motion at a rate that is not Blender's."""
    figure = library.named(name)
    steps = np.random.default_rng(3).normal(scale=0.08, size=(samples, figure.n_q))
    return Motion.of(figure, 2.0 + 0.017 * np.arange(samples), figure.start + np.cumsum(steps, 0))


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
@pytest.mark.parametrize("name", ["marionette22", "mannequin", "gecko", "hand"])
def test_an_armature_in_the_right_place(name: str, suffix: str, tmp_path: Path) -> None:
    if suffix == ".usdc":
        pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    motion = wandering(name)
    bunraku.save(motion, tmp_path / f"a{suffix}")
    seen = blender("measure", tmp_path / f"a{suffix}", *(motion.t - motion.t[0]))
    assert suffix != ".glb" or "EMPTY" not in seen["types"]
    (armature,) = seen["armatures"].values()
    assert np.allclose(armature["matrix"], np.eye(4), atol=1e-9)  # metres, z up: nothing is scaled or turned
    bones = skeleton(motion.figure)
    above = [bones.names[parent] if parent >= 0 else "" for parent in bones.parents]
    assert armature["bones"] == dict(zip(bones.names, above, strict=True))
    X = frames_along(motion.figure, motion.q)
    joints = np.array([[moment[bone] for bone in bones.names] for moment in seen["moments"]])[..., :3, 3]
    want = X[:, [motion.figure.frame_index[bone] for bone in bones.names]][..., :3, 3]
    assert joints.shape == want.shape
    assert np.max(np.linalg.norm(joints - want, axis=-1)) < 1e-4  # [m]
    rest = frames_along(motion.figure, motion.figure.start[None])[0]
    for bone in bones.names:
        assert np.allclose(armature["heads"][bone], rest[motion.figure.frame_index[bone], :3, 3], atol=1e-5), bone


def test_a_bone_ends_where_the_next_begins(tmp_path: Path) -> None:
    bunraku.save(library.named("mannequin"), tmp_path / "a.glb")
    (armature,) = blender("measure", tmp_path / "a.glb", 0.0)["armatures"].values()
    for bone, following in (("left_shoulder", "left_elbow"), ("left_elbow", "left_wrist"), ("left_knee", "left_ankle")):
        assert np.allclose(armature["tails"][bone], armature["heads"][following], atol=1e-4), bone


@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_meshes_and_materials_follow(suffix: str, tmp_path: Path) -> None:
    if suffix == ".usdc":
        pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    motion = wandering("mannequin")
    bunraku.save(motion, tmp_path / f"a{suffix}")
    seen = blender("measure", tmp_path / f"a{suffix}", *(motion.t - motion.t[0]))
    X = frames_along(motion.figure, motion.q[-1:])[0]
    names = [shape.name for shape in motion.figure.shapes]
    alone = [shape for shape in motion.figure.shapes if names.count(shape.name) == 1]
    assert len(alone) > 10
    for shape in alone:
        place = X[motion.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        corners = se3.transform(place, triangles(shape.geometry).vertices)
        name = f"{shape.name} shape"
        found = seen["shapes"][name if suffix == ".glb" else name.replace(" ", "_")]
        assert np.allclose(found["low"], corners.min(0), atol=1e-4), shape.name
        assert np.allclose(found["high"], corners.max(0), atol=1e-4), shape.name
        linear = np.clip(shape.color, 0.0, 1.0) ** 2.2
        assert np.allclose(seen["colors"][found["material"]][:3], linear, atol=1e-3), shape.name


@pytest.mark.parametrize("name", ["mannequin", "marionette22", "humanoid"])
def test_bvh_has_every_joint_in_its_place(name: str, tmp_path: Path) -> None:
    motion = wandering(name)
    bunraku.save(motion, tmp_path / "a.bvh")
    seen = blender("measure", tmp_path / "a.bvh", *(motion.t - motion.t[0]))
    X = frames_along(motion.figure, motion.q)
    found = [bone for bone in seen["moments"][0] if bone in motion.figure.frame_index]
    joints = np.array([[moment[bone] for bone in found] for moment in seen["moments"]])[..., :3, 3]
    want = X[:, [motion.figure.frame_index[bone] for bone in found]][..., :3, 3]
    assert np.max(np.linalg.norm(joints - want, axis=-1)) < 1e-4  # [m]
    every = X[:, [motion.figure.frame_index[bone] for bone in skeleton(motion.figure).names]][..., :3, 3]
    nearest = np.min(np.linalg.norm(joints[:, :, None] - every[:, None], axis=-1), axis=1)  # several hinges may share a point
    assert np.max(nearest) < 1e-4


# -- and back ------------------------------------------------------------------------------------------------------


def test_an_edited_action_comes_back(tmp_path: Path) -> None:
    """Keys of a shoulder are changed in Blender; joints come back where Blender has them, by every format."""
    pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    figure = library.named("marionette22")
    steps = np.random.default_rng(21).normal(scale=0.05, size=(20, figure.n_q))
    motion = Motion.of(figure, np.arange(20) / 24.0, figure.start + np.cumsum(steps, 0))
    bunraku.save(motion, tmp_path / "a.glb")
    heads = blender("edit_action", tmp_path / "a.glb", "lshoulder", len(motion))
    bones = list(heads[0])
    want = np.array([[sample[bone] for bone in bones] for sample in heads])
    own = [figure.frame_index[bone] for bone in bones]
    assert np.abs(want - frames_along(figure, motion.q)[:, own][..., :3, 3]).max() > 0.05  # the hand is elsewhere now
    for suffix in (".glb", ".usdc", ".bvh"):
        back = bunraku.load(tmp_path / f"a-edited{suffix}", figure=figure)
        assert np.allclose(back.t, motion.t, atol=1e-4), suffix
        found = frames_along(figure, back.q)[:, own][..., :3, 3]
        worst = float(np.linalg.norm(found - want, axis=-1).max())
        print(f"{suffix}: {1e6 * worst:.1f} µm")
        assert worst < 1e-4, suffix
