"""Simulation: a figure that moves step by step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.home_momentum import charts_at_start, momentum_in_charts
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS, rollout
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import Figure
from bunraku.figure.records import LinkKind
from bunraku.kernels.entry_point import ahead
from bunraku.kinematics.forward import configuration
from bunraku.motion import Mark
from bunraku.motion.laid_strings import LaidPoints

Array = NDArray[np.float64]
STEP_TOLERANCE = 1e-13  # [rad or m] error that Newton's method may leave in a step
MAX_START_GAP = 1e-6  # [m or rad] how much too short a string may be, or how far open a loop, at the start
LEFT_SHARE = 0.5  # share of a force's impulse that acts at the start of a step: ½ makes the step second order


@dataclass(frozen=True)
class Steps:
    """The results of several steps, a row each."""

    q: Array
    momentum: Array
    """In the charts that the ball joints were in."""
    impulse: Array
    """Of every link that acts at the end of the step: tension · dt [N·s]. Where the gap is open, it is zero."""
    passing: Array
    """Of every link that pulled in a part of a divided step and hangs through at its end [N·s]; `impulse` leaves it out."""
    gap: Array
    energy: Array
    """Kinetic and potential, at the middle of the step [J]."""
    states: NDArray[np.int8]
    """Of every link: 0 slack, 1 acting, 2 sliding."""
    bits: NDArray[np.int64]
    """What happened in the step: see bunraku.dynamics.rollout."""
    asked: Array
    """The kinematic variables that the puppeteer asked for."""


class HeldBack(NamedTuple):
    """A puppeteer was held back."""

    step: int
    link: str
    """The string, wire, contact or closure that did it; the variable itself where it asked for more than a step can go."""
    variable: str
    """What he could not move to where he asked for."""
    by: float
    """How far it is from there [m or rad]."""


def _compile_rollout(figure: Figure) -> None:
    """Starts to compile what takes longest, if it has to be, while checks of the start compile what they need."""
    flat, table, charts, alive = np.empty(0), np.empty((0, 0)), np.empty((0, 3, 3)), np.empty(0, np.bool_)
    states, bits = np.empty((0, 0), np.int8), np.empty(0, np.int64)
    ahead(
        rollout, figure.compiled.tree, table, flat, flat, charts, alive, table, table, 0.01, LEFT_SHARE, STEP_TOLERANCE,
        table, table, table, table, table, states, bits,
    )  # fmt: skip


class Simulation:
    """State of a figure between steps: `q`, momentum, which strings are taut.

    figure: what moves
    q: the configuration at the start, `figure.start` by default
    v: the velocities at the start, zero by default
    dt: the time step [s]
    share: share of a force's impulse that acts at the start of a step, the rest at its end; ½ is second order, 1 is trep's rule

    A start with strings that are too short, open loops, points below their planes or joints beyond their stops raises BunrakuError.
    Strings that become too short later hold the puppeteer back.
    """

    def __init__(
        self, figure: Figure, q: ArrayLike | None = None, v: ArrayLike | None = None, *, dt: float = 0.01, share: float = LEFT_SHARE
    ) -> None:
        if not 0.0 < dt < np.inf:
            raise BunrakuError(f"the time step is {dt} s\n  advice: give a positive number; 0.01 or less suits marionettes")
        require_share(share)
        require_dynamic(figure)
        self.figure, self.dt, self.share, self.t = figure, float(dt), float(share), 0.0
        tree = figure.compiled.tree
        start = configuration(figure, figure.start if q is None else q)
        _compile_rollout(figure)
        rates = np.zeros(figure.n_q) if v is None else configuration(figure, v)
        require_admissible(figure, start)
        n, nc = figure.n_dynamic, len(tree.links)
        # Now, four configurations before, from which the next is extrapolated, and now with all charts at home.
        self._charts, own, rates, self._p = charts_at_start(figure, start, rates)
        self._q = own - dt * np.array([0.0, 1.0, 2.0, 3.0, 4.0, 0.0])[:, None] * rates
        self._q[1:, n:] = start[n:]
        self._q[5] = start
        self._lam, self._impulse = np.zeros(nc), np.zeros(nc)
        self._alive = np.zeros(nc, np.bool_)
        self._seen = start

    @property
    def q(self) -> Array:
        """The configuration now."""
        return self._seen.copy()

    @property
    def tension(self) -> Array:
        """Of strings and wires in the last step [N]: their impulse, of all its parts, by its length."""
        ropes = len(self.figure.strings) + len(self.figure.wires)
        span = self.dt if self.t > 1.5 * self.dt else 0.5 * self.dt  # the first impulse is for half a step
        return self._impulse[:ropes] / span

    def run(self, kinematic: ArrayLike, forces: ArrayLike | None = None, *, energy: bool = True) -> Steps:
        """As many steps as there are rows of `kinematic` variables, with a row of `forces` each (zero by default).

        Energies are left out where `energy` is False. Raises BunrakuError for rows of another width, NotFinite for other numbers.
        """
        figure, tree = self.figure, self.figure.compiled.tree
        K = np.ascontiguousarray(np.atleast_2d(np.asarray(kinematic, float)))
        if K.ndim != 2 or K.shape[1] != figure.n_q - figure.n_dynamic:
            raise BunrakuError(f"{figure.name} has {figure.n_q - figure.n_dynamic} kinematic variables, got shape {K.shape}")
        N, n, nc = len(K), figure.n_dynamic, len(tree.links)
        U = np.zeros((N, len(figure.forces))) if forces is None else np.ascontiguousarray(np.atleast_2d(np.asarray(forces, float)))
        if U.shape != (N, len(figure.forces)):
            raise BunrakuError(f"{figure.name} has {len(figure.forces)} force inputs, got shape {U.shape} for {N} steps")
        if not (np.isfinite(K).all() and np.isfinite(U).all()):
            raise NotFinite(f"{figure.name}: a kinematic variable or a force is not a finite number")
        out = Steps(
            np.empty((N, figure.n_q)), np.empty((N, n)), np.empty((N, nc)), np.zeros((N, nc)), np.empty((N, nc)),
            np.empty((N if energy else 0, 2)), np.empty((N, nc), np.int8), np.empty(N, np.int64), K,
        )  # fmt: skip
        if N == 0:
            return out
        self._roll(K, U, out)
        hangs = out.states == 0
        out.passing[hangs] = out.impulse[hangs]
        out.impulse[hangs] = 0.0
        self.t += N * self.dt
        self._seen, self._impulse = out.q[-1], out.impulse[-1]
        return out

    def _roll(self, K: Array, U: Array, out: Steps) -> None:
        """Takes the steps, and fills `out`."""
        rollout(
            self.figure.compiled.tree, self._q, self._p, self._lam, self._charts, self._alive, K, U, self.dt, self.share,
            STEP_TOLERANCE, out.q, out.momentum, out.impulse, out.gap, out.energy, out.states, out.bits,
        )  # fmt: skip

    def step(self, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None) -> Steps:
        """One step to these `kinematic` variables (by default where they are) under these `forces` (zero by default)."""
        n = self.figure.n_dynamic
        hands = self._seen[n:] if kinematic is None else np.asarray(kinematic, float)
        return self.run(hands[None], None if forces is None else np.asarray(forces, float)[None])

    def push(self, variables: ArrayLike, momentum: ArrayLike) -> None:
        """Adds `momentum` [N·s or N·m·s] to that of the dynamic `variables`, given by their numbers, at once."""
        added = np.zeros(self.figure.n_dynamic)
        np.add.at(added, np.asarray(variables, np.int64), np.asarray(momentum, float))
        self._p += momentum_in_charts(self.figure, self._charts, self._q[0], self._seen, added)

    def is_at_home(self, variables: NDArray[np.int64]) -> bool:
        """Whether the ball joints among these `variables` are in the charts of their own angles; momenta of others are not
        comparable."""
        tree = self.figure.compiled.tree
        away = tree.joints["variable"][tree.balls[np.any(self._charts != np.eye(3), axis=(1, 2))]]
        return not np.isin(away, variables).any()

    def meetings(self, first: int) -> list[Mark]:
        """Marks where bodies met in the last `run`, which began with step number `first`; without touch there are none."""
        return []

    def laid(self, steps: Steps) -> list[LaidPoints]:
        """Where strings lay on bodies after each of the `steps` of the last `run`; without touch there is nothing to say."""
        return []

    def laid_now(self) -> LaidPoints:
        """Where strings lie on bodies now; without touch on none."""
        return {}

    def touching(self) -> list[str]:
        """Which bodies may touch, in lines for a reader; without touch there are none."""
        return []

    def copy(self) -> Simulation:
        """Another simulation in the same state."""
        other = object.__new__(Simulation)
        other.__dict__.update(self.__dict__)
        for name in ("_q", "_p", "_lam", "_charts", "_alive", "_seen"):
            setattr(other, name, getattr(self, name).copy())
        return other

    @cached_property
    def _parts(self) -> list[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
        """Strings, wires, contacts and closures that a kinematic variable moves: name, links, kinematic variables."""
        figure, tree, n = self.figure, self.figure.compiled.tree, self.figure.n_dynamic
        out = []
        for part in [part.name for group in (figure.strings, figure.wires, figure.contacts, figure.closures) for part in group]:
            rows = [c for c, name in enumerate(figure.compiled.link_names) if name == part or name.startswith(f"{part}.")]
            joints = {int(j) for c in rows for j in tree.support[c, 1 : 1 + tree.support[c, 0]]}
            own = {int(tree.joints["variable"][j]) for j in joints} | {int(tree.links["variable"][c]) for c in rows}
            moves = np.array(sorted(k - n for k in own if k >= n), np.int64)
            if len(moves):
                out.append((part, np.array(rows, np.int64), moves))
        return out

    def held(self, steps: Steps) -> list[HeldBack]:
        """Where in `steps` the puppeteer was held back: every variable that is not where he asked, with every link that acts on it.

        If none of the links that the variable moves acts, all of them are named; if there are none, the variable itself.
        """
        out, least = [], 1e-9  # [m or rad] less than that is rounding
        for k in np.flatnonzero(steps.bits & STEP_BITS.held):
            off = np.abs(steps.q[k, self.figure.n_dynamic :] - steps.asked[k])
            for i in np.flatnonzero(off > least):
                name = self.figure.kinematic[i]
                parts = [(part, rows) for part, rows, moves in self._parts if i in moves]
                acting = [part for part, rows in parts if (steps.states[k, rows] > 0).any()]
                links = acting or [part for part, _ in parts] or [name]
                out += [HeldBack(int(k), link, name, float(off[i])) for link in links]
        return out


def require_share(share: object) -> None:
    """Raises BunrakuError where `share` is not the share of a force's impulse that acts at the start of a step."""
    if not (isinstance(share, (int, float)) and 0.0 <= share <= 1.0):
        raise BunrakuError(f"share is {share!r}\n  advice: give a number from 0 to 1; 0.5 makes steps second order")


def require_dynamic(figure: Figure) -> None:
    """Raises BunrakuError where a dynamic variable of `figure` moves no mass."""
    joints = figure.compiled.tree.joints
    behind = joints["mass"] + joints["inertia"][:, [0, 3, 5]].sum(1) + joints["armature"]
    for j in range(len(joints) - 1, -1, -1):
        if joints["parent"][j] >= 0:
            behind[joints["parent"][j]] += behind[j]
    massless = [figure.names[q] for q, m in zip(joints["variable"], behind, strict=True) if q < figure.n_dynamic and not m > 0.0]
    if massless:
        raise BunrakuError(
            f"{figure.name}: no mass moves with {', '.join(massless[:4])}\n"
            "  advice: give the frame, or one behind it, a body; or make the variable kinematic"
        )


def require_admissible(figure: Figure, q: Array, *, within: float = MAX_START_GAP) -> None:
    """Raises BunrakuError where a constraint of `figure` is broken at `q` by more than `within` [m or rad].

    The first step would close it within dt, at a speed that nobody asked for.
    """
    links, names = figure.compiled.tree.links, figure.compiled.link_names
    gaps, _ = gap_derivatives(figure, q)
    off = np.where(links["pulls"] == 0, np.abs(gaps), gaps)
    wrong = np.flatnonzero((off > within) & (links["normal"] < 0) & (links["stiffness"] == 0.0))
    if not len(wrong):
        return
    ropes, contacts = len(figure.strings) + len(figure.wires), slip_free(figure)
    said = [f"{names[c]} by {gaps[c]:.3g} m" for c in wrong if c < ropes]
    if said:
        said[0] = f"strings do not reach: {said[0]}"
    open_loops: dict[str, float] = {}  # each has several rows
    for c in wrong[len(said) :]:
        part, _, row = names[c].rpartition(".")
        if c in contacts:
            said.append(f"{names[c]} is {off[c]:.3g} m below its plane")
        elif links["kind"][c] == LinkKind.PLANE:
            open_loops[part] = max(open_loops.get(part, 0.0), float(off[c]))
        else:
            said.append(f"{part} is {off[c]:.3g} beyond its {row} limit")
    said += [f"the loop {name} is open by {by:.3g}" for name, by in open_loops.items()]
    more = f" and {len(said) - 4} more" if len(said) > 4 else ""
    raise BunrakuError(
        f"{figure.name}: at the start, {', '.join(said[:4])}{more}\n"
        f"  advice: {'lengthen them' if wrong[0] < ropes else 'give another q'}, or start from settle(figure)"
    )


def slip_free(figure: Figure) -> list[int]:
    """The numbers of the links of `figure` that are contacts, without their slips."""
    links = figure.compiled.tree.links
    ropes = len(figure.strings) + len(figure.wires)
    return [c for c in range(ropes, len(links)) if links["kind"][c] != LinkKind.SLIP][: len(figure.contacts)]
