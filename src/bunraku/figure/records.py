"""How a figure is laid out for kernels: records of its joints, points, links and forces, and the tuple of arrays that they take.

Nothing else stands here: kernels are compiled anew when the layout changes, not when the way to it does.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

JOINT = np.dtype(
    [
        ("parent", "i8"), ("q", "i8"), ("kind", "i8"), ("turned", "i8"),  # kind: 0–2 turns about x, y, z; 3–5 slides
        ("mass", "f8"), ("pitch", "f8"), ("armature", "f8"), ("damping", "f8"), ("stiffness", "f8"), ("rest", "f8"),
        ("p", "f8", 3), ("com", "f8", 3), ("inertia", "f8", 6), ("R", "f8", (3, 3)),  # inertia: xx xy xz yy yz zz
    ],
    align=True,
)  # fmt: skip
POINT = np.dtype([("joint", "i8"), ("w", "f8"), ("x", "f8", 3)], align=True)  # w = 0: a direction, not a point
LINK = np.dtype(  # one scalar equation or inequality between points, or a spring along the way between them
    [
        ("kind", "i8"), ("first", "i8"), ("count", "i8"), ("pulls", "i8"), ("variable", "i8"), ("normal", "i8"),
        ("length", "f8"), ("ratio", "f8"), ("friction", "f8"), ("stiffness", "f8"), ("damping", "f8"),
    ],
    align=True,
)  # fmt: skip
FORCE = np.dtype([("joint", "i8"), ("link", "i8"), ("turns", "i8"), ("gain", "f8")], align=True)  # an effort or a push
LENGTH, PLANE, SLIP = 0, 1, 2  # kinds of link; a slip is a displacement along a plane, held by friction at its `normal`

# What kernels take. `shape` is (dynamic variables, variables, massive joints, links).
Tree = namedtuple("Tree", "shape gravity joints chain points links support elimination springs spring_support forces balls")
