"""Rehearse: from what a puppet is asked to do to what it can do, and the hands that hold it to that.

The reference lays motions over each other that were made alone: played as it is, the puppet would swing. Optimal control
finds the hands that keep it closest. It takes strings for wires, which never let go: then the problem is smooth, and a motion
whose wires only pull, as limits ask of them, is one that strings make as well.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.choreography.puppet import Puppet
from bunraku.control import Acceleration, Configuration, Limits, Momentum, Optimum, Speed, Tension, optimize
from bunraku.control.control_problem import MotionExpansion
from bunraku.control.control_system import Rollout, System
from bunraku.control.cost import Draft, Term
from bunraku.control.newton import Method
from bunraku.control.optimize import problem_of
from bunraku.dynamics import Simulation, momentum
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, Wire
from bunraku.kernels.cache import user_cache
from bunraku.spatial.rest_to_rest import eased
from bunraku.writing import writing

Array = NDArray[np.float64]
DT = 0.02  # [s]
VERSION = 12  # of the weights below and of what is kept on disk
ROOT, HANDS = 10.0, 1.0  # weights of the torso's place and of a hand's beside 1 of a joint's angle
MOMENTUM, SPEED, ACCELERATION = 1e-4, 1e-3, 2e-4
CALM = 1e-3  # weight of accelerations under feedback
TENSION, LEAST = 0.02, 2.0  # weight of a string that carries LEAST [N] or less at rest and differs by that
STEADY = 3e-5  # least weight of a newton: strings that carry the torso are no free brakes
EASE, EASING = 50.0, 0.08  # how many times as much tensions count at the ends of a stretch, and how soon that fades [s]
PULL = 0.6  # [N] below which a string costs more and more
ARRIVAL = 1500.0  # [s] that the end counts for: the puppet must come to rest
ARRIVE = 0.4  # [s] over which what is left of that is taken back
TOLERANCE, ITERATIONS = 1e-4, 60
NEAR = 0.1  # of the cost: where the last iteration hoped for less, what was found is kept although rounding or a switch ended it
GROWING = (0.15, 0.3, 0.5, 0.75, 1.0)  # of what is wanted: from one optimum the next is near


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """States, hands and impulses of wires on a stretch."""

    x: Array
    u: Array
    impulse: Array
    iterations: int
    outcome: str

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Eased:
    """Tensions as they are at rest, at the ends of a stretch above all: a string that jumps there is a hand that jerks."""

    tension: Tension

    def add(self, draft: Draft) -> None:
        self.tension.add(draft)
        steps = np.arange(len(draft.wl))
        nearest = draft.system.dt * np.minimum(steps, steps[::-1])
        draft.wl *= 1.0 + EASE * np.exp(-nearest / EASING)[:, None]


@dataclass(frozen=True, eq=False)
class Hung:
    """A puppet that is rehearsed with: its strings as wires, and what they carry at rest."""

    puppet: Puppet
    hands: float = HANDS
    """Weight of where the hands are, beside 1 of a joint's angle."""

    @cached_property
    def wired(self) -> Figure:
        figure = self.puppet.figure
        wires = tuple(Wire(**{f.name: getattr(s, f.name) for f in fields(s)}) for s in figure.strings)
        return replace(figure, strings=(), wires=(*wires, *figure.wires))

    @cached_property
    def _still(self) -> tuple[Array, Array]:
        """Tensions and momenta at rest. A step takes weight from the momentum before strings give it back, so p is not zero."""
        figure, rest = self.puppet.figure, self.puppet.rest
        steps = Simulation(figure, rest, dt=DT).run(np.repeat(rest[None, figure.n_dynamic :], 3, 0))
        return steps.impulse[-1, : len(figure.strings)] / DT, steps.momentum[-1]

    @property
    def momentum(self) -> Array:
        """At rest."""
        return self._still[1]

    @property
    def impulse(self) -> Array:
        """Of strings and wires at rest [N·s]."""
        return DT * np.concatenate([self._still[0], np.zeros(len(self.puppet.figure.wires))])

    def gains(self, x: Array, u: Array, impulse: Array) -> Array:
        """K of u = ū − K (x − x̄) along a whole part: what brings the puppet back wherever it was pushed."""
        s, N = System.of(self.wired, dt=DT, inputs=self.wired.kinematic), len(u)
        cost: list[Term] = [
            Configuration(self._weights(), x[:, : s.n_q], at_end=1.0),
            Speed(SPEED, at_end=1.0),
            Acceleration(CALM),
        ]
        work = MotionExpansion(problem_of(s, cost, duration=N * DT, q=x[0, : s.n_q]))
        work.at(Rollout(x, np.concatenate([u, np.zeros((N, len(self.wired.forces)))], 1), impulse, np.ones(impulse.shape, np.int8)))
        work.gauss_newton()
        return work.gains.copy()

    def _rates(self) -> dict[str, float]:
        """Weights of momenta that weigh rates alike: a hand that swings counts as much as a torso."""
        figure, rest = self.wired, self.puppet.rest
        unit = np.eye(figure.n_q)[: figure.n_dynamic]
        inertia = [momentum(figure, rest, v)[k] for k, v in enumerate(unit)]
        return {name: MOMENTUM / m**2 for name, m in zip(figure.dynamic, inertia, strict=True)}

    def _weights(self) -> dict[str, float]:
        root = [self.wired.names[k] for k in self.puppet.root]
        hands = dict.fromkeys(self.wired.kinematic, self.hands)
        return dict.fromkeys(self.wired.dynamic, 1.0) | dict.fromkeys(root, ROOT) | hands

    def cost(self, wanted: Array) -> list[Term]:
        tension, still = self._still
        pulls = {  # those that carry more count less
            s.name: max(TENSION / LEAST**2 * (LEAST / max(t, LEAST)) ** 2.5, STEADY)
            for s, t in zip(self.puppet.figure.strings, tension, strict=True)
        }
        full = np.concatenate([tension, np.zeros(len(self.puppet.figure.wires))])
        return [
            Configuration(self._weights(), wanted, at_end=ARRIVAL),
            Momentum(self._rates(), still, at_end=200.0 * ARRIVAL),
            Speed(SPEED, at_end=10.0 * ARRIVAL),
            Acceleration(ACCELERATION),
            Eased(Tension(pulls, full)),
        ]

    def _limits(self, wanted: Array) -> Limits:
        """Strings pull, and no foot is let down further than it stands, or is wanted to be: there are boards."""
        tensions = {string.name: (PULL, None) for string in self.puppet.figure.strings}
        lowest = np.maximum(self.puppet.rest, wanted.max(0))
        lengths = {name: (None, float(lowest[self.wired.index(name)])) for name in self.puppet.legs}
        return Limits(variables=lengths, tensions=tensions, soft=True)

    def optimum(self, wanted: Array, *, iterations: int = ITERATIONS, guess: Optimum | None = None) -> Optimum:
        """The motion closest to `wanted` (N + 1, n_q), a sample every DT; from `guess`, or from the hands that are wanted.

        By Gauss and Newton alone, unless these are lost: curvature would save a third of the iterations and make each three times
        as dear.
        """
        best = self._searched(wanted, guess or wanted[1:, self.wired.n_dynamic :], iterations, "gauss-newton")
        lost = best.outcome.kind in ("stalled", "out of iterations")
        return self._searched(wanted, best, iterations, "auto") if lost else best

    def _searched(self, wanted: Array, guess: Optimum | Array, iterations: int, method: Method) -> Optimum:
        fall = np.zeros(self.wired.n_q)  # what has the momenta of rest: half a step of free fall
        fall[self.puppet.root[2]] = 0.5 * DT * self.wired.gravity[2]
        return optimize(
            self.wired, self.cost(wanted), duration=(len(wanted) - 1) * DT, dt=DT, q=wanted[0], v=fall, inputs=self.wired.kinematic,
            guess=guess, tolerance=TOLERANCE, iterations=iterations, method=method, limits=self._limits(wanted),
        )  # fmt: skip

    def grown(self, wanted: Array, *, iterations: int = ITERATIONS) -> Optimum:
        """The same by and by: a little of what is wanted first, then more, each held to by the gains of the last.

        For motions so large that the hands alone lead nowhere near them.
        """
        small = [wanted[0] + size * (wanted - wanted[0]) for size in GROWING]
        best = self.optimum(small[0], iterations=iterations)
        for more in small[1:]:
            best = self.optimum(more, iterations=iterations, guess=best)
        return best

    def surest(self, wanted: Array) -> Optimum:
        """The optimum at once where it is found so, grown where it is not."""
        try:
            best = self.optimum(wanted)
        except BunrakuError:  # the hands throw the puppet about
            return self.grown(wanted)
        if best.outcome.kind == "converged" or best.tail[-1] < NEAR:
            return best
        other = self.grown(wanted)
        return other if other.cost + other.penalty < best.cost + best.penalty else best


def fingerprint(figure: Figure, wanted: Array) -> str:
    """Of everything that a rehearsal depends on; what differs by less than a nanometre is the same."""
    digest = hashlib.sha256(f"{VERSION} {DT}\n{figure!r}".encode())
    digest.update(np.round(wanted * 1e9).astype(np.int64).tobytes())
    return digest.hexdigest()[:24]


def arrived(x: Array, end: Array) -> Array:
    """What is left at the end, taken back over the last moment, so that stretches join: where a hand takes back a tenth of a
    millimetre in one step, the strings of the torso feel 20 N.
    """
    share = eased((np.arange(len(x)) - len(x) + 1) * DT / ARRIVE + 1.0)[:, None]
    return np.asarray(x + share * (end - x[-1]))


def rehearse(
    hung: Hung, wanted: Array, *, folder: Path | None = None, again: bool = False,
    solved: Callable[[Rehearsed], None] | None = None,
) -> Rehearsed:  # fmt: skip
    """A stretch from rest to rest, (N + 1, n_q). What was rehearsed before, anywhere on the stage, is taken from `folder`."""
    puppet, n = hung.puppet, hung.wired.n_dynamic
    here = np.zeros_like(wanted[0])
    for i, j in (puppet.root[:2], *puppet.spindles.tolist()):
        here[i], here[j] = wanted[0, puppet.root[0]], wanted[0, puppet.root[1]]
    local = wanted - here
    file = (folder or user_cache() / "rehearsals") / f"{fingerprint(puppet.figure, local)}.npz"
    found = None if again else _loaded(file)
    if found is None:
        best = hung.surest(local)
        end = np.concatenate([local[-1], hung.momentum, np.zeros(hung.wired.n_q - n)])
        x, u = arrived(best.run.x, end), arrived(best.kinematic, local[-1, n:])
        found = Rehearsed(x, u, best.run.impulse, len(best.history), best.outcome.kind)
        _kept(file, found)
        if solved is not None:
            solved(found)
    x, u = found.x.copy(), found.u + here[n:]
    x[:, : len(here)] += here
    return replace(found, x=x, u=u)


def _loaded(file: Path) -> Rehearsed | None:
    try:
        with file.open("rb") as opened, np.load(opened) as kept:
            return Rehearsed(kept["x"], kept["u"], kept["impulse"], int(kept["iterations"]), str(kept["outcome"]))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None  # never kept, or broken: it is made anew


def _kept(file: Path, found: Rehearsed) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with writing(file) as temporary, Path(temporary).open("wb") as out:
            np.savez(out, x=found.x, u=found.u, impulse=found.impulse, iterations=found.iterations, outcome=found.outcome)
    except OSError:
        pass  # a full or read-only disk costs time, not the show
