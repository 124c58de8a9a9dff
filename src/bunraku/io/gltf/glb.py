"""Animated GLB (binary glTF 2.0) of a motion: opens in Blender, in three.js, and in most viewers.

A figure is an armature: a bone for each part that moves as a whole, with the shapes as skinned meshes and one animation of all
samples. glTF's y axis points up; the z axis of the figure becomes it. Numbers are glTF's 32-bit floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import FileError
from bunraku.figure import WORLD, Figure, Shape, String
from bunraku.figure.shape import Cylinder
from bunraku.io.gltf.document import GltfDocument
from bunraku.io.skeleton import Skeleton, skeleton
from bunraku.kinematics import frames_along
from bunraku.kinematics.ways import ways_along
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import continuous
from bunraku.motion.still import as_motion
from bunraku.render.strands import StrandColors
from bunraku.render.triangles import triangles
from bunraku.spatial import se3, so3
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
    figure, bones = track.figure, skeleton(track.figure)
    root = file.node(track.name)
    nodes = _add_bones(file, bones, track, root, prefix)
    skin = file.skin(track.name, nodes, GltfDocument.Y_UP @ bones.rest, root) if nodes else -1
    place = _frames(figure, figure.start[None])
    for shape in figure.shapes:
        if shape.visible:
            _add_shape(file, bones, shape, place, root, skin, prefix)
    for rope in (*figure.strings, *figure.wires):
        if rope.wraps:
            _add_way(file, track, rope, root, prefix)
        else:
            _add_string(file, bones, rope, place, root, skin, prefix)


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


def _frames(figure: Figure, q: Array) -> dict[str, Array]:
    """X_WF (T, 4, 4) by the names of frames."""
    X = frames_along(figure, q)
    return {WORLD: np.broadcast_to(np.eye(4), (len(q), 4, 4))} | {frame.name: X[:, k] for k, frame in enumerate(figure.frames)}


def _add_shape(
    file: GltfDocument, bones: Skeleton, shape: Shape, place: dict[str, Array], root: int, skin: int, prefix: str
) -> None:  # fmt: skip
    X = GltfDocument.Y_UP @ place[shape.frame][0] @ se3.pose(shape.position, shape.rotation)
    vertices, normals, faces = triangles(shape.geometry)
    name = f"{prefix}{shape.name} shape"
    carried = np.full(len(vertices), bones.of_frame[shape.frame])
    mesh = file.mesh(name, se3.transform(X, vertices), normals @ X[:3, :3].T, faces, shape.color, carried)
    file.node(name, parent=root, mesh=mesh, skin=skin)


# -- strings -------------------------------------------------------------------------------------------------------


def _add_string(
    file: GltfDocument, bones: Skeleton, rope: String, place: dict[str, Array], root: int, skin: int, prefix: str
) -> None:  # fmt: skip
    """Straight pieces. Each end is skinned to the bone that it is tied to, so that a string follows what an animator changes."""
    ends = [se3.transform(place[at.frame][0], at.position) for at in rope.path]
    carriers = [bones.of_frame[at.frame] for at in rope.path]
    vertices: list[Array] = []
    normals: list[Array] = []
    faces: list[NDArray[np.int64]] = []
    carried: list[NDArray[np.int64]] = []
    for (a, b), ends_on in zip(itertools.pairwise(ends), itertools.pairwise(carriers), strict=True):
        rings, outward, sides = _tube(a, b)
        faces.append(sides + sum(len(part) for part in vertices))
        vertices.append(rings)
        normals.append(outward)
        carried.append(np.repeat(ends_on, len(rings) // 2))
    name, R = f"{prefix}{rope.name} {rope.kind}", GltfDocument.Y_UP[:3, :3]
    mesh = file.mesh(
        name, np.vstack(vertices) @ R.T, np.vstack(normals) @ R.T, np.vstack(faces), StrandColors.plain, np.concatenate(carried)
    )  # fmt: skip
    file.node(name, parent=root, mesh=mesh, skin=skin)


def _tube(a: Array, b: Array, radius: float = 0.0015, sides: int = 6) -> tuple[Array, Array, NDArray[np.int64]]:
    """Vertices, normals and faces of a thin tube from `a` to `b`; the first half of the vertices is at `a`.

    It consists of three tubes, whose rings lie in orthogonal planes: when its ends turn with their bones, one stays open.
    """
    length = float(np.linalg.norm(b - a))
    R = so3.onto_z(((b - a) / length).tolist()) if length > 1e-9 else np.eye(3)
    angle = 2 * np.pi * np.arange(sides) / sides
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    rings = np.concatenate([circle @ R[:, pair].T for pair in ([0, 1], [1, 2], [2, 0])])
    this = np.arange(3 * sides)
    following = this // sides * sides + (this + 1) % sides
    other = 3 * sides
    faces = np.concatenate(
        [np.stack([this, following, following + other], 1), np.stack([this, following + other, this + other], 1)]
    )
    return np.concatenate([a + radius * rings, b + radius * rings]), np.concatenate([rings, rings]), faces


def _add_way(file: GltfDocument, track: Track, rope: String, root: int, prefix: str) -> None:
    """A way over pulleys, as pieces of equal length that are turned, moved and stretched."""
    solid = triangles(Cylinder(0.0015, 1.0))
    mesh = file.mesh(f"{prefix}{rope.name} {rope.kind}", *solid, StrandColors.plain)
    for a, b in _pieces(track, rope):
        piece = file.node(f"{prefix}{rope.name} {rope.kind}", parent=root, mesh=mesh)
        length = np.linalg.norm(b - a, axis=1, keepdims=True)
        file.moves(piece, "translation", (a + b) / 2)
        file.moves(piece, "rotation", continuous(_from_z((b - a) / np.maximum(length, 1e-12)))[:, [1, 2, 3, 0]])
        file.moves(piece, "scale", np.hstack([np.ones_like(length), np.ones_like(length), np.maximum(length, 1e-9)]))


def _pieces(track: Track, rope: String) -> Iterator[tuple[Array, Array]]:
    """Both ends of every piece in the world of glTF, (T, 3) each."""
    ways = ways_along(track.figure, track.q, rope)
    for branch in range(len(ways[0])):
        cut = np.array([_resampled(way[branch].points, 32) for way in ways]) @ GltfDocument.Y_UP[:3, :3].T
        yield from itertools.pairwise(cut.swapaxes(0, 1))


def _resampled(points: Array, pieces: int) -> Array:
    run = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    where = np.linspace(0.0, run[-1], pieces + 1)
    return np.stack([np.interp(where, run, x) for x in points.T], 1)


def _from_z(direction: ArrayLike) -> Array:
    """Quaternions (T, 4) of the shortest turns that take z to directions (T, 3); half a turn about x where opposite."""
    x, y, z = np.asarray(direction, float).T
    q = np.stack([1.0 + z, -y, x, np.zeros_like(x)], 1)
    q[z < -1.0 + 1e-12] = (0.0, 1.0, 0.0, 0.0)
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))
