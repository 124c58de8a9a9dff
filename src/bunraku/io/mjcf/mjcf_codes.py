"""MuJoCo's numbers for types, as its compiled model holds them, and the options of our MJCF writer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

PULLEY_SUFFIX = ":pulley"  # of the names of geoms that we write for pulleys alone


class JointType(IntEnum):
    """mjtJoint."""

    FREE = 0
    BALL = 1
    SLIDE = 2
    HINGE = 3


class GeomType(IntEnum):
    """mjtGeom, as far as geoms of a model have it."""

    PLANE = 0
    HEIGHTFIELD = 1
    SPHERE = 2
    CAPSULE = 3
    ELLIPSOID = 4
    CYLINDER = 5
    BOX = 6
    MESH = 7


class Transmission(IntEnum):
    """mjtTrn: what an actuator acts on."""

    JOINT = 0
    TENDON = 3
    SITE = 4


class WrapType(IntEnum):
    """mjtWrap: what a tendon runs over."""

    JOINT = 1
    PULLEY = 2
    SITE = 3
    SPHERE = 4
    CYLINDER = 5


class EqualityType(IntEnum):
    """mjtEq."""

    CONNECT = 0
    WELD = 1
    TENDON = 3


@dataclass(frozen=True)
class MjcfOptions:
    """Numbers for what MuJoCo can only approximate: kinematic variables, exact strings, contact points."""

    servo: float = 1e6
    """Stiffness of the servos that hold kinematic variables [N/m or N·m/rad]."""
    rotor: float = 100.0
    """Inertia added to kinematic variables, so that the figure cannot move them [kg or kg·m²]."""
    stretch: float = 1e-3
    """How far a wound string stretches under the weight of the whole figure [m]: a servo holds it, not a constraint."""
    contact_radius: float = 1e-3
    """Radius of the sphere that stands for a contact point, over a plane that is lower by as much [m]."""
    least_inertia: float = 1e-13
    """Mass [kg] and moment of inertia [kg·m²] of moving frames without a body; MuJoCo requires more than 1e-15."""
