"""Geometries as triangles, for pictures and for files."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.mesh_file import read_mesh
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Sphere
from bunraku.scene import Heightfield, Plane, Surface
from bunraku.spatial import so3

Array = NDArray[np.float64]


class Triangles(NamedTuple):
    """Vertices (n, 3) [m], their unit normals (n, 3), and faces (m, 3), counterclockwise from outside."""

    vertices: Array
    normals: Array
    faces: NDArray[np.int64]


@functools.lru_cache(maxsize=1024)
def triangles(geometry: Surface, segments: int = 24) -> Triangles:
    """The surface of a geometry in its own axes; round ones have `segments` sides, and of a plane it is a square part."""
    match geometry:
        case Sphere(radius):
            out = _lathe(*_arc(radius, 0.0, -math.pi / 2, math.pi / 2, segments // 2), segments)
        case Capsule(radius, length):
            low = _arc(radius, -length / 2, -math.pi / 2, 0.0, segments // 4)
            high = _arc(radius, length / 2, 0.0, math.pi / 2, segments // 4)
            out = _lathe(np.vstack([low[0], high[0]]), np.vstack([low[1], high[1]]), segments)
        case Cylinder(radius, length):
            out = _cylinder(radius, length, segments)
        case Box(size):
            out = _box(size)
        case Mesh():
            out = _mesh(geometry)
        case Heightfield():
            out = _smooth(geometry.vertices.copy(), geometry.faces.copy())
        case Plane(normal):
            out = _plane(normal)
    for part in out:
        part.setflags(write=False)
    return out


def _arc(radius: float, z: float, start: float, end: float, steps: int) -> tuple[Array, Array]:
    """Points (distance from the axis, height) and normals along an arc of a circle with the centre (0, z)."""
    angle = np.linspace(start, end, max(steps, 2) + 1)
    normal = np.stack([np.cos(angle), np.sin(angle)], 1)
    return radius * normal + (0.0, z), normal


def _lathe(profile: Array, normals: Array, segments: int) -> Triangles:
    """The surface of revolution about z of a profile (k, 2): (distance from the axis, height), from low to high."""
    angle = np.linspace(0.0, 2 * math.pi, segments, endpoint=False)
    turn = np.stack([np.cos(angle), np.sin(angle)], 1)

    def around(rows: Array) -> Array:
        flat = np.empty((len(rows), segments, 3))
        flat[..., :2] = rows[:, :1, None] * turn
        flat[..., 2] = rows[:, 1:]
        return flat.reshape(-1, 3)

    ring, step = np.arange(segments), np.arange(len(profile) - 1)[:, None] * segments
    a, b = step + ring, step + (ring + 1) % segments
    lower, upper = np.stack([a, b, b + segments], -1), np.stack([a, b + segments, a + segments], -1)
    faces = np.concatenate([lower, upper]).reshape(-1, 3)
    vertices = around(profile)
    return Triangles(vertices, around(normals), _with_area(vertices, faces))


def _with_area(vertices: Array, faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """The faces whose area is not zero; at the poles of a surface of revolution every second one collapses."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    whole: NDArray[np.int64] = faces[twice > 1e-9 * float(twice.max(initial=0.0))]
    return whole


def _cylinder(radius: float, length: float, segments: int) -> Triangles:
    # Each edge has two normals, so the profile passes it twice; the step between them has no area.
    h = length / 2
    profile = np.array([[0.0, -h], [radius, -h], [radius, -h], [radius, h], [radius, h], [0.0, h]])
    normals = np.array([[0.0, -1.0], [0.0, -1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    return _lathe(profile, normals, segments)


def _box(size: tuple[float, float, float]) -> Triangles:
    vertices: list[Array] = []
    normals: list[Array] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            n, u = np.zeros(3), np.zeros(3)
            n[axis], u[(axis + 1) % 3] = sign, 1.0
            v = np.cross(n, u)
            first = len(vertices)
            vertices += [(n + su * u + sv * v) * size / 2 for su, sv in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            normals += [n] * 4
            faces += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return Triangles(np.array(vertices), np.array(normals), np.array(faces, np.int64))


def _smooth(vertices: Array, faces: NDArray[np.int64]) -> Triangles:
    """With vertex normals that are means of the normals of adjacent faces, weighted by area."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(normals, faces[:, k], np.cross(b - a, c - a))
    return Triangles(vertices, normals / np.linalg.norm(normals, axis=1, keepdims=True), faces)


def _plane(normal: tuple[float, float, float], half: float = 4.0, cells: int = 16) -> Triangles:
    """A square part of a plane, in cells, so that those behind the camera can be left out."""
    across = np.linspace(-half, half, cells + 1)
    flat = np.stack(np.meshgrid(across, across), -1).reshape(-1, 2)
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (x.reshape(-1) for x in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    vertices = flat @ so3.onto_z(normal)[:, :2].T
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return Triangles(vertices, np.tile(normal, (len(vertices), 1)), faces)


def _mesh(geometry: Mesh) -> Triangles:
    mesh, vertices, faces = read_mesh(geometry)
    normals = np.array(mesh.vertex_normals, float) / np.array(geometry.scale)
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(size > 0, normals / np.where(size > 0, size, 1.0), (0.0, 0.0, 1.0))
    return Triangles(vertices, normals, faces)
