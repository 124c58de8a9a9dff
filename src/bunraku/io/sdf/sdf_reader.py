"""SDF → Figure.

A link becomes a frame of the same name, and a joint the variables that move its child's frame. A joint that closes a loop becomes a
closure. What a figure cannot hold is left out and named in one `BunrakuWarning`; a contradiction is a `FileError`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import did_you_mean
from bunraku.figure import WORLD, Body, Closure, Figure, Frame, Joint, Point, Shape, Variable
from bunraku.figure.frame import AXES, JOINT_MOTIONS, ORIGIN, Vector
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.sdf.sdf_joint import joint_axis, joint_variables
from bunraku.io.sdf.sdf_links import as_urdf
from bunraku.io.sdf.sdf_poses import ModelPoses, child_of, local_pose
from bunraku.io.urdf.urdf_link import Links
from bunraku.io.xml_text import Element
from bunraku.spatial import se3, so3
from bunraku.spatial.so3 import IDENTITY, Quaternion

Array = NDArray[np.float64]
PathLike = str | os.PathLike[str]


def load_sdf(
    path: PathLike, *, model: str | None = None, packages: Sequence[PathLike] = (), need_meshes: bool = False
) -> Figure:  # fmt: skip
    """The figure of a model in the SDF file at `path`.

    model: which one, where the file has several
    packages: folders in which model://NAME/… and package://NAME/… are looked for, before the folders above the file
    need_meshes: whether a mesh that is not found is an error; otherwise it is left out

    A link that no joint holds moves freely, unless the model is static. Every joint starts where the file places it.
    Raises FileError, which points at the fault; warns once of everything that was left out.
    """
    root = xml_text.read(path, root="sdf")
    chosen = _model(root, model)
    leftovers = Leftovers(root.source.path)
    for child in chosen.children:
        if child.tag not in ("pose", "link", "joint", "frame", "static", "self_collide", "allow_auto_disable", "enable_wind"):
            leftovers.add("elements left out", f"model/{child.tag}")
    links = Links(as_urdf(chosen, leftovers), Path(path), [Path(p) for p in packages], need_meshes, leftovers)
    tree = _SdfTree(chosen, links, leftovers, root.number("version", 1.6))
    name = chosen.attributes.get("name", "").strip() or Path(path).stem or "model"
    with chosen.blamed():
        figure = Figure(
            name, tuple(tree.frames), bodies=tuple(tree.bodies), shapes=tuple(tree.shapes), groups=tuple(tree.groups),
            closures=tuple(tree.closures),
        )  # fmt: skip
    leftovers.warn(stacklevel=2)
    return figure


def _model(root: Element, name: str | None) -> Element:
    """The <model> called `name`, or the only one, of the file or of its worlds."""
    models = [*root.all("model"), *(model for world in root.all("world") for model in world.all("model"))]
    known = [model.attributes.get("name", "") for model in models]
    if name is None and len(models) == 1:
        return models[0]
    if not models:
        raise root.error("the file has no <model>", advice="is it a world that includes its models from elsewhere?")
    if name is None or name not in known:
        advice = did_you_mean(name, known) if name else f"choose one: model={' or '.join(map(repr, known[:8]))}"
        raise root.error(f"no model is called {name!r}" if name else f"the file has {len(models)} models", advice=advice)
    return models[known.index(name)]


class _SdfTree:
    """Frames, parents first, with what is fixed in them."""

    def __init__(self, model: Element, links: Links, leftovers: Leftovers, version: float) -> None:
        self.model, self.links, self.leftovers, self.version = model, links, leftovers, version
        self.poses = ModelPoses(model)
        self.frames: list[Frame] = []
        self.groups: list[Joint] = []
        self.bodies: list[Body] = []
        self.shapes: list[Shape] = []
        self.closures: list[Closure] = []
        self.frame_of: dict[str, str] = {WORLD: WORLD}
        below: dict[str, list[Element]] = {}
        above: dict[str, Element] = {}
        loops: list[Element] = []
        for joint in xml_text.named(model, "joint").values():
            if joint.word("type") == "gearbox":
                leftovers.add("gearbox joints, whose links now move on their own", joint.word("name"))
                continue
            parent, child = self._end(joint, "parent"), self._end(joint, "child")
            if child in above or child == WORLD:
                loops.append(joint)
            else:
                above[child] = joint
                below.setdefault(parent, []).append(joint)
        if not links.elements:
            raise model.error("the model has no link", advice='add <link name="base"/>')
        self._grow(above, below)
        for joint in loops:
            self._close(joint)

    def _end(self, joint: Element, end: str) -> str:
        element = joint.needed(end, advice=f"add <{end}>…</{end}>")
        name = element.text.strip()
        if name not in self.links.elements and name != WORLD:
            raise element.error(f"no link is called {name[:80]!r}", advice=did_you_mean(name, self.links.elements))
        return name

    def _grow(self, above: dict[str, Element], below: dict[str, list[Element]]) -> None:
        static = self.model.child("static")
        held = static is not None and static.text.strip() in ("1", "true")
        for link, element in self.links.elements.items():
            if link not in above:
                self._base(link, element, held)
        stack = [joint for parent in (WORLD, *(link for link in self.links.elements if link not in above))
                 for joint in below.get(parent, [])][::-1]  # fmt: skip
        while stack:
            joint = stack.pop()
            self._joint(joint)
            stack.extend(reversed(below.get(child_of(joint), [])))
        lost = next((joint for link, joint in above.items() if link not in self.frame_of), None)
        if lost is not None:
            raise lost.error("the joints form a cycle", advice="one link must be the child of no joint")

    def _base(self, link: str, element: Element, held: bool) -> None:
        """A link that no joint holds: fixed in a static model, or free."""
        X = local_pose(self.model) @ self.poses.X(link, element)
        if held:
            self.frames.append(Frame(link, WORLD, *_place(X)))
        else:
            z, y, x = so3.angles_zyx(X[:3, :3]).tolist()
            start = dict(zip(JOINT_MOTIONS["free"], (*X[:3, 3].tolist(), z, y, x), strict=True))
            self._chain(link, WORLD, [
                Variable(f"{link}_{letter}", "rotate" if letter[0] == "r" else "translate", AXES[letter[1]], start=start[letter])
                for letter in JOINT_MOTIONS["free"]
            ], np.eye(4), "free")  # fmt: skip
        self._attach(link, link)

    def _joint(self, joint: Element) -> None:
        """The frames from the parent to the joint, its variables, and the frame of the child."""
        parent, child = self._end(joint, "parent"), self._end(joint, "child")
        X_MP = se3.inverse(local_pose(self.model)) if parent == WORLD else self.poses.X(parent, joint)
        X_MC, X_MJ = self.poses.X(child, joint), self.poses.X(joint.word("name"), joint)
        variables = joint_variables(joint, self.poses, self.version, self.leftovers)
        with joint.blamed():
            if not variables:
                self.frames.append(Frame(child, self.frame_of[parent], *_place(se3.inverse(X_MP) @ X_MC)))
            else:
                X_JC = se3.inverse(X_MJ) @ X_MC
                apart = float(np.abs(X_JC - np.eye(4)).max()) > 1e-12
                last = f"{child}_joint" if apart else child
                kind = "ball" if joint.word("type") == "ball" else None
                self._chain(last, self.frame_of[parent], variables, se3.inverse(X_MP) @ X_MJ, kind)
                if apart:
                    self.frames.append(Frame(child, last, *_place(X_JC)))
        self._attach(child, child)

    def _chain(self, frame: str, parent: str, variables: list[Variable], X: Array, kind: str | None) -> None:
        """A frame for each variable; the last is called `frame`."""
        own: list[str] = []
        for k, variable in enumerate(variables):
            name = frame if k == len(variables) - 1 else f"{frame}_{variable.name.rpartition('_')[2]}"
            place = _place(X) if k == 0 else (ORIGIN, IDENTITY)
            self.frames.append(Frame(name, parent, *place, variable))
            own.append(name)
            parent = name
        if kind is not None:
            self.groups.append(Joint(frame, kind, tuple(own)))  # type: ignore[arg-type]

    def _attach(self, link: str, frame: str) -> None:
        self.frame_of[link] = frame
        bodies, shapes = self.links.attached(link, frame)
        self.bodies += bodies
        self.shapes += shapes

    def _close(self, joint: Element) -> None:
        """A joint whose child another joint moves already: two points meet, and two axes where it is a hinge."""
        kind, name = joint.word("type"), joint.word("name")
        if kind not in ("revolute", "continuous", "ball", "fixed"):
            self.leftovers.add("joints that close a loop and are not revolute, ball or fixed", name)
            return
        X_MJ = self.poses.X(name, joint)
        if kind in ("revolute", "continuous"):
            axis = joint_axis(joint, joint.needed("axis"), self.poses, self.version)
            X_MJ = X_MJ @ se3.pose(rotation=so3.onto_z(axis))
        ends = []
        for end in ("parent", "child"):
            link = self._end(joint, end)
            X_ML = se3.inverse(local_pose(self.model)) if link == WORLD else self.poses.X(link, joint)
            self.frames.append(Frame(f"{name}_{end}", self.frame_of[link], *_place(se3.inverse(X_ML) @ X_MJ)))
            ends.append(Point(f"{name}_{end}"))
        closure = {"ball": "point", "fixed": "weld"}.get(kind, "hinge")
        self.closures.append(Closure(name, ends[0], ends[1], closure))  # type: ignore[arg-type]


def _place(X: Array) -> tuple[Vector, Quaternion]:
    x, y, z = X[:3, 3].tolist()
    a, b, c, d = so3.quaternion(X[:3, :3]).tolist()
    return (x, y, z), (a, b, c, d)
