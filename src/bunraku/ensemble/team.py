"""Team: agents and the object they carry, reduced to what planning needs (*carrying*, Section IV-A).

Each agent is a box or cylinder with three variables (x, y, heading), the object has six; each further agent adds three. Arms
are links: the distance from shoulder to wrist stays within a shell.

The variables are relative: who walks or drives leads, the object is seen from there, and the others from the object. What
goes straight in these variables keeps its reach, and nobody who cannot roll sideways has to.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision import World
from bunraku.collision.ways import Link
from bunraku.ensemble.reach import Shell, shell
from bunraku.ensemble.sampling import TeamSampler
from bunraku.errors import BunrakuError
from bunraku.figure import WORLD, Figure, Point
from bunraku.figure.build import Attached, Node, figure, rx, ry, rz, tx, ty, tz
from bunraku.figure.shape import Color, Geometry, Shape
from bunraku.kinematics.forward import frames_along
from bunraku.planning.freespace import FreeSpace
from bunraku.planning.steer import Holonomic, Planar
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Area = tuple[tuple[float, float], tuple[float, float]]
OBJECT = "object"


@dataclass(frozen=True, eq=False)
class Hold:
    """A tool frame of the agent, and where it holds the object: the pose of the tool in the object's axes."""

    tool: str
    X_OT: Array


@dataclass(frozen=True, eq=False)
class Agent:
    """Someone who carries: a figure, how its base moves, where it holds, and the shape it is reduced to."""

    name: str
    figure: Figure
    holds: tuple[Hold, ...]
    base: tuple[str, str, str]
    """Variables of the figure: x, y, heading."""
    shape: Geometry
    at: Vector
    """The middle of the shape, seen from the base."""
    moves: type[Planar] = Holonomic
    facing: float = math.pi / 3
    """How far from straight ahead the held points may be [rad]."""
    approach: float = 1.15
    """How far from straight behind a tool that points sideways the agent may stand [rad], so that its arm is not across."""
    spare: float = 0.04
    color: Color = (0.55, 0.6, 0.7)

    @cached_property
    def shells(self) -> tuple[Shell, ...]:
        return tuple(shell(self.figure, hold.tool, base=self.base, spare=self.spare) for hold in self.holds)

    @cached_property
    def spheres(self) -> Array:
        """(centre, least, most) about which each wrist must be, two for each arm: its shell, and what is ahead."""
        rows = [((own.shoulder, own.least, own.most), own.ahead(self.facing)) for own in self.shells]
        return np.array([[*centre, least, most] for pair in rows for centre, least, most in pair])

    @cached_property
    def variables(self) -> tuple[str, str, str]:
        """In the team's figure."""
        return f"{self.name}_x", f"{self.name}_y", f"{self.name}_turn"

    @cached_property
    def outward(self) -> float | None:
        """From where one hand reaches the object, in its axes, about its z [rad]; nothing where it comes from above or below."""
        if len(self.holds) != 1:
            return None
        x, y = -self.holds[0].X_OT[:2, 2]
        return None if math.hypot(x, y) < 0.5 else math.atan2(y, x)

    @cached_property
    def behind(self) -> Array:
        """(centre, radius) of a ball in the object's axes: with the shoulder of one hand in there, its arm is not across."""
        if self.outward is None:
            return np.array([0.0, 0.0, 0.0, 1e6])
        away, radius = self.shells[0].within(self.approach)
        return np.append(self.wrists()[0] + away * np.array([math.cos(self.outward), math.sin(self.outward), 0.0]), radius)

    def wrists(self) -> Array:
        """Where the wrists are in the object's axes (n, 3)."""
        return np.array([se3.transform(hold.X_OT, own.wrist) for hold, own in zip(self.holds, self.shells, strict=True)])


@dataclass(frozen=True, eq=False)
class Carried:
    """The object: shapes in its own axes, and how it may be held.

    `tilt` [rad] bounds pitch and roll: 0 keeps a tray level, π/2 keeps this side up. `heights` [m] bound its origin.
    """

    shapes: tuple[Shape, ...]
    tilt: float = 0.35
    heights: tuple[float, float] = (0.5, 1.4)

    def __post_init__(self) -> None:
        if not 0.0 <= self.tilt <= math.pi / 2 or not self.heights[0] <= self.heights[1]:
            raise BunrakuError(f"tilt {self.tilt}, heights {self.heights}\n  advice: a tilt from 0 to π/2, the lower height first")


@dataclass(frozen=True, eq=False)
class Team:
    """Agents and what they carry, as one figure of 3 N + 6 variables.

    Agents that walk (`Bezier`) or drive (`Differential`) follow their curves exactly only while they lead, which one can; the
    others step or roll as holding the object wants it.
    """

    agents: tuple[Agent, ...]
    carried: Carried
    figure: Figure = field(init=False)

    def __post_init__(self) -> None:
        if not self.agents or len({agent.name for agent in self.agents} | {OBJECT}) <= len(self.agents):
            raise BunrakuError(f"agents need names of their own, other than {OBJECT!r}\n  advice: Team((walker, rover), carried)")
        for agent in self.agents:
            if not agent.holds:
                raise BunrakuError(f"{agent.name} holds nothing\n  advice: give it a Hold(tool, X_OT)")
        object.__setattr__(self, "figure", self._reduced())

    @cached_property
    def leader(self) -> Agent | None:
        """The first who cannot move sideways; nobody where all can."""
        return next((agent for agent in self.agents if not issubclass(agent.moves, Holonomic)), None)

    def _reduced(self) -> Figure:
        shapes = Attached(shapes=tuple(replace(shape, frame=WORLD) for shape in self.carried.shapes))
        held = tz(f"{OBJECT}_z", ry(f"{OBJECT}_pitch", rx(OBJECT, shapes, variable=f"{OBJECT}_roll")))
        others = [_node(agent) for agent in self.agents if agent is not self.leader]
        carried = tx(f"{OBJECT}_x", ty(f"{OBJECT}_y", rz(f"{OBJECT}_yaw", held, *others)))
        return figure("team", carried if self.leader is None else _node(self.leader, carried))

    @property
    def n(self) -> int:
        return self.figure.n_q

    # -- world and team ----------------------------------------------------------------------------------------------

    def configuration(self, bases: Mapping[str, ArrayLike], object: ArrayLike) -> Array:  # noqa: A002
        """q of agents at (x, y, heading) and the object at (x, y, z, yaw, pitch, roll), all in the world; rows broadcast."""
        held = np.asarray(object, float)
        floor = held[..., [0, 1, 3]]
        out = np.zeros((*np.broadcast_shapes(held.shape[:-1], *(np.shape(bases[a.name])[:-1] for a in self.agents)), self.n))
        for agent in self.agents:
            base = np.asarray(bases[agent.name], float)
            own = self.figure.indices(agent.variables)
            out[..., own] = base if agent is self.leader else _seen_from(floor, base)
        lead = None if self.leader is None else np.asarray(bases[self.leader.name], float)
        out[..., self._floor] = floor if lead is None else _seen_from(lead, floor)
        out[..., self._held] = held[..., [2, 4, 5]]
        return out

    def in_world(self, Q: ArrayLike) -> tuple[dict[str, Array], Array]:
        """Agents' (x, y, heading) by name, and the object's (x, y, z, yaw, pitch, roll)."""
        Q = np.asarray(Q, float)
        floor, bases = Q[..., self._floor], {}
        if self.leader is not None:
            bases[self.leader.name] = Q[..., self.figure.indices(self.leader.variables)]
            floor = _beside(bases[self.leader.name], floor)
        for agent in self.agents:
            if agent is not self.leader:
                bases[agent.name] = _beside(floor, Q[..., self.figure.indices(agent.variables)])
        held = Q[..., self._held]
        return bases, np.stack([floor[..., 0], floor[..., 1], held[..., 0], floor[..., 2], held[..., 1], held[..., 2]], -1)

    @cached_property
    def _floor(self) -> NDArray[np.int64]:
        return self.figure.indices((f"{OBJECT}_x", f"{OBJECT}_y", f"{OBJECT}_yaw"))

    @cached_property
    def _held(self) -> NDArray[np.int64]:
        return self.figure.indices((f"{OBJECT}_z", f"{OBJECT}_pitch", f"{OBJECT}_roll"))

    # -- reach -------------------------------------------------------------------------------------------------------

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """One for each arm; and one that keeps what it holds in front of the agent."""
        out = []
        for agent in self.agents:
            base = agent.variables[2]
            for hold, own, wrist in zip(agent.holds, agent.shells, agent.wrists(), strict=True):
                held = Point(OBJECT, _vector(wrist))
                out.append(Link(Point(base, _vector(own.shoulder)), held, own.least, own.most, f"{agent.name}'s {hold.tool}"))
                centre, least, most = own.ahead(agent.facing)
                out.append(Link(Point(base, _vector(centre)), held, least, most, f"{agent.name}'s {hold.tool}, ahead,"))
                if agent.outward is not None:
                    ends = Point(base, _vector(own.shoulder)), Point(OBJECT, _vector(agent.behind))
                    out.append(Link(*ends, 0.0, float(agent.behind[3]), f"{agent.name}'s {hold.tool}, across,"))
        return tuple(out)

    @cached_property
    def heights(self) -> tuple[float, float]:
        """Of the object's origin [m]: as allowed, and such that each wrist can be level with its shell."""
        low, high = self.carried.heights
        for agent in self.agents:
            for own, wrist in zip(agent.shells, agent.wrists(), strict=True):
                # Tilted by at most `tilt` in pitch and roll, a point rises or sinks by no more than this.
                swing = abs(wrist[2]) + float(np.abs(wrist[:2]).sum()) * math.sin(self.carried.tilt)
                low = max(low, own.shoulder[2] - own.most - swing)
                high = min(high, own.shoulder[2] + own.most + swing)
        if low > high:
            raise BunrakuError(f"no height between {low:.3g} m and {high:.3g} m suits all arms\n  advice: move the holds")
        return low, high

    def reaches(self, Q: ArrayLike) -> NDArray[np.bool_]:
        """Whether every wrist is within its shell, and ahead, at each sample (T, n)."""
        Q = np.atleast_2d(np.asarray(Q, float))
        X, index = frames_along(self.figure, Q), self.figure.frame_index
        ok = np.ones(len(Q), np.bool_)
        for link in self.links:
            x, y = (X[:, index[p.frame], :3, :3] @ np.array(p.position) + X[:, index[p.frame], :3, 3] for p in (link.a, link.b))
            d = np.linalg.norm(x - y, axis=-1)
            ok &= (d >= link.least) & (d <= link.most)
        return ok

    # -- space -------------------------------------------------------------------------------------------------------

    def world(self, scene: Scene, *, allowed: Iterable[tuple[str, str]] = ()) -> World:
        """The team in a scene; agents stand on the floor."""
        floor = [] if scene.floor is None else [(agent.variables[2], "floor") for agent in self.agents]
        return World(self.figure, scene, allowed=(*floor, *allowed))

    def _arm_span(self, agent: Agent) -> float:
        """The farthest that the object's origin can be from the agent's base, on the floor."""
        reach = [own.most + math.hypot(own.shoulder[0], own.shoulder[1]) for own in agent.shells]
        return max(r + float(np.linalg.norm(w)) for r, w in zip(reach, agent.wrists(), strict=True))

    def bounds(self, area: Area) -> dict[str, tuple[float, float]]:
        """Limits of all variables, where who leads, or the object, stays in an area ((x_low, x_high), (y_low, y_high))."""
        tilt = (-self.carried.tilt, self.carried.tilt)
        out = {f"{OBJECT}_z": self.heights, f"{OBJECT}_pitch": tilt, f"{OBJECT}_roll": tilt}
        for agent in self.agents:
            span = self._arm_span(agent)
            names = (f"{OBJECT}_x", f"{OBJECT}_y") if agent is self.leader else agent.variables[:2]
            out |= dict.fromkeys(names, (-span, span))
        first = (f"{OBJECT}_x", f"{OBJECT}_y") if self.leader is None else self.leader.variables[:2]
        return out | dict(zip(first, area, strict=True))

    def space(
        self, scene: Scene, area: Area, *, margin: float = 0.01, allowed: Iterable[tuple[str, str]] = ()
    ) -> FreeSpace:
        """What planners need: samples in which reach holds, links, and the steering of who leads."""
        return FreeSpace(
            self.world(scene, allowed=allowed), bounds=self.bounds(area), links=self.links, margin=margin,
            parts=[] if self.leader is None else [self.leader.moves(*self.leader.variables)], sampler=TeamSampler(self, area),
        )  # fmt: skip


def _node(agent: Agent, *children: Node) -> Node:
    x, y, turn = agent.variables
    body = Attached(shapes=(Shape(WORLD, agent.shape, agent.at, color=agent.color, name=agent.name),))
    return tx(x, ty(y, rz(turn, body, *children)))


def _seen_from(a: Array, b: Array) -> Array:
    """(x, y, heading) of b in the axes of a."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    u, v = b[..., 0] - a[..., 0], b[..., 1] - a[..., 1]
    turn = np.remainder(b[..., 2] - a[..., 2] + np.pi, 2.0 * np.pi) - np.pi
    return np.stack(np.broadcast_arrays(c * u + s * v, c * v - s * u, turn), -1)


def _beside(a: Array, b: Array) -> Array:
    """(x, y, heading) in the world of b, which is given in the axes of a."""
    c, s = np.cos(a[..., 2]), np.sin(a[..., 2])
    x, y = c * b[..., 0] - s * b[..., 1], s * b[..., 0] + c * b[..., 1]
    return np.stack([a[..., 0] + x, a[..., 1] + y, a[..., 2] + b[..., 2]], -1)


def _vector(x: Sequence[float] | Array) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])
