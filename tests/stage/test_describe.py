"""What the page is told of a figure."""

from __future__ import annotations

from dataclasses import replace

from bunraku.figure import Sphere, library
from bunraku.figure.shape import Shape
from bunraku.stage import describe


def test_shapes_for_collisions_only_are_not_drawn() -> None:
    arm = library.arm3d()
    hull = Shape(arm.shapes[0].frame, Sphere(0.3), visible=False)
    meshes: dict[str, bytes] = {}
    plain, hidden = (describe.figure(f, meshes) for f in (arm, arm.replace(shapes=(hull, *arm.shapes))))  # type: ignore[arg-type]
    assert hidden["shapes"] == plain["shapes"]
    shown = describe.figure(arm.replace(shapes=(replace(hull, visible=True), *arm.shapes)), meshes)  # type: ignore[arg-type]
    assert len(shown["shapes"]) == len(plain["shapes"]) + 1
