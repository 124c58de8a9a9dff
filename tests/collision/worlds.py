"""Shapes, meshes and scenes for the tests of collision, made in code."""

from __future__ import annotations

from pathlib import Path

import coal
import numpy as np
import trimesh

from bunraku.collision.coal_shapes import solid
from bunraku.figure import Box, Capsule, Cylinder, Figure, Frame, Mesh, Shape, Sphere, Variable
from bunraku.kinematics import pose
from bunraku.scene import Obstacle, Scene
from bunraku.spatial import se3, so3


def saved(mesh: trimesh.Trimesh, folder: Path, name: str) -> Mesh:
    path = folder / f"{name}.stl"
    mesh.export(path)
    return Mesh(str(path))


def geometries(folder: Path) -> dict:
    """One of each kind, of a hand's size."""
    pebble = trimesh.creation.icosphere(subdivisions=1, radius=0.12)
    pebble.apply_scale([1.0, 0.7, 0.5])
    ring = trimesh.creation.torus(0.15, 0.04, major_sections=24, minor_sections=12)
    return {
        "sphere": Sphere(0.1),
        "capsule": Capsule(0.05, 0.2),
        "cylinder": Cylinder(0.07, 0.2),
        "box": Box((0.2, 0.1, 0.15)),
        "pebble": saved(pebble, folder, "pebble"),  # convex
        "ring": saved(ring, folder, "ring"),  # not convex
    }


def flying(geometry: object, name: str = "flyer") -> Figure:
    """A shape that goes anywhere, off its own axes."""
    letters = ("tx", "ty", "tz", "rz", "ry", "rx")
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    frames, parent = [], "world"
    for letter in letters:
        motion = "translate" if letter[0] == "t" else "rotate"
        frames.append(Frame(letter, parent, variable=Variable(letter, motion, axes[letter[1]])))
        parent = letter
    shape = Shape(parent, geometry, (0.02, -0.01, 0.03), tuple(so3.quaternion(so3.rpy(0.3, -0.4, 0.5))), name=name)
    return Figure(name, tuple(frames), shapes=(shape,))


Placed = tuple[object, coal.Transform3s]


def flown(figure: Figure, q: np.ndarray) -> Placed:
    """The figure's only shape, where it is at q."""
    shape = figure.shapes[0]
    X = pose(figure, q).X(shape.frame) @ se3.pose(shape.position, shape.rotation)
    return shape.geometry, coal.Transform3s(X[:3, :3], X[:3, 3])


def stood(obstacle: Obstacle) -> Placed:
    return obstacle.geometry, coal.Transform3s(so3.matrix(obstacle.rotation), np.array(obstacle.position))


def with_coal(a: Placed, b: Placed) -> float:
    """The distance, from coal alone."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    return float(coal.distance(solid(a[0]).coal, a[1], solid(b[0]).coal, b[1], request, result))


def clutter(triangles: int, *, seed: int = 0, size: float = 3.0) -> trimesh.Trimesh:
    """Balls, rings and bricks lying about in a room."""
    rng = np.random.default_rng(seed)
    parts, total = [], 0
    while total < triangles:
        kind = rng.integers(3)
        if kind == 0:
            part = trimesh.creation.icosphere(subdivisions=3, radius=rng.uniform(0.05, 0.25))
        elif kind == 1:
            part = trimesh.creation.torus(rng.uniform(0.1, 0.3), rng.uniform(0.02, 0.05))
        else:
            part = trimesh.creation.box(rng.uniform(0.1, 0.5, 3)).subdivide().subdivide().subdivide()
        part.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
        part.apply_translation(rng.uniform([-size, -size, 0.0], [size, size, 2.5]))
        parts.append(part)
        total += len(part.faces)
    return trimesh.util.concatenate(parts)


def room(*obstacles: Obstacle, floor: float | None = None) -> Scene:
    return Scene("room", obstacles, floor)
