"""glTF in: the skins of a file, and one of its animations, become a motion.

What is neither a bone nor above one is left out. In a file without skins the animated nodes are the bones.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuWarning, did_you_mean
from bunraku.figure import Figure
from bunraku.figure.shape import Color
from bunraku.io.gltf.gltf_file import GltfFile, open_gltf
from bunraku.io.rig import Rig, painted, read_marks, rig_motion, rigid
from bunraku.motion import Motion
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
Channels = dict[tuple[int, str], tuple[Array, Array, str]]
"""Times [s], values and the kind of interpolation, by node and path ("rotation")."""


def load_gltf(path: str | PathLike[str], *, figure: Figure | None = None, animation: str | int | None = None) -> Motion:
    """The motion of the skeletons in the glTF or GLB file at `path`; one sample where nothing is animated.

    figure: whose skeleton it is, with bones called like its frames; by default the one that bunraku wrote into the file, or else
        a figure made from the bones
    animation: name or number of the one to read; by default the first

    Raises FileError if the file is no glTF 2.0, has no skeleton, or is damaged.
    """
    file = open_gltf(Path(path))
    above = file.parents()
    channels = _channels(file, animation)
    times = np.unique(np.round(np.concatenate([[], *(one[0] for one in channels.values())]), 6))
    if len(times) > file.limits.samples:
        raise file.refuse(f"{len(times)} samples", f"at most {file.limits.samples} are read")
    times = times if len(times) else np.zeros(1)
    world = _World(file, above, channels, times)
    skins = file.parts("skins")
    rigs = [_skinned(world, k) for k in range(len(skins))] if skins else _unskinned(world)
    extras = file.tree.get("extras")
    marks = read_marks(json.dumps(extras.get("marks", []))) if isinstance(extras, dict) else ()
    return rig_motion(rigs, times - times[0], path, figure=figure, marks=marks)


# -- movements -----------------------------------------------------------------------------------------------------


def _channels(file: GltfFile, wanted: str | int | None) -> Channels:
    """The chosen animation."""
    animations = file.parts("animations")
    names = [str(one.get("name", k)) for k, one in enumerate(animations)]
    if isinstance(wanted, str) and wanted not in names:
        raise file.refuse(f"there is no animation {wanted!r}", did_you_mean(wanted, names))
    number = names.index(wanted) if isinstance(wanted, str) else wanted or 0
    if wanted is None and len(names) > 1:
        others = ", ".join(names[1:9])
        warnings.warn(BunrakuWarning(f"{file.path}: the animation {names[0]!r} is read; there are also: {others}"), stacklevel=3)
    if not animations and wanted is None:
        return {}
    chosen = file.part("animations", number)
    samplers = file.parts("samplers", chosen)
    out: Channels = {}
    for channel in file.parts("channels", chosen):
        target, k = channel.get("target"), channel.get("sampler")
        if not isinstance(target, dict) or not isinstance(k, int) or not 0 <= k < len(samplers):
            raise file.refuse("a channel of the animation has no target or no sampler")
        path, node = target.get("path"), target.get("node")
        if path in ("translation", "rotation", "scale") and node is not None:
            file.part("nodes", node)
            out[node, path] = _sampler(file, samplers[k], path)
    return out


def _sampler(file: GltfFile, sampler: dict[str, Any], path: str) -> tuple[Array, Array, str]:
    times, values = file.array(sampler.get("input")), file.array(sampler.get("output"))
    kind = sampler.get("interpolation", "LINEAR")
    rows = 3 * len(times) if kind == "CUBICSPLINE" else len(times)
    width = 4 if path == "rotation" else 3
    if kind not in ("LINEAR", "STEP", "CUBICSPLINE") or times.ndim != 1 or not len(times) or values.shape != (rows, width):
        raise file.refuse(f"a sampler of a {path} does not fit its times")
    if np.any(np.diff(times) <= 0.0):
        raise file.refuse("the times of an animation do not increase")
    return times, values, str(kind)


def _sampled(times: Array, values: Array, kind: str, at: Array, turns: bool) -> Array:
    """The `values` of a channel `at` other times; (x, y, z, w) where it `turns`."""
    n = len(times)
    before = np.clip(np.searchsorted(times, at, side="right") - 1, 0, max(n - 2, 0))
    after = np.minimum(before + 1, n - 1)
    span = np.where(after > before, times[after] - times[before], 1.0)
    s = np.clip((at - times[before]) / span, 0.0, 1.0)
    if kind == "STEP":
        return np.asarray(values[np.where(s >= 1.0, after, before)])
    if kind == "CUBICSPLINE":
        a, p, b = values[0::3], values[1::3], values[2::3]  # tangents before, values, tangents after
        h, x = span[:, None], s[:, None]
        return np.asarray(
            (2 * x**3 - 3 * x**2 + 1) * p[before] + h * (x**3 - 2 * x**2 + x) * b[before]
            + (3 * x**2 - 2 * x**3) * p[after] + h * (x**3 - x**2) * a[after]
        )  # fmt: skip
    if turns:
        return np.asarray(so3.slerp(_units(values[before]), _units(values[after]), s))
    return np.asarray(values[before] + s[:, None] * (values[after] - values[before]))


def _units(quaternions: Array) -> Array:
    size = np.linalg.norm(quaternions, axis=-1, keepdims=True)
    return np.asarray(np.where(size > 1e-9, quaternions, [0.0, 0.0, 0.0, 1.0]) / np.where(size > 1e-9, size, 1.0))


class _World:
    """Where the nodes are, at all times; glTF's y axis points up there."""

    def __init__(self, file: GltfFile, above: list[int], channels: Channels, times: Array) -> None:
        self.file, self.above, self.channels, self.times = file, above, channels, times
        self._known: dict[int, Array] = {-1: np.eye(4)[None]}

    def X(self, node: int) -> Array:
        """The transforms (T, 4, 4) or (1, 4, 4) of a `node`, scale included."""
        way = []
        while node not in self._known:
            way.append(node)
            node = self.above[node]
        for one in reversed(way):
            self._known[one] = self._known[self.above[one]] @ self._local(one)
        return self._known[way[0] if way else node]

    def at_rest(self, node: int) -> Array:
        """The transform (4, 4) of a `node`, where nothing animates it or those above it."""
        X = np.eye(4)
        while node >= 0:
            place, turn, scale = self.file.still(node)
            X = _matrix(place, turn, scale) @ X
            node = self.above[node]
        return X

    def _local(self, node: int) -> Array:
        place, turn, scale = (value[None] for value in self.file.still(node))
        if (node, "translation") in self.channels:
            place = _sampled(*self.channels[node, "translation"], self.times, False)
        if (node, "rotation") in self.channels:
            turn = _units(_sampled(*self.channels[node, "rotation"], self.times, True))[:, [3, 0, 1, 2]]
        if (node, "scale") in self.channels:
            scale = _sampled(*self.channels[node, "scale"], self.times, False)
        return _matrix(place, turn, scale)


def _matrix(place: Array, turn: Array, scale: Array) -> Array:
    count = max(len(part) if part.ndim > 1 else 0 for part in (place, turn, scale))
    out = np.zeros((count, 4, 4) if count else (4, 4))
    out[..., :3, :3] = so3.matrix(turn) * scale[..., None, :]
    out[..., :3, 3] = place
    out[..., 3, 3] = 1.0
    return out


# -- skeletons -----------------------------------------------------------------------------------------------------


def _skinned(world: _World, number: int) -> Rig:
    file = world.file
    skin = file.part("skins", number)
    joints = skin.get("joints")
    if not isinstance(joints, list) or not joints or len(set(map(str, joints))) < len(joints):
        raise file.refuse(f"skins[{number}] has no list of different joints")
    for joint in joints:
        file.part("nodes", joint)
    order = sorted(joints, key=lambda joint: _depth(world.above, joint))
    still = np.array([world.at_rest(joint) for joint in order])
    rest = still
    if "inverseBindMatrices" in skin:
        unbind = file.array(skin["inverseBindMatrices"])
        if unbind.shape != (len(joints), 16):
            raise file.refuse(f"skins[{number}] does not have one matrix for each joint")
        unbind = unbind.reshape(-1, 4, 4).swapaxes(1, 2)[[joints.index(joint) for joint in order]]
        rest = _bind(world, number, still, unbind)
    name = str(skin.get("name") or file.tree["nodes"][order[0]].get("name") or "skeleton")
    text = next((text for node in (skin.get("skeleton"), order[0]) if (text := _figure_text(world, node))), "")
    return _rig(world, order, rest, name, _colors(file, number, [order.index(joint) for joint in joints]), text)


def _bind(world: _World, number: int, still: Array, unbind: Array) -> Array:
    """Where the bones are while meshes have their own form.

    Joints times inverse bind matrices take meshes to the world: all by one transform, if the nodes of the file are at rest. Where
    they are not, that transform is the one of the node that has the mesh.
    """
    try:
        bind = np.linalg.inv(unbind)
    except np.linalg.LinAlgError:
        raise world.file.refuse(f"skins[{number}] has a matrix that cannot be inverted") from None
    mesh = still @ unbind
    if np.abs(mesh - mesh[0]).max() < 1e-3 * np.abs(mesh[0]).max():
        return still
    node = next((k for k, one in enumerate(world.file.parts("nodes")) if one.get("skin") == number), -1)
    return np.asarray(world.at_rest(node) @ bind)


def _unskinned(world: _World) -> list[Rig]:
    nodes = sorted({node for node, _ in world.channels}, key=lambda node: _depth(world.above, node))
    if not nodes:
        return []
    rest = np.array([world.at_rest(node) for node in nodes])
    return [_rig(world, nodes, rest, world.file.path.stem, {}, "")]


def _rig(world: _World, nodes: list[int], rest: Array, name: str, colors: dict[int, Color], text: str) -> Rig:
    upright = se3.pose(rotation=so3.about(0, np.pi / 2))
    number = {node: k for k, node in enumerate(nodes)}
    parents, X = [], []
    for node in nodes:
        X.append(np.broadcast_to(world.X(node), (len(world.times), 4, 4)))
        node = world.above[node]
        while node >= 0 and node not in number:
            node = world.above[node]
        parents.append(number.get(node, -1))
    names = tuple(str(world.file.tree["nodes"][node].get("name", f"bone {node}")) for node in nodes)
    return Rig(name, names, tuple(parents), rigid(upright @ rest), rigid(upright @ np.stack(X, 1)), colors, text)


def _depth(above: Sequence[int], node: int) -> int:
    depth = 0
    while node >= 0:
        node, depth = above[node], depth + 1
    return depth


def _figure_text(world: _World, node: Any) -> str:
    """The figure that bunraku wrote beside a `node`, or above it."""
    while isinstance(node, int) and 0 <= node < len(world.above):
        extras = world.file.tree["nodes"][node].get("extras")
        text = extras.get("figure") if isinstance(extras, dict) else None
        if isinstance(text, str):
            return text
        node = world.above[node]
    return ""


def _colors(file: GltfFile, skin: int, place: list[int]) -> dict[int, Color]:
    """The colours of bones, from the meshes of a `skin`; `place` gives the bone of each of its joints."""
    meshes = []
    for node in file.parts("nodes"):
        if node.get("skin") != skin or "mesh" not in node:
            continue
        for primitive in file.parts("primitives", file.part("meshes", node["mesh"])):
            attributes = primitive.get("attributes")
            if not isinstance(attributes, dict) or "material" not in primitive or not {"JOINTS_0", "WEIGHTS_0"} <= set(attributes):
                continue
            if isinstance(primitive.get("extensions"), dict):  # compressed
                continue
            joints, weights = file.array(attributes["JOINTS_0"]).astype(int), file.array(attributes["WEIGHTS_0"])
            if joints.shape != weights.shape or joints.ndim != 2 or joints.max(initial=0) >= len(place):
                raise file.refuse("a mesh is skinned to bones that do not exist")
            surface = file.part("materials", primitive["material"]).get("pbrMetallicRoughness", {})
            factor = file.row(surface if isinstance(surface, dict) else {}, "baseColorFactor", [1.0] * 4)
            r, g, b = (float(c) for c in np.clip(factor[:3], 0.0, 1.0) ** (1 / 2.2))
            meshes.append(((r, g, b), np.array(place)[joints], weights))
    return painted(meshes)
