"""Moves of one agent whose hands are free: an arm lets go or takes hold, the agent walks or rolls to another place.

While it does, the object and all others stand still, so they are obstacles.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.ensemble.animate import AnimateOptions, walks
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.members import Agent, Grasp
from bunraku.ensemble.rolling import heading_along, rolled
from bunraku.ensemble.team import OBJECT
from bunraku.ensemble.whole_team import feet, together
from bunraku.figure import Figure
from bunraku.figure.build import Attached, figure, rz, tx, ty
from bunraku.figure.shape import Shape
from bunraku.kinematics.forward import frames_along, pose
from bunraku.kinematics.inverse.arm import ClosedArm
from bunraku.kinematics.inverse.general_arm import GeneralArm
from bunraku.locomotion.walk import walk
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path
from bunraku.planning.ways.path_timing import PathLimits, PathTiming, PathTimingOptions, steadied, timed
from bunraku.planning.ways.steer import Differential, Holonomic
from bunraku.scene import Scene
from bunraku.spatial import se3, so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FreeMoveOptions:
    """Numbers that tune moves with free hands."""

    away: tuple[float, ...] = (0.06, 0.1, 0.15)
    """A hand that lets go first moves straight away from the object by one of these [m]."""
    turns: tuple[float, ...] = (0.0, 0.3, -0.3)
    """Meanwhile its elbow may swivel by one of these [rad]."""
    joint_speed: float = 1.5
    """Largest speed of the joints of such an arm; a joint's own limit, if lower, counts as well [rad/s]."""
    joint_acceleration: float = 3.0
    """[rad/s²]."""
    seconds: float = 1.0
    """Processor time to search for the way of an arm, or of an agent [s]."""
    share: float = 0.95
    """Share of the errand's speed and acceleration with which agents go."""
    looking: float = 0.6
    """Time in which people turn head and trunk to where they will go, and back [s]."""
    rate: float = 75.0
    """Samples per second."""


@dataclass(frozen=True, eq=False)
class FreeMover:
    """One agent in a scene that contains everything else, also the object."""

    agent: Agent
    scene: Scene
    errand: Errand
    seed: int = 0
    options: FreeMoveOptions = FreeMoveOptions()

    # -- arms --------------------------------------------------------------------------------------------------------

    def let_go(self, hold: Grasp, q: Array, free: Array, others: tuple[Grasp, ...] = ()) -> Array | None:
        """Configurations (T, n) from `q`, in which a hand has this `hold`, to one with its arm as in `free`; None: there is no way.

        others: holds of its other hands, which go on holding
        """
        own, arm = self.agent.figure, self.agent.arm(hold)
        touching, apart = (self._space(q, arm.indices, touches) for touches in ((hold, *others), others))
        goal = q.copy()
        goal[arm.indices] = free[arm.indices]
        if not apart.free(goal)[0]:
            return None
        X = pose(own, q).X(hold.tool)
        swivel = swivel_of(arm, q)
        ways = self._ways_off(q, X)
        for turn, away in itertools.product(self.options.turns if arm.swivels else (0.0,), self.options.away):
            moved = np.repeat(X[None], len(ways), 0)
            moved[:, :3, 3] += away * ways
            near, swivels = np.repeat(q[None, arm.indices], len(ways), 0), np.full(len(ways), swivel + turn)
            for angles, found in zip(*arm.nearest_many(moved, q, swivel=swivels, near=near), strict=True):
                clear = q.copy()
                clear[arm.indices] = angles
                if not found or np.abs(clear - q).max() > 1.0 or not apart.free(clear)[0] or not touching.sees(q, clear):
                    continue
                rest = find(apart, clear, goal, seed=self.seed, seconds=self.options.seconds)
                if rest.path is not None:
                    return self._swung(Path(touching, (touching.curve(q, clear), *rest.path.curves)), arm.indices, hold)
        return None

    def straighten(self, q: Array, free: Array) -> Array | None:
        """Configurations from `q` to that with all joints but wheels as in `free`; None if something is in the way."""
        own = [k for k, name in enumerate(self.agent.figure.names) if name not in self.agent.base and "wheel" not in name]
        goal = q.copy()
        goal[own] = free[own]
        if np.abs(goal - q).max() < 1e-12:
            return q[None]
        columns = np.array(own)
        space = self._space(q, columns, ())
        if not space.sees(q, goal):
            return None
        return self._swung(Path(space, (space.curve(q, goal),)), columns, self.agent.holds[0])

    def _ways_off(self, q: Array, X: Array) -> Array:
        """Directions (n, 3) in which a hand at X may leave: along the axes of the tool, to the agent's base, up, down, aside."""
        x, y = q[self.agent.figure.indices(self.agent.base[:2])] - X[:2, 3]
        back, up = np.array([x, y, 0.0]) / max(math.hypot(x, y), 1e-9), np.array([0.0, 0.0, 1.0])
        aside = np.cross(up, back)
        sums = [back + up, back - up, aside, -aside, aside - up, -aside - up, back + aside, back - aside]
        ways = np.stack([*X[:3, :3].T, *-X[:3, :3].T, up, -up, back, *sums])
        return np.asarray(ways / np.linalg.norm(ways, axis=1, keepdims=True))

    def _space(self, q: Array, columns: NDArray[np.int64], touching: tuple[Grasp, ...]) -> FreeSpace:
        """Configurations in which only some variables differ from `q`; with the errand's margin from others and the scene."""
        own = self.agent.figure
        hands = [(frame, OBJECT) for hold in touching for frame in together(own, hold.tool)]
        stands = [
            (frame, name) for frame in feet(self.agent) for name in self.errand.ground if name == "floor" or self._known(name)
        ]
        small = 1e-6
        bounds = {name: (float(v) - small, float(v) + small) for name, v in zip(own.names, q, strict=True)}
        bounds |= {own.names[k]: (-math.tau, math.tau) for k in columns}  # and the joint's own limits
        weights = np.ones(own.n_q)
        space = FreeSpace(World(own, self.scene, allowed=(*hands, *stands)), bounds=bounds, weights=weights)
        others = self.scene.replace(obstacles=tuple(o for o in self.scene.obstacles if o.group != OBJECT))
        itself = [(a.name, b.name) for a in own.frames for b in own.frames]
        wide = FreeSpace(World(own, others, allowed=(*itself, *stands)), bounds=bounds, weights=weights, margin=self.errand.margin)
        return space.restricted(wide.ways.free_along)

    def _known(self, name: str) -> bool:
        return any(name in (o.name, o.group) for o in self.scene.obstacles)

    def _swung(self, path: Path, columns: NDArray[np.int64], hold: Grasp) -> Array:
        """Samples of a path of some joints, as fast as their limits and those of the hand in the world allow."""
        own, options = self.agent.figure, self.options
        tool = own.frame_index[hold.tool]

        def values(Q: Array) -> Array:
            return np.hstack([Q[:, columns], frames_along(own, Q)[:, tool, :3, 3]])

        fast = [min(own.variables[k].speed, options.joint_speed) for k in columns]
        sizes = (*(1,) * len(columns), 3)
        accelerations = np.array([*(options.joint_acceleration,) * len(columns), self.errand.acceleration])
        limits = PathLimits(values, sizes, np.array([*fast, self.errand.speed]), accelerations)
        return self._sampled(timed(path, limits=limits))

    def _sampled(self, timing: PathTiming) -> Array:
        return np.asarray(timing.samples(max(math.ceil(self.options.rate * timing.duration), 2) + 1).q)

    # -- legs and wheels ---------------------------------------------------------------------------------------------

    def go(self, start: Array, goal: Array) -> Array | None:
        """Configurations (T, n) from a place `start` to a place `goal` (x, y, heading) with free hands; None if there is no way."""
        off = np.asarray(goal) - start
        if np.linalg.norm(off[:2]) < 1e-9 and abs(math.remainder(off[2], math.tau)) < 1e-9:
            return standing(self.agent, start)[None]
        space = self.floor_space(np.stack([start, goal]))
        for own in (space, space.sidestepping()) if walks(self.agent) else (space,):
            found = find(own, start, goal, seed=self.seed, seconds=self.options.seconds)
            if found.path is not None:
                return self._gone(found.path)
        return None

    def floor_space(self, ends: Array) -> FreeSpace:
        """Where the agent can stand and go with free hands, as x, y and heading; `ends` (n, 3) are within its bounds."""
        agent, beyond = self.agent, 0.5
        body = _body(agent)
        bounds = {
            name: (min(low, ends[:, k].min()) - beyond, max(high, ends[:, k].max()) + beyond)
            for k, (name, (low, high)) in enumerate(zip("xy", self.errand.area, strict=True))
        }
        world = World(body, self.scene, allowed=((body.name, "floor"),))
        steered = [] if issubclass(agent.moves, Holonomic) else [agent.moves("x", "y", "turn")]
        return FreeSpace(world, bounds=bounds, parts=steered, margin=2.0 * self.errand.margin)

    def _gone(self, path: Path) -> Array:
        """Samples of the whole figure along a path of its base."""
        errand, options, share = self.errand, AnimateOptions(), self.options.share
        fastest = share * np.array([errand.speed, errand.turning * errand.speed])
        limits = PathLimits(lambda Q: Q, (2, 1), fastest, np.full(2, share * errand.acceleration))
        timing = timed(path, limits=limits, options=PathTimingOptions(smoothing=options.steadiness))
        dt = 1.0 / self.options.rate
        base = steadied(self._sampled(timing), options.steadiness / dt)
        if walks(self.agent):
            Q = walk(self.agent.figure, dt * np.arange(len(base)), base, options=options.walk).Q.copy()
            return self._from_standing(Q, base, round(self.options.looking / dt))
        return rolled(self.agent, heading_along(base, dt) if issubclass(self.agent.moves, Differential) else base)

    def _from_standing(self, Q: Array, base: Array, count: int) -> Array:
        """A walk whose trunk, head and arms begin and end as in standing, not turned to where it leads, `count` samples long."""
        legs = ("pelvis", "hip", "knee", "ankle")
        own = [k for k, name in enumerate(self.agent.figure.names) if not any(word in name for word in legs)]
        share = eased(np.arange(len(Q)) / max(count, 1))[:, None]
        for end, part in ((0, share), (-1, share[::-1])):
            still = standing(self.agent, base[end])[own]
            Q[:, own] = still + part * (Q[:, own] - still)
        return Q


def swivel_of(arm: ClosedArm | GeneralArm, q: Array) -> float:
    """The angle of the elbow of an `arm` in a configuration `q` [rad]; 0 if it has no such angle."""
    return arm.swivel(q) if isinstance(arm, ClosedArm) and arm.swivels else 0.0


def standing(agent: Agent, base: Array) -> Array:
    """The configuration of an `agent` that stands at a `base` (x, y, heading) with free hands."""
    place = np.repeat(np.asarray(base, float)[None, :3], 2, 0)
    if walks(agent):
        return np.asarray(walk(agent.figure, [0.0, 1.0], place).Q[0])
    return np.asarray(rolled(agent, place)[0])


def _body(agent: Agent) -> Figure:
    """The agent's shape for planning together with its figure, standing, on a base with x, y and heading."""
    q = standing(agent, np.zeros(3))
    here = pose(agent.figure, q)
    shapes = [Shape("world", agent.shape, agent.at, name=agent.name)]
    for shape in agent.figure.shapes:
        if shape.collides and shape.frame != "world":
            X = here.X(shape.frame) @ se3.pose(shape.position, shape.rotation)
            w, x, y, z = so3.quaternion(X[:3, :3]).tolist()
            at = (float(X[0, 3]), float(X[1, 3]), float(X[2, 3]))
            shapes.append(replace(shape, frame="world", position=at, rotation=(w, x, y, z)))
    return figure(agent.name, tx("x", ty("y", rz("turn", Attached(shapes=tuple(shapes))))))
