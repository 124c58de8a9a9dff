"""TouchSimulation: a figure that moves step by step, among things that it touches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.manifold.touch_arrays import Contacts, TouchWorld
from bunraku.collision.manifold.touch_rules import Touch, as_touch
from bunraku.collision.manifold.touch_world import TouchBodies
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE, Simulation, Steps
from bunraku.dynamics.touch.contact_memory import Memory, fresh_memory
from bunraku.dynamics.touch.find_contacts import overlaps
from bunraku.dynamics.touch.touch_parts import parts_of
from bunraku.dynamics.touch.touch_rollout import touch_rollout
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.records import LINK_RECORD, POINT_RECORD, LinkKind
from bunraku.kernels.compile import INTERPRETED
from bunraku.motion import Mark
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


def contact_room(figure: Figure, capacity: int) -> Contacts:
    """Room for the rows of `capacity` contacts behind those of `figure`."""
    tree = figure.compiled.tree
    nl, np_, n = tree.n_links, len(tree.points), tree.n_dynamic
    links, points = np.zeros(nl + 5 * capacity, LINK_RECORD), np.zeros(np_ + 16 * capacity, POINT_RECORD)
    links[:nl], points[:np_] = tree.links, tree.points
    deepest = int(tree.chain[:, 0].max(initial=0))
    support = np.zeros((len(links), max(tree.support.shape[1], 1 + 2 * deepest)), np.int64)
    support[:nl, : tree.support.shape[1]] = tree.support
    elimination = np.zeros((n, tree.elimination.shape[1] + 5 * capacity), np.int64)
    if INTERPRETED:
        links, points = links.view(np.recarray), points.view(np.recarray)
    return Contacts(
        links, points, support, elimination, np.zeros((capacity, 4), np.int64), np.zeros(capacity + 1, np.int64),
        np.zeros(4, np.int64), np.zeros(capacity), np.zeros(len(links)),
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
        self._contacts, self._memory = contact_room(figure, capacity), fresh_memory(capacity)
        self.log: TouchLog = _log_of([], [])
        """Contacts of the last call of `run` or `step`."""
        self._parted, self._room_of = parts_of(figure.compiled.tree), figure.compiled.tree
        self._met: dict[tuple[int, int], int] = {}
        self._part_at_start()

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
        """Which bodies may touch, in lines for a reader: each with all that it may touch."""
        may = np.triu(self.world.may)
        lines = [f"{int(may.sum())} pairs may touch:"]
        names = self.bodies.names
        lines += [f"  {names[a]}: {', '.join(names[b] for b in np.flatnonzero(may[a]))}" for a in np.flatnonzero(may.any(1))]
        if self.apart:
            lines.append(f"in each other at the start, so never: {', '.join(f'{a} and {b}' for a, b in self.apart)}")
        return lines

    def _overlapping(self, q: Array) -> list[tuple[int, int]]:
        """Pairs of bodies that are in each other at q."""
        tree = self.figure.compiled.tree
        while True:
            found = overlaps(tree, self.world, self._contacts, q)
            if not self._contacts.number[3]:
                return sorted({(int(min(k)), int(max(k))) for k in self._contacts.key[:found, :2]})
            self._grow()

    def copy(self) -> TouchSimulation:
        """Another simulation in the same state."""
        other = object.__new__(TouchSimulation)
        other.__dict__.update(super().copy().__dict__)
        other._contacts, other._room_of = contact_room(self.figure, len(self._contacts.key)), self.figure.compiled.tree
        other._parted = parts_of(self.figure.compiled.tree)
        other._met = dict(self._met)
        other._memory = Memory(*(array.copy() for array in self._memory))
        return other

    def _fit(self) -> None:
        """Room for contacts behind the links and points that the figure has now: hands that pull add some."""
        tree = self.figure.compiled.tree
        if tree is not self._room_of:
            self._contacts, self._room_of = contact_room(self.figure, len(self._contacts.key)), tree
            self._parted = parts_of(tree)

    def _roll(self, K: Array, U: Array, out: Steps) -> None:
        self._fit()
        tree, done, first = self.figure.compiled.tree, np.zeros(3, np.int64), 0
        ints: list[NDArray[np.int64]] = []
        floats: list[Array] = []
        room = 64 + 8 * len(self.bodies.things) + 4 * len(K)
        while first < len(K):
            rows, numbers = np.empty((room, 3), np.int64), np.empty((room, 9))
            last = slice(first, None)
            touch_rollout(
                tree, self._parted, self.world, self._contacts, self._memory, self._q, self._p, self._lam, self._charts,
                self._alive, K[last],
                U[last], self.dt, self.share, STEP_TOLERANCE, out.q[last], out.momentum[last], out.impulse[last], out.gap[last],
                out.energy[last], out.states[last], out.bits[last], rows, numbers, done,
            )  # fmt: skip
            rows[: done[1], 0] += first
            ints.append(rows[: done[1]])
            floats.append(numbers[: done[1]])
            first += int(done[0])
            if done[2] and first < len(K):
                self._grow()
            elif done[0] == 0:
                room *= 4
        self.log = _log_of(ints, floats)

    def _grow(self) -> None:
        """Room for twice as many contacts."""
        capacity = 2 * len(self._contacts.key)
        if capacity > 1 << 15:
            raise BunrakuError(f"{self.figure.name}: more than {capacity // 2} contacts\n  advice: let fewer bodies touch")
        self._contacts, self._memory = contact_room(self.figure, capacity), fresh_memory(capacity)


def _root(joints: NDArray[np.void], j: int) -> int:
    """The joint without a parent that carries joint j; −1 for the world."""
    while j >= 0 and joints["parent"][j] >= 0:
        j = int(joints["parent"][j])
    return int(j)


def _log_of(ints: list[NDArray[np.int64]], floats: list[Array]) -> TouchLog:
    rows = np.concatenate([np.zeros((0, 3), np.int64), *ints])
    numbers = np.concatenate([np.zeros((0, 9)), *floats])
    return TouchLog(rows[:, 0], rows[:, 1:], numbers[:, 0], numbers[:, 1], numbers[:, 2], numbers[:, 3:6], numbers[:, 6:])
