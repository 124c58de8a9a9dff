"""WholeTeam: a team with its full figures in a scene, for animating, tuning and checking.

The whole configuration is that of all agents, in the team's order, and then of the object. Hands may touch the object, feet and
wheels the ground. Agents and object keep a margin from the scene, and agents from each other. An agent needs no margin from itself
or from the object that it holds, but must not touch them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.collision import World
from bunraku.collision.pair_rows import PairRows, rows, settled
from bunraku.collision.world_arrays import MODE
from bunraku.ensemble.team import OBJECT, Agent, Team
from bunraku.errors import MotionError
from bunraku.figure import Figure
from bunraku.motion import Motion, Track
from bunraku.scene import Scene

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Pairs of shapes that are nearer to each other than a given distance."""

    sample: Ints
    """Sample of each pair (m,)."""
    things: Ints
    """Indices of the two shapes in the world (m, 2)."""
    value: Array
    """Signed distance [m]."""
    apart: NDArray[np.bool_]
    """Whether the two must keep a margin; other pairs belong to one agent, or to an agent and the object."""

    __repr__ = brief

    def __len__(self) -> int:
        return len(self.value)

    def short_of(self, margin: float, own: float = 0.0) -> NDArray[np.bool_]:
        """Which pairs are nearer than `margin` [m]; pairs that need no margin, nearer than `own` [m]."""
        return self.value < np.where(self.apart, margin, own)


@dataclass(frozen=True, eq=False)
class WholeTeam:
    """The full figures of a team in a scene; `ground` names the obstacles that agents stand on."""

    team: Team
    scene: Scene
    ground: tuple[str, ...] = ("floor",)
    touching: tuple[tuple[str, str], ...] = ()
    """Other pairs of names that may touch."""

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the agents and then of the object, with their names in the team."""
        own = (replace(agent.figure, name=agent.name) for agent in self.team.agents)
        return (*own, self.team.object_figure)

    @cached_property
    def columns(self) -> dict[str, slice]:
        """The columns of each figure in the whole configuration, by name."""
        ends = np.cumsum([0, *(figure.n_q for figure in self.figures)]).tolist()
        return {f.name: slice(a, b) for f, a, b in zip(self.figures, ends[:-1], ends[1:], strict=True)}

    @cached_property
    def world(self) -> World:
        """All figures in the scene, with the pairs that may touch."""
        return World(self.figures, self.scene, allowed=(*self._held(), *self._standing(), *self.touching))

    def _held(self) -> Iterable[tuple[str, str]]:
        for agent in self.team.agents:
            for hold in agent.holds:
                yield from ((f"{agent.name}.{frame}", OBJECT) for frame in together(agent.figure, hold.tool))

    def _standing(self) -> Iterable[tuple[str, str]]:
        known = {*(o.name for o in self.scene.obstacles), *(o.group for o in self.scene.obstacles if o.group)}
        known |= set() if self.scene.floor is None else {"floor"}
        for agent in self.team.agents:
            for frame in feet(agent):
                yield from ((f"{agent.name}.{frame}", name) for name in self.ground if name in known)

    # -- motions -----------------------------------------------------------------------------------------------------

    def rows(self, motion: Motion) -> Array:
        """The whole configuration at every sample of a `motion` (T, n); raises MotionError if it is of other figures."""
        tracks = [motion.track(figure.name) for figure in self.figures]
        for figure, track in zip(self.figures, tracks, strict=True):
            if track.figure.names != figure.names:
                raise MotionError(f"the track {track.name} is of another figure", advice="animate the same team")
        return np.hstack([track.q for track in tracks])

    def motion(self, Q: Array, like: Motion) -> Motion:
        """Whole configurations `Q` (T, n) as a motion with the times, figures and marks of another, `like`."""
        tracks = [Track(like.track(name).figure, Q[:, own], name=name) for name, own in self.columns.items()]
        return Motion(like.t, tuple(tracks), like.marks)

    # -- what is near ------------------------------------------------------------------------------------------------

    @cached_property
    def _figure_of(self) -> Ints:
        """The figure of each shape; −1 for the scene."""
        return np.array([thing.figure for thing in self.world.things], np.int64)

    def near(self, Q: Array, within: float, own: float = 0.0) -> NearPairs:
        """Pairs nearer than `within` [m] in configurations `Q` (T, n); those that need no margin, nearer than `own` [m]."""
        world = self.world
        Q = np.ascontiguousarray(Q)
        found = rows(world.flat, Q, within=max(within, own), mode=MODE.all)
        found = found.where(self._apart(found) | (found.value < own))  # coal is slow, so it checks only these
        found = settled(world.narrow, Q, found)
        return NearPairs(found.sample, found.ints[:, 1:3], found.value, self._apart(found))

    def _apart(self, found: PairRows) -> NDArray[np.bool_]:
        a, b = self._figure_of[found.ints[:, 1]], self._figure_of[found.ints[:, 2]]
        held = len(self.figures) - 1
        return np.asarray((a != b) & ((a < 0) | (b < 0) | ((a != held) & (b != held))))

    def names(self, pair: Ints) -> tuple[str, str]:
        """The names of a `pair` of shapes, given by their indices in the world."""
        return self.world.names[int(pair[0])], self.world.names[int(pair[1])]


@lru_cache(maxsize=2)
def whole_team(
    team: Team, scene: Scene, ground: tuple[str, ...] = ("floor",), touching: tuple[tuple[str, str], ...] = ()
) -> WholeTeam:  # fmt: skip
    """The `WholeTeam` of a `team` in a `scene` with this `ground`; other pairs of names that are `touching` may do so.

    The last two are kept, because worlds take long to build.
    """
    return WholeTeam(team, scene, ground, touching)


def together(figure: Figure, frame: str) -> tuple[str, ...]:
    """The frames with shapes that the last joint above a `frame` of a `figure` carries: a hand with its fingers."""
    joint, index, chain = figure.compiled.frame_joint, figure.frame_index, figure.compiled.tree.chain
    shaped = dict.fromkeys(shape.frame for shape in figure.shapes if shape.collides and shape.frame in index)
    carrier = joint[index[frame]]

    def carried(name: str) -> bool:
        own = joint[index[name]]
        return bool(own == carrier or (own >= 0 and carrier in chain[own, 1 : 1 + chain[own, 0]]))

    return tuple(name for name in shaped if carried(name))


def feet(agent: Agent, *, low: float = 0.05) -> tuple[str, ...]:
    """The frames that an `agent` stands on: those with a shape below the height `low` [m] in the figure's start."""
    below = World(agent.figure, Scene("ground", floor=low)).touching_at()
    return tuple(dict.fromkeys(frame for pair in below for frame in pair if "floor" in pair and frame != "floor"))
