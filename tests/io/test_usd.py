"""USD files, through USD's own interface, and back."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku.errors import FileError, MissingExtra
from bunraku.figure import Figure, library
from bunraku.figure.library.costume import dressed
from bunraku.io.skeleton import skeleton
from bunraku.kinematics import frames_along, pose
from bunraku.motion import Mark, Motion, together
from bunraku.render.triangles import triangles
from bunraku.spatial import se3

pxr = pytest.importorskip("pxr", reason="no USD: pip install 'bunraku[usd]'")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt  # noqa: E402


def wandering(figure: Figure, samples: int = 6, seed: int = 0) -> Motion:
    steps = np.random.default_rng(seed).normal(scale=0.05, size=(samples, figure.n_q))
    return Motion.of(figure, 3.0 + 0.02 * np.arange(samples), figure.start + np.cumsum(steps, 0))


class Opened:
    """The file through UsdSkel, with nothing of ours in between."""

    def __init__(self, path: Path) -> None:
        self.stage = Usd.Stage.Open(str(path))
        self.cache = UsdSkel.Cache()
        for prim in self.stage.Traverse():
            if prim.IsA(UsdSkel.Root):
                self.cache.Populate(UsdSkel.Root(prim), Usd.PrimDefaultPredicate)
        self.skeletons = [UsdSkel.Skeleton(prim) for prim in self.stage.Traverse() if prim.IsA(UsdSkel.Skeleton)]

    def bones(self, code: float, number: int = 0) -> dict[str, Any]:
        """X_WB by the last name of each joint."""
        query = self.cache.GetSkelQuery(self.skeletons[number])
        base = UsdGeom.XformCache(code).GetLocalToWorldTransform(self.skeletons[number].GetPrim())
        X = query.ComputeJointSkelTransforms(code)
        return {str(j).rpartition("/")[2]: np.array(M * base).T for j, M in zip(query.GetJointOrder(), X, strict=True)}

    def points(self, name: str, code: float) -> Any:
        """The skinned points (n, 3) of the mesh that is displayed under this name."""
        prim = next(prim for prim in self.stage.Traverse() if prim.IsA(UsdGeom.Mesh) and prim.GetDisplayName() == name)
        skin = self.cache.GetSkinningQuery(prim)
        query = self.cache.GetSkelQuery(self.skeletons[0])
        moved = Vt.Vec3fArray(UsdGeom.Mesh(prim).GetPointsAttr().Get())
        assert skin.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), moved, code)
        return np.array(moved)


@pytest.mark.parametrize("name", ["marionette22", "gecko", "crane"])
def test_every_bone_is_where_the_figure_is(name: str, tmp_path: Path) -> None:
    motion = wandering(library.named(name))
    bunraku.save(motion, tmp_path / "a.usdc")
    file = Opened(tmp_path / "a.usdc")
    assert UsdGeom.GetStageUpAxis(file.stage) == "Z"
    assert UsdGeom.GetStageMetersPerUnit(file.stage) == 1.0
    X = frames_along(motion.figure, motion.q)
    rate = file.stage.GetTimeCodesPerSecond()
    for k, t in enumerate(motion.t - motion.t[0]):
        bones = file.bones(t * rate)
        assert set(bones) == set(skeleton(motion.figure).names)
        for bone, X_WB in bones.items():
            assert np.abs(X_WB[:3, 3] - X[k, motion.figure.frame_index[bone], :3, 3]).max() < 2e-6, bone


def test_meshes_are_skinned_and_have_their_materials(tmp_path: Path) -> None:
    motion = wandering(library.named("mannequin"))
    bunraku.save(motion, tmp_path / "a.usda")
    file = Opened(tmp_path / "a.usda")
    code = (motion.t[-1] - motion.t[0]) * file.stage.GetTimeCodesPerSecond()
    X = frames_along(motion.figure, motion.q[-1:])[0]
    names = [shape.name for shape in motion.figure.shapes]
    alone = [shape for shape in motion.figure.shapes if names.count(shape.name) == 1]
    assert len(alone) > 10
    for shape in alone:
        place = X[motion.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        want = se3.transform(place, triangles(shape.geometry).vertices)
        assert np.abs(file.points(f"{shape.name} shape", code) - want).max() < 5e-6, shape.name
        prim = next(prim for prim in file.stage.Traverse() if prim.GetDisplayName() == f"{shape.name} shape")
        surface = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0].ComputeSurfaceSource()[0]
        assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
        linear = np.clip(shape.color, 0.0, 1.0) ** 2.2
        assert np.allclose(surface.GetInput("diffuseColor").Get(), linear, atol=1e-6), shape.name


def test_costumes_are_kept(tmp_path: Path) -> None:
    """Puppets of one kind in different costumes keep their colours, out and in."""
    plain = library.named("marionette22")
    twins = together(*(Motion.of(dressed(plain, k), [0.0, 1.0], [plain.start] * 2, name=f"puppet {k}") for k in range(2)))
    bunraku.save(twins, tmp_path / "a.usdc")
    file = Opened(tmp_path / "a.usdc")
    for skel, track in zip(file.skeletons, twins.tracks, strict=True):
        inside = Usd.PrimRange(skel.GetPrim().GetParent())
        meshes = [prim for prim in inside if prim.IsA(UsdGeom.Mesh) and prim.GetDisplayName().endswith("shape")]
        painted = [UsdGeom.Mesh(prim).GetDisplayColorAttr().Get()[0] for prim in meshes]
        want = [np.clip(shape.color, 0.0, 1.0) ** 2.2 for shape in track.figure.shapes if shape.visible]
        assert np.allclose(painted, want, atol=1e-6)
    back = bunraku.load(tmp_path / "a.usdc")
    assert back.names == twins.names
    assert [track.figure for track in back.tracks] == [track.figure for track in twins.tracks]
    assert twins.tracks[0].figure.shapes != twins.tracks[1].figure.shapes


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("double_pendulum", ".usda"), ("arm3d", ".usdc"), ("marionette22", ".usdc"), ("hand", ".glb"), ("humanoid", ".glb")],
)
def test_round_trip(name: str, suffix: str, tmp_path: Path) -> None:
    """The figure, the times, the marks and every variable come back; strings come back taut."""
    motion = wandering(library.named(name), seed=5).replace(marks=(Mark(3.02, "swing", "cue"),))
    bunraku.save(motion, tmp_path / f"a{suffix}")
    back = bunraku.load(tmp_path / f"a{suffix}")
    assert back.figure == motion.figure
    assert back.marks[0].text == "swing"
    assert np.allclose(back.t, motion.t - motion.t[0], atol=1e-6)
    moving = [k for k, variable in enumerate(motion.figure.variables) if variable.motion != "length"]
    assert np.abs(back.q - motion.q)[:, moving].max() < 1e-6
    for rope in motion.figure.strings:
        path = pose(back.figure, back.q[-1]).path(rope.name)
        if any(variable.name == rope.variable for variable in motion.figure.lengths):
            reach = sum(np.linalg.norm(b - a) for a, b in itertools.pairwise(path))
            assert np.isclose(rope.length + rope.ratio * back.q[-1, back.figure.index(str(rope.variable))], reach, atol=1e-6)


def foreign(path: Path) -> None:
    """A leg as other programs write it: centimetres, y up, joints without names of their own, no figure."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(30)
    root = UsdSkel.Root.Define(stage, "/Person")
    rig = UsdSkel.Skeleton.Define(stage, "/Person/Leg")
    joints = ["Hips", "Hips/LeftUpLeg", "Hips/LeftUpLeg/LeftLeg"]
    rig.CreateJointsAttr(joints)
    heights = (100.0, -10.0, -45.0)
    local = [Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(0, y, 0)) for y in heights]
    rig.CreateRestTransformsAttr(local)
    rig.CreateBindTransformsAttr([Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(0, sum(heights[: k + 1]), 0)) for k in range(3)])
    moves = UsdSkel.Animation.Define(stage, "/Person/Leg/Kick")
    moves.CreateJointsAttr(joints[1:2])  # of one joint only
    moves.CreateTranslationsAttr([Gf.Vec3f(0, -10, 0)])
    moves.CreateScalesAttr([Gf.Vec3h(1, 1, 1)])
    for code, angle in ((0.0, 0.0), (15.0, np.pi / 4), (30.0, np.pi / 2)):
        turn = Gf.Quatf(float(np.cos(angle / 2)), float(-np.sin(angle / 2)), 0, 0)  # about −x: the foot goes toward +z there
        moves.CreateRotationsAttr().Set([turn], code)
    UsdSkel.BindingAPI.Apply(rig.GetPrim()).CreateAnimationSourceRel().SetTargets([moves.GetPath()])
    root.GetPrim().CreateAttribute("note", Sdf.ValueTypeNames.String).Set("")
    stage.Save()


def test_a_foreign_skeleton_becomes_a_figure(tmp_path: Path) -> None:
    foreign(tmp_path / "leg.usda")
    motion = bunraku.load(tmp_path / "leg.usda")
    assert np.allclose(motion.t, [0.0, 0.5, 1.0])
    knee = frames_along(motion.figure, motion.q)[:, motion.figure.frame_index["LeftLeg"], :3, 3]
    low, far = 0.9 - 0.45, 0.45
    half = 0.45 * np.sqrt(0.5)
    # z is up here; their +z is our −y; turned about −x by 90°, the knee is ahead of the hip.
    assert np.allclose(knee, [[0, 0, low], [0, -half, 0.9 - half], [0, -far, 0.9]], atol=1e-6)


def test_files_that_are_none(tmp_path: Path) -> None:
    motion = wandering(library.named("pendulum"))
    bunraku.save(motion, tmp_path / "a.usda")
    text = (tmp_path / "a.usda").read_text()
    (tmp_path / "cut.usda").write_text(text[: len(text) // 2])
    (tmp_path / "not.usdc").write_bytes(b"no crate")
    (tmp_path / "latin.usda").write_bytes(text.encode().replace(b"def Skeleton", b"d\xe9f Skeleton"))  # the error quotes it
    UsdGeom.Xform.Define(stage := Usd.Stage.CreateNew(str(tmp_path / "empty.usda")), "/a")
    stage.Save()
    for name, what in (("cut.usda", "not a USD file"), ("latin.usda", "not a USD file"), ("not.usdc", "not a USD file"),
                       ("empty.usda", "no skeleton"), ("missing.usd", "does not exist")):  # fmt: skip
        with pytest.raises(FileError, match=what):
            bunraku.load(tmp_path / name)
    with pytest.raises(FileError, match="has no bone of gecko"):
        bunraku.load(tmp_path / "a.usda", figure=library.named("gecko"))


def test_without_usd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(MissingExtra, match=r"bunraku\[usd\]"):
        bunraku.save(library.named("pendulum"), tmp_path / "a.usd")
    assert list(tmp_path.iterdir()) == []
