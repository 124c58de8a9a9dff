"""How a figure stands at rest: all rotations 0, all slides at their start."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.frame import WORLD
from bunraku.figure.shape import Box, Capsule, Cylinder, Shape, Sphere
from bunraku.kinematics.anatomy import Anatomy, BodyPart
from bunraku.kinematics.forward import frames_along
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stance:
    """A figure's frames at rest, and its proportions."""

    anatomy: Anatomy

    @property
    def figure(self) -> Figure:
        """The figure."""
        return self.anatomy.figure

    @cached_property
    def frames(self) -> Array:
        """X_WF at rest, (n, 4, 4)."""
        turning = [v.motion in ("rotate", "screw") for v in self.figure.variables]
        return np.asarray(frames_along(self.figure, np.where(turning, 0.0, self.figure.start)[None])[0])

    def X(self, frame: str) -> Array:
        """X_WF of a `frame` at rest, (4, 4)."""
        return np.eye(4) if frame == WORLD else self.frames[self.figure.frame_index[frame]]

    def where(self, part: BodyPart) -> Array | None:
        """The position at which a `part` begins, (3,) [m]; None if the figure has no such part."""
        place = self.anatomy.places.get(part)
        return None if place is None else self.X(place)[:3, 3]

    def bone(self, part: BodyPart) -> Array | None:
        """The vector from the start of a `part` to the start of the next, (3,) [m]; None if one of them is missing."""
        start, end = self.where(part), None if part.below is None else self.where(part.below)
        return None if start is None or end is None or np.allclose(start, end) else end - start

    @cached_property
    def axes(self) -> Array:
        """Directions right, front and up as columns; the world's axes where left and right are not known."""
        for name in ("thigh", "upper_arm", "shin", "forearm", "foot", "hand"):
            left, right = (self.where(BodyPart(side, name)) for side in ("left", "right"))
            if left is not None and right is not None and np.linalg.norm((right - left)[:2]) > 1e-9:
                across = (right - left) * (1, 1, 0)
                across /= np.linalg.norm(across)
                up = np.array([0.0, 0.0, 1.0])
                return np.stack([across, np.cross(up, across), up], 1)
        return np.eye(3)

    def hips(self, X: Array) -> Array | None:
        """The middle between the thighs' joints, for frames `X` (…, n, 4, 4); None where there are not two."""
        places = [self.anatomy.places.get(BodyPart(side, "thigh")) for side in ("left", "right")]
        found = [X[..., self.figure.frame_index[place], :3, 3] for place in places if place is not None]
        return np.mean(found, axis=0) if len(found) == 2 else None

    @cached_property
    def leg(self) -> float | None:
        """From the hip's joint to the sole, with the knee straight [m]."""
        lengths = []
        for side in ("left", "right"):
            bones = [self.bone(BodyPart(side, name)) for name in ("thigh", "shin")]
            ankle = self.where(BodyPart(side, "foot"))
            if ankle is not None and bones[0] is not None and bones[1] is not None:
                lengths.append(sum(float(np.linalg.norm(b)) for b in bones if b is not None) + ankle[2] - self.lowest)
        return float(np.mean(lengths)) if lengths else None

    @cached_property
    def lowest(self) -> float:
        """Height of the lowest point of the body [m]."""
        root = self._hanging
        heights = [self.X(frame)[2, 3] for frame in root]
        return float(min([*heights, *(bottom(s, self.X(s.frame)) for s in self.figure.shapes if s.frame in root)], default=0.0))

    @cached_property
    def height(self) -> float:
        """From the lowest point to the highest frame [m]."""
        heights = [self.X(frame)[2, 3] for frame in self._hanging]
        return float(max(heights, default=0.0) - self.lowest)

    @cached_property
    def _hanging(self) -> set[str]:
        """Frames of the trees that contain parts of the body, without spindles and the like."""
        top = {WORLD: ""}
        for frame in self.figure.frames:
            top[frame.name] = frame.name if frame.parent == WORLD else top[frame.parent]
        body = {top[frames[-1]] for frames in self.anatomy.joints.values()}
        return {frame.name for frame in self.figure.frames if not body or top[frame.name] in body}


def bottom(shape: Shape, X: Array) -> float:
    """Height of the lowest point of a `shape` [m] whose frame is at `X` (4, 4); of a mesh, that of its origin."""
    centre = X[2, :3] @ shape.position + X[2, 3]
    down = X[2, :3] @ so3.matrix(shape.rotation)  # height of each of the shape's own axes
    reach = 0.0
    match shape.geometry:
        case Sphere(radius):
            reach = radius
        case Capsule(radius, length):
            reach = radius + abs(down[2]) * length / 2
        case Cylinder(radius, length):
            reach = float(np.hypot(down[0], down[1])) * radius + abs(down[2]) * length / 2
        case Box(size):
            reach = float(np.abs(down) @ size) / 2
    return float(centre - reach)
