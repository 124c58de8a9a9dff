"""URDF → Figure.

A link becomes a frame of the same name, and a joint the variable (or variables) that moves its child's frame.
What a figure cannot hold is left out and named in one `BunrakuWarning`; a contradiction is a `FileError`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from bunraku.errors import did_you_mean
from bunraku.figure import WORLD, Body, Figure, Frame, Joint, Shape
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.urdf.urdf_joint import base_frames, joint_frames
from bunraku.io.urdf.urdf_link import Links
from bunraku.io.xml_text import Element

PathLike = str | os.PathLike[str]

# The attributes, then the children, that the reader understands of every element.
_UNDERSTOOD = {
    "robot": ("name version", "link joint material"),
    "link": ("name type", "inertial visual collision"),
    "inertial": ("", "origin mass inertia"),
    "visual": ("name", "origin geometry material"),
    "collision": ("name", "origin geometry"),
    "joint": ("name type", "origin parent child axis limit dynamics mimic"),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
    "material": ("name", "color"),
}


def load(
    path: PathLike, *, floating_base: bool = False, packages: Sequence[PathLike] = (),
    need_meshes: bool = False,
) -> Figure:  # fmt: skip
    """The figure of the URDF file at `path`.

    floating_base: whether the root link moves freely in the world
    packages: folders in which package://NAME/… is looked for, before the folders above the file
    need_meshes: whether a mesh that is not found is an error; otherwise it is left out

    An effort or velocity limit of zero means none. Every joint starts at zero, or at the limit next to it.
    Inertias that no body can have are replaced by the nearest possible ones. A mimic joint moves on its own.
    Raises FileError, which points at the fault; warns once of everything that was left out.
    """
    return _figure(xml_text.read(path, root="robot"), Path(path), floating_base, packages, need_meshes)


def parse(
    text: str | bytes, *, path: PathLike = "", floating_base: bool = False, packages: Sequence[PathLike] = (),
    need_meshes: bool = False,
) -> Figure:  # fmt: skip
    """The figure of URDF `text`, as if it were in the file `path`; `floating_base`, `packages` and `need_meshes` as in `load`."""
    root = xml_text.parse(text, path=str(path), root="robot")
    return _figure(root, Path(path), floating_base, packages, need_meshes)


def _figure(root: Element, path: Path, floating_base: bool, packages: Sequence[PathLike], need_meshes: bool) -> Figure:
    leftovers = Leftovers(root.source.path)
    links = Links(root, path, [Path(p) for p in packages], need_meshes, leftovers)
    tree = _Tree(root, links, leftovers, floating_base)
    _name_unknown(root, leftovers)
    name = root.attributes.get("name", "").strip() or path.stem or "robot"
    with root.blamed():
        figure = Figure(
            name, tuple(tree.frames), bodies=tuple(tree.bodies), shapes=tuple(tree.shapes),
            groups=tuple(tree.groups),
        )  # fmt: skip
    leftovers.warn(stacklevel=3)
    return figure


def _name_unknown(element: Element, leftovers: Leftovers) -> None:
    """Adds to the leftovers the attributes and children of `element` that the reader does not understand."""
    if element.tag not in _UNDERSTOOD:
        return
    attributes, children = (words.split() for words in _UNDERSTOOD[element.tag])
    for attribute in element.attributes:
        if attribute not in attributes and not attribute.startswith("xmlns"):
            leftovers.add("attributes left out", f"{element.tag} {attribute}")
    for child in element.children:
        if child.tag in children:
            _name_unknown(child, leftovers)
        else:
            where = "" if element.tag == "robot" else f"{element.tag}/"
            leftovers.add("elements left out", where + child.tag)


class _Tree:
    """Frames, parents first, with what is fixed in them."""

    def __init__(self, root: Element, links: Links, leftovers: Leftovers, floating_base: bool) -> None:
        self.links, self.leftovers = links, leftovers
        self.frames: list[Frame] = []
        self.groups: list[Joint] = []
        self.bodies: list[Body] = []
        self.shapes: list[Shape] = []
        self.frame_of: dict[str, str] = {}
        below: dict[str, list[tuple[str, Element]]] = {}
        above: dict[str, Element] = {}
        for joint in xml_text.named(root, "joint").values():
            parent, child = (self._end(joint, end) for end in ("parent", "child"))
            if child in above:
                message = f"link {child!r} is already the child of joint {above[child].attributes['name']!r}"
                raise joint.error(message, advice="a link has one parent")
            above[child] = joint
            below.setdefault(parent, []).append((child, joint))
        self._grow(self._root(root, above), below, floating_base)
        if lost := [joint for child, joint in above.items() if child not in self.frame_of]:
            raise lost[0].error("the joints form a cycle", advice="only the root link is the child of no joint")

    def _end(self, joint: Element, end: str) -> str:
        element = joint.needed(end, advice=f'add <{end} link="…"/>')
        name = element.word("link")
        if name not in self.links.elements:
            hint = did_you_mean(name, self.links.elements)
            raise element.error(f"no link is called {name[:80]!r}", "link", advice=hint)
        return name

    def _root(self, root: Element, above: dict[str, Element]) -> str:
        """The one link that is the child of no joint."""
        links = self.links.elements
        if not links:
            hint = 'add <link name="base"/>'
            if "xmlns:xacro" in root.attributes:
                hint = "expand the xacro file first: xacro robot.urdf.xacro > robot.urdf"
            raise root.error("the robot has no link", advice=hint)
        tops = [name for name in links if name not in above]
        if not tops:
            first = next(iter(above.values()))
            raise first.error("the joints form a cycle", advice="one link, the root, must be the child of no joint")
        if len(tops) > 1:
            message = f"link {tops[1]!r} is the child of no joint, like {tops[0]!r}"
            raise links[tops[1]].error(message, advice="a robot has one root link; a fixed joint joins two")
        return tops[0]

    def _grow(self, base: str, below: dict[str, list[tuple[str, Element]]], floating_base: bool) -> None:
        """Adds all links from the root down, depth first, in the file's order."""
        if base == WORLD and not floating_base:
            self._attach(base, WORLD)
        else:
            frame = _frame_name(base)
            self._add(self.links.elements[base], *base_frames(frame, free=floating_base))
            self._attach(base, frame)
        stack = list(reversed(below.get(base, [])))
        while stack:
            link, joint = stack.pop()
            parent = self.frame_of[joint.needed("parent").word("link")]
            self._add(joint, *joint_frames(joint, _frame_name(link), parent, self.leftovers))
            self._attach(link, _frame_name(link))
            stack.extend(reversed(below.get(link, [])))

    def _add(self, element: Element, frames: list[Frame], group: Joint | None) -> None:
        for frame in frames:
            if frame.name in self.links.elements and frame is not frames[-1]:
                raise element.error(f"two frames would be called {frame.name!r}", advice="rename that link")
        self.frames += frames
        self.groups += [group] if group else []

    def _attach(self, link: str, frame: str) -> None:
        self.frame_of[link] = frame
        bodies, shapes = self.links.attached(link, frame)
        self.bodies += bodies
        self.shapes += shapes


def _frame_name(link: str) -> str:
    """The name of the frame of a link; one called world, which is not the world itself, needs another."""
    return "world_link" if link == WORLD else link
