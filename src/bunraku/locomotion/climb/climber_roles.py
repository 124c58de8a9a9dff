"""Roles: which frames of a figure are its feet and its trunk, and which variables bend its waist and carry its tail."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure.figure import Figure
from bunraku.kinematics.forward import Pose


@dataclass(frozen=True)
class ClimberRoles:
    """What the parts of a climber are for. Its first joint must be a free one."""

    feet: tuple[str, ...]
    """Frames at the centres of the feet, in pairs from front to rear, the left one first. A foot on a ball joint turns freely."""
    trunk: tuple[str, ...]
    """Frames on the body, from front to rear; they keep their heights over the surface."""
    bends: tuple[str, ...] = ()
    """Variables that bend the waist to the sides, once per cycle."""
    tail: tuple[str, ...] = ()
    """Variables that raise the tail, from its root to its tip; larger values raise it."""
    lean: float = math.pi / 2.0
    """How far a leg may lean over its foot: the largest angle between the link above an ankle and the foot's normal [rad]."""

    def check(self, figure: Figure) -> None:
        """Raises FigureError if the `figure` has no such parts."""

        def refused(message: str, advice: str) -> FigureError:
            return FigureError(message, kind="figure", name=figure.name, advice=advice)

        advice = "climb with a gecko, or name the feet and the trunk of this figure under `roles`"
        for name in (*self.feet, *self.trunk):
            if name not in figure.frame_index:
                raise refused(f"no frame {name!r}", advice)
        for name in (*self.bends, *self.tail):
            if name not in figure.names:
                raise refused(f"no variable {name!r}", advice)
        if len(self.feet) < 4 or len(self.feet) % 2:
            raise refused(f"{len(self.feet)} feet", "a climber has four, six or more feet, in pairs")
        if not 0.0 < self.lean <= math.pi:
            raise refused(f"a lean of {self.lean:g} rad", "give an angle above 0° and of at most 180°")
        if not self.trunk:
            raise refused("no trunk", advice)
        if not figure.groups or figure.groups[0].kind != "free" or figure.variables[0].motion != "translate":
            raise refused("its first joint is not free", "give its root a free joint, so that it can move")

    def _joint(self, figure: Figure, foot: str) -> tuple[str, ...]:
        return next((joint.frames for joint in figure.groups if joint.kind == "ball" and foot in joint.frames), ())

    def ankles(self, figure: Figure) -> tuple[tuple[int, ...], ...]:
        """For every foot of the `figure` on a ball joint, the indices of its three variables."""
        frames, found = {f.name: f for f in figure.frames}, []
        for foot in self.feet:
            own = [frames[name].variable for name in self._joint(figure, foot)]
            if own:
                found.append(tuple(figure.names.index(v.name) for v in own if v is not None))
        if found and len(found) < len(self.feet):
            advice = "give all feet ball joints, or none"
            raise FigureError("some feet turn freely, others do not", kind="figure", name=figure.name, advice=advice)
        return tuple(found)

    def holders(self, figure: Figure) -> tuple[str, ...]:
        """The frame of the `figure` that carries each foot: the link above its ball joint, or the foot itself."""
        parent = {f.name: f.parent for f in figure.frames}
        return tuple(parent[own[0]] if (own := self._joint(figure, foot)) else foot for foot in self.feet)

    def leg(self, figure: Figure, standing: Pose) -> float:
        """Length of the first leg of the `figure` in its `standing` pose, from joint to joint between trunk and foot [m]."""
        return sum(float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(self.leg_joints(figure, standing)))

    def leg_joints(self, figure: Figure, standing: Pose) -> list[NDArray[np.float64]]:
        """Places (3,) of the first foot of the `figure` and of the joints of its leg, up to the trunk, when `standing` [m]."""
        parent, moved = {f.name: f.parent for f in figure.frames}, {f.name for f in figure.frames if f.variable is not None}
        body: set[str] = set()
        for name in self.trunk:
            while name in parent:
                body.add(name)
                name = parent[name]
        places: list[NDArray[np.float64]] = []
        name = self.feet[0]
        while name in parent and name not in body:
            if not places or name in moved:
                places.append(standing.X(name)[:3, 3])
            name = parent[name]
        return places


GECKO_ROLES = ClimberRoles(
    ("front_left_foot", "front_right_foot", "rear_left_foot", "rear_right_foot"), ("neck", "waist", "bottom"), ("waist_yaw",),
    ("tail",), math.radians(80.0),
)  # fmt: skip
"""The roles of the library's gecko."""
