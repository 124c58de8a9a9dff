"""TouchSimulation: a figure that moves step by step, among things that it touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.manifold.touch_arrays import Contacts, TouchWorld, WatchedPairs, watched_pairs
from bunraku.collision.manifold.touch_rules import Matter, Touch, as_touch
from bunraku.collision.manifold.touch_world import TouchBodies, names_of
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE, Simulation, Steps
from bunraku.dynamics.touch.contact_memory import Memory, fresh_memory
from bunraku.dynamics.touch.find_contacts import overlaps
from bunraku.dynamics.touch.lay_strings import StringBodies
from bunraku.dynamics.touch.string_bodies import LaidLog, laid_points, points_on_bodies, string_bodies
from bunraku.dynamics.touch.touch_parts import parts_of
from bunraku.dynamics.touch.touch_rollout import touch_rollout
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.records import LINK_RECORD, POINT_RECORD, LinkKind
from bunraku.kernels.compile import INTERPRETED
from bunraku.kernels.entry_point import entry
from bunraku.kinematics import pose
from bunraku.motion import Mark
from bunraku.motion.laid_strings import LaidPoints
from bunraku.scene import Scene

Array = NDArray[np.float64]
__all__ = ["TouchLog", "TouchSimulation", "as_touch", "contact_room"]


@dataclass(frozen=True, eq=False)
class TouchLog:
    """Contacts that acted, a row each."""

    step: NDArray[np.int64]
    bodies: NDArray[np.int64]
    """(rows, 2) numbers of the bodies a and b."""
    normal: Array
    """Impulse that pushes them apart [N·s]; negative where they stick together."""
    across: Array
    """Impulse of friction [N·s]."""
    gap: Array
    """How deep they are in each other at the end of the step [m]; open contacts have negative gaps."""
    point: Array
    """(rows, 3) where [m]."""
    direction: Array
    """(rows, 3) from b to a."""


def contact_room(figure: Figure, capacity: int, strings: StringBodies | None = None) -> Contacts:
    """Room for the rows of `capacity` contacts behind those of `figure`, and of its `strings` that may lie on bodies."""
    tree = figure.compiled.tree
    nl, n = tree.n_links, tree.n_dynamic
    laid = 0 if strings is None else len(strings.link) * (4 * len(strings.order) + 2)
    np_ = len(tree.points) + laid
    links, points = np.zeros(nl + 5 * capacity, LINK_RECORD), np.zeros(np_ + 22 * capacity, POINT_RECORD)
    links[:nl], points[: len(tree.points)] = tree.links, tree.points
    deepest = int(tree.chain[:, 0].max(initial=0))
    support = np.zeros((len(links), max(tree.support.shape[1], 1 + (len(tree.joints) if laid else 2 * deepest))), np.int64)
    support[:nl, : tree.support.shape[1]] = tree.support
    elimination = np.zeros((n, tree.elimination.shape[1] + 5 * capacity), np.int64)
    if INTERPRETED:
        links, points = links.view(np.recarray), points.view(np.recarray)
    return Contacts(
        links, points, support, elimination, np.zeros((capacity, 4), np.int64), np.zeros(capacity + 1, np.int64),
        np.array([0, nl, np_, 0, 0, np_]), np.zeros(capacity), np.zeros(len(links)), np.zeros((capacity, 3)),
        np.full(capacity, -1), np.zeros(capacity),
    )  # fmt: skip


class TouchSimulation(Simulation):
    """A Simulation of a `figure` whose shapes touch each other and those of a `scene`, by the rules of `touch`.

    figure, q, v, dt, share: as of Simulation
    scene: obstacles and floor; None: nothing around
    touch: which bodies may touch, and how

    Raises BunrakuError where bodies are in each other at the start, besides shapes of one tree, which then never touch.
    """

    def __init__(
        self, figure: Figure, q: ArrayLike | None = None, v: ArrayLike | None = None, *, scene: Scene | None, touch: Touch,
        dt: float = 0.01, share: float = LEFT_SHARE,
    ) -> None:  # fmt: skip
        super().__init__(figure, q, v, dt=dt, share=share)
        links = figure.compiled.tree.links
        if np.any((links["normal"] >= 0) & (links["kind"] == LinkKind.WRAPPED)):
            raise BunrakuError(
                f"{figure.name}: strings that rub where they bend do not go with touch yet\n"
                "  advice: take their friction away, or leave out `touch`"
            )
        self.bodies = TouchBodies(figure, scene, touch)
        self.world: TouchWorld = self.bodies.arrays
        capacity = 32 + 4 * len(self.bodies.things)
        self._laid, self._laid_names, self._runs_through = string_bodies(figure, scene, touch, self.q)
        self._contacts, self._memory = contact_room(figure, capacity, self._laid), fresh_memory(capacity)
        self._single = False  # True where charts of balls stay where they are, however fast these turn
        self._rolls: Callable[..., Any] | None = None
        self._rows: list[NDArray[np.int64]] = []
        self._numbers: list[Array] = []
        self._logs: tuple[TouchLog, LaidLog] | None = None
        self._parted, self._room_of = parts_of(figure.compiled.tree, whole=self._lays), figure.compiled.tree
        self._met: dict[tuple[int, int], int] = {}
        self._part_at_start()
        self._watch = watched_pairs(len(figure.compiled.tree.joints), self.world)

    def _part_at_start(self) -> None:
        """Shapes of one tree that are in each other at the start never touch; for others that is an error."""
        found = self._overlapping(self.q)
        joints, joint = self.figure.compiled.tree.joints, self.world.joint
        own = [(a, b) for a, b in found if joint[a] >= 0 and _root(joints, joint[a]) == _root(joints, joint[b])]
        apart = [(self.bodies.names[a], self.bodies.names[b]) for a, b in found if (a, b) not in own]
        if apart:
            said = ", ".join(f"{a} and {b}" for a, b in apart[:4]) + (f" and {len(apart) - 4} more pairs" if len(apart) > 4 else "")
            raise BunrakuError(
                f"{self.figure.name}: at the start, {said} are in each other\n"
                "  advice: move one of them, or leave the pair out (touch: {except: [[…, …]]})"
            )
        self.apart: tuple[tuple[str, str], ...] = tuple((self.bodies.names[a], self.bodies.names[b]) for a, b in own)
        self.world = self.bodies.without(own)

    @property
    def log(self) -> TouchLog:
        """Contacts of the last call of `run` or `step`."""
        return self._sorted_logs()[0]

    def _sorted_logs(self) -> tuple[TouchLog, LaidLog]:
        """What the last `run` wrote, sorted when it is first read: most who step do not read it."""
        if self._logs is None:
            self._logs = _log_of(self._rows, self._numbers)
        return self._logs

    def meetings(self, first: int) -> list[Mark]:
        """Marks where bodies met in the last `run`, which began with step number `first`, after they were apart for a while."""
        out, log = [], self.log
        for a, b in sorted({(int(a), int(b)) for a, b in log.bodies}):
            own = (log.bodies == (a, b)).all(1)
            steps = np.unique(log.step[own]) + first
            before = self._met.get((a, b), -(10**9))
            new = steps[np.diff(steps, prepend=before) > 10]  # fewer steps apart are no new meeting
            said = f"{self.bodies.names[a]} meets {self.bodies.names[b]}"
            out += [Mark(self.dt * (int(k) + 1), said, "touch") for k in new]
            self._met[a, b] = int(steps[-1])
        return out

    def touching(self) -> list[str]:
        """Which bodies may touch, in lines for a reader: frames, or some of their shapes, each with all that it may touch."""
        may, names = self.world.may, self.bodies.names
        alike: dict[tuple[str, bytes], list[int]] = {}  # shapes of one frame that may touch the same
        for k, thing in enumerate(self.bodies.things):
            alike.setdefault((thing.part, may[k].tobytes()), []).append(k)
        shapes = self.bodies.shapes_of
        groups = [(part if len(own) == shapes[part] else ", ".join(names[k] for k in own), own) for (part, _), own in alike.items()]
        lines = [f"{int(np.triu(may).sum())} pairs of shapes may touch:"]
        for i, (name, own) in enumerate(groups):
            others = [other for other, theirs in groups[i:] if may[np.ix_(own, theirs)].any()]
            if others:
                lines.append(f"  {name}: {', '.join(others)}")
        if self.apart:
            lines.append(f"in each other at the start, so never: {', '.join(f'{a} and {b}' for a, b in self.apart)}")
        if self._lays:
            ropes = ", ".join(self.figure.strings[k].name for k in self._laid.link)
            lines.append(f"strings that may lie on {len(self._laid_names)} spheres and capsules: {ropes}")
        if self._runs_through:
            lines.append(f"run through at the start, so never: {', '.join(f'{a} and {b}' for a, b in self._runs_through)}")
        return lines

    @property
    def _lays(self) -> bool:
        """Whether strings may lie on bodies."""
        return len(self._laid.link) > 0

    def way(self, string: str) -> Array:
        """Where `string` runs now, as points (n, 3) [m], close together where it lies on bodies; nothing of it is inside these."""
        k = next(k for k, rope in enumerate(self.figure.strings) if rope.name == string)
        now, rope = pose(self.figure, self.q), self.figure.strings[k]
        hook, *others = (now.point(at.frame, at.position) for at in rope.path)
        return np.array([hook, *self.laid_now().get(k, ()), *others])

    def laid_now(self) -> LaidPoints:
        """Where strings lie on bodies now: points on these, by the number of the string."""
        return laid_points(self.figure, self.q, self._laid)

    def laid(self, steps: Steps) -> list[LaidPoints]:
        """Where strings lay on bodies after each of the `steps` of the last `run`."""
        log, out = self._sorted_logs()[1], list[LaidPoints]()
        edges = np.searchsorted(log.step, np.arange(len(steps.q) + 1))
        for q, first, last in zip(steps.q, edges, edges[1:], strict=False):
            own = slice(first, last)
            out.append(points_on_bodies(self.figure, q, self._laid, log.string[own], log.body[own], log.corners[own]))
        return out

    def lies_on(self, string: str) -> list[str]:
        """Names of the bodies on which `string` lies now."""
        for s, link in enumerate(self._laid.link):
            if self.figure.strings[link].name == string:
                return [self._laid_names[k] for k in np.flatnonzero(self._laid.lies[s])]
        return []

    def _overlapping(self, q: Array) -> list[tuple[int, int]]:
        """Pairs of bodies that are in each other at q."""
        tree = self.figure.compiled.tree
        while True:
            watch = watched_pairs(len(tree.joints), self.world)
            found = overlaps(tree, self.world, watch, self._contacts, q)
            if not self._contacts.number[3]:
                return sorted({(int(min(k)), int(max(k))) for k in self._contacts.key[:found, :2]})
            self._grow()

    def stick(self, a: str, b: str, adhesion: float) -> None:
        """From now on it takes `adhesion` [N] to pull the bodies `a` and `b` (names of shapes, frames or obstacles) apart.

        Raises BunrakuError where none of these may touch, or `adhesion` is negative.
        """
        Matter(adhesion=adhesion)  # refuses what is none
        one, other = (np.array([name in names_of(thing) for thing in self.bodies.things]) for name in (a, b))
        pairs = (np.outer(one, other) | np.outer(other, one)) & self.world.may
        if not pairs.any():
            raise BunrakuError(f"{self.figure.name}: {a} and {b} may not touch\n  advice: let them, under `touch`")
        matter = self.world.matter.copy()
        matter[pairs, 2] = adhesion
        self.world = self.world._replace(matter=matter)

    def copy(self) -> TouchSimulation:
        """Another simulation in the same state."""
        other = object.__new__(TouchSimulation)
        other.__dict__.update(super().copy().__dict__)
        other._laid = StringBodies(*(array.copy() for array in self._laid))
        other._contacts = contact_room(self.figure, len(self._contacts.key), other._laid)
        other._room_of, other._parted = self.figure.compiled.tree, parts_of(self.figure.compiled.tree, whole=self._lays)
        other._met = dict(self._met)
        other._watch = WatchedPairs(*(array.copy() for array in self._watch))
        other._memory = Memory(*(array.copy() for array in self._memory))
        return other

    def _fit(self) -> None:
        """Room for contacts behind the links and points that the figure has now: hands that pull add some."""
        tree = self.figure.compiled.tree
        if tree is not self._room_of:
            self._contacts, self._room_of = contact_room(self.figure, len(self._contacts.key), self._laid), tree
            self._parted = parts_of(tree, whole=self._lays)
            self._watch = watched_pairs(len(tree.joints), self.world)

    def _roll(self, K: Array, U: Array, out: Steps) -> None:
        self._fit()
        tree, done, first = self.figure.compiled.tree, np.zeros(3, np.int64), 0
        self._rows, self._numbers, self._logs = [], [], None
        room = 64 + 64 * len(self.bodies.things) + self._laid.route.size + 4 * len(K)
        while first < len(K):
            rows, numbers = np.empty((room, 3), np.int64), np.empty((room, 9))
            last = slice(first, None)
            arguments = (
                tree, self._parted, self.world, self._watch, self._laid, self._contacts, self._memory, self._q, self._p, self._lam,
                self._charts, self._alive, K[last], U[last], self.dt, self.share, STEP_TOLERANCE, self._single,
                out.q[last], out.momentum[last], out.impulse[last], out.gap[last], out.energy[last], out.states[last],
                out.bits[last], rows, numbers, done,
            )  # fmt: skip
            self._rolls = self._rolls or entry(touch_rollout, *arguments)
            self._rolls(*arguments)
            rows[: done[1], 0] += first
            self._rows.append(rows[: done[1]])
            self._numbers.append(numbers[: done[1]])
            first += int(done[0])
            if done[2] and first < len(K):
                self._grow()
            elif done[0] == 0:
                room *= 4

    def _grow(self) -> None:
        """Room for twice as many contacts."""
        capacity = 2 * len(self._contacts.key)
        if capacity > 1 << 15:
            raise BunrakuError(f"{self.figure.name}: more than {capacity // 2} contacts\n  advice: let fewer bodies touch")
        self._contacts, self._memory = contact_room(self.figure, capacity, self._laid), fresh_memory(capacity)


def _root(joints: NDArray[np.void], j: int) -> int:
    """The joint without a parent that carries joint j; −1 for the world."""
    while j >= 0 and joints["parent"][j] >= 0:
        j = int(joints["parent"][j])
    return int(j)


def _log_of(ints: list[NDArray[np.int64]], floats: list[Array]) -> tuple[TouchLog, LaidLog]:
    """Contacts that acted, and bodies on which strings lay."""
    rows = np.concatenate([np.zeros((0, 3), np.int64), *ints])
    numbers = np.concatenate([np.zeros((0, 9)), *floats])
    strings = rows[:, 1] < 0
    laid = LaidLog(rows[strings, 0], -1 - rows[strings, 1], rows[strings, 2], numbers[strings, :6].reshape(-1, 2, 3))
    rows, numbers = rows[~strings], numbers[~strings]
    log = TouchLog(rows[:, 0], rows[:, 1:], numbers[:, 0], numbers[:, 1], numbers[:, 2], numbers[:, 3:6], numbers[:, 6:])
    return log, laid
