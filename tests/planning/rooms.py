"""Small worlds for the tests of geometric planning."""

from __future__ import annotations

from bunraku.collision import World
from bunraku.figure import Box
from bunraku.figure.build import box, figure, rz, tx, ty
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.scene import Obstacle, Scene


def cart():
    return figure("cart", tx("x", ty("y", rz("turn", box((0.6, 0.2, 0.2), at=(0, 0, 0.2))))))


def wall(*, door: float = 0.5) -> Scene:
    """Across the room at x = 0, with a door about y = 1."""
    right, left = 1.0 - door / 2, 1.0 + door / 2
    sides = [Obstacle(f"wall{a}", Box((0.1, b - a, 1.0)), (0.0, (a + b) / 2, 0.5)) for a, b in ((-2.0, right), (left, 2.0))]
    return Scene("room", tuple(sides))


def space(scene: Scene | None = None, **words) -> FreeSpace:
    world = World(cart(), wall() if scene is None else scene)
    return FreeSpace(world, bounds={"x": (-2.0, 2.0), "y": (-2.0, 2.0)}, **words)
