"""Animated GLB (binary glTF 2.0) of a motion: opens in Blender, in three.js, and in most viewers.

A figure is an armature: a bone for each part that moves as a whole, with the shapes as skinned meshes and one animation of all
samples. glTF's y axis points up; the z axis of the figure becomes it. Numbers are glTF's 32-bit floats. The figure itself
is kept as text, in the extras of its root node, so that `load` gets all of it back.
"""

from __future__ import annotations

import itertools
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.figure.shape import Cylinder
from bunraku.io.gltf.document import GltfDocument
from bunraku.io.skeleton import Skeleton, skeleton
from bunraku.io.skin import skinned_meshes, winding_ropes
from bunraku.io.yaml.figure_file import figure_yaml
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors
from bunraku.render.triangles import triangles
from bunraku.spatial import so3
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_glb(thing: Motion | Figure, path: str | PathLike[str]) -> None:
    """Writes a motion or a figure (`thing`) to `path`: an armature for each figure, and an animation of all samples.

    Raises FileError where samples are too close together for 32-bit times.
    """
    motion = as_motion(thing, path)
    times = motion.t - motion.t[0]  # glTF's time starts at zero
    if len(times) > 1 and np.any(np.diff(times.astype(np.float32)) <= 0.0):
        raise FileError("samples are too close together for GLB", path=str(path), advice="resample the motion first")
    file = GltfDocument()
    file.times = file.numbers(times, bounds=True)
    for track in motion.tracks:
        prefix = f"{track.name}/" if len(motion.tracks) > 1 else ""
        _add_figure(file, track, prefix)
    marks = [{"t": mark.t - float(motion.t[0]), "text": mark.text, "kind": mark.kind} for mark in motion.marks]
    with writing(path) as temporary:
        temporary.write_bytes(file.packed({"marks": marks} if marks else {}))


def _add_figure(file: GltfDocument, track: Track, prefix: str) -> None:
    bones = skeleton(track.figure)
    root = file.node(track.name, extras={"figure": figure_yaml(track.figure)})
    nodes = _add_bones(file, bones, track, root, prefix)
    skin = file.skin(track.name, nodes, GltfDocument.Y_UP @ bones.rest, root) if nodes else -1
    R = GltfDocument.Y_UP[:3, :3]
    for mesh in skinned_meshes(bones):
        name = prefix + mesh.name
        number = file.mesh(name, mesh.vertices @ R.T, mesh.normals @ R.T, mesh.faces, mesh.color, mesh.bones)
        file.node(name, parent=root, mesh=number, skin=skin)
    for rope, points in winding_ropes(track):
        _add_way(file, f"{prefix}{rope.name} {rope.kind}", points, root)


def _add_bones(file: GltfDocument, bones: Skeleton, track: Track, root: int, prefix: str) -> list[int]:
    """The nodes of the bones, and how they move."""
    X_PB = bones.in_parents(GltfDocument.Y_UP @ bones.along(track.q))
    nodes: list[int] = []
    for k, (name, parent) in enumerate(zip(bones.names, bones.parents, strict=True)):
        nodes.append(file.node(prefix + name, parent=root if parent < 0 else nodes[parent]))
        file.moves(nodes[k], "translation", _steady(X_PB[:, k, :3, 3]))
        file.moves(nodes[k], "rotation", continuous(so3.quaternion(_steady(X_PB[:, k, :3, :3])))[:, [1, 2, 3, 0]])
    return nodes


def _steady(values: Array) -> Array:
    """The same values; those that differ by rounding only become equal, so that they are not animated."""
    return np.broadcast_to(values[0], values.shape) if np.ptp(values, axis=0).max() < 1e-12 else values


def _add_way(file: GltfDocument, name: str, points: Array, root: int) -> None:
    """A string over pulleys, as pieces between `points` (T, n, 3) that are turned, moved and stretched."""
    mesh = file.mesh(name, *triangles(Cylinder(0.0015, 1.0)), StrandColors.plain)
    for a, b in itertools.pairwise((points @ GltfDocument.Y_UP[:3, :3].T).swapaxes(0, 1)):
        piece = file.node(name, parent=root, mesh=mesh)
        length = np.linalg.norm(b - a, axis=1, keepdims=True)
        file.moves(piece, "translation", (a + b) / 2)
        file.moves(piece, "rotation", continuous(_from_z((b - a) / np.maximum(length, 1e-12)))[:, [1, 2, 3, 0]])
        file.moves(piece, "scale", np.hstack([np.ones_like(length), np.ones_like(length), np.maximum(length, 1e-9)]))


def _from_z(direction: ArrayLike) -> Array:
    """Quaternions (T, 4) of the shortest turns that take z to directions (T, 3); half a turn about x where opposite."""
    x, y, z = np.asarray(direction, float).T
    q = np.stack([1.0 + z, -y, x, np.zeros_like(x)], 1)
    q[z < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
