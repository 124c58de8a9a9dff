"""What Blender makes of our files: bones, axes, scale, and every joint at every sample."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.figure import Figure, library
from bunraku.io.skeleton import skeleton
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.render.triangles import triangles
from bunraku.spatial import se3
from tests.blender import blender, needs_blender

pytestmark = needs_blender
Array = NDArray[np.float64]


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


def edited(motion: Motion, edits: list[Any], folder: Path) -> tuple[Array, Array]:
    """Turns bones of a motion in Blender, which exports it; the bones (T, n, 4, 4) of each figure then, and before."""
    bunraku.save(motion, folder / "a.glb")
    seen = blender("edit_action", folder / "a.glb", len(motion), json.dumps(edits))
    now, before = [], []
    for track in motion.tracks:
        bones = skeleton(track.figure)
        prefix = f"{track.name}/" if len(motion.tracks) > 1 else ""
        X = np.array([[sample[prefix + bone] for bone in bones.names] for sample in seen["samples"]])
        rest = np.array([seen["rest"][prefix + bone] for bone in bones.names])
        now.append(X @ np.linalg.inv(rest) @ bones.rest)
        before.append(bones.along(track.q))
    return np.array(now), np.array(before)


def turned(figure: Figure, frame: str, angle: float) -> list[Any]:
    """An edit that turns the hinge of a frame: the bone, the axis in the world at rest, the angle."""
    variable = figure.frame(frame).variable
    assert variable is not None
    return [frame, (skeleton(figure).frames_at_rest()[frame][:3, :3] @ variable.axis).tolist(), angle]


@pytest.mark.parametrize(
    ("name", "bones"),
    [
        ("marionette22", ["lshoulder"]),  # a ball joint takes any axis
        ("humanoid", ["right_hip_pitch", "left_ankle_pitch", "right_shoulder_roll"]),
        ("cart_pendulum", ["theta"]),  # its joints are on a line, and fit a rest with all angles 0 as well
        ("robot:panda", ["panda_link2", "panda_link6"]),
    ],
)
def test_an_edited_action_comes_back(name: str, bones: list[str], tmp_path: Path) -> None:
    """Keys are changed in Blender; bones come back where Blender has them, by every format."""
    pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    with warnings.catch_warnings(action="ignore"):  # of what its file has besides
        figure = library.named(name) if ":" not in name else bunraku.load(name)
    steps = np.random.default_rng(21).normal(scale=0.05, size=(20, figure.n_q))
    motion = Motion.of(figure, np.arange(20) / 24.0, figure.start + np.cumsum(steps, 0))
    edits = [turned(figure, bone, 0.5) for bone in bones] if name != "marionette22" else [["lshoulder", [0.27, 0.8, -0.53], 0.5]]
    (want,), (before,) = edited(motion, edits, tmp_path)
    assert np.abs(want - before).max() > 0.05
    for suffix in (".glb", ".usdc", "0.bvh"):
        back = bunraku.load(tmp_path / f"a-edited{suffix}", figure=figure)
        assert np.allclose(back.t, motion.t, atol=1e-4), suffix
        apart = np.abs(skeleton(figure).along(back.q) - want)
        print(f"{suffix}: {1e6 * apart[..., :3, 3].max():.1f} µm, {1e6 * apart[..., :3, :3].max():.1f} µrad")
        assert apart[..., :3, 3].max() < 1e-4, suffix  # [m]
        assert apart[..., :3, :3].max() < 1e-4, suffix


def test_two_puppets_with_foreign_names_come_back(tmp_path: Path) -> None:
    pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
    figure = library.named("marionette22")
    q = figure.start + np.cumsum(np.random.default_rng(4).normal(scale=0.05, size=(2, 20, figure.n_q)), 1)
    names = ("Anna Müller", "文楽 2/3")
    motion = Motion(np.arange(20) / 24.0, tuple(Track(figure, one, name=name) for one, name in zip(q, names, strict=True)))
    edits = [["Anna Müller/lshoulder", [0.0, 0.6, 0.8], 0.5], ["文楽 2/3/rhip", [1.0, 0.0, 0.0], 0.4]]
    want, before = edited(motion, edits, tmp_path)
    assert min(np.abs(now - then).max() for now, then in zip(want, before, strict=True)) > 0.05
    for suffix in (".glb", ".usdc"):
        back = bunraku.load(tmp_path / f"a-edited{suffix}", figure=figure)
        assert len(back.tracks) == 2
        own = sorted(back.tracks, key=lambda track: track.name)  # Blender writes armatures in any order
        for track, bones in zip(own, want, strict=True):
            assert np.abs(skeleton(figure).along(track.q) - bones).max() < 1e-4, suffix
    for k, bones in enumerate(want):
        back = bunraku.load(tmp_path / f"a-edited{k}.bvh", figure=figure)
        assert np.abs(skeleton(figure).along(back.q) - bones).max() < 1e-4, k
