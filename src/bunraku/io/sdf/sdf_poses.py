"""Where the links, joints and frames of an SDF model are: poses may be relative to any of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import did_you_mean
from bunraku.io import xml_text
from bunraku.io.xml_text import Element
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


class ModelPoses:
    """The poses of everything that has a name in a <model>, in the axes of the model.

    model: the element
    """

    def __init__(self, model: Element) -> None:
        self.elements: dict[str, Element] = {}
        for tag in ("link", "joint", "frame"):
            self.elements |= xml_text.named(model, tag)
        self._known: dict[str, Array] = {"__model__": np.eye(4)}
        self._open: list[str] = []

    def X(self, name: str, asker: Element) -> Array:
        """X_MN of what is called `name`; raises FileError, which points at `asker`, if there is none or poses form a cycle."""
        if name in self._known:
            return self._known[name]
        if name not in self.elements:
            raise asker.error(f"no link, joint or frame is called {name[:80]!r}", advice=did_you_mean(name, self.elements))
        if name in self._open:
            raise asker.error(f"the pose of {name[:80]!r} is relative to itself", advice="poses may not form a cycle")
        self._open.append(name)
        element = self.elements[name]
        default = {"link": "__model__", "joint": child_of(element), "frame": element.attributes.get("attached_to", "")}[element.tag]
        self._known[name] = self.placed(element, default or "__model__")
        self._open.pop()
        return self._known[name]

    def placed(self, element: Element, default: str) -> Array:
        """X_MN of the <pose> of an `element`, which is relative to `default` unless it says otherwise."""
        pose = element.child("pose")
        base = default if pose is None else pose.attributes.get("relative_to", "") or default
        return np.asarray(self.X(base, pose or element) @ local_pose(element))


def child_of(joint: Element) -> str:
    """The name of the child link of a `joint`."""
    element = joint.child("child")
    return "" if element is None else element.text.strip()


def local_pose(element: Element) -> Array:
    """X of the <pose> of an `element`, relative to whatever it is relative to; the identity where there is none."""
    pose = element.child("pose")
    if pose is None or not pose.text.strip():
        return np.eye(4)
    if pose.attributes.get("rotation_format") == "quat_xyzw":
        *position, x, y, z, w = pose.inner(7)
        if not math.hypot(w, x, y, z) > 1e-9:
            raise pose.error("the quaternion is zero", advice="no rotation is 0 0 0 1")
        return se3.pose(position, (w, x, y, z))
    *position, roll, pitch, yaw = pose.inner(6)
    unit = math.pi / 180.0 if pose.attributes.get("degrees", "false").strip() in ("true", "1") else 1.0
    return se3.pose(position, so3.rpy(roll * unit, pitch * unit, yaw * unit))
