"""Team: agents and the object they carry, reduced to simple shapes for planning (*carrying*, Section IV-A).

Each agent is a box or cylinder with three variables (x, y, heading); the object has six. Arms are replaced by reach links: the
distance from shoulder to wrist stays within a shell.

The variables are relative: an agent that walks leads, the object's variables are in the leader's frame, and those of the other
agents in the object's frame. A straight line in these variables keeps arms in reach, and moves no agent sideways that cannot. If
several agents cannot move sideways, or one has a differential drive, all variables are in the world instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.collision import World
from bunraku.collision.free_curves import ReachLink
from bunraku.ensemble.convoy import Convoy, beside, seen_from
from bunraku.ensemble.members import Agent, Carried, Grasp, Vector
from bunraku.ensemble.team_sampling import TeamSampler, TeamSamplerOptions
from bunraku.ensemble.terrain import Terrain, Tied
from bunraku.errors import BunrakuError
from bunraku.figure import WORLD, Figure, Point
from bunraku.figure.build import Attached, FrameNode, figure, free, rx, ry, rz, tx, ty, tz
from bunraku.figure.shape import Shape
from bunraku.kinematics.forward import frames_along
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.steer import Differential, Holonomic
from bunraku.scene import Scene

Array = NDArray[np.float64]
Area = tuple[tuple[float, float], tuple[float, float]]
OBJECT = "object"
"""The name of the carried object, as a figure and as a track of a motion."""
__all__ = ["OBJECT", "Agent", "Area", "Carried", "Grasp", "Team"]


@dataclass(frozen=True, eq=False)
class Team:
    """Agents and the object, as one figure with 3 N + 6 variables.

    Agents that walk (`Bezier`) or drive (`Differential`) follow their curves exactly (see `Convoy`); holonomic ones move anyhow.
    Raises BunrakuError if two agents have the same name, if one holds nothing, or if several cannot move sideways on uneven ground.
    """

    agents: tuple[Agent, ...]
    carried: Carried
    terrain: Terrain | None = None
    """The ground; flat if None."""
    idle: bool = False
    """Whether agents may hold nothing, as on a part of a motion that is only checked."""
    figure: Figure = field(init=False)
    """The reduced team."""

    __repr__ = brief

    def __post_init__(self) -> None:
        if not self.agents or len({agent.name for agent in self.agents} | {OBJECT}) <= len(self.agents):
            raise BunrakuError(f"agents need names of their own, other than {OBJECT!r}\n  advice: Team((walker, rover), carried)")
        for agent in self.agents:
            if not agent.holds and not self.idle:
                raise BunrakuError(
                    f"{agent.name} has no hold on the object\n  advice: holds=(Grasp(tool, X_OT),), or leave it out of the team"
                )
        if self.terrain is not None and self.apart:
            names = " and ".join(agent.name for agent in self.steered)
            raise BunrakuError(f"{names} cannot move sideways on uneven ground\n  advice: moves: holonomic, for all but a walker")
        object.__setattr__(self, "figure", self._reduced())

    @cached_property
    def leader(self) -> Agent | None:
        """The first agent that cannot move sideways; None if all can."""
        return next(iter(self.steered), None)

    @cached_property
    def steered(self) -> tuple[Agent, ...]:
        """The agents that cannot move sideways."""
        return tuple(agent for agent in self.agents if not issubclass(agent.moves, Holonomic))

    @cached_property
    def apart(self) -> bool:
        """Whether all variables are in the world: several agents cannot move sideways, or one turns on the spot."""
        return len(self.steered) > 1 or any(issubclass(agent.moves, Differential) for agent in self.steered)

    def _reduced(self) -> Figure:
        shapes = Attached(shapes=tuple(replace(shape, frame=WORLD) for shape in self.carried.shapes))
        held = tz(f"{OBJECT}_z", ry(f"{OBJECT}_pitch", rx(OBJECT, shapes, variable=f"{OBJECT}_roll")))
        if self.apart:
            alone = tx(f"{OBJECT}_x", ty(f"{OBJECT}_y", rz(f"{OBJECT}_yaw", held)))
            return figure("team", *(self._node(agent) for agent in self.agents), alone)
        others = [self._node(agent) for agent in self.agents if agent is not self.leader]
        carried = tx(f"{OBJECT}_x", ty(f"{OBJECT}_y", rz(f"{OBJECT}_yaw", held, *others)))
        return figure("team", carried if self.leader is None else self._node(self.leader, carried))

    def _node(self, agent: Agent, *children: FrameNode) -> FrameNode:
        x, y, turn = agent.variables
        body = Attached(shapes=(Shape(WORLD, agent.shape, agent.at, color=agent.color, name=agent.name),))
        if self.terrain is None:
            return tx(x, ty(y, rz(turn, body, *children)))
        lift, pitch, roll = agent.tied
        return tx(x, ty(y, rz(turn, tz(lift, ry(pitch, rx(roll, body))), *children)))

    def body(self, agent: Agent) -> str:
        """The frame of the team's figure that carries the shape of an `agent`."""
        return agent.variables[2] if self.terrain is None else agent.tied[2]

    @cached_property
    def tied(self) -> NDArray[np.int64]:
        """Indices of the variables that follow from the terrain, by agent."""
        return self.figure.indices(() if self.terrain is None else [name for agent in self.agents for name in agent.tied])

    @cached_property
    def object_figure(self) -> Figure:
        """The object as a figure of its own."""
        return figure(OBJECT, free(OBJECT, Attached(shapes=self.carried.shapes)))

    @property
    def n(self) -> int:
        """Number of free variables, without those that follow from the terrain."""
        return self.figure.n_q - len(self.tied)

    def on_ground(self, Q: Array) -> Array:
        """Configurations `Q` (…, n_q) with agents placed on the terrain."""
        if self.terrain is None:
            return Q
        bases, _ = self._floor_places(Q)
        out = Q.copy()
        for agent in self.agents:
            own = self.terrain.stand(bases[agent.name])
            if len(agent.base) < 6:  # a walking agent stays upright
                own = np.stack([self.terrain.smooth.heights(bases[agent.name][..., :2]), 0.0 * own[..., 1], 0.0 * own[..., 2]], -1)
            out[..., self.figure.indices(agent.tied)] = own
        return out

    def over_ground(self, Q: Array, s: Array, *, stiffness: float = 0.01) -> Array:
        """Configurations `Q` (T, n_q) of a curve at its parameters `s` (T,), with an object that rises and tilts with the ground.

        The ground is the plane that fits the heights on which agents stand; relative to it, height and tilt change evenly. Slopes
        that agents cannot tell, because they stand in a line, are 0: `stiffness` [m²] is that of the fit.
        """
        bases, held = self.in_world(Q)
        places = np.stack([bases[agent.name][:, :2] for agent in self.agents], 1) - held[:, None, :2]
        c, t = np.cos(held[:, 3, None]), np.sin(held[:, 3, None])
        x, y = places[..., 0], places[..., 1]
        A = np.stack([np.ones_like(x), c * x + t * y, c * y - t * x], -1)
        z = np.stack([Q[:, self.figure.index(agent.tied[0])] for agent in self.agents], 1)
        normal = np.einsum("tki,tkj->tij", A, A) + np.diag([0.0, stiffness, stiffness])
        plane = np.linalg.solve(normal, np.einsum("tki,tk->ti", A, z)[..., None])[..., 0]
        ground = np.stack([plane[:, 0], -np.arctan(plane[:, 1]), np.arctan(plane[:, 2])], 1)
        over = held[[0, -1]][:, [2, 4, 5]] - ground[[0, -1]]
        out, tilt = Q.copy(), self.carried.tilt
        own = ground + over[0] + s[:, None] * (over[1] - over[0])
        own[:, 0] = np.clip(own[:, 0], *self.heights)
        own[:, 1:] = np.clip(own[:, 1:], -tilt, tilt)
        out[:, self._held] = own
        return out

    # -- world and team ----------------------------------------------------------------------------------------------

    def configuration(self, bases: Mapping[str, ArrayLike], object: ArrayLike) -> Array:  # noqa: A002
        """The configuration (…, n_q) of agents at `bases` (by name: x, y [m], heading [rad]) that hold an `object` there.

        The pose of the object is (x, y, z [m], yaw, pitch, roll [rad]). All are in the world; rows broadcast.
        """
        held = np.asarray(object, float)
        floor = held[..., [0, 1, 3]]
        shapes = [np.shape(bases[agent.name])[:-1] for agent in self.agents]
        out = np.zeros((*np.broadcast_shapes(held.shape[:-1], *shapes), self.figure.n_q))
        for agent in self.agents:
            base = np.asarray(bases[agent.name], float)[..., :3]
            own = self.figure.indices(agent.variables)
            out[..., own] = base if self.apart or agent is self.leader else seen_from(floor, base)
        lead = None if self.apart or self.leader is None else np.asarray(bases[self.leader.name], float)[..., :3]
        out[..., self._floor] = floor if lead is None else seen_from(lead, floor)
        out[..., self._held] = held[..., [2, 4, 5]]
        return self.on_ground(out)

    def in_world(self, Q: ArrayLike) -> tuple[dict[str, Array], Array]:
        """The bases of agents by name, as in their figures, and the object's (x, y, z, yaw, pitch, roll), in configurations `Q`."""
        Q = np.asarray(Q, float)
        bases, floor = self._floor_places(Q)
        if self.terrain is not None:
            for agent in self.agents:
                if len(agent.base) == 6:
                    bases[agent.name] = np.concatenate([bases[agent.name], Q[..., self.figure.indices(agent.tied)]], -1)
        held = Q[..., self._held]
        return bases, np.stack([floor[..., 0], floor[..., 1], held[..., 0], floor[..., 2], held[..., 1], held[..., 2]], -1)

    def _floor_places(self, Q: Array) -> tuple[dict[str, Array], Array]:
        """(x, y, heading) of agents and of the object."""
        floor, bases = Q[..., self._floor], {}
        if self.apart:
            return {agent.name: Q[..., self.figure.indices(agent.variables)] for agent in self.agents}, floor
        if self.leader is not None:
            bases[self.leader.name] = Q[..., self.figure.indices(self.leader.variables)]
            floor = beside(bases[self.leader.name], floor)
        for agent in self.agents:
            if agent is not self.leader:
                bases[agent.name] = beside(floor, Q[..., self.figure.indices(agent.variables)])
        return bases, floor

    @cached_property
    def _floor(self) -> NDArray[np.int64]:
        return self.figure.indices((f"{OBJECT}_x", f"{OBJECT}_y", f"{OBJECT}_yaw"))

    @cached_property
    def _held(self) -> NDArray[np.int64]:
        return self.figure.indices((f"{OBJECT}_z", f"{OBJECT}_pitch", f"{OBJECT}_roll"))

    # -- reach -------------------------------------------------------------------------------------------------------

    @cached_property
    def links(self) -> tuple[ReachLink, ...]:
        """Reach links: one for each arm, and one that keeps the held point in front of the agent."""
        out = []
        for agent in self.agents:
            base = self.body(agent)
            for hold, own, wrist in zip(agent.holds, agent.shells, agent.wrists(), strict=True):
                held = Point(OBJECT, _vector(wrist))
                out.append(ReachLink(Point(base, _vector(own.shoulder)), held, own.least, own.most, f"{agent.name}'s {hold.tool}"))
                centre, least, most = own.ahead(agent.facing)
                out.append(ReachLink(Point(base, _vector(centre)), held, least, most, f"{agent.name}'s {hold.tool}, ahead,"))
                if agent.outward is not None:
                    ends = Point(base, _vector(own.shoulder)), Point(OBJECT, _vector(agent.behind))
                    out.append(ReachLink(*ends, 0.0, float(agent.behind[3]), f"{agent.name}'s {hold.tool}, across,"))
        return tuple(out)

    @cached_property
    def heights(self) -> tuple[float, float]:
        """The lowest and the highest position of the object's origin [m] that are allowed and in reach of all arms.

        Raises BunrakuError if there is none.
        """
        low, high = self.carried.heights
        ground = (0.0, 0.0) if self.terrain is None else self.terrain.span
        for agent in self.agents:
            for own, wrist in zip(agent.shells, agent.wrists(), strict=True):
                # With pitch and roll of at most `tilt`, a point rises or sinks by no more than this.
                swing = abs(wrist[2]) + float(np.abs(wrist[:2]).sum()) * math.sin(self.carried.tilt)
                low = max(low, ground[0] + own.shoulder[2] - own.most - swing)
                high = min(high, ground[1] + own.shoulder[2] + own.most + swing)
        if low > high:
            raise BunrakuError(f"no height between {low:.3g} m and {high:.3g} m is in reach of all arms\n  advice: move the holds")
        return low, high

    def reaches(self, Q: ArrayLike, *, who: str = "") -> NDArray[np.bool_]:
        """Whether every wrist (of the agent `who`, if given) is in reach and ahead, in each configuration of `Q` (T, n_q)."""
        Q = np.atleast_2d(np.asarray(Q, float))
        X, index = frames_along(self.figure, Q), self.figure.frame_index
        ok = np.ones(len(Q), np.bool_)
        for link in (link for link in self.links if link.name.startswith(f"{who}'s " if who else "")):
            x, y = (X[:, index[p.frame], :3, :3] @ np.array(p.position) + X[:, index[p.frame], :3, 3] for p in (link.a, link.b))
            d = np.linalg.norm(x - y, axis=-1)
            ok &= (d >= link.least) & (d <= link.most)
        return ok

    # -- space -------------------------------------------------------------------------------------------------------

    def world(self, scene: Scene, *, allowed: Iterable[tuple[str, str]] = ()) -> World:
        """The reduced team in a `scene`; agents may touch the floor, and `allowed` pairs of names may touch as well."""
        ground = [*(() if scene.floor is None else ("floor",)), *(() if self.terrain is None else self.terrain.ground)]
        floor = [(self.body(agent), name) for agent in self.agents for name in ground]
        return World(self.figure, scene, allowed=(*floor, *allowed))

    def arm_span(self, agent: Agent) -> float:
        """Largest horizontal distance of the object's origin from the base of an `agent` [m]."""
        reach = [own.most + math.hypot(own.shoulder[0], own.shoulder[1]) for own in agent.shells]
        return max(r + float(np.linalg.norm(w)) for r, w in zip(reach, agent.wrists(), strict=True))

    def bounds(self, area: Area) -> dict[str, tuple[float, float]]:
        """Limits by variable, if the leader, or the object, stays in an `area` ((x_low, x_high), (y_low, y_high)) [m]."""
        tilt = (-self.carried.tilt, self.carried.tilt)
        out = {f"{OBJECT}_z": self.heights, f"{OBJECT}_pitch": tilt, f"{OBJECT}_roll": tilt}
        lead = 0.0 if self.leader is None else self.arm_span(self.leader)
        if self.apart:
            out |= _around(area, lead, f"{OBJECT}_x", f"{OBJECT}_y")
        for agent in self.agents:
            span = self.arm_span(agent)
            if self.apart:
                out |= _around(area, lead + span, *agent.variables[:2])
                continue
            names = (f"{OBJECT}_x", f"{OBJECT}_y") if agent is self.leader else agent.variables[:2]
            out |= dict.fromkeys(names, (-span, span))
        first = (f"{OBJECT}_x", f"{OBJECT}_y") if self.leader is None else self.leader.variables[:2]
        if self.terrain is not None:
            low, high = self.terrain.span
            for agent in self.agents:
                out |= dict(zip(agent.tied, ((low - 0.01, high + 0.01), (-1.0, 1.0), (-1.0, 1.0)), strict=True))
        return out | dict(zip(first, area, strict=True))

    def space(
        self, scene: Scene, area: Area, *, margin: float = 0.01, allowed: Iterable[tuple[str, str]] = (),
        known: Array | None = None, routes: tuple[Array, ...] = (), sampling: TeamSamplerOptions = TeamSamplerOptions(),
    ) -> FreeSpace:  # fmt: skip
        """The free space of the reduced team in a `scene`: samples with arms in reach, reach links, and the leader's steering.

        area: bounds of the leader, or of the object, ((x_low, x_high), (y_low, y_high)) [m]
        margin: smallest distance to keep [m]
        allowed: pairs of names that may touch
        known: configurations (k, n_q) that some samples imitate, such as start and goal
        routes: ways (n, 3) (x, y [m], direction [rad]) along which some samples are
        sampling: how agents are placed around the object
        """
        sampler = TeamSampler(self, area, known=known, routes=routes, options=sampling)
        space = FreeSpace(
            self.world(scene, allowed=allowed), bounds=self.bounds(area), links=self.links, margin=margin,
            parts=[agent.moves(*agent.variables) for agent in self.steered],
            sampler=sampler, vary=None if known is None else sampler.varied, cells=sampler.cells,
        )  # fmt: skip
        if self.apart:
            space.steering = convoy = Convoy(self.figure, *space.steering.parts, held=self._floor, weights=space.weights)
            space = space.restricted(convoy.holds)
        if self.terrain is not None:
            space.weights[self.tied] = 1e-3  # they follow from the others, and should not count
            space.steering = Tied(
                self.figure, *space.steering.parts, tie=self.on_ground, follow=self.over_ground, weights=space.weights
            )
        return space


def _around(area: Area, beyond: float, x: str, y: str) -> dict[str, tuple[float, float]]:
    """Limits of variables x and y that may leave an area by this much [m]."""
    return {name: (low - beyond, high + beyond) for name, (low, high) in zip((x, y), area, strict=True)}


def _vector(x: Sequence[float] | Array) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])
