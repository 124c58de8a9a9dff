"""Writes what is attached to the bodies of an MJCF file: shapes, strings, springs, contacts, closures, forces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import (
    WORLD,
    Branch,
    Closure,
    Contact,
    Drum,
    Effort,
    Figure,
    Point,
    Pulley,
    Push,
    String,
    plain_kinematics,
)
from bunraku.figure.build.places import vector
from bunraku.figure.frame import Vector
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf.mjcf_codes import PULLEY_SUFFIX, MjcfOptions
from bunraku.io.mjcf.mjcf_tag import tag, text
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


class Attachments:
    """Adds the attached parts of a figure to a document, with the sites and geoms that they need.

    figure: the figure whose parts are written
    q: its configuration [rad, m]
    kinematic: "joints" or "fixed": what kinematic variables become
    bodies: the elements of the frames, by name
    sections: the sections of the document, by tag
    leftovers: collects what MuJoCo does not have
    options: numbers for what MuJoCo can only approximate
    """

    def __init__(
        self, figure: Figure, q: Array, kinematic: str, bodies: dict[str, Element], sections: dict[str, Element],
        leftovers: Leftovers, options: MjcfOptions,
    ) -> None:  # fmt: skip
        self.options = options
        self.figure, self.q, self.kinematic = figure, q, kinematic
        self.bodies, self.sections, self.leftovers = bodies, sections, leftovers
        self.controls: dict[str, str] = {}
        """The kinematic variable that each actuator's control sets."""

    def everything(self, *, meshes: bool) -> None:
        """Writes all parts; `meshes` says whether shapes that are meshes are among them."""
        if self.kinematic == "joints":
            for name in self.figure.kinematic[: len(self.figure.kinematic) - len(self.figure.lengths)]:
                self._control("position", name, "", joint=name, kp=self.options.servo, dampratio=1.0)
        for shape in self.figure.shapes:
            self._shape(shape, meshes=meshes)
        for string in (*self.figure.strings, *self.figure.wires):
            self._string(string)
        for spring in self.figure.springs:
            tendon = self._tendon(spring.name, [spring.a, spring.b])
            tendon.attrib["springlength"] = text(spring.length)
            tendon.attrib |= {word: text(getattr(spring, word)) for word in ("stiffness", "damping")}
        for contact in self.figure.contacts:
            self._contact(contact)
        for closure in self.figure.closures:
            self._closure(closure)
        for force in self.figure.forces:
            match force:
                case Effort():
                    self._effort(force)
                case Push():
                    self._push(force)
        self._limits()

    def _site(self, name: str, at: Point, **placed: object) -> str:
        tag(self.bodies[at.frame], "site", name=name, pos=at.position, size=0.004, group=4, **placed)
        return name

    # -- shapes --------------------------------------------------------------------------------------------

    def _shape(self, shape: Shape, *, meshes: bool) -> None:
        """A geom with conaffinity 0: it touches nothing, whatever its type."""
        size: object = None
        kind, asset = type(shape.geometry).__name__.lower(), None
        match shape.geometry:
            case Sphere(radius):
                size = radius
            case Capsule(radius, length) | Cylinder(radius, length):
                size = (radius, length / 2)
            case Box(sides):
                size = [side / 2 for side in sides]
            case Mesh() as mesh:
                asset = self._mesh(mesh) if meshes else None
                if asset is None:
                    return
        tag(
            self.bodies[shape.frame], "geom", type=kind, size=size, mesh=asset, pos=shape.position, quat=shape.rotation,
            rgba=(*shape.color, 1.0), mass=0.0, contype=int(shape.collides), conaffinity=0, group=1 if shape.visible else 3,
        )  # fmt: skip

    def _mesh(self, mesh: Mesh) -> str | None:
        """The name of the asset; one for every file and scale."""
        if not mesh.file.lower().endswith((".stl", ".obj", ".msh")):
            self.leftovers.add("meshes of a format that MuJoCo does not read", mesh.file)
            return None
        path, scale = str(Path(mesh.file).absolute()), " ".join(map(repr, mesh.scale))
        for asset in self.sections["asset"]:
            if (asset.attrib["file"], asset.attrib["scale"]) == (path, scale):
                return asset.attrib["name"]
        name = f"{Path(path).stem}_{len(self.sections['asset'])}"
        # As a shell, open meshes are accepted, too; their mass is not used anyway.
        tag(self.sections["asset"], "mesh", name=name, file=path, scale=scale, inertia="shell")
        return name

    # -- strings -------------------------------------------------------------------------------------------

    def _tendon(self, name: str, way: Sequence[Point | Branch]) -> Element:
        tendon = tag(self.sections["tendon"], "spatial", name=name)
        for k, at in enumerate(way):
            match at:
                case Branch(divisor):
                    tag(tendon, "pulley", divisor=divisor)
                case Pulley():
                    side = self._side(way[k - 1 : k + 2]) if at.turn else at.side  # type: ignore[arg-type]
                    beside = None if side is None else self._site(f"{name}:{k}:side", side)
                    tag(tendon, "geom", geom=self._pulley(f"{name}:{k}{PULLEY_SUFFIX}", at), sidesite=beside)
                case Point():
                    tag(tendon, "site", site=self._site(f"{name}:{k}", at))
        return tendon

    def _pulley(self, name: str, pulley: Pulley) -> str:
        kind, axis = ("sphere", (0.0, 0.0, 1.0)) if pulley.axis is None else ("cylinder", pulley.axis)
        turn = so3.quaternion(so3.onto_z(axis))
        size = (pulley.radius, pulley.radius)
        tag(
            self.bodies[pulley.frame], "geom", name=name, type=kind, size=size, pos=pulley.position, quat=turn, mass=0.0,
            contype=0, conaffinity=0, group=4,
        )  # fmt: skip
        return name

    def _side(self, way: Sequence[Point]) -> Point:
        """A point on the side on which a pulley with a turn is passed at the start: out from the middle of its arc."""
        pulley = way[1]
        assert isinstance(pulley, Pulley)
        X_W = plain_kinematics.poses(self.figure.frames, dict(zip(self.figure.names, self.q.tolist(), strict=True)))
        a, c, b = (plain_kinematics.point(X_W, at) for at in way)
        axis = X_W[pulley.frame][:3, :3] @ np.array(pulley.axis)
        out = -pulley.turn * np.cross(axis, (c - a) / np.linalg.norm(c - a) + (b - c) / np.linalg.norm(b - c))
        where = se3.inverse(X_W[pulley.frame]) @ np.append(c + 2.0 * pulley.radius * out / np.linalg.norm(out), 1.0)
        self.leftovers.add("turns of pulleys that became sides", pulley.frame)
        return Point(pulley.frame, vector(where[:3]))

    def _length(self, string: String) -> float:
        return string.wound(0.0 if string.variable is None else float(self.q[self.figure.index(string.variable)]))

    def _string(self, string: String) -> None:
        """A limit on a tendon's length, or an equation for a wire; where the puppeteer winds it, a servo."""
        rounds = [isinstance(at, Pulley | Drum) for at in string.way]
        if isinstance(string.spindle, Drum) or any(a and b for a, b in pairwise(rounds)):
            self.leftovers.add("strings over pulleys in a row or onto drums, which MuJoCo does not have", string.name)
            return
        if any(isinstance(at, Pulley) and at.turns for at in string.way):
            self.leftovers.add("strings with whole turns round a pulley, which MuJoCo does not have", string.name)
            return
        if string.rubbing:
            self.leftovers.add("friction of strings where they bend, which MuJoCo does not have", string.name)
        tendon = self._tendon(string.name, string.way)
        wound = string.variable is not None and self.kinematic == "joints"
        if wound and string.variable in {variable.name for variable in self.figure.lengths}:
            self._winding(string)
            return
        if wound or string.variable in self.figure.dynamic:
            self.leftovers.add("strings whose length is held, because a joint winds them", string.name)
        if string.elastic and string.pulls_only:  # a spring with a dead band
            length = self._length(string)
            tendon.attrib["springlength"] = text((0.0, length))
            tendon.attrib |= {"stiffness": text(string.stiffness / length), "damping": text(string.damping / length)}
        elif string.pulls_only:
            tendon.attrib["range"] = text((0.0, self._length(string)))
        else:  # MuJoCo takes the difference from the length at qpos = 0
            surplus = self._length(string) - plain_kinematics.path_length(self._zero(), string)
            tag(self.sections["equality"], "tendon", tendon1=string.name, polycoef=(surplus, 0.0, 0.0, 0.0, 0.0))

    def _winding(self, string: String) -> None:
        """A servo that pulls with kp · (length of the path − free length); the free length is length + ratio · control."""
        assert string.variable is not None
        weight = self.figure.mass * float(np.linalg.norm(self.figure.gravity)) or 1.0
        kp, limit = weight / self.options.stretch, 1e3 * weight
        kv = 2.0 * math.sqrt(kp * self.figure.mass / 20.0)  # critical damping for a limb of a twentieth of the mass
        if string.elastic:
            kp, kv = string.stiffness / self._length(string), string.damping / self._length(string)
        self._control(
            "general", string.variable, string.name, tendon=string.name, gainprm=kp * string.ratio, biastype="affine",
            biasprm=(kp * string.length, -kp, -kv), forcerange=(-limit, 0.0 if string.pulls_only else limit),
        )  # fmt: skip

    def _control(self, kind: str, variable: str, owner: str, **attributes: object) -> None:
        """An actuator whose control is a kinematic variable; it has the variable's name, if that is free."""
        taken = {actuator.attrib["name"] for actuator in self.sections["actuator"]}
        name = variable if variable not in taken else f"{variable}:{owner}"
        tag(self.sections["actuator"], kind, name=name, **attributes)
        self.controls[name] = variable

    def _zero(self) -> dict[str, Array]:
        """X_WF with every joint at zero; variables that are written as constants stay at q."""
        values = {name: float(self.q[self.figure.index(name)]) for name in self.figure.kinematic}
        joints = dict.fromkeys(self.figure.dynamic if self.kinematic == "fixed" else self.figure.names, 0.0)
        return plain_kinematics.poses(self.figure.frames, values | joints)

    # -- contacts, closures, forces ------------------------------------------------------------------------

    def _contact(self, contact: Contact) -> None:
        """A small sphere, over a plane that is lower by its radius, touches when the point would touch."""
        if not self._still(contact.plane.frame):
            self.leftovers.add("contacts with a plane that moves, which MuJoCo does not have", contact.name)
            return
        touch: dict[str, object] = {"contype": 0, "conaffinity": 0, "group": 4, "mass": 0.0}
        at = np.array(contact.plane.position) - self.options.contact_radius * np.array(contact.normal)
        turn = so3.quaternion(so3.onto_z(contact.normal))
        plane, ball = f"{contact.name}:plane", f"{contact.name}:point"
        own, on = self.bodies[contact.plane.frame], self.bodies[contact.point.frame]
        tag(own, "geom", name=plane, type="plane", size=(0, 0, 1), pos=at, quat=turn, **touch)
        tag(on, "geom", name=ball, type="sphere", size=self.options.contact_radius, pos=contact.point.position, **touch)
        condim, friction = (3, [contact.friction] * 2 + [0.0] * 3) if contact.friction else (1, None)
        tag(self.sections["contact"], "pair", geom1=ball, geom2=plane, condim=condim, friction=friction)

    def _still(self, frame: str) -> bool:
        """Whether nothing can move a frame."""
        while frame != WORLD:
            if self.bodies[frame].find("joint") is not None:
                return False
            frame = self.figure.frame(frame).parent
        return True

    def _closure(self, closure: Closure) -> None:
        a, b, name, equality = closure.a, closure.b, closure.name, self.sections["equality"]
        if closure.kind == "plane":
            self.leftovers.add("closures of a point on a plane, which MuJoCo does not have", name)
            return
        own = self._site(f"{name}:a", a), self._site(f"{name}:b", b)
        kind = "weld" if closure.kind == "weld" else "connect"
        tag(equality, kind, name=name, site1=own[0], site2=own[1])
        if closure.kind == "hinge":  # two points on the axis
            ends = [self._site(f"{name}:{s}z", Point(p.frame, _above(p.position))) for s, p in (("a", a), ("b", b))]
            tag(equality, "connect", name=f"{name}:axis", site1=ends[0], site2=ends[1])

    def _effort(self, effort: Effort) -> None:
        most = self.figure.variables[self.figure.index(effort.variable)].effort / (abs(effort.gain) or 1.0)
        limit = (-most, most) if math.isfinite(most) else None
        attributes = {"joint": effort.variable, "gear": effort.gain, "forcerange": limit}
        tag(self.sections["actuator"], "motor", name=effort.name, **attributes)

    def _limits(self) -> None:
        """Effort limits of joints without a motor; none if there are strings or pushes, which MuJoCo would count as well."""
        motors = {force.variable for force in self.figure.forces if isinstance(force, Effort)}
        if self.figure.lengths or len(motors) < len(self.figure.forces):
            return
        for joint in self.sections["worldbody"].iter("joint"):
            most = self.figure.variables[self.figure.index(joint.attrib["name"])].effort
            if joint.attrib["name"] not in motors and math.isfinite(most):
                joint.attrib["actuatorfrcrange"] = text((-most, most))

    def _push(self, push: Push) -> None:
        """Along axes that turn with the frame, or along the world's."""
        site = self._site(f"{push.name}:at", push.at)
        reference = None if push.turns else self._site(f"{push.name}:axes", Point(WORLD))
        gear = (*push.direction, 0.0, 0.0, 0.0)
        tag(self.sections["actuator"], "motor", name=push.name, site=site, refsite=reference, gear=gear)


def _above(position: Vector) -> Vector:
    return (position[0], position[1], position[2] + 0.1)
