"""Reads what is attached to the bodies of MuJoCo's compiled model: shapes, strings, springs, forces, closures."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.figure import (
    Branch,
    Closure,
    Contact,
    Effort,
    Force,
    Frame,
    Point,
    Pulley,
    Push,
    Spring,
    String,
    Variable,
    Wire,
    plain_kinematics,
)
from bunraku.figure.shape import Box, Capsule, Cylinder, Geometry, Mesh, Shape, Sphere
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf.mjcf_codes import PULLEY_SUFFIX, EqualityType, GeomType, JointType, Transmission, WrapType
from bunraku.io.mjcf.mjcf_compile import mesh_path
from bunraku.io.mjcf.mjcf_read import Array, BodyTree, quaternion, vector
from bunraku.spatial import se3, so3


class Parts:
    """Collects the attached parts from MuJoCo's `spec` and `model`.

    tree: the frames of the figure; frames that sites and closures need are added to it
    folder: where paths of meshes start
    leftovers: collects what a figure cannot hold
    """

    def __init__(self, spec: Any, model: Any, tree: BodyTree, folder: Path, leftovers: Leftovers) -> None:
        self.spec, self.model, self.tree, self.folder, self.leftovers = spec, model, tree, folder, leftovers
        self.strings: list[String] = []
        self.wires: list[Wire] = []
        self.lengths: list[Variable] = []
        self.springs: list[Spring] = []
        self.forces: list[Force] = []
        self.closures: list[Closure] = []
        self.contacts: list[Contact] = []
        self.used_sites: set[int] = set()
        points = {g for p in range(model.npair) for g in self._contact(p)}
        points |= {g for g in range(model.ngeom) if model.geom(g).name.endswith(PULLEY_SUFFIX)}
        self.shapes = [shape for g in range(model.ngeom) if g not in points and (shape := self._shape(g))]
        held = {int(model.eq_obj1id[e]): e for e in range(model.neq) if self._is_wire(e)}
        wound = {int(model.actuator_trnid[a, 0]): a for a in range(model.nactuator) if self._is_winding(a)}
        on_tendon = model.actuator_trntype[: model.nactuator] == Transmission.TENDON
        self.pulled = {int(t) for t in model.actuator_trnid[: model.nactuator, 0][on_tendon]}
        for t in range(model.ntendon):
            self._tendon(t, held.get(t), wound.get(t))
        for a in set(range(model.nactuator)) - set(wound.values()):
            self._force(a)
        for e in set(range(model.neq)) - set(held.values()):
            self._closure(e)
        self._frames_of_sites()
        body = tree.body_frame
        self.allowed = tuple((body[s >> 16], body[s & 0xFFFF]) for s in map(int, model.exclude_signature))

    def _name(self, kind: str, k: int) -> str:
        return getattr(self.model, kind)(k).name or f"{kind}{k}"

    # -- shapes --------------------------------------------------------------------------------------------

    def _shape(self, g: int) -> Shape | None:
        model = self.model
        geometry = self._geometry(g)
        if geometry is None:
            return None
        X = se3.pose(model.geom_pos[g], model.geom_quat[g])
        if isinstance(geometry, Mesh):  # MuJoCo has moved the triangles to their own centre and axes
            mesh = model.geom_dataid[g]
            X = X @ se3.inverse(se3.pose(model.mesh_pos[mesh], model.mesh_quat[mesh]))
        rgba = model.geom_rgba[g]
        if model.geom_matid[g] >= 0 and np.allclose(rgba, (0.5, 0.5, 0.5, 1.0)):  # the default, which a material overrides
            rgba = model.mat_rgba[model.geom_matid[g]]
        return Shape(
            self.tree.body_frame[model.geom_bodyid[g]], geometry, vector(X[:3, 3]), quaternion(so3.quaternion(X[:3, :3])),
            vector(rgba[:3]), model.geom(g).name, collides=bool(model.geom_contype[g] or model.geom_conaffinity[g]),
            visible=bool(model.geom_group[g] < 3 and rgba[3] > 0.0),
        )  # fmt: skip

    def _geometry(self, g: int) -> Geometry | None:
        x, y, z = vector(self.model.geom_size[g])
        kind = int(self.model.geom_type[g])
        match kind:
            case GeomType.SPHERE:
                return Sphere(x)
            case GeomType.CAPSULE:
                return Capsule(x, 2 * y)
            case GeomType.CYLINDER:
                return Cylinder(x, 2 * y)
            case GeomType.BOX:
                return Box((2 * x, 2 * y, 2 * z))
            case GeomType.MESH:
                return self._mesh(int(self.model.geom_dataid[g]))
        words = {
            GeomType.PLANE: "planes, which a scene has", GeomType.HEIGHTFIELD: "height fields", GeomType.ELLIPSOID: "ellipsoids",
        }  # fmt: skip
        word = words.get(GeomType(kind), "shapes") if kind in list(GeomType) else "shapes"
        self.leftovers.add(f"{word} left out", self._name("geom", g))
        return None

    def _mesh(self, k: int) -> Mesh | None:
        name = self.model.mesh(k).name
        mesh = self.spec.mesh(name)
        if mesh is None or not mesh.file:
            self.leftovers.add("meshes without a file left out", name)
            return None
        found = mesh_path(self.spec, mesh, self.folder)
        if found is None:
            self.leftovers.add("meshes not found", mesh.file)
            return None
        return Mesh(str(found), vector(self.model.mesh_scale[k]))

    def _contact(self, p: int) -> tuple[int, ...]:
        """The two geoms that stand for a contact point: a sphere of at most 2 mm in a contact pair with a plane."""
        model = self.model
        ball, plane = int(model.pair_geom1[p]), int(model.pair_geom2[p])
        if model.geom_type[ball] == GeomType.PLANE:
            ball, plane = plane, ball
        kinds = (model.geom_type[ball], model.geom_type[plane])
        if kinds != (GeomType.SPHERE, GeomType.PLANE) or model.geom_size[ball, 0] > 2e-3:
            self.leftovers.add("contact pairs left out", f"{self._name('geom', ball)} and {self._name('geom', plane)}")
            return ()
        body, name = self.tree.body_frame, self._name("geom", ball).removesuffix(":point")
        normal = so3.matrix(model.geom_quat[plane])[:, 2]
        foot = model.geom_pos[plane] + model.geom_size[ball, 0] * normal
        friction = float(model.pair_friction[p, 0]) if model.pair_dim[p] > 1 else 0.0
        point = Point(body[model.geom_bodyid[ball]], vector(model.geom_pos[ball]))
        on = Point(body[model.geom_bodyid[plane]], vector(foot))
        self.contacts.append(Contact(name, point, on, vector(normal), friction))
        return ball, plane

    # -- strings -------------------------------------------------------------------------------------------

    def _is_wire(self, e: int) -> bool:
        model = self.model
        alone = model.eq_type[e] == EqualityType.TENDON and model.eq_obj2id[e] < 0
        return bool(alone and model.eq_active0[e] and not model.eq_data[e, 1:5].any())

    def _is_winding(self, a: int) -> bool:
        """Whether an actuator is a servo that pulls a tendon toward a length and never pushes: a wound string."""
        model = self.model
        servo = model.actuator_gaintype[a] == 0 and model.actuator_biastype[a] == 1 and model.actuator_dyntype[a] == 0
        pulls = model.actuator_forcelimited[a] and model.actuator_forcerange[a, 1] <= 0.0
        straight = model.actuator_gear[model.actuator_outadr[a], 0] == 1.0 and model.actuator_biasprm[a, 1] < 0.0
        return bool(model.actuator_trntype[a] == Transmission.TENDON and servo and pulls and straight)

    def _tendon(self, t: int, held: int | None, wound: int | None) -> None:
        model, name = self.model, self._name("tendon", t)
        wraps = range(model.tendon_adr[t], model.tendon_adr[t] + model.tendon_num[t])
        if any(model.wrap_type[w] == WrapType.JOINT for w in wraps):
            self.leftovers.add("tendons over joints left out", name)
            return
        hook, eyelets, spindle = self._way(wraps)
        lower, upper = (float(limit) for limit in model.tendon_range[t])
        if held is not None:
            length = float(model.tendon_length0[t] + model.eq_data[held, 0])
            self.wires.append(Wire(name, hook, spindle, length, eyelets=eyelets))
        elif wound is not None:
            self._wound(name, hook, eyelets, spindle, wound)
        elif model.tendon_limited[t]:
            if lower > 0.0:
                self.leftovers.add("least lengths of tendons left out", name)
            self.strings.append(String(name, hook, spindle, upper, eyelets=eyelets))
        elif t in self.pulled:
            self._taut(String(name, hook, spindle, 0.0, f"{name}_length", eyelets=eyelets))
        springy = model.tendon_stiffness[t] or model.tendon_damping[t]
        rest = model.tendon_lengthspring[t]
        if springy and not eyelets and rest[0] == rest[1]:
            stiffness, damping = float(model.tendon_stiffness[t]), float(model.tendon_damping[t])
            self.springs.append(Spring(name, hook, spindle, stiffness, float(rest[0]), damping))
        elif springy and rest[0] == 0.0 < rest[1] and not (model.tendon_limited[t] or {held, wound} != {None} or t in self.pulled):
            stiffness, damping = float(rest[1] * model.tendon_stiffness[t]), float(rest[1] * model.tendon_damping[t])
            self.strings.append(String(name, hook, spindle, float(rest[1]), eyelets=eyelets, stiffness=stiffness, damping=damping))
        elif springy:
            self.leftovers.add("springs of tendons with eyelets or a dead band left out", name)
        elif held is None and wound is None and not model.tendon_limited[t] and t not in self.pulled:
            self.leftovers.add("tendons without a limit left out", name)

    def _way(self, wraps: range) -> tuple[Point, tuple[Point | Branch, ...], Point]:
        """Hook, what lies between, and spindle."""
        model, way = self.model, list[Point | Branch]()
        for w in wraps:
            thing, number = int(model.wrap_objid[w]), float(model.wrap_prm[w])
            match int(model.wrap_type[w]):
                case WrapType.SITE:
                    way.append(self._site(thing))
                case WrapType.PULLEY:
                    way.append(Branch(number))
                case kind:
                    at, axes = model.geom_pos[thing], so3.matrix(model.geom_quat[thing])
                    way.append(
                        Pulley(
                            self.tree.body_frame[model.geom_bodyid[thing]], vector(at), float(model.geom_size[thing, 0]),
                            vector(axes[:, 2]) if kind == WrapType.CYLINDER else None,
                            self._site(int(number)) if number >= 0.0 else None,
                        )
                    )  # fmt: skip
        return _ended(way)

    def _taut(self, string: String) -> None:
        """A string that an actuator pulls: here the puppeteer winds it, and it is just taut at the start."""
        self.leftovers.add("tendons that actuators pull became strings that the puppeteer winds", string.name)
        start = plain_kinematics.path_length(plain_kinematics.poses(tuple(self.tree.frames)), string)
        assert string.variable is not None
        self.lengths.append(Variable(string.variable, "length", kinematic=True, start=start, lower=0.0))
        self.strings.append(string)

    def _wound(self, name: str, hook: Point, eyelets: tuple[Point | Branch, ...], spindle: Point, a: int) -> None:
        model = self.model
        kp = -float(model.actuator_biasprm[a, 1])
        length, ratio = float(model.actuator_biasprm[a, 0]) / kp, float(model.actuator_gainprm[a, 0]) / kp
        start = float(model.key_ctrl[0, model.actuator_ctrladr[a]]) if model.nkey else 0.0
        own = Variable(self._name("actuator", a), "length", kinematic=True, start=start, lower=0.0)
        self.lengths.append(own)
        self.strings.append(String(name, hook, spindle, length, own.name, ratio, eyelets))

    # -- forces --------------------------------------------------------------------------------------------

    def _force(self, a: int) -> None:
        model, name = self.model, self._name("actuator", a)
        gear, gain = model.actuator_gear[model.actuator_outadr[a]], float(model.actuator_gainprm[a, 0])
        plain = not (model.actuator_gaintype[a] or model.actuator_biastype[a] or model.actuator_dyntype[a])
        on, (first, second) = int(model.actuator_trntype[a]), (int(k) for k in model.actuator_trnid[a, :2])
        if model.actuator_armature[a] or model.actuator_damping[a]:
            self.leftovers.add("rotors and dampers of actuators left out", name)
        if plain and on == Transmission.JOINT and model.jnt_type[first] not in (JointType.FREE, JointType.BALL):
            self.forces.append(Effort(name, self.tree.joint_variable[first], float(gear[0]) * gain))
            self._limit(a, first, abs(float(gear[0])))
        elif plain and on == Transmission.SITE and not gear[3:].any() and (second < 0 or model.site_bodyid[second] == 0):
            axes = first if second < 0 else second
            direction = so3.matrix(model.site_quat[axes]) @ gear[:3] * gain
            self.forces.append(Push(name, self._site(first), vector(direction), turns=second < 0))
            self.used_sites |= {second} - {-1}
        else:
            self.leftovers.add("actuators that are not plain motors left out", name)
            if on == Transmission.JOINT and model.jnt_type[first] not in (JointType.FREE, JointType.BALL):
                self._limit(a, first, abs(float(gear[0])), by_control=False)

    def _limit(self, a: int, joint: int, gear: float, *, by_control: bool = True) -> None:
        """Sets the largest effort of a joint to what its motor can give, where the joint itself has no limit.

        by_control: whether the control is an effort, and its range a limit too; that of a position servo is a range of positions.
        """
        model = self.model
        most = math.inf
        control = model.actuator_ctrladr[a]
        if by_control and model.actuator_ctrllimited[control]:
            reach = float(np.abs(model.actuator_ctrlrange[control]).max())
            most = reach * abs(float(model.actuator_gainprm[a, 0])) * gear
        if model.actuator_forcelimited[a]:
            most = min(most, float(np.abs(model.actuator_forcerange[a]).max()) * gear)
        name = self.tree.joint_variable[joint]
        for k, frame in enumerate(self.tree.frames):
            variable = frame.variable
            if variable is not None and variable.name == name and variable.effort == math.inf and most > 0.0:
                self.tree.frames[k] = replace(frame, variable=replace(variable, effort=most))

    # -- sites and closures --------------------------------------------------------------------------------

    def _site(self, s: int) -> Point:
        self.used_sites.add(s)
        return Point(self.tree.body_frame[self.model.site_bodyid[s]], vector(self.model.site_pos[s]))

    def _frames_of_sites(self) -> None:
        """Sites that nothing else uses become frames, since their author marked these places for a reason."""
        for s in set(range(self.model.nsite)) - self.used_sites:
            parent = self.tree.body_frame[self.model.site_bodyid[s]]
            self._fixed(self._name("site", s), parent, self.model.site_pos[s], self.model.site_quat[s])

    def _axes_of(self, s: int, name: str) -> Point:
        """The origin of a frame that has a site's axes."""
        at = self._site(s)
        return Point(self._fixed(name, at.frame, np.array(at.position), self.model.site_quat[s]))

    def _fixed(self, name: str, parent: str, position: Array, rotation: Array) -> str:
        name = self.tree.unused(name)
        self.tree.frames.append(Frame(name, parent, vector(position), quaternion(rotation)))
        return name

    def _closure(self, e: int) -> None:
        model, name, kind = self.model, self._name("eq", e), int(self.model.eq_type[e])
        if kind not in (EqualityType.CONNECT, EqualityType.WELD) or not model.eq_active0[e]:
            self.leftovers.add("equations between joints or tendons, and inactive ones, left out", name)
            return
        one, two = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
        if model.eq_objtype[e] == 6:  # mjOBJ_SITE
            a, b = self._site(one), self._site(two)
            if kind == EqualityType.WELD:
                a, b = self._axes_of(one, f"{name}_a"), self._axes_of(two, f"{name}_b")
        else:
            body, data = self.tree.body_frame, model.eq_data[e]
            if kind == EqualityType.CONNECT:
                a, b = Point(body[one], vector(data[:3])), Point(body[two], vector(data[3:6]))
            else:  # the pose of the second body in the first
                a, b = Point(self._fixed(f"{name}_a", body[one], data[3:6], data[6:10])), Point(body[two])
        self.closures.append(Closure(name, a, b, "point" if kind == EqualityType.CONNECT else "weld"))


def _ended(way: list[Point | Branch]) -> tuple[Point, tuple[Point | Branch, ...], Point]:
    """Hook, what lies between, and spindle; branches of fewer than two points, which have no length, are left out."""
    branches: list[tuple[Branch, list[Point]]] = [(Branch(), [])]
    for at in way:
        if isinstance(at, Branch):
            branches.append((at, []))
        else:
            branches[-1][1].append(at)
    kept = [(head, points) for head, points in branches if len(points) > 1]
    flat: list[Point | Branch] = []
    for head, points in kept:
        flat += [head, *points]
    first = kept[0][1][0]
    # Where the first branch does not count in full, one of no length stands before it.
    flat = flat[1:] if kept[0][0].divisor == 1.0 else [first, first, *flat]
    hook, *between, spindle = flat
    assert isinstance(hook, Point)
    assert isinstance(spindle, Point)
    return hook, tuple(between), spindle
