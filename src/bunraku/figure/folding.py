"""Merges frames that do not move into the joints that carry them, and all bodies on one joint into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.force import Push
from bunraku.figure.frame import WORLD, Frame, Point, Vector
from bunraku.figure.mass import inertia_matrix
from bunraku.figure.records import JOINT_RECORD
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
Carried = tuple[int, float, Array]
"""A point or direction fixed to a joint: the joint, 1 for a point or 0 for a direction, and its coordinates in the joint's axes."""


def _onto_axis(axis: Vector) -> tuple[int, Array]:
    """The joint's own axis (0, 1 or 2) to move about, and the constant rotation that maps it onto `axis`."""
    for k in range(3):
        if axis[k] == 1.0:
            return k, np.eye(3)
    return 2, so3.onto_z(axis)


class Folding:
    """The joints of `figure`, with the frames that do not move merged into them."""

    def __init__(self, figure: Figure) -> None:
        order = self._massive_first(figure)
        self.number = {name: k for k, name in enumerate(order)}
        index = {name: k for k, name in enumerate(figure.names)}
        self.joints = np.zeros(len(order), JOINT_RECORD)
        self.carrier: dict[str, int] = {WORLD: -1}
        self.X: dict[str, Array] = {WORLD: np.eye(4)}
        for frame in figure.frames:
            X = self.X[frame.parent] @ se3.pose(frame.position, frame.rotation)
            if frame.variable is None:
                self.carrier[frame.name], self.X[frame.name] = self.carrier[frame.parent], X
                continue
            self._add(frame, self.number[frame.name], self.carrier[frame.parent], X, index[frame.variable.name])
        self._add_bodies(figure)
        self.order = order

    def _massive_first(self, figure: Figure) -> list[str]:
        """Names of the frames that move, parents first, those with mass (or a spring) below them before the others."""
        parent = {frame.name: frame.parent for frame in figure.frames}
        massive: set[str] = set()
        heavy = [body.frame for body in figure.bodies if body.mass > 0.0 or any(body.inertia)]
        heavy += [frame.name for frame in figure.frames if frame.variable is not None and frame.variable.armature > 0.0]
        # Springs and pushes, like masses, are evaluated at the middle of a step, so their joints count as massive.
        heavy += [at.frame for spring in figure.springs for at in (spring.a, spring.b)]
        heavy += [force.at.frame for force in figure.forces if isinstance(force, Push)]
        for name in heavy:
            while name != WORLD and name not in massive:
                massive.add(name)
                name = parent[name]
        moving = [frame.name for frame in figure.frames if frame.variable is not None]
        self.n_massive = sum(name in massive for name in moving)
        return [n for n in moving if n in massive] + [n for n in moving if n not in massive]

    def _add(self, frame: Frame, j: int, parent: int, X: Array, q: int) -> None:
        variable = frame.variable
        assert variable is not None
        axis, C = _onto_axis(variable.axis)
        slides = variable.motion == "translate"
        joint = self.joints[j]
        R = X[:3, :3] @ C
        joint["parent"], joint["variable"], joint["kind"] = parent, q, axis + 3 * slides
        joint["position"], joint["rotation"] = X[:3, 3], R
        joint["turned"] = int(not np.array_equal(R, np.eye(3)))
        joint["pitch"] = variable.pitch if variable.motion == "screw" else 0.0
        for field in ("armature", "damping", "stiffness", "rest"):
            joint[field] = getattr(variable, field)
        self.carrier[frame.name] = j
        self.X[frame.name] = se3.pose(rotation=C.T)

    def _add_bodies(self, figure: Figure) -> None:
        """Bodies on one joint are one body: masses add, inertias add by Steiner's theorem."""
        first = np.zeros((len(self.joints), 3))
        second = np.zeros((len(self.joints), 3, 3))
        for body in figure.bodies:
            j = self.carrier[body.frame]
            if j < 0:
                continue  # fixed in the world: it never moves
            X = self.X[body.frame]
            c = se3.transform(X, body.com)
            self.joints["mass"][j] += body.mass
            first[j] += body.mass * c
            second[j] += X[:3, :3] @ inertia_matrix(body.inertia) @ X[:3, :3].T + body.mass * _steiner(c)
        for j, joint in enumerate(self.joints):
            if joint["mass"] > 0.0:
                joint["com"] = first[j] / joint["mass"]
            I = second[j] - joint["mass"] * _steiner(joint["com"])
            joint["inertia"] = I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]

    def point(self, at: Point) -> Carried:
        """The point `at`, fixed to the joint that carries it."""
        return self.carrier[at.frame], 1.0, se3.transform(self.X[at.frame], at.position)

    def direction(self, frame: str, direction: Sequence[float]) -> Carried:
        """A `direction` in the axes of `frame`, fixed to the joint that carries it."""
        return self.carrier[frame], 0.0, self.X[frame][:3, :3] @ np.asarray(direction, float)

    def at_zero(self, frame: str) -> Array:
        """The axes of `frame` in the world where all variables are zero, (3, 3)."""
        R, j = self.X[frame][:3, :3], self.carrier[frame]
        while j >= 0:
            R, j = self.joints[j]["rotation"] @ R, int(self.joints[j]["parent"])
        return np.asarray(R)


def _steiner(c: Array) -> Array:
    """The inertia about the origin of a unit mass at c: |c|² 1 − c cᵀ."""
    return np.asarray(float(c @ c) * np.eye(3) - np.outer(c, c))
