"""USD of a motion: a UsdSkel skeleton with its animation for each figure, skinned meshes, and a material for each colour.

z is up and lengths are metres, as here. Names that USD does not allow are changed; the skeleton's `jointNames` and display names
keep the true ones. The figure itself is kept as text, a user property of the skeleton, so that `load` gets all of it back.
"""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MissingExtra
from bunraku.figure import Figure
from bunraku.figure.shape import Color
from bunraku.io.skeleton import Skeleton, identifiers, skeleton
from bunraku.io.skin import SkinnedMesh, skinned_meshes, winding_ropes
from bunraku.io.yaml.figure_file import figure_yaml
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors
from bunraku.spatial import so3
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_usd(thing: Motion | Figure, path: str | PathLike[str]) -> None:
    """Writes a motion or a figure (`thing`) to `path`: .usda is text, .usdc and .usd are binary.

    Raises MissingExtra if the package usd-core is not installed.
    """
    pxr = usd_modules()
    motion = as_motion(thing, path)
    file = UsdDocument(pxr, motion)
    for track in motion.tracks:
        file.add(track)
    with writing(path) as temporary:
        file.stage.GetRootLayer().Export(str(temporary))


def usd_modules() -> Any:
    """USD's package, with the modules that are used here; raises MissingExtra if it is not installed."""
    try:
        import pxr
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdShade, UsdSkel, Vt  # noqa: F401
    except ImportError:
        raise MissingExtra("usd-core", "usd", "a USD file") from None
    return pxr


class UsdDocument:
    """A file for a `motion` that is being written; `pxr` is USD's package."""

    RATE: ClassVar[float] = 24.0
    """Time codes per second: the default of USD and of Blender, so that programs that ignore the rate keep the time as well."""

    def __init__(self, pxr: Any, motion: Motion) -> None:
        self.pxr, self.codes = pxr, ((motion.t - motion.t[0]) * self.RATE).tolist()
        self.stage = stage = pxr.Usd.Stage.CreateInMemory()
        pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z)
        pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(self.RATE)
        stage.SetFramesPerSecond(self.RATE)
        stage.SetStartTimeCode(self.codes[0])
        stage.SetEndTimeCode(self.codes[-1])
        self.root = pxr.UsdGeom.Xform.Define(stage, "/bunraku")
        stage.SetDefaultPrim(self.root.GetPrim())
        marks = [{"t": mark.t - float(motion.t[0]), "text": mark.text, "kind": mark.kind} for mark in motion.marks]
        self.root.GetPrim().SetCustomDataByKey("marks", json.dumps(marks))
        self.known: dict[Color, Any] = {}

    def add(self, track: Track) -> None:
        """Adds the figure of a `track`, and how it moves."""
        pxr, bones = self.pxr, skeleton(track.figure)
        base = pxr.UsdSkel.Root.Define(self.stage, self._path("/bunraku", f"{track.name}_root"))
        rig = self._skeleton(str(base.GetPath()), track.name, bones)
        rig.GetPrim().SetDisplayName(track.name)
        note = rig.GetPrim().CreateAttribute("userProperties:figure", pxr.Sdf.ValueTypeNames.String, True)
        note.Set(figure_yaml(track.figure))  # Blender keeps what is in userProperties
        self._animate(rig, bones, track)
        for mesh in skinned_meshes(bones):
            self._mesh(str(base.GetPath()), mesh, rig)
        for rope, points in winding_ropes(track):
            self._rope(str(base.GetPath()), f"{rope.name} {rope.kind}", points)

    def _path(self, above: str, name: str) -> str:
        """A path below `above` that is not used yet, as much like `name` as USD allows."""
        (plain,) = identifiers([name])
        path, k = f"{above}/{plain}", 1
        while self.stage.GetPrimAtPath(path):
            path, k = f"{above}/{plain}_{k}", k + 1
        return path

    def _skeleton(self, base: str, name: str, bones: Skeleton) -> Any:
        pxr = self.pxr
        rig = pxr.UsdSkel.Skeleton.Define(self.stage, self._path(base, name))
        rig.CreateJointsAttr(joint_paths(bones))
        rig.CreateJointNamesAttr(list(bones.names))
        rig.CreateBindTransformsAttr(self._matrices(bones.rest))
        rig.CreateRestTransformsAttr(self._matrices(bones.in_parents(bones.rest)))
        return rig

    def _matrices(self, X: Array) -> Any:
        """USD multiplies rows by matrices, so that its matrices are transposed."""
        return self.pxr.Vt.Matrix4dArray([self.pxr.Gf.Matrix4d(*M.T.ravel().tolist()) for M in X])

    def _animate(self, rig: Any, bones: Skeleton, track: Track) -> None:
        pxr, n = self.pxr, len(bones.names)
        moves = pxr.UsdSkel.Animation.Define(self.stage, f"{rig.GetPath()}/Motion")
        moves.CreateJointsAttr(joint_paths(bones))
        moves.CreateScalesAttr(pxr.Vt.Vec3hArray(n, pxr.Gf.Vec3h(1, 1, 1)))
        translations, rotations = moves.CreateTranslationsAttr(), moves.CreateRotationsAttr()
        X_PB = bones.in_parents(bones.along(track.q))
        turns = np.array([continuous(so3.quaternion(X_PB[:, k, :3, :3])) for k in range(n)]).reshape(n, -1, 4)
        for k, code in enumerate(self.codes):
            translations.Set(pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(X_PB[k, :, :3, 3], np.float32)), code)
            rotations.Set(pxr.Vt.QuatfArray([pxr.Gf.Quatf(*turn) for turn in turns[:, k].tolist()]), code)
        pxr.UsdSkel.BindingAPI.Apply(rig.GetPrim()).CreateAnimationSourceRel().SetTargets([moves.GetPath()])

    def _mesh(self, base: str, mesh: SkinnedMesh, rig: Any) -> None:
        pxr = self.pxr
        solid = pxr.UsdGeom.Mesh.Define(self.stage, self._path(base, mesh.name))
        solid.GetPrim().SetDisplayName(mesh.name)
        points = self._points(mesh.vertices)
        solid.CreatePointsAttr(points)
        solid.CreateExtentAttr(pxr.UsdGeom.PointBased.ComputeExtent(points))
        solid.CreateNormalsAttr(self._points(mesh.normals))
        solid.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
        solid.CreateFaceVertexCountsAttr([3] * len(mesh.faces))
        solid.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.faces.ravel(), np.int32)))
        solid.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
        skin = pxr.UsdSkel.BindingAPI.Apply(solid.GetPrim())
        skin.CreateSkeletonRel().SetTargets([rig.GetPath()])
        skin.CreateJointIndicesPrimvar(False, 1).Set(pxr.Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.bones, np.int32)))
        skin.CreateJointWeightsPrimvar(False, 1).Set([1.0] * len(mesh.bones))
        skin.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1.0))
        self._paint(solid, mesh.color)

    def _points(self, values: Array) -> Any:
        return self.pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(values, np.float32))

    def _rope(self, base: str, name: str, points: Array) -> None:
        """A string over pulleys: a curve whose `points` (T, n, 3) move."""
        pxr = self.pxr
        curve = pxr.UsdGeom.BasisCurves.Define(self.stage, self._path(base, name))
        curve.GetPrim().SetDisplayName(name)
        curve.CreateTypeAttr(pxr.UsdGeom.Tokens.linear)
        curve.CreateCurveVertexCountsAttr([points.shape[1]])
        curve.CreateWidthsAttr([0.003])
        curve.SetWidthsInterpolation(pxr.UsdGeom.Tokens.constant)
        for code, now in zip(self.codes, points, strict=True):
            curve.CreatePointsAttr().Set(self._points(now), code)
        self._paint(curve, StrandColors.plain)

    def _paint(self, shown: Any, color: Color) -> None:
        """A material, shared by all that have this colour; and the colour for programs that show no materials."""
        pxr = self.pxr
        linear = pxr.Gf.Vec3f(*(min(max(c, 0.0), 1.0) ** 2.2 for c in color))
        if color not in self.known:
            name = "color_" + "".join(f"{round(255 * min(max(c, 0.0), 1.0)):02x}" for c in color)
            material = pxr.UsdShade.Material.Define(self.stage, self._path("/bunraku/Materials", name))
            shader = pxr.UsdShade.Shader.Define(self.stage, f"{material.GetPath()}/Surface")
            shader.CreateIdAttr("UsdPreviewSurface")
            types = pxr.Sdf.ValueTypeNames
            shader.CreateInput("diffuseColor", types.Color3f).Set(linear)
            shader.CreateInput("metallic", types.Float).Set(0.0)
            shader.CreateInput("roughness", types.Float).Set(0.7)
            material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
            self.known[color] = material
        pxr.UsdShade.MaterialBindingAPI.Apply(shown.GetPrim()).Bind(self.known[color])
        shown.CreateDisplayColorAttr([linear])


def joint_paths(bones: Skeleton) -> list[str]:
    """The path of each of the `bones`, from the bone that has none above it."""
    out: list[str] = []
    for name, parent in zip(identifiers(bones.names), bones.parents, strict=True):
        out.append(name if parent < 0 else f"{out[parent]}/{name}")
    return out
