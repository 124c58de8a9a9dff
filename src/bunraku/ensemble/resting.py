"""Resting: what an object lies on, and whether it stays there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World, triangle_meshes
from bunraku.collision.pair_rows import rows, settled
from bunraku.collision.world_arrays import MODE
from bunraku.ensemble.grips import pose_of
from bunraku.ensemble.members import Carried
from bunraku.figure.build import Attached, figure, tx, ty, tz
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.kinematics.balance import margin, support_polygon
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RestingOptions:
    """When an object counts as lying."""

    gap: float = 0.005
    """Points of it that are as near as this to something below bear it [m]."""
    depth: float = 0.001
    """As deep as this it may be in what bears it [m]."""
    inside: float = 0.01
    """Distance of its centre of mass from the edge of what bears it, seen from above [m]."""
    lifted: float = 0.06
    """While hands lower it to what bears it, or lift it, it may be as far as this from where it lies [m]."""
    spacing: float = 0.05
    """Distance between points of its surface that are tested [m]."""


def lies(carried: Carried, held: Array, scene: Scene, *, options: RestingOptions = RestingOptions()) -> tuple[tuple[str, ...], str]:
    """The names of what an object at `held` (x, y, z, yaw, pitch, roll) lies on in a `scene`, and why it does not stay there.

    carried: the object
    options: when it counts as lying

    The reason is empty if it stays.
    """
    X, size = pose_of(held), 1e-3
    points = np.concatenate([_points(shape, options.spacing) for shape in carried.shapes]) @ X[:3, :3].T + X[:3, 3]
    ball = Attached(shapes=(Shape("world", Sphere(size), name="point"),))
    world = World(figure("point", tx("x", ty("y", tz("z", ball)))), scene)
    raised = points + np.array([0.0, 0.0, size])
    found = settled(world.narrow, raised, rows(world.flat, raised, within=options.gap, mode=MODE.all))
    on = tuple(dict.fromkeys(world.things[int(k)].part for k in found.ints[:, 2]))
    if not len(found):
        return on, "nothing is below it"
    if found.value.min() < -options.depth:
        return on, f"it is {-1e3 * found.value.min():.3g} mm deep in {on[0]}"
    centre = X[:3, :3] @ np.array(carried.centre) + X[:3, 3]
    bearing = points[np.unique(found.sample)][:, :2]
    inside = margin(support_polygon(bearing), centre[:2]) if len(bearing) > 2 else -np.inf
    return on, "" if inside >= options.inside else "it tips over: its centre of mass is not over what bears it"


def _points(shape: Shape, spacing: float) -> Array:
    """Points (n, 3) of a shape, in the object's frame."""
    match shape.geometry:
        case Box(size):
            grids = [np.linspace(-0.5 * s, 0.5 * s, max(int(s / spacing), 1) + 1) for s in size]
            own = np.stack(np.meshgrid(*grids, indexing="ij"), -1).reshape(-1, 3)
            own = own[(np.abs(np.abs(own) - 0.5 * np.array(size)) < 1e-9).any(1)]
        case Cylinder(radius, length):
            angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
            ring = radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], 1)
            own = np.concatenate([ring + np.array([0.0, 0.0, z]) for z in (-0.5 * length, 0.5 * length)])
        case Sphere(radius):
            own = radius * np.concatenate([np.eye(3), -np.eye(3)])
        case Capsule(radius, length):
            ball = radius * np.concatenate([np.eye(3), -np.eye(3)])
            own = np.concatenate([ball + np.array([0.0, 0.0, z]) for z in (-0.5 * length, 0.5 * length)])
        case Mesh():
            own = np.asarray(triangle_meshes.load(shape.geometry).vertices)
    return np.asarray(se3.transform(se3.pose(shape.position, shape.rotation), own))
