"""A motion with touch again in MuJoCo, all of it: its hands and string lengths move as they did, everything else is MuJoCo's."""

from __future__ import annotations

import itertools
import warnings

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.errors import BunrakuWarning
from bunraku.figure import Figure
from bunraku.io.mjcf import mjcf_file
from bunraku.motion import Motion

Array = NDArray[np.float64]


Pairs = dict[tuple[str, str], tuple[float, float]]
_SPOOL = 10.0  # [m] of a string and its way to the spool together, when it is taut


class CoulombContact:
    """Contact of two bodies by textbook forces, in place of MuJoCo's own, whose convex cone pushes apart what slips.

    A stiff spring with a damper, so strong that nothing bounces, pushes along the normal and never pulls; friction is μ times that
    against the slip, and less where the slip is below a crawl. MuJoCo finds distances and points.
    """

    def __init__(
        self, model: mujoco.MjModel, pairs: list[tuple[int, int]], friction: float, *, mass: float, step: float, crawl: float = 1e-4
    ) -> None:
        self.model, self.pairs, self.friction, self.crawl = model, pairs, friction, crawl
        self.damping = 0.2 * mass / step
        self.stiffness = self.damping / (5000.0 * step)
        self.pressed: list[tuple[int, int, Array]] = []

    def push(self, data: mujoco.MjData) -> None:
        """Forces of all pairs of geoms, added to data.qfrc_applied."""
        ends, self.pressed = np.zeros(6), []
        for a, b in self.pairs:
            depth = -mujoco.mj_geomDistance(self.model, data, a, b, 0.01, ends)
            if depth <= 0.0:
                continue
            n = (ends[:3] - ends[3:]) / depth  # from a to b: what is in the other has its ends the other way round
            at, bodies = 0.5 * (ends[:3] + ends[3:]), (int(self.model.geom_bodyid[a]), int(self.model.geom_bodyid[b]))
            v = self._velocity(data, bodies[1], at) - self._velocity(data, bodies[0], at)
            push = max(0.0, self.stiffness * depth - self.damping * float(n @ v))
            slip = v - (n @ v) * n
            force = push * (n - self.friction * slip / max(float(np.linalg.norm(slip)), self.crawl))
            self.pressed.append((*bodies, push * n))
            for body, sign in zip(bodies, (-1.0, 1.0), strict=True):
                mujoco.mj_applyFT(self.model, data, sign * force, np.zeros(3), at, body, data.qfrc_applied)

    def _velocity(self, data: mujoco.MjData, body: int, at: Array) -> Array:
        jacobian = np.zeros((3, self.model.nv))
        mujoco.mj_jac(self.model, data, jacobian, None, at, body)
        return np.asarray(jacobian @ data.qvel)


class RollingResistance:
    """A torque against the turn of two bodies relative to each other, about directions along their surfaces: `arm` times the force
    that pressed them together in the step before, and less where they turn slower than a crawl.

    MuJoCo's own (condim 6) shares one cone with friction: a ball that slides has no rolling resistance until it rolls. One that is
    thrown along the floor so rolls 2 % further than in closed form.
    """

    def __init__(self, model: mujoco.MjModel, pairs: list[tuple[int, int]], arm: float, *, crawl: float = 1e-3) -> None:
        self.model, self.pairs, self.arm, self.crawl = model, {frozenset(pair) for pair in pairs}, arm, crawl
        self.pressed: list[tuple[int, int, Array]] = []

    def look(self, data: mujoco.MjData) -> None:
        """Remembers how hard which bodies were pressed together in the step that has just been taken."""
        self.pressed, force = [], np.zeros(6)
        for k in range(data.ncon):
            contact = data.contact[k]
            if frozenset(int(g) for g in contact.geom) in self.pairs:
                mujoco.mj_contactForce(self.model, data, k, force)
                a, b = (int(self.model.geom_bodyid[g]) for g in contact.geom)
                self.pressed.append((a, b, force[0] * contact.frame[:3]))

    def push(self, data: mujoco.MjData) -> None:
        """Torques of all pairs of geoms, added to data.qfrc_applied."""
        for a, b, press in self.pressed:
            size = float(np.linalg.norm(press))
            if size > 0.0:
                n, turn = press / size, self._turn(data, b) - self._turn(data, a)
                turn -= (n @ turn) * n
                torque = -self.arm * size * turn / max(float(np.linalg.norm(turn)), self.crawl)
                for body, sign in ((a, -1.0), (b, 1.0)):
                    mujoco.mj_applyFT(self.model, data, np.zeros(3), sign * torque, data.xpos[body], body, data.qfrc_applied)

    def _turn(self, data: mujoco.MjData, body: int) -> Array:
        rates = np.zeros(6)
        mujoco.mj_objectVelocity(self.model, data, mujoco.mjtObj.mjOBJ_BODY, body, rates, 0)
        return rates[:3]


class Adhesion:
    """A force that pulls pairs of geoms together while they are less than `near` apart [m]; MuJoCo's contacts push against it."""

    def __init__(self, model: mujoco.MjModel, pairs: list[tuple[int, int]], force: float, *, near: float = 1e-4) -> None:
        self.model, self.pairs, self.force, self.near = model, pairs, force, near

    def push(self, data: mujoco.MjData) -> None:
        """Forces of all pairs of geoms, added to data.qfrc_applied."""
        ends = np.zeros(6)
        for pair in self.pairs:
            distance = mujoco.mj_geomDistance(self.model, data, *pair, self.near, ends)
            if distance < self.near and distance != 0.0:
                toward = (ends[3:] - ends[:3]) / distance  # from the first to the other, also where they are in each other
                for geom, at, sign in zip(pair, (ends[:3], ends[3:]), (1.0, -1.0), strict=True):
                    body = int(self.model.geom_bodyid[geom])
                    mujoco.mj_applyFT(self.model, data, sign * self.force * toward, np.zeros(3), at, body, data.qfrc_applied)


def mujoco_model(figure: Figure, q: Array, pairs: Pairs, step: float) -> mujoco.MjModel:
    """`figure` on a floor at z = 0; shapes that collide of each pair of frames meet, or of a frame and "floor".

    Strings are limits of tendons, which run on from the spindle to a spool: a slide that winds them. If limits themselves
    changed, a string that is paid out would be jerked, since MuJoCo damps the rate of a tendon, not that beside the rate of its
    limit. Strings, stops of joints and contacts are damped three times more than critically: what is damped
    critically bounces with a restitution of e⁻² = 0.135 where the spring cannot pull.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        spec = mujoco.MjSpec.from_string(mjcf_file.dumps(figure, meshes=False, q=q))
    for actuator in list(spec.actuators):
        spec.delete(actuator)
    for key in list(spec.keys):
        spec.delete(key)
    firm, full = [4.0 * step, 3.0], [0.95, 0.95, 1e-4, 0.5, 2.0]
    for joint in spec.joints:
        if f"{joint.name}.upper" not in figure.compiled.link_names:  # our simulation has no stops within ball joints
            joint.limited = mujoco.mjtLimited.mjLIMITED_FALSE
        joint.solref_limit, joint.solimp_limit = firm, full
    for tendon in spec.tendons:
        tendon.limited, tendon.range = mujoco.mjtLimited.mjLIMITED_TRUE, [0.0, _SPOOL]
        tendon.solref_limit, tendon.solimp_limit = firm, full
        end = spec.site(f"{tendon.name}:1")
        spool = end.parent.add_body(name=f"{tendon.name}:spool", pos=end.pos, mass=1.0, inertia=[1.0, 1.0, 1.0])
        spool.add_joint(name=f"{tendon.name}:spool", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0.0, 0.0, 1.0], armature=100.0)
        spool.add_site(name=f"{tendon.name}:2", pos=[0.0, 0.0, _SPOOL])
        tendon.wrap_site(f"{tendon.name}:2")
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[9, 9, 1])
    geoms: dict[str, list[str]] = {"floor": ["floor"]}
    for k, geom in enumerate(spec.geoms):
        solid = geom.contype > 0
        geom.contype = geom.conaffinity = 0  # only the pairs below
        if solid and geom.name != "floor":
            geom.name = f"geom{k}"
            geoms.setdefault(geom.parent.name, []).append(geom.name)
    for (a, b), (friction, _) in pairs.items():
        for one, other in itertools.product(geoms[a], geoms[b]):
            slips = [friction, friction, 0.0, 0.0, 0.0]
            spec.add_pair(geomname1=one, geomname2=other, condim=3, friction=slips, solref=firm, solimp=full)
    model = spec.compile()
    model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.cone, model.opt.impratio = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0
    model.opt.tolerance, model.opt.iterations = 1e-12, 200
    return model


def geoms_of(model: mujoco.MjModel, a: str, b: str) -> list[tuple[int, int]]:
    """Pairs of geoms of two bodies, or of one and the floor, that are solid, which `mujoco_model` gave names."""
    one, other = (
        [model.geom("floor").id]
        if name == "floor"
        else [k for k in range(model.ngeom) if model.geom_bodyid[k] == model.body(name).id and model.geom(k).name]
        for name in (a, b)
    )
    return [(i, j) for i in one for j in other]


def performed_in_mujoco(
    motion: Motion,
    pairs: Pairs,
    *,
    kicks: dict[tuple[str, str], float] | None = None,
    holds: dict[tuple[str, str], float] | None = None,
    step: float = 5e-5,
) -> Array:
    """The configurations (T, n) of the dynamic variables at every sample of `motion`, which begins at rest.

    pairs: names of two frames whose shapes meet, or of a frame and "floor": friction, and arm of rolling resistance [m]
    kicks: friction of pairs of frames that meet by CoulombContact instead; the first is the lighter
    holds: force that each two shapes of pairs of frames pull each other with where they touch [N]
    step: time step of MuJoCo [s]
    """
    figure, q, t = motion.only.figure, motion.only.q, motion.t
    model = mujoco_model(figure, q[0], pairs, step)
    data = mujoco.MjData(model)
    n, names = figure.n_dynamic, [model.joint(j).name for j in range(model.njnt)]
    assert names[:n] == list(figure.names[:n])
    ropes = {f"{rope.name}:spool": figure.index(rope.variable or "") for rope in figure.strings}
    moved = [ropes[name] if name in ropes else figure.index(name) for name in names[n:]]
    hands = CubicSpline(t, q[:, moved] * [-1.0 if name in ropes else 1.0 for name in names[n:]])
    rates = hands.derivative()
    data.qpos[:n] = q[0, :n]
    out = [data.qpos[:n].copy()]
    contacts: list[CoulombContact | Adhesion] = [
        CoulombContact(model, geoms_of(model, a, b), friction, mass=float(model.body(a).mass[0]), step=step)
        for (a, b), friction in (kicks or {}).items()
    ]
    contacts += [Adhesion(model, geoms_of(model, a, b), force) for (a, b), force in (holds or {}).items()]
    rolls = [RollingResistance(model, geoms_of(model, a, b), arm) for (a, b), (_, arm) in pairs.items() if arm > 0.0]
    for k in range(len(t) - 1):
        for s in range(round(float(t[k + 1] - t[k]) / step)):
            now = float(t[k]) + s * step
            data.qpos[n:], data.qvel[n:] = hands(now), rates(now)
            mujoco.mj_step1(model, data)
            data.qfrc_applied[:] = 0.0
            for contact in (*contacts, *rolls):
                contact.push(data)
            mujoco.mj_step2(model, data)
            for roll in rolls:
                roll.look(data)
        out.append(data.qpos[:n].copy())
    return np.array(out)
