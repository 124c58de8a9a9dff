"""An independent judge of carried motions: kinematics of its own, coal for distances, nothing of the planner or the rechecker.

    found = judge(errand, done.motion)
    found.worst("speed")          # the largest of everybody's, as a share of what the errand allows

Between samples a motion is straight in its variables, as every player shows it. The judge looks at places between samples, too.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from bunraku.collision.triangle_meshes import load
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.team import OBJECT, Agent
from bunraku.figure import Figure
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.motion import Motion
from bunraku.planning.ways.steer import Bezier, Differential

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
    """[rad/s]."""
    joint_acceleration: dict[str, float] = field(default_factory=dict)
    """[rad/s²]."""
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
    clearance: float = np.inf
    """Smallest distance of agents and object from the scene and of agents from each other [m], as far as the judge looked."""
    depth: dict[str, float] = field(default_factory=dict)
    """Depth by which two shapes of one agent, or of an agent and the object, are in each other, beyond that of the start [m]."""

    def worst(self, word: str) -> float:
        """The largest of everybody's."""
        return max(getattr(self, word).values(), default=0.0)


# -- kinematics ------------------------------------------------------------------------------------------------------


def places_of(figure: Figure, Q: Array) -> dict[str, tuple[Array, Array]]:
    """Rotations (T, 3, 3) and positions (T, 3) of all frames."""
    column = {name: k for k, name in enumerate(figure.names)}
    n = len(Q)
    out = {"world": (np.repeat(np.eye(3)[None], n, 0), np.zeros((n, 3)))}
    for frame in figure.frames:
        R, p = out[frame.parent]
        w, x, y, z = frame.rotation
        p = p + R @ np.array(frame.position)
        R = R @ Rotation.from_quat([x, y, z, w]).as_matrix()
        if frame.variable is not None:
            value, axis = Q[:, column[frame.variable.name]], np.array(frame.variable.axis, float)
            if frame.variable.motion == "rotate":
                R = R @ Rotation.from_rotvec(value[:, None] * axis).as_matrix()
            else:
                p = p + value[:, None] * (R @ axis)
        out[frame.name] = R, p
    return out


def between(t: Array, Q: Array, *, rate: float = LEAST_RATE) -> Array:
    """Configurations at samples and between them, `rate` a second or more, straight in the variables."""
    count = max(int(np.ceil(rate * float(np.diff(t).max()))), 1)
    s = np.append((np.arange(len(t) - 1)[:, None] + np.arange(count) / count).ravel(), len(t) - 1)
    return np.stack([np.interp(s, np.arange(len(t)), column) for column in Q.T], 1)


def rates(t: Array, p: Array) -> tuple[float, float]:
    """The largest speed and acceleration of values (T, k): of the smooth curve whose samples they are, at rest at both ends."""
    dt = np.diff(t)[:, None]
    v = np.diff(p, axis=0) / dt
    padded = np.concatenate([np.zeros((1, p.shape[1])), v, np.zeros((1, p.shape[1]))])
    steps = np.concatenate([dt[:1], 0.5 * (dt[1:] + dt[:-1]), dt[-1:]])
    a = np.diff(padded, axis=0) / steps
    return float(np.linalg.norm(v, axis=1).max()), float(np.linalg.norm(a, axis=1).max())


# -- the parts of a judgement ------------------------------------------------------------------------------------------


def judge(errand: Errand, motion: Motion, *, look: float = 0.02, distances: bool = True) -> Findings:
    """Measures everything; clearances up to `look` [m]; without `distances`, neither clearance nor depth."""
    found = Findings()
    _object(errand, motion, found)
    for agent in errand.team.agents:
        _base(agent, motion, found)
        _joints(agent, motion, found)
        _feet(errand, agent, motion, found)
    closure = max(_held(errand, agent, motion, found) for agent in errand.team.agents)
    clearance, depth = _near(errand, motion, look) if distances else (np.inf, {})
    object.__setattr__(found, "closure", closure)
    object.__setattr__(found, "clearance", clearance)
    found.depth.update(depth)
    return found


def _object(errand: Errand, motion: Motion, found: Findings) -> None:
    q = motion.track(OBJECT).q
    found.speed[OBJECT], found.acceleration[OBJECT] = rates(motion.t, q[:, :3])
    found.turning[OBJECT] = rates(motion.t, np.unwrap(q[:, 3:4], axis=0))[0]
    found.way[OBJECT] = float(np.linalg.norm(np.diff(q[:, :3], axis=0), axis=1).sum())


def _base(agent: Agent, motion: Motion, found: Findings) -> None:
    figure, q = agent.figure, motion.track(agent.name).q
    x, y, turn = (q[:, figure.names.index(name)] for name in agent.base[:3])
    turn = np.unwrap(turn)
    xy = np.stack([x, y], 1)
    found.speed[agent.name], found.acceleration[agent.name] = rates(motion.t, xy)
    found.turning[agent.name] = rates(motion.t, turn[:, None])[0]
    step, mean = np.diff(xy, axis=0), 0.5 * (turn[1:] + turn[:-1])
    found.way[agent.name] = float(np.linalg.norm(step, axis=1).sum())
    aside = np.abs(np.cos(mean) * step[:, 1] - np.sin(mean) * step[:, 0])
    if issubclass(agent.moves, Differential):
        found.slip[agent.name] = float(aside.sum())
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
    for k, variable in enumerate(agent.figure.variables):
        if variable.motion == "rotate" and variable.name not in agent.base and "wheel" not in variable.name:
            name = f"{agent.name}.{variable.name}"
            found.joint_speed[name], found.joint_acceleration[name] = rates(motion.t, np.unwrap(q[:, k : k + 1], axis=0))


def _held(errand: Errand, agent: Agent, motion: Motion, found: Findings) -> float:
    own, carried = motion.track(agent.name), motion.track(OBJECT)
    at, worst = places_of(own.figure, own.q), 0.0
    dense = places_of(own.figure, between(motion.t, own.q)), places_of(carried.figure, between(motion.t, carried.q))
    for hold in agent.holds:
        found.speed[f"{agent.name}/{hold.tool}"], found.acceleration[f"{agent.name}/{hold.tool}"] = rates(
            motion.t, at[hold.tool][1]
        )
        (R, p), (R_o, p_o) = dense[0][hold.tool], dense[1][OBJECT]
        off = np.linalg.norm(p - p_o - R_o @ hold.X_OT[:3, 3], axis=1).max()
        turn = Rotation.from_matrix(np.swapaxes(R_o @ hold.X_OT[:3, :3], 1, 2) @ R).magnitude().max()
        worst = max(worst, float(off), float(turn))
    return worst


def _feet(errand: Errand, agent: Agent, motion: Motion, found: Findings, *, low: float = 2e-3) -> None:
    """Slide of the corners of feet while they are nearer to the ground than `low` [m], from where they came down."""
    figure, q = agent.figure, motion.track(agent.name).q
    soles = [s for s in figure.shapes if isinstance(s.geometry, Box) and s.collides and any(w in s.frame for w in ("ankle", "toe"))]
    if not soles:
        return
    heights = errand.heights or (lambda points: np.zeros(len(points)))
    at, worst = places_of(figure, between(motion.t, q)), 0.0
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
                np.array(shape.position, float), radius)  # fmt: skip


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
    soles = _standing(team.agents, start)
    clearance, depth = np.inf, {}
    everything = [*bodies, *world]
    for i, a in enumerate(bodies):
        for j in range(i + 1, len(everything)):
            b = everything[j]
            own = a.owner == b.owner or (OBJECT in (a.owner, b.owner) and "scene" not in (a.owner, b.owner))
            if (a.owner == OBJECT and b.owner == OBJECT) or (a.owner == b.owner and a.frame == b.frame):
                continue
            if b.owner == "scene" and (a.owner, a.frame) in soles and (b.name.removeprefix("scene.") in errand.ground):
                continue
            reach = a.radius + b.radius + (0.0 if own else look)
            gap = np.linalg.norm(centre[i] - centre[j], axis=1)
            for k in np.flatnonzero(gap < reach).tolist():
                d = _distance(a, R[i][k], centre[i][k], b, R[j][min(k, len(R[j]) - 1)], centre[j][min(k, len(centre[j]) - 1)])
                if own:
                    if d < 0.0:
                        name = f"{a.name} – {b.name}"
                        depth[name] = max(depth.get(name, 0.0), -d)
                else:
                    clearance = min(clearance, d)
    for name in list(depth):
        depth[name] -= _depth_at_start(name, bodies, start)
    return clearance, {name: value for name, value in depth.items() if value > 1e-6}


def _standing(agents: tuple[Agent, ...], start: dict) -> set[tuple[str, str]]:
    """(agent, frame) of the frames that touch the floor at the figure's start."""
    out = set()
    for agent in agents:
        for shape in agent.figure.shapes:
            R, p = start[agent.name][shape.frame]
            body = _body(agent.name, shape.frame, shape)
            if (R[0] @ body.p + p[0])[2] - body.radius < 0.05:
                out.add((agent.name, shape.frame))
    return out


def _depth_at_start(pair: str, bodies: list[Body], start: dict) -> float:
    a, b = (next(body for body in bodies if body.name == name) for name in pair.split(" – "))
    if a.owner != b.owner:
        return 0.0
    (R_a, p_a), (R_b, p_b) = (start[body.owner][body.frame] for body in (a, b))
    d = _distance(a, R_a[0] @ a.R, R_a[0] @ a.p + p_a[0], b, R_b[0] @ b.R, R_b[0] @ b.p + p_b[0])
    return max(-d, 0.0)


def _distance(a: Body, R_a: Array, p_a: Array, b: Body, R_b: Array, p_b: Array) -> float:
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    return float(coal.distance(a.geometry, coal.Transform3s(R_a, p_a), b.geometry, coal.Transform3s(R_b, p_b), request, result))
