"""Random configurations of a team in which arms reach the object by construction, or nearly.

The object is placed first, at a height that all arms can reach. The height of each shoulder over its wrist is then known, so its
shell gives the possible distances of the agent; the agent faces the point that it holds. An agent whose second arm does not reach
is placed again.

Some samples imitate known configurations, such as start and goal: the object has some of their angles, up to right angles of yaw,
or some of their coordinates, and agents may stand around it as they do there. Walls and doors are mostly parallel or perpendicular
to where people put things, so that these samples find narrow passages: a random one must have every angle right by chance. Others
are along routes through the middle of passages, and have the direction of the route instead.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.standing_kernels import stand
from bunraku.planning.ways.steer import Holonomic
from bunraku.spatial import so3

if TYPE_CHECKING:
    from bunraku.ensemble.team import Agent, Team
    from bunraku.ensemble.terrain import Terrain

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TeamSamplerOptions:
    """How agents are placed around the object."""

    tries: int = 24
    """Number of random positions tried for an agent."""
    placings: int = 3
    """On uneven ground, number of iterations for an agent, because its position and its height depend on each other."""
    imitating: float = 0.7
    """Share of the samples that imitate known configurations."""
    guided: float = 0.6
    """Share of those that are near a route."""
    offsets: tuple[float, float] = (0.02, 0.5)
    """Smallest and largest standard deviation of their distances from it [m], and of their yaws from its direction [rad]."""
    tipped: float = 0.15
    """Probability that an imitating sample has the largest pitch or roll."""
    angles: float = 0.6
    """Probability that an imitating sample has the yaw, the pitch or the roll of a known object."""
    places: float = 0.2
    """Probability that it has the x or the y of a known object."""
    variations: tuple[float, float, float, float] = (0.5, 0.15, 0.1, 0.25)
    """Probabilities that a variation of a configuration changes place, tilt, yaw, or one agent's stance."""
    steered: float = 0.7
    """Of an agent that cannot move sideways, share of the variations of its stance that go straight on, or turn on the spot."""
    steps: tuple[float, float] = (0.2, 0.5)
    """Standard deviation of such straight ways [m] and turns [rad]."""
    stride: float = 1.5
    """Largest change of place in a variation [m]."""
    cell: tuple[float, float, float, float] = (0.5, 0.5, 0.5, 0.5)
    """Sizes of cells from which configurations to vary are drawn: x, y [m], pitch and roll [rad] of the object."""
    stances: float = 0.5
    """Probability that agents stand around the object as in a known configuration."""


class TeamSampler:
    """A function (random number generator, count) ↦ configurations (count, n_q) of a `team` with its object in an `area` [m].

    They may collide. `known` are configurations (k, n_q) to imitate, `routes` ways (n, 3) to stay near (x, y, direction). `options`
    tune how agents are placed around the object.
    """

    def __init__(
        self,
        team: Team,
        area: tuple[tuple[float, float], tuple[float, float]],
        *,
        known: Array | None = None,
        routes: tuple[Array, ...] = (),
        options: TeamSamplerOptions = TeamSamplerOptions(),
    ) -> None:
        self.team, self.options, self.routes = team, options, routes
        self.known = None if known is None or not len(known) else team.in_world(known)
        low, high = team.heights
        high -= 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
        tilt = team.carried.tilt
        self.lower = np.array([area[0][0], area[1][0], low, -np.pi, -tilt, -tilt])
        self.upper = np.array([area[0][1], area[1][1], high, np.pi, tilt, tilt])

    def __call__(self, rng: np.random.Generator, count: int) -> Array:
        held = rng.uniform(self.lower, self.upper, (count, 6))
        model = self._imitated(rng, held)
        R = _turned(held)
        points = [np.concatenate([agent.wrists(), agent.behind[None, :3]]) for agent in self.team.agents]
        wrists = [held[:, None, :3] + np.einsum("nij,kj->nki", R, own) for own in points]
        raised = _shared_height(self.team, wrists, held[:, 2], rng)
        held[:, 2] += raised
        for own in wrists:
            own[..., 2] += raised[:, None]
        if self.team.terrain is not None:
            held, wrists = self._lifted(self.team.terrain, held, points)
        bases = {agent.name: self._placed(agent, own, held, rng) for agent, own in zip(self.team.agents, wrists, strict=True)}
        if self.known is not None:
            self._as_known(rng, bases, held, model)
        return self.team.configuration(bases, held)

    def plain(self) -> TeamSampler:
        """The same without known configurations and routes."""
        out = copy.copy(self)
        out.known, out.routes = None, ()
        return out

    def avoiding(self, place: Array, *, near: float = 0.5) -> TeamSampler:
        """The same, without the routes that come as `near` [m] to a `place` (x, y), unless all do."""
        left = tuple(own for own in self.routes if np.linalg.norm(own[:, :2] - place, axis=1).min() > near)
        out = copy.copy(self)
        out.routes = left or self.routes
        return out

    def varied(self, rng: np.random.Generator, Q: Array) -> Array:
        """Configurations, drawn with `rng`, that differ from `Q` (n, n_q) in one respect: place, tilt, yaw, or one stance."""
        bases, held = self.team.in_world(Q)
        bases = {name: own[:, :3].copy() for name, own in bases.items()}
        kind = rng.choice(4, size=len(Q), p=self.options.variations)
        before = held.copy()
        fresh = self.drawn(rng, len(Q))
        self._moved(rng, held, kind == 0)
        held[kind == 1, 4:] = fresh[kind == 1, 4:]
        held[kind == 2, 3] = fresh[kind == 2, 3]
        turn, (c, s) = held[:, 3] - before[:, 3], (np.cos(held[:, 3] - before[:, 3]), np.sin(held[:, 3] - before[:, 3]))
        for own in bases.values():
            x, y = (own[:, :2] - before[:, :2]).T
            own[:] = np.stack([held[:, 0] + c * x - s * y, held[:, 1] + s * x + c * y, own[:, 2] + turn], 1)
        who = rng.integers(len(self.team.agents), size=len(Q))
        for k, agent in enumerate(self.team.agents):
            again = (kind == 3) & (who == k)
            if again.any():
                points = np.concatenate([agent.wrists(), agent.behind[None, :3]])
                wrists = held[again, None, :3] + np.einsum("nij,kj->nki", _turned(held[again]), points)
                placed = self._placed(agent, wrists, held[again], rng)
                if not issubclass(agent.moves, Holonomic):
                    steered = rng.random(len(placed)) < self.options.steered
                    placed[steered] = self._steered(rng, bases[agent.name][again][steered])
                bases[agent.name][again] = placed
        return self.team.configuration(bases, held)

    def _steered(self, rng: np.random.Generator, base: Array) -> Array:
        """Places straight ahead of or behind a base (n, 3), or turned on the spot."""
        drive, turn = rng.normal(size=(2, len(base))) * np.array(self.options.steps)[:, None]
        drives = rng.random(len(base)) < 0.5
        ahead = np.stack([np.cos(base[:, 2]), np.sin(base[:, 2])], 1)
        return np.column_stack([base[:, :2] + (drives * drive)[:, None] * ahead, base[:, 2] + ~drives * turn])

    def cells(self, Q: Array) -> NDArray[np.int64]:
        """Numbers (n, 4) of the cells, by place and tilt of the object, in which configurations `Q` (n, n_q) are."""
        held = self.team.in_world(np.where(np.abs(Q) < 1e20, Q, 0.0))[1]
        return np.asarray(np.rint(held[:, [0, 1, 4, 5]] / np.array(self.options.cell)).astype(np.int64))

    def _moved(self, rng: np.random.Generator, held: Array, which: NDArray[np.bool_]) -> None:
        """Moves some objects along the nearest route, or anywhere if there is none, in place."""
        number = np.flatnonzero(which)
        if not len(number):
            return
        if not self.routes:
            held[number, :2] += rng.normal(size=(len(number), 2)) * self.options.stride
            return
        route = self.routes[int(rng.integers(len(self.routes)))]
        at = np.array([int(np.argmin(((route[:, :2] - place) ** 2).sum(1))) for place in held[number, :2]])
        spacing = max(float(np.linalg.norm(np.diff(route[:2, :2], axis=0))), 1e-3) if len(route) > 1 else 1.0
        ahead = np.rint(rng.uniform(-1.0, 1.0, len(number)) * self.options.stride / spacing).astype(int)
        there = np.clip(at + ahead, 0, len(route) - 1)
        same, bent = rng.random((2, len(number))) < 0.5
        turn = np.where(bent, route[there, 2] - route[at, 2], 0.0)
        off = np.where(same[:, None], held[number, :2] - route[at, :2], 0.0)
        c, s = np.cos(turn), np.sin(turn)
        held[number, 0] = route[there, 0] + c * off[:, 0] - s * off[:, 1]
        held[number, 1] = route[there, 1] + s * off[:, 0] + c * off[:, 1]
        held[number, 3] += turn

    def around(self, rng: np.random.Generator, held: Array) -> Array:
        """Configurations (n, n_q) with the object at `held` (n, 6) and agents drawn around it with `rng`."""
        wrists = {}
        for agent in self.team.agents:
            points = np.concatenate([agent.wrists(), agent.behind[None, :3]])
            wrists[agent.name] = held[:, None, :3] + np.einsum("nij,kj->nki", _turned(held), points)
        bases = {agent.name: self._placed(agent, wrists[agent.name], held, rng) for agent in self.team.agents}
        return self.team.configuration(bases, held)

    def drawn(self, rng: np.random.Generator, count: int) -> Array:
        """`count` random poses of the object (count, 6), drawn with `rng`, some of which imitate known ones."""
        held = rng.uniform(self.lower, self.upper, (count, 6))
        self._imitated(rng, held)
        return held

    def _imitated(self, rng: np.random.Generator, held: Array) -> NDArray[np.int64]:
        """Gives some objects coordinates of known ones, in place; returns which one each imitates, −1 for none."""
        if self.known is None:
            return np.full(len(held), -1)
        _, known = self.known
        model = np.where(rng.random(len(held)) < self.options.imitating, rng.integers(len(known), size=len(held)), -1)
        own = known[model]
        own[:, 3] += 0.5 * np.pi * rng.integers(4, size=len(held))
        likely = np.array([self.options.places] * 2 + [0.0] + [self.options.angles] * 3)
        copied = (rng.random(held.shape) < likely) & (model >= 0)[:, None]
        tipped = (rng.random(held.shape) < self.options.tipped) & (model >= 0)[:, None]
        held[copied] = own[copied]
        held[:, 4:] = np.where(tipped[:, 4:], np.sign(held[:, 4:]) * self.upper[4:], held[:, 4:])
        if self.routes:
            self._guided(rng, held, (rng.random(len(held)) < self.options.guided) & (model >= 0))
        held[:, 3] = np.remainder(held[:, 3] + np.pi, 2.0 * np.pi) - np.pi
        return np.asarray(model)

    def _guided(self, rng: np.random.Generator, held: Array, which: NDArray[np.bool_]) -> None:
        """Places some objects near a route, turned as at one of its ends or at a right angle to that, in place."""
        assert self.known is not None
        low, high = np.log(self.options.offsets)
        shares = np.array_split(rng.permutation(np.flatnonzero(which)), len(self.routes))
        for route, number in zip(self.routes, shares, strict=True):
            if not len(number):
                continue
            at = route[rng.integers(len(route), size=len(number))]
            end = rng.integers(2, size=len(number))
            turned = self.known[1][[0, -1], 3] - route[[0, -1], 2]
            quarter = rng.choice([0, 0, 1, 2, 3], size=len(number))
            off = rng.normal(size=(len(number), 3)) * np.exp(rng.uniform(low, high, (len(number), 1)))
            held[number, :2] = at[:, :2] + off[:, :2]
            held[number, 3] = at[:, 2] + turned[end] + 0.5 * np.pi * quarter + off[:, 2]

    def _as_known(self, rng: np.random.Generator, bases: dict[str, Array], held: Array, model: NDArray[np.int64]) -> None:
        """Places the agents of some samples around the object as in the configuration that they imitate, in place."""
        assert self.known is not None
        same = (rng.random(len(held)) < self.options.stances) & (model >= 0)
        stances, there = self.known
        for agent in self.team.agents:
            turn = held[same, 3] - there[model[same], 3]
            away = stances[agent.name][model[same], :2] - there[model[same], :2]
            c, s = np.cos(turn), np.sin(turn)
            x, y = c * away[:, 0] - s * away[:, 1], s * away[:, 0] + c * away[:, 1]
            heading = stances[agent.name][model[same], 2] + turn
            bases[agent.name][same] = np.stack([held[same, 0] + x, held[same, 1] + y, heading], 1)

    def _placed(self, agent: Agent, wrists: Array, held: Array, rng: np.random.Generator) -> Array:
        """(x, y, heading) from which an agent reaches its grasps; on uneven ground, at the height of the ground there."""
        terrain, dice = self.team.terrain, rng.random((len(wrists), self.options.tries, 3))
        if terrain is None:
            return _stand(agent, wrists, held[:, 3], dice)
        ground = terrain.heights(held[:, :2])
        for _ in range(self.options.placings):
            seen = wrists.copy()
            seen[..., 2] -= ground[:, None]
            out = _stand(agent, seen, held[:, 3], dice)
            ground = terrain.heights(out[:, :2])
        return out

    def _lifted(self, terrain: Terrain, held: Array, points: list[Array]) -> tuple[Array, list[Array]]:
        """The object, placed over level ground, raised to the real ground and tilted with it; and the new positions of `points`."""
        out, tilt = held.copy(), self.team.carried.tilt
        c, s = np.cos(held[:, 3]), np.sin(held[:, 3])
        for k, way, sign in ((4, np.stack([c, s], 1), -1.0), (5, np.stack([-s, c], 1), 1.0)):
            rise = terrain.heights(held[:, :2] + way) - terrain.heights(held[:, :2] - way)
            out[:, k] = np.clip(held[:, k] + sign * np.arctan(rise / 2.0), -tilt, tilt)
        out[:, 2] += terrain.heights(held[:, :2])
        R = _turned(out)
        return out, [out[:, None, :3] + np.einsum("nij,kj->nki", R, own) for own in points]


def _turned(held: Array) -> Array:
    return np.asarray(so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5]))


def _shared_height(team: Team, wrists: list[Array], z: Array, rng: np.random.Generator) -> Array:
    """How much to raise each object so that every wrist is at a height that its shoulder reaches, if possible."""
    ground = 0.0 if team.terrain is None else team.terrain.span[1] - team.terrain.span[0]
    low, high = team.heights[0] - z, team.heights[1] - ground - z
    for agent, own in zip(team.agents, wrists, strict=True):
        for k, reach in enumerate(agent.shells):
            low = np.maximum(low, reach.shoulder[2] - reach.most - own[:, k, 2])
            high = np.minimum(high, reach.shoulder[2] + reach.most - own[:, k, 2])
        level, within = agent.shells[0].shoulder[2] - own[:, -1, 2], agent.behind[3]
        low, high = np.maximum(low, level - within), np.minimum(high, level + within)
    return np.asarray(rng.uniform(np.minimum(low, high), high))


def _stand(agent: Agent, wrists: Array, yaw: Array, dice: Array) -> Array:
    """(x, y, heading) from which the agent reaches its grasps, or the last try; the last of `wrists` is what it stands behind."""
    out = np.empty((len(wrists), 3))
    bearing, spread = (np.ascontiguousarray(yaw), np.pi) if agent.outward is None else (yaw + agent.outward, agent.approach)
    behind, own = np.ascontiguousarray(wrists[:, -1]), np.ascontiguousarray(wrists[:, :-1])
    stand(agent.spheres, agent.facing, bearing, spread, behind, agent.behind[3], own, dice, out)
    return out
