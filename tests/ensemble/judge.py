"""An independent judge of carried motions: MuJoCo's kinematics of written MJCF files, coal for distances, nothing of the rechecker.

    found = judge(errand, done.motion)
    found.worst("speed")          # the largest of everybody's, as a share of what the errand allows

Between samples a motion is straight in its variables, as every player shows it. The judge looks at places between samples, too.
"""

from __future__ import annotations

import csv
import itertools
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import coal
import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from bunraku.collision.triangle_meshes import load
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.team import OBJECT, Agent
from bunraku.figure import Figure
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.io import save
from bunraku.motion import Motion
from bunraku.planning.ways.steer import Bezier, Differential
from tests.ensemble.judged_loads import mass_and_centre, shares, topples
from tests.ensemble.true_ground import true_heights

Array = NDArray[np.float64]
LEAST_RATE = 240.0  # [1/s], of the places between samples


@dataclass(frozen=True, eq=False)
class Findings:
    """What the judge measured, by name of the agent, the object, the hand (agent/tool) or the joint (agent.variable)."""

    speed: dict[str, float] = field(default_factory=dict)
    """[m/s] of bases, object and hands."""
    acceleration: dict[str, float] = field(default_factory=dict)
    """[m/s²] of bases, object and hands."""
    turning: dict[str, float] = field(default_factory=dict)
    """[rad/s] of bases and object."""
    joint_speed: dict[str, float] = field(default_factory=dict)
    """[rad/s or m/s]."""
    joint_acceleration: dict[str, float] = field(default_factory=dict)
    """[rad/s² or m/s²]."""
    way: dict[str, float] = field(default_factory=dict)
    """Length of the way of bases and object [m]."""
    slip: dict[str, float] = field(default_factory=dict)
    """Part of the way of differential bases that is sideways [m]."""
    aside: dict[str, float] = field(default_factory=dict)
    """Part of the way of agents that walk along curves that is sideways, where they go straight on for more than a step [m]."""
    slide: dict[str, float] = field(default_factory=dict)
    """Largest slide of a standing foot, at samples and between [m]."""
    closure: float = 0.0
    """Largest error of a hand relative to its hold, at samples and between [m or rad]."""
    closure_at_samples: float = 0.0
    """The same at samples only."""
    clearance: float = np.inf
    """Smallest distance of agents and object from the scene and of agents from each other [m], as far as the judge looked."""
    depth: dict[str, float] = field(default_factory=dict)
    """Depth by which two shapes of one agent, or of an agent and the object, are in each other, unless they may touch [m]."""

    turning_acceleration: dict[str, float] = field(default_factory=dict)
    """[rad/s²] of bases and object."""
    slip_speed: dict[str, float] = field(default_factory=dict)
    """Largest sideways speed of differential bases [m/s]."""
    wheel: dict[str, float] = field(default_factory=dict)
    """Largest speed of the lowest point of a wheel against its rolling, by agent.variable [m/s]."""
    limits: dict[str, float] = field(default_factory=dict)
    """How far joints are beyond their limits, by agent.variable [rad or m]."""
    up: dict[str, tuple[float, float]] = field(default_factory=dict)
    """The lowest and the highest height over the ground of the lowest point of each agent [m]."""
    beyond: float = 0.0
    """How far the object is beyond its heights [m] or tilts [rad]."""
    ends: float = 0.0
    """Distance from start and goal [m or rad]."""
    outside: float = 0.0
    """How far the leader or the object is outside of the area [m]."""
    hurry: dict[str, float] = field(default_factory=dict)
    """Speed of joints as a share of their own limit, by agent.variable."""
    overload: float = 0.0
    """The largest share of what somebody bears; above 1 it is too much."""
    topples: dict[str, float] = field(default_factory=dict)
    """How far the centre of mass of an agent with its load is beyond where it stands [m]."""

    def worst(self, word: str) -> float:
        """The largest of everybody's."""
        return max(getattr(self, word).values(), default=0.0)


# -- kinematics ------------------------------------------------------------------------------------------------------


def places_of(figure: Figure, Q: Array) -> dict[str, tuple[Array, Array]]:
    """Rotations (T, 3, 3) and positions (T, 3) of all frames, by MuJoCo from the figure's MJCF file."""
    model, data = _model(figure)
    R, p = np.empty((len(Q), model.nbody, 9)), np.empty((len(Q), model.nbody, 3))
    order = [model.joint(name).qposadr[0] for name in figure.names]
    for t, q in enumerate(Q):
        data.qpos[order] = q
        mujoco.mj_kinematics(model, data)
        R[t], p[t] = data.xmat, data.xpos
    return {model.body(k).name: (R[:, k].reshape(-1, 3, 3), p[:, k]) for k in range(model.nbody)}


_MODELS: dict[int, tuple[Figure, mujoco.MjModel, mujoco.MjData]] = {}


def _model(figure: Figure) -> tuple[mujoco.MjModel, mujoco.MjData]:
    if id(figure) not in _MODELS:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what MuJoCo does not have
            path = Path(folder) / "figure.xml"
            save(figure, path)
            model = mujoco.MjModel.from_xml_path(str(path))
        _MODELS[id(figure)] = figure, model, mujoco.MjData(model)
    _, model, data = _MODELS[id(figure)]
    return model, data


@dataclass(frozen=True, eq=False)
class WrittenTrack:
    """A track that was read from a file."""

    figure: Figure
    q: Array


class WrittenMotion:
    """A motion as its CSV file has it, read without bunraku: times, and columns named track/variable [unit]."""

    def __init__(self, path: Path, figures: dict[str, Figure]) -> None:
        with path.open(newline="") as file:
            head, *rows = csv.reader(line for line in file if not line.startswith("#"))
        table = np.array(rows, float)
        self.t = table[:, 0]
        column = {name.rpartition(" [")[0]: k for k, name in enumerate(head)}
        self._tracks = {
            name: WrittenTrack(figure, table[:, [column[f"{name}/{variable}"] for variable in figure.names]])
            for name, figure in figures.items()
        }

    def __len__(self) -> int:
        return len(self.t)

    @property
    def duration(self) -> float:
        return float(self.t[-1] - self.t[0])

    def track(self, name: str) -> WrittenTrack:
        return self._tracks[name]


def between(t: Array, Q: Array, *, rate: float = LEAST_RATE) -> Array:
    """Configurations at samples and between them, `rate` a second or more, straight in the variables."""
    count = max(int(np.ceil(rate * float(np.diff(t).max()))), 1)
    s = np.append((np.arange(len(t) - 1)[:, None] + np.arange(count) / count).ravel(), len(t) - 1)
    return np.stack([np.interp(s, np.arange(len(t)), column) for column in Q.T], 1)


_DENSE: dict[tuple[int, str], dict[str, tuple[Array, Array]]] = {}


def dense_places(motion: Motion, name: str) -> dict[str, tuple[Array, Array]]:
    """Places of all frames of a track, at samples and between; those of one motion are kept."""
    if (id(motion), name) not in _DENSE:
        _DENSE[id(motion), name] = places_of(motion.track(name).figure, between(motion.t, motion.track(name).q))
    return _DENSE[id(motion), name]


def rates(t: Array, p: Array) -> tuple[float, float]:
    """The largest speed and acceleration of values (T, k): of the smooth curve whose samples they are, at rest at both ends."""
    dt = np.diff(t)[:, None]
    v = np.diff(p, axis=0) / dt
    padded = np.concatenate([np.zeros((1, p.shape[1])), v, np.zeros((1, p.shape[1]))])
    steps = np.concatenate([dt[:1], 0.5 * (dt[1:] + dt[:-1]), dt[-1:]])
    a = np.diff(padded, axis=0) / steps
    return float(np.linalg.norm(v, axis=1).max()), float(np.linalg.norm(a, axis=1).max())


# -- the parts of a judgement ------------------------------------------------------------------------------------------


def refused(errand: Errand, motion: Motion, *, rate: float = 15.0) -> set[str]:
    """What is wrong with a motion, in the words of the rechecker's objections; `rate` [1/s] of distances."""
    return faults(errand, judge(errand, motion, rate=rate))


def faults(errand: Errand, found: Findings) -> set[str]:
    """What is wrong, from what was measured, in the words of the rechecker's objections."""
    allowed = errand.allowed
    wrong = {
        "speed": found.worst("speed") > 1.01 * allowed.speed or found.worst("acceleration") > 1.01 * allowed.acceleration
        or found.worst("turning") > 1.01 * allowed.turning or found.worst("turning_acceleration") > 1.01 * allowed.acceleration
        or found.worst("joint_speed") > 1.01 * 9.0 or found.worst("hurry") > 1.01
        or found.worst("joint_acceleration") > 1.01 * 900.0,
        "closure": not (found.closure <= 2e-3 and found.closure_at_samples <= 1e-6),
        "feet": found.worst("slide") > 6e-3,
        "collision": found.clearance < errand.margin - 1e-4 or found.worst("depth") > 1e-4,
        "slip": found.worst("slip_speed") > 5e-3 or found.worst("wheel") > 5e-3,
        "limits": found.worst("limits") > 1e-6,
        "footing": any(low < -0.01 or high > 0.02 for low, high in found.up.values()),
        "object": found.beyond > 1e-6,
        "arrival": found.ends > 5e-3,
        "area": found.outside > 5e-3,
        "load": found.overload > 1.0 + 1e-6,
        "balance": found.worst("topples") > 0.0,
    }  # fmt: skip
    return {word for word, is_so in wrong.items() if is_so}


def judge(errand: Errand, motion: Motion, *, look: float = 0.02, distances: bool = True, rate: float = 15.0) -> Findings:
    """Measures everything; clearances up to `look` [m], `rate` times a second; without `distances`, neither clearance nor depth."""
    found = Findings()
    _DENSE.clear()
    _object(errand, motion, found)
    for agent in errand.team.agents:
        _base(agent, motion, found)
        _joints(agent, motion, found)
        _feet(errand, agent, motion, found)
        _wheels(agent, motion, found)
        _lowest(errand, agent, motion, found)
    closure, closure_at_samples = np.max([_held(errand, agent, motion, found) for agent in errand.team.agents], axis=0)
    object.__setattr__(found, "closure_at_samples", float(closure_at_samples))
    clearance, depth = _near(errand, motion, look, rate) if distances else (np.inf, {})
    object.__setattr__(found, "ends", _ends(errand, motion))
    object.__setattr__(found, "outside", _outside(errand, motion))
    object.__setattr__(found, "beyond", _beyond(errand, motion))
    object.__setattr__(found, "closure", float(closure))
    object.__setattr__(found, "overload", _overload(errand, motion))
    object.__setattr__(found, "clearance", clearance)
    found.depth.update(depth)
    return found


def _object(errand: Errand, motion: Motion, found: Findings) -> None:
    q = motion.track(OBJECT).q
    found.speed[OBJECT], found.acceleration[OBJECT] = rates(motion.t, q[:, :3])
    every = [rates(motion.t, np.unwrap(q[:, k : k + 1], axis=0)) for k in (3, 4, 5)]
    found.turning[OBJECT], found.turning_acceleration[OBJECT] = (max(column) for column in zip(*every, strict=True))
    found.way[OBJECT] = float(np.linalg.norm(np.diff(q[:, :3], axis=0), axis=1).sum())


def _base(agent: Agent, motion: Motion, found: Findings) -> None:
    figure, q = agent.figure, motion.track(agent.name).q
    x, y, turn = (q[:, figure.names.index(name)] for name in agent.base[:3])
    turn = np.unwrap(turn)
    xy = np.stack([x, y], 1)
    found.speed[agent.name], found.acceleration[agent.name] = rates(motion.t, xy)
    found.turning[agent.name], found.turning_acceleration[agent.name] = rates(motion.t, turn[:, None])
    step, mean = np.diff(xy, axis=0), 0.5 * (turn[1:] + turn[:-1])
    found.way[agent.name] = float(np.linalg.norm(step, axis=1).sum())
    aside = np.abs(np.cos(mean) * step[:, 1] - np.sin(mean) * step[:, 0])
    if issubclass(agent.moves, Differential):
        found.slip[agent.name] = float(aside.sum())
        found.slip_speed[agent.name] = float((aside / np.diff(motion.t)).max())
    if issubclass(agent.moves, Bezier):
        # Stretches of straight walking: within a step's length on either side the base goes farther than a step.
        far = np.zeros(len(step), bool)
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(step, axis=1))])
        for k in range(len(step)):
            i, j = np.searchsorted(along, [along[k] - 0.5, along[k] + 0.5])
            far[k] = np.linalg.norm(xy[min(j, len(xy) - 1)] - xy[max(i, 0)]) > 0.8
        found.aside[agent.name] = float(aside[far].sum())


def _joints(agent: Agent, motion: Motion, found: Findings) -> None:
    q = motion.track(agent.name).q
    model, _ = _model(agent.figure)
    for name, column in zip(agent.figure.names, q.T, strict=True):
        joint = model.joint(name)
        if joint.limited[0]:
            low, high = joint.range
            found.limits[f"{agent.name}.{name}"] = float(np.maximum(low - column, column - high).max())
    for k, variable in enumerate(agent.figure.variables):
        if variable.name not in agent.base and "wheel" not in variable.name:
            name = f"{agent.name}.{variable.name}"
            own = rates(motion.t, q[:, k : k + 1])
            found.hurry[name] = own[0] / variable.speed
            found.joint_speed[name], found.joint_acceleration[name] = own


def _ends(errand: Errand, motion: Motion) -> float:
    worst = 0.0
    for k, q in ((0, errand.start), (-1, errand.goal)):
        bases, held = errand.team.in_world(q)
        off = [motion.track(OBJECT).q[k] - held]
        for agent in errand.team.agents:
            own = [agent.figure.names.index(name) for name in agent.base[:3]]
            off.append(motion.track(agent.name).q[k, own] - bases[agent.name][:3])
        for own in off:
            turns = len(own) // 2 if len(own) == 6 else 2
            size = np.append(own[:turns], 2.0 * np.arcsin(np.sin(0.5 * own[turns:])))
            worst = max(worst, float(np.abs(size).max()))
    return worst


def _outside(errand: Errand, motion: Motion) -> float:
    leader = errand.team.leader
    q = motion.track(OBJECT if leader is None else leader.name).q
    (a, b), (c, d) = errand.area
    return float(max((a - q[:, 0]).max(), (q[:, 0] - b).max(), (c - q[:, 1]).max(), (q[:, 1] - d).max()))


def _beyond(errand: Errand, motion: Motion) -> float:
    q, carried = motion.track(OBJECT).q, errand.team.carried
    low, high = carried.heights
    return float(max((low - q[:, 2]).max(), (q[:, 2] - high).max(), np.abs(q[:, 4:]).max() - carried.tilt))


def _wheels(agent: Agent, motion: Motion, found: Findings) -> None:
    """The speed of the point of a wheel on the floor, which must be zero; with rollers, zero at right angles to their rolling."""
    figure, q, dt = agent.figure, motion.track(agent.name).q, np.diff(motion.t)
    wheels = [name for name in figure.names if "wheel" in name]
    if not wheels:
        return
    at = places_of(figure, q)
    _, base = at[agent.base[2]]
    turn = q[:, figure.names.index(agent.base[2])]
    model, _ = _model(figure)
    for name in wheels:
        joint = model.joint(name)
        frame = model.body(joint.bodyid[0]).name
        R, p = at[frame]
        own = [s.geometry.radius for s in figure.shapes if s.frame == frame and isinstance(s.geometry, Cylinder)]
        radius = max(own, default=p[0, 2])
        axle = 0.5 * ((R @ joint.axis)[1:] + (R @ joint.axis)[:-1])
        spin = np.diff(q[:, figure.names.index(name)]) / dt
        contact = np.diff(p, axis=0) / dt[:, None] + np.cross(spin[:, None] * axle, [0.0, 0.0, -radius])
        along = np.cross(axle, [0.0, 0.0, 1.0])
        if not issubclass(agent.moves, Differential | Bezier):  # rollers at 45 degrees
            x, y = p[0, :2] - base[0, :2]
            c, s = np.cos(turn[0]), np.sin(turn[0])
            side = np.sign((c * x + s * y) * (c * y - s * x))
            along = along - side * np.cross([0.0, 0.0, 1.0], along)  # perpendicular to the axis of the roller below
        found.wheel[f"{agent.name}.{name}"] = float(np.abs((contact * along).sum(1)).max())


def _soles(agent: Agent, motion: Motion) -> Array:
    """Points (T, n, 3) of what an agent stands on that may be the lowest: of feet, at samples and between; of wheels."""
    figure, out = agent.figure, []
    stands = {frame for _, frame in _standing((agent,), {agent.name: places_of(figure, figure.start[None])})}
    own = [shape for shape in figure.shapes if shape.frame in stands and shape.collides]
    walks = all(isinstance(shape.geometry, Box) for shape in own)
    at = dense_places(motion, agent.name) if walks else places_of(figure, motion.track(agent.name).q)
    for shape in own:
        R, p = at[shape.frame]
        out += [R @ point + p for point in surface_points(shape)]
    return np.stack(out, 1) if out else np.empty((len(motion), 0, 3))


def surface_points(shape: Shape) -> Array:
    """Points (n, 3) of a shape in the axes of its frame, of which one is nearly its lowest, however it is turned."""
    w, x, y, z = shape.rotation
    return Rotation.from_quat([x, y, z, w]).apply(_own_points(shape)) + np.array(shape.position)


def _own_points(shape: Shape) -> Array:
    ring = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    match shape.geometry:
        case Box(size):
            return np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size
        case Cylinder(radius, length):
            circle = radius * np.stack([np.cos(ring), np.sin(ring)], 1)
            return np.array([[*xy, z] for xy in circle for z in (-0.5 * length, 0.5 * length)])
        case Sphere(radius):
            up = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13)
            return radius * np.array([[np.cos(u) * np.cos(a), np.cos(u) * np.sin(a), np.sin(u)] for u in up for a in ring[::2]])
        case Mesh():
            corners = np.asarray(load(shape.geometry).vertices, float)
            return corners[ConvexHull(corners).vertices]
    return np.empty((0, 3))


def _lowest(errand: Errand, agent: Agent, motion: Motion, found: Findings) -> None:
    """Heights over the ground itself of the lowest point of what an agent stands on; with a load, its balance."""
    soles, heights = _soles(agent, motion), true_heights(errand)
    if not soles.shape[1]:
        return
    up = soles[..., 2] - heights(soles[..., :2].reshape(-1, 2)).reshape(soles.shape[:2])
    low = up.min(1)
    found.up[agent.name] = float(low.min()), float(low.max())
    if errand.team.carried.mass:
        every = (len(soles) - 1) // (len(motion) - 1)
        found.topples[agent.name] = _topples(errand, agent, motion, soles[::every], up[::every] < 0.01)


def _topples(errand: Errand, agent: Agent, motion: Motion, soles: Array, stands: NDArray[np.bool_]) -> float:
    model, data = _model(agent.figure)
    order = [model.joint(name).qposadr[0] for name in agent.figure.names]
    mass, com = mass_and_centre(model, data, order, motion.track(agent.name).q)
    (R, p), (_, borne) = places_of(errand.team.object_figure, motion.track(OBJECT).q)[OBJECT], shares(errand, np.eye(3))
    hands = np.mean([R @ hold.X_OT[:3, 3] + p for hold in agent.holds], axis=0)
    load = borne.get(agent.name, 0.0)
    return topples(motion.t, (mass * com + load * hands) / (mass + load), soles, stands)


def _overload(errand: Errand, motion: Motion) -> float:
    """The largest share of what somebody bears, four times a second."""
    if not errand.team.carried.mass:
        return 0.0
    q = motion.track(OBJECT).q
    R, _ = places_of(errand.team.object_figure, q)[OBJECT]
    level = Rotation.from_euler("z", -q[:, 3:4]).as_matrix() @ R
    every = max(round(0.25 * (len(motion) - 1) / motion.duration), 1)
    return max(shares(errand, own)[0] for own in np.unique(level[::every].round(4), axis=0))


def _held(errand: Errand, agent: Agent, motion: Motion, found: Findings) -> tuple[float, float]:
    """The largest error of a hand relative to its hold: at samples and between, and at samples only [m or rad]."""
    own = motion.track(agent.name)
    at, worst, worst_at = places_of(own.figure, own.q), 0.0, 0.0
    dense = dense_places(motion, agent.name), dense_places(motion, OBJECT)
    for hold in agent.holds:
        found.speed[f"{agent.name}/{hold.tool}"], found.acceleration[f"{agent.name}/{hold.tool}"] = rates(
            motion.t, at[hold.tool][1]
        )
        (R, p), (R_o, p_o) = dense[0][hold.tool], dense[1][OBJECT]
        off = np.linalg.norm(p - p_o - R_o @ hold.X_OT[:3, 3], axis=1)
        turn = Rotation.from_matrix(np.swapaxes(R_o @ hold.X_OT[:3, :3], 1, 2) @ R).magnitude()
        off, count = np.maximum(off, turn), (len(off) - 1) // (len(motion) - 1)
        worst, worst_at = max(worst, float(off.max())), max(worst_at, float(off[::count].max()))
    return worst, worst_at


def _feet(errand: Errand, agent: Agent, motion: Motion, found: Findings, *, low: float = 1e-3) -> None:
    """Slide of the corners of feet while they are nearer to the ground than `low` [m], from where they came down."""
    figure = agent.figure
    soles = [s for s in figure.shapes if isinstance(s.geometry, Box) and s.collides and any(w in s.frame for w in ("ankle", "toe"))]
    if not soles:
        return
    heights = true_heights(errand)
    at, worst = dense_places(motion, agent.name), 0.0
    for shape in soles:
        R, p = at[shape.frame]
        w, x, y, z = shape.rotation
        own = Rotation.from_quat([x, y, z, w]).as_matrix()
        for signs in itertools.product((-0.5, 0.5), repeat=3):
            corner = R @ (own @ (np.array(signs) * shape.geometry.size) + np.array(shape.position)) + p
            down = corner[:, 2] - heights(corner[:, :2]) < low
            begins = down & ~np.append(False, down[:-1])
            since = np.maximum.accumulate(np.where(begins, np.arange(len(down)), 0))
            worst = max(worst, float(np.linalg.norm(corner[down, :2] - corner[since[down], :2], axis=1).max(initial=0.0)))
    found.slide[agent.name] = worst


# -- distances -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Body:
    """One shape: its owner, its frame, its coal geometry in the frame, and a ball around it."""

    owner: str
    frame: str
    name: str
    geometry: coal.CollisionGeometry
    R: Array
    p: Array
    radius: float
    half: Array
    """Half sizes of a box around it, about its own origin [m]."""


def _geometry(shape: object) -> tuple[coal.CollisionGeometry, float]:
    match shape:
        case Sphere(radius):
            return coal.Sphere(radius), radius
        case Capsule(radius, length):
            return coal.Capsule(radius, length), radius + 0.5 * length
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length), float(np.hypot(radius, 0.5 * length))
        case Box(size):
            return coal.Box(*size), 0.5 * float(np.linalg.norm(size))
        case Mesh():
            surface = load(shape)
            vertices, faces = np.asarray(surface.vertices, float), np.asarray(surface.faces)
        case _:
            vertices, faces = np.asarray(shape.vertices, float), np.asarray(shape.faces)
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(vertices))
    for a, b, c in vertices[faces]:
        model.addTriangle(a, b, c)
    model.endModel()
    return model, float(np.linalg.norm(vertices, axis=1).max())


def _body(owner: str, frame: str, shape: Shape) -> Body:
    geometry, radius = _geometry(shape.geometry)
    w, x, y, z = shape.rotation
    return Body(owner, frame, f"{owner}.{shape.name or frame}", geometry, Rotation.from_quat([x, y, z, w]).as_matrix(),
                np.array(shape.position, float), radius, _half(geometry))  # fmt: skip


def _half(geometry: coal.CollisionGeometry) -> Array:
    geometry.computeLocalAABB()
    box = geometry.aabb_local
    return np.maximum(np.abs(np.array(box.min_)), np.abs(np.array(box.max_)))


def _apart(centre: Array, R: Array, box: Array, half: Array) -> Array:
    """Distance of points (T, 3) from boxes about the points `box` (T or 1, 3) with axes R (T or 1, 3, 3)."""
    own = np.einsum("tji,tj->ti", np.broadcast_to(R, (len(centre), 3, 3)), centre - box)
    return np.linalg.norm(np.maximum(np.abs(own) - half, 0.0), axis=1)


def _shaped_above(figure: Figure, frame: str) -> str:
    """The next frame above that has shapes."""
    above = {f.name: f.parent for f in figure.frames}
    shaped = {s.frame for s in figure.shapes if s.collides}
    rigid = _rigid(figure)
    name = above.get(frame, "world")
    while name != "world" and not any(rigid[other] == rigid[name] for other in shaped):
        name = above[name]
    return rigid.get(name, "world")


def _rigid(figure: Figure) -> dict[str, str]:
    """For each frame, the last frame above it, or itself, that a variable moves."""
    out: dict[str, str] = {"world": "world"}
    for f in figure.frames:
        out[f.name] = f.name if f.variable is not None else out[f.parent]
    return out


def _may_touch(errand: Errand) -> set[frozenset[tuple[str, str]]]:
    """Pairs of (owner, frame) that may touch: neighbours, what the figure says, and hands and the object."""
    out = set()
    for agent in errand.team.agents:
        figure, rigid = agent.figure, _rigid(agent.figure)
        shaped = sorted({s.frame for s in figure.shapes if s.collides})
        declared = {frozenset(pair) for pair in figure.allowed}
        for a, b in itertools.combinations_with_replacement(shaped, 2):
            above = {(c, _shaped_above(figure, c)) for c in (rigid[a], rigid[b])}
            near = rigid[a] == rigid[b] or not above.isdisjoint({(rigid[a], rigid[b]), (rigid[b], rigid[a])})
            if near or frozenset((a, b)) in declared:
                out.add(frozenset(((agent.name, a), (agent.name, b))))
        for hold in agent.holds:
            out |= {frozenset(((agent.name, a), (OBJECT, OBJECT))) for a in shaped if rigid[hold.tool] in _above(figure, a)}
    return out


def _above(figure: Figure, frame: str) -> set[str]:
    """A frame and all above it."""
    parent, out = {f.name: f.parent for f in figure.frames}, {frame}
    while frame in parent:
        frame = parent[frame]
        out.add(frame)
    return out


def _near(errand: Errand, motion: Motion, look: float, look_rate: float = 15.0) -> tuple[float, dict[str, float]]:
    team, scene = errand.team, errand.scene
    figures = {agent.name: agent.figure for agent in team.agents} | {OBJECT: team.object_figure}
    bodies = [_body(name, s.frame, s) for name, f in figures.items() for s in f.shapes if s.collides]
    world = [_body("scene", "world", o) for o in scene.obstacles if getattr(o, "collides", True)]
    every = max(int(0.5 * len(motion) / (look_rate * motion.duration)), 1)  # coal is slow
    Q = {name: between(motion.t, motion.track(name).q, rate=look_rate)[::every] for name in figures}
    places = {name: places_of(figures[name], Q[name]) for name in figures}
    start = {name: places_of(f, f.start[None]) for name, f in figures.items()}
    centre, R = {}, {}
    for k, body in enumerate([*bodies, *world]):
        at = places[body.owner][body.frame] if body.owner in places else (np.eye(3)[None], np.zeros((1, 3)))
        R[k], centre[k] = at[0] @ body.R, at[0] @ body.p + at[1]
    soles, may_touch = _standing(team.agents, start), _may_touch(errand)
    clearance, depth = np.inf, {}
    everything = [*bodies, *world]
    for i, a in enumerate(bodies):
        for j in range(i + 1, len(everything)):
            b = everything[j]
            own = a.owner == b.owner or (OBJECT in (a.owner, b.owner) and "scene" not in (a.owner, b.owner))
            if (a.owner == OBJECT and b.owner == OBJECT) or frozenset(((a.owner, a.frame), (b.owner, b.frame))) in may_touch:
                continue
            if b.owner == "scene" and (a.owner, a.frame) in soles and (b.name.removeprefix("scene.") in errand.ground):
                continue
            reach = a.radius + b.radius + (0.0 if own else look)
            gap = np.linalg.norm(centre[i] - centre[j], axis=1)
            most = 0.0 if own else look
            close = (gap < reach) & (_apart(centre[i], R[j], centre[j], b.half) < a.radius + most)
            close &= _apart(np.broadcast_to(centre[j], centre[i].shape), R[i], centre[i], a.half) < b.radius + most
            for k in np.flatnonzero(close).tolist():
                d = _distance(a, R[i][k], centre[i][k], b, R[j][min(k, len(R[j]) - 1)], centre[j][min(k, len(centre[j]) - 1)], most)
                if own:
                    if d < 0.0:
                        name = f"{a.name} – {b.name}"
                        depth[name] = max(depth.get(name, 0.0), -d)
                else:
                    clearance = min(clearance, d)
    return clearance, {name: value for name, value in depth.items() if value > 1e-6}


def _standing(agents: tuple[Agent, ...], start: dict) -> set[tuple[str, str]]:
    """(agent, frame) of the frames that touch the floor at the figure's start."""
    out = set()
    for agent in agents:
        for shape in agent.figure.shapes:
            R, p = start[agent.name][shape.frame]
            body = _body(agent.name, shape.frame, shape)
            down = np.abs((R[0] @ body.R)[2]) @ body.half
            if shape.collides and (R[0] @ body.p + p[0])[2] - down < 0.05:
                out.add((agent.name, shape.frame))
    return out


def _distance(a: Body, R_a: Array, p_a: Array, b: Body, R_b: Array, p_b: Array, look: float) -> float:
    """The signed distance of two shapes [m]; infinite if it is more than `look`, which coal finds out much faster."""
    at = coal.Transform3s(R_a, p_a), coal.Transform3s(R_b, p_b)
    near, hits = coal.CollisionRequest(), coal.CollisionResult()
    near.security_margin = look
    if not coal.collide(a.geometry, at[0], b.geometry, at[1], near, hits):
        return np.inf
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    return float(coal.distance(a.geometry, at[0], b.geometry, at[1], request, result))
