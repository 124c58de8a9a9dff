"""USD in: the skeletons of a file (UsdSkel) with their animation become a motion."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.figure.shape import Color
from bunraku.io.rig import Rig, painted, read_marks, rig_motion, rigid
from bunraku.io.usd.usd_writer import usd_modules
from bunraku.motion import Mark, Motion
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


def load_usd(path: str | PathLike[str], *, figure: Figure | None = None) -> Motion:
    """The motion of the skeletons in the USD file at `path`; one sample where nothing is animated.

    figure: whose skeleton it is, with bones called like its frames; by default the one that bunraku wrote into the file, or else
        a figure made from the bones

    Raises FileError if the file is no USD or has no skeleton, MissingExtra if the package usd-core is not installed.
    """
    pxr, file = usd_modules(), Path(path)
    if not file.is_file():
        raise FileError("the file does not exist", path=str(path), advice="check the name")
    try:
        stage = pxr.Usd.Stage.Open(str(file))
        return _motion(pxr, stage, path, figure)
    except (pxr.Tf.ErrorException, RuntimeError, MemoryError) as error:
        try:
            text = str(error).strip()
        except UnicodeDecodeError:  # USD quotes the file
            text = ""
        what = text.splitlines()[-1][:160] if text else "it cannot be opened"
        raise FileError(f"not a USD file: {what}", path=str(path), advice="is it whole? `usdchecker` checks it") from None


def _motion(pxr: Any, stage: Any, path: str | PathLike[str], figure: Figure | None) -> Motion:
    rate = stage.GetTimeCodesPerSecond() or 24.0
    upright = se3.pose(rotation=so3.about(0, np.pi / 2)) if pxr.UsdGeom.GetStageUpAxis(stage) == "Y" else np.eye(4)
    metres = pxr.UsdGeom.GetStageMetersPerUnit(stage) or 1.0
    found = []
    cache = pxr.UsdSkel.Cache()
    for prim in stage.Traverse():
        if prim.IsA(pxr.UsdSkel.Root):
            cache.Populate(pxr.UsdSkel.Root(prim), pxr.Usd.PrimDefaultPredicate)
        if prim.IsA(pxr.UsdSkel.Skeleton):
            query = cache.GetSkelQuery(pxr.UsdSkel.Skeleton(prim))
            if query and len(query.GetJointOrder()):
                found.append((prim, query))
    codes = sorted({code for prim, query in found for code in _codes(pxr, prim, query)}) or [0.0]
    rigs = [_rig(pxr, prim, query, codes, upright, metres) for prim, query in found]
    begin = codes[0]
    t = (np.array(codes) - begin) / rate
    return rig_motion(rigs, t, path, figure=figure, marks=_marks(stage))


def _codes(pxr: Any, prim: Any, query: Any) -> list[float]:
    animation = query.GetAnimQuery()
    codes = list(animation.GetJointTransformTimeSamples()) if animation else []
    while prim and not prim.IsPseudoRoot():
        if prim.IsA(pxr.UsdGeom.Xformable):
            codes += pxr.UsdGeom.Xformable(prim).GetTimeSamples()
        prim = prim.GetParent()
    return codes


def _rig(pxr: Any, prim: Any, query: Any, codes: list[float], upright: Array, metres: float) -> Rig:
    order = [str(joint) for joint in query.GetJointOrder()]
    parents = tuple(int(k) for k in query.GetTopology().GetParentIndices())
    given = pxr.UsdSkel.Skeleton(prim).GetJointNamesAttr().Get()
    names = [str(name) for name in given] if given and len(given) == len(order) else [joint.rpartition("/")[2] for joint in order]

    def placed(code: Any, at_rest: bool) -> Array:
        local = query.ComputeJointSkelTransforms(code, at_rest)
        base = pxr.UsdGeom.XformCache(code).GetLocalToWorldTransform(prim)
        X = np.array([np.array(one * base).T for one in local], float).reshape(-1, 4, 4)
        return rigid(upright @ X, metres)

    if query.HasBindPose():  # Blender writes poses as rest
        bind = np.array([np.array(one).T for one in query.GetJointWorldBindTransforms()], float)
        rest = rigid(upright @ bind, metres)
    else:
        rest = placed(pxr.Usd.TimeCode(codes[0]), True)
    X = np.array([placed(pxr.Usd.TimeCode(code), not query.GetAnimQuery()) for code in codes])
    text, root = "", prim
    while True:
        note = root.GetAttribute("userProperties:figure")
        text = text or (str(note.Get()) if note and note.Get() else "")
        if root.IsA(pxr.UsdSkel.Root) or root.IsPseudoRoot():
            break
        root = root.GetParent()
    name = prim.GetDisplayName() or prim.GetName()
    return Rig(str(name), tuple(names), parents, rest, X, _colors(pxr, root, prim), text)


def _colors(pxr: Any, root: Any, rig: Any) -> dict[int, Color]:
    """The colours of bones, from the meshes that are bound to this skeleton."""
    meshes = []
    for prim in pxr.Usd.PrimRange(root):
        skin = pxr.UsdSkel.BindingAPI(prim)
        if not prim.IsA(pxr.UsdGeom.Mesh) or rig.GetPath() not in (skin.GetSkeletonRel().GetTargets() or [rig.GetPath()]):
            continue
        own = (skin.GetJointIndicesPrimvar(), skin.GetJointWeightsPrimvar())
        joints, weights = (np.array(one.Get() if one and one.HasValue() else []) for one in own)
        width = max(int(own[0].GetElementSize()), 1) if own[0] else 1
        color = _color(pxr, prim)
        if color is not None and len(joints) and len(joints) == len(weights) and len(joints) % width == 0:
            meshes.append((color, joints.reshape(-1, width), weights.reshape(-1, width)))
    return painted(meshes)


def _color(pxr: Any, prim: Any) -> Color | None:
    material = pxr.UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    surface = material.ComputeSurfaceSource()[0] if material else None
    value = surface.GetInput("diffuseColor").Get() if surface and surface.GetInput("diffuseColor") else None
    if value is None:
        return None
    r, g, b = (min(max(float(c), 0.0), 1.0) ** (1 / 2.2) for c in value)
    return (r, g, b)


def _marks(stage: Any) -> tuple[Mark, ...]:
    root = stage.GetDefaultPrim()
    text = root.GetCustomDataByKey("marks") if root else None
    return read_marks(text) if isinstance(text, str) else ()
