"""The layout of a figure for kernels: records of its joints, points, links and forces, and the tuple of arrays that kernels take.

The code that fills these arrays is elsewhere: all kernels are recompiled when this file changes.
"""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

JOINT_RECORD = np.dtype(
    [
        ("parent", "i8"),  # joint; −1 is the world
        ("variable", "i8"),  # its index in q
        ("kind", "i8"),  # 0–2 turns about x, y, z; 3–5 slides
        ("turned", "i8"),  # whether `rotation` is not the identity
        ("mass", "f8"), ("pitch", "f8"), ("armature", "f8"), ("damping", "f8"), ("stiffness", "f8"), ("rest", "f8"),
        ("position", "f8", 3), ("com", "f8", 3), ("inertia", "f8", 6), ("rotation", "f8", (3, 3)),  # inertia: xx xy xz yy yz zz
    ],
    align=True,
)  # fmt: skip
POINT_RECORD = np.dtype(
    [
        ("joint", "i8"), ("is_point", "f8"), ("position", "f8", 3),  # is_point: 1.0; 0.0 for a direction
        ("role", "i8"),  # a PointRole
        ("turn", "i8"),  # of a pulley or drum: the sense of its string about its axis; 0: as its side has it
        ("radius", "f8"),
        ("weight", "f8"),  # of the way from here to the next eyelet; 0 where a branch ends
    ],
    align=True,
)  # fmt: skip
LINK_RECORD = np.dtype(  # one scalar equation or inequality between points, or a spring between them
    [
        ("kind", "i8"),  # a LinkKind
        ("first", "i8"), ("count", "i8"),  # its points
        ("pulls", "i8"),  # whether it is an inequality: gap ≤ 0, tension ≥ 0
        ("variable", "i8"),  # the variable that winds this string, or that this joint limit stops; −1: none
        ("normal", "i8"),  # for a slip: the link of its contact, whose force times the friction bounds the slip's
        ("length", "f8"), ("ratio", "f8"), ("friction", "f8"),
        ("stiffness", "f8"), ("damping", "f8"),  # of a spring [N/m, N·s/m]; of an elastic string [N, N·s], 0 for one that is not
        ("frequency", "f8"),  # [rad/s] at which the mass on an elastic string oscillates, about
    ],
    align=True,
)  # fmt: skip
WAY_LAYERS = 6  # rows that each point of a string over pulleys has (see bunraku.kinematics.wrapping)
FORCE_RECORD = np.dtype([("joint", "i8"), ("link", "i8"), ("turns", "i8"), ("gain", "f8")], align=True)  # an effort or a push


class LinkKind(enum.IntEnum):
    """What a link measures."""

    LENGTH = 0
    """The length of a string, wire or spring."""
    PLANE = 1
    """The height of a point above a plane, or one row of a closure."""
    SLIP = 2
    """A displacement along a plane, held by friction at its `normal`; of five points: bunraku.kinematics.shared_slips."""
    WRAPPED = 3
    """The length of a string over pulleys, or of several branches."""
    FEATURES = 4
    """How far two bodies overlap, by a feature of each: points or lines with a radius (see bunraku.kinematics.feature_gaps)."""
    RIM = 5
    """How far the rim of a cylinder is below a plane; or overlaps a point, a line or another rim, with a radius around it."""
    DRAPED = 6
    """The length of a string that may lie on bodies (see bunraku.kinematics.draping)."""


class PointRole(enum.IntEnum):
    """What a point of a link is on the way of a string."""

    EYELET = 0
    """Any point, or a direction."""
    CYLINDER = 1
    """The centre of a pulley; its axis and its side point come next."""
    SPHERE = 2
    """The centre of a pulley; an axis that is not used and its side point come next."""
    DRUM = 3
    """The centre of a drum; its axis, and the direction of the string where the free length begins, come next."""
    SIDE = 4
    """The side point of a pulley that has one."""
    LAYERS = 5
    """Comes last where a drum winds in layers: nothing, carried by the joint that turns the drum. Its radius is how thick a layer
    is, its weight the angle after which one is full."""


class FigureTree(NamedTuple):
    """A figure as kernels take it. In `chain`, `support` and `elimination` a row holds a count, then so many numbers."""

    n_dynamic: int
    """Dynamic variables: the first of q."""
    n_q: int
    """All variables."""
    n_massive: int
    """Joints that move mass: the first of `joints`."""
    n_links: int
    way_rows: int
    """Rows of four numbers that the ways of all links take (see bunraku.kinematics.wrapping)."""
    gravity: NDArray[np.float64]
    """(3,) [m/s²]."""
    joints: Any
    """Records JOINT_RECORD, parents first."""
    chain: NDArray[np.int64]
    """Of each joint, how many joints carry it, itself included, and these, from itself to its root."""
    points: Any
    """Records POINT_RECORD: those of a link, one after the other."""
    links: Any
    """Records LINK_RECORD."""
    support: NDArray[np.int64]
    """Of each link, how many joints move it, and these."""
    elimination: NDArray[np.int64]
    """Of each dynamic variable, how many unknowns it meets when it is eliminated, and these (see bunraku.dynamics.kkt)."""
    springs: Any
    """Records LINK_RECORD: springs between points, then the pushes."""
    spring_support: NDArray[np.int64]
    """Of each spring, as `support`."""
    forces: Any
    """Records FORCE_RECORD."""
    balls: NDArray[np.int64]
    """The first joint of each dynamic ball joint."""
