"""The nested notation, in which a marionette fits a page.

    from bunraku.figure.build import ball, capsule, figure, fixed, rx, spindle, string

    figure(
        "arm",
        ball("shoulder", capsule(0.03, to=(0, 0, -0.3), mass=0.4),
            rx("elbow", capsule(0.025, to=(0, 0, -0.25), mass=0.3), fixed("wrist", at=(0, 0, -0.25)), at=(0, 0, -0.3))),
        spindle("hand", at=(0, 0.2, 1.0)),
        strings=[string("hand", "wrist", "hand_spindle")],
    )

A node is a frame with the parts that are fixed in it and further nodes. Where a point is expected, the name of a frame stands
for its origin, and (frame, (x, y, z)) for a point in it.
"""

from bunraku.figure.build.assemble import figure, with_lengths
from bunraku.figure.build.attached import body, box, capsule, cylinder, mesh, sphere
from bunraku.figure.build.items import Attached, FrameNode, Item, under
from bunraku.figure.build.joins import (
    StringSpec,
    branch,
    closure,
    contact,
    drum,
    effort,
    eyelet,
    pulley,
    push,
    spring,
    string,
    wire,
)  # fmt: skip
from bunraku.figure.build.nodes import ball, fixed, free, rotate, rx, ry, rz, screw, spindle, translate, tx, ty, tz, variable
from bunraku.figure.build.places import PointLike, at_point

__all__ = [
    "Attached",
    "FrameNode",
    "Item",
    "PointLike",
    "StringSpec",
    "at_point",
    "ball",
    "body",
    "box",
    "branch",
    "capsule",
    "closure",
    "contact",
    "cylinder",
    "drum",
    "effort",
    "eyelet",
    "figure",
    "fixed",
    "free",
    "mesh",
    "pulley",
    "push",
    "rotate",
    "rx",
    "ry",
    "rz",
    "screw",
    "sphere",
    "spindle",
    "spring",
    "string",
    "translate",
    "tx",
    "ty",
    "tz",
    "under",
    "variable",
    "wire",
    "with_lengths",
]  # fmt: skip
