"""Part: what one puppet has rehearsed for a whole show, and its simulation with feedback.

Feedback keeps the puppet near its part; strings may go slack. To test the feedback, `recovery` pushes the puppet, makes it heavier
than in the rehearsal, and measures its deviation from the part.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.choreography.soles import SoledFoot
from bunraku.control.control_system import System
from bunraku.control.projection import project
from bunraku.dynamics.simulation import STEP_TOLERANCE
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.ways import lengths_along, wound_along
from bunraku.motion.laid_strings import Laid

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RehearsedPart:
    """States x̄ (N + 1, n_x), hands ū (N, kinematic) and gains K (N, kinematic, n_x) of one puppet: u = ū − K (x − x̄)."""

    figure: Figure
    dt: float
    x: Array
    u: Array
    gains: Array
    feet: tuple[SoledFoot, ...] = ()
    """Its feet, if it stands on boards."""

    __repr__ = brief


@dataclass(frozen=True)
class Blow:
    """A push: a sudden change of momentum between two steps."""

    step: int
    """Index of the step before which it happens."""
    momentum: Array
    """What it adds to the momenta of the dynamic variables [N·s or N·m·s]."""


@dataclass(frozen=True, eq=False)
class PlayedPart:
    """The simulation of a part."""

    figure: Figure
    x: Array
    """States, (N + 1, n_x)."""
    tension: Array
    """Tensions of strings and wires [N], (N + 1, …)."""
    gap: Array
    """Distance − length of strings and wires [m], (N + 1, …)."""
    laid: Laid | None = None
    """Where strings lie on bodies, if they may."""

    __repr__ = brief

    @property
    def q(self) -> Array:
        """Configurations, (N + 1, n_q)."""
        return self.x[:, : self.figure.n_q]


class OffScript(BunrakuError):
    """A puppet (`figure`) cannot follow its part in a `step` of `dt` [s]."""

    def __init__(self, figure: Figure, step: int, dt: float) -> None:
        super().__init__(
            f"{figure.name} cannot follow its part {step * dt:.2f} s into the show\n"
            "  advice: make the motion there smaller or slower"
        )
        self.step = step


def play(part: RehearsedPart, *, figure: Figure | None = None, blows: Sequence[Blow] = (), feedback: bool = True) -> PlayedPart:
    """Simulates a `part`.

    figure: the figure that plays it, by default the one that rehearsed it. It may differ a little, for instance in mass.
    blows: pushes during the show.
    feedback: whether the gains correct the hands.

    Raises OffScript if the simulation cannot follow.
    """
    figure = figure or part.figure
    s = System.of(figure, dt=part.dt, inputs=figure.kinematic)
    N, ropes = len(part.u), len(figure.strings) + len(figure.wires)
    U = np.concatenate([part.u, np.zeros((N, len(figure.forces)))], 1)
    x, u, impulse = np.empty_like(part.x), np.empty_like(U), np.empty((N, s.n_links))
    states, bits = np.empty((N, s.n_links), np.int8), np.zeros(N, np.int64)
    taut, now = np.zeros(s.n_links, np.int8), part.x[0].copy()
    pushed = {blow.step: blow.momentum for blow in blows if 0 < blow.step < N}
    edges = [0, *sorted(pushed), N]
    for a, b in pairwise(edges):
        if a in pushed:
            now[figure.n_q : figure.n_q + figure.n_dynamic] += pushed[a]
        X = part.x[a : b + 1].copy()
        K = part.gains[a:b] if feedback else part.gains[:0]
        u_now = U[a:b].copy()
        if feedback:  # the kernel does not correct the first state, so it is done here
            u_now[0, : part.u.shape[1]] -= part.gains[a] @ (now - X[0])
        X[0] = now
        done = project(
            s.tree, taut, X, u_now, np.ascontiguousarray(K), s.hands, s.thrusts, s.dt, s.share, STEP_TOLERANCE, x[a : b + 1],
            u[a:b], impulse[a:b], states[a:b], bits[a:b],
        )  # fmt: skip
        if done < b - a:
            raise OffScript(figure, a + int(done), part.dt)
        now, taut = x[b].copy(), states[b - 1].copy()
    q = x[:, : figure.n_q]
    gap = lengths_along(figure, q) - wound_along(figure, q)
    return PlayedPart(figure, x, np.concatenate([impulse[:1], impulse])[:, :ropes] / part.dt, gap)


def _times(factor: float, inertia: tuple[float, ...]) -> tuple[float, float, float, float, float, float]:
    xx, xy, xz, yy, yz, zz = (factor * v for v in inertia)
    return xx, xy, xz, yy, yz, zz


def heavier(figure: Figure, factor: float) -> Figure:
    """The `figure` with all masses multiplied by `factor`, to simulate a model error."""
    bodies = tuple(replace(b, mass=factor * b.mass, inertia=_times(factor, b.inertia)) for b in figure.bodies)
    return replace(figure, bodies=bodies)


@dataclass(frozen=True)
class Recovery:
    """How far a disturbed puppet deviates from its part."""

    held: float
    """Root-mean-square deviation over all samples and dynamic variables, with feedback [rad or m]."""
    open: float
    """The same without feedback; infinite if the simulation fails."""
    least_tension: float
    """Smallest tension of any string, with feedback [N]."""


def random_blows(part: RehearsedPart, rng: np.random.Generator, *, blow: float = 0.15, every: float = 5.0) -> list[Blow]:
    """Pushes of a whole puppet in random horizontal directions during its `part`.

    rng: draws the directions.
    blow: standard deviation of each push, as a change of the puppet's velocity along x and y [m/s].
    every: time between two pushes [s].
    """
    mass, blows = sum(body.mass for body in part.figure.bodies), []
    for step in range(round(every / part.dt), len(part.u), round(every / part.dt)):
        momentum = np.zeros(part.figure.n_dynamic)
        momentum[:2] = blow * mass * rng.normal(size=2)
        blows.append(Blow(step, momentum))
    return blows


def deviation(part: RehearsedPart, played: PlayedPart) -> float:
    """Root-mean-square deviation of what was `played` from its `part`, over samples and dynamic variables [rad or m]."""
    n, n_q = part.figure.n_dynamic, part.figure.n_q
    return float(np.sqrt(np.mean((played.q - part.x[:, :n_q])[:, :n] ** 2)))


def recovery(part: RehearsedPart, *, seed: int = 0, blow: float = 0.15, every: float = 5.0, factor: float = 1.03) -> Recovery:
    """Simulates a `part` with a figure that is too heavy and is pushed repeatedly, in random horizontal directions.

    seed: seed of the random directions.
    blow: standard deviation of each push, as a change of the whole puppet's velocity along x and y [m/s].
    every: time between two pushes [s].
    factor: factor on all masses.

    Raises OffScript if the puppet cannot follow even with feedback.
    """
    blows = random_blows(part, np.random.default_rng(seed), blow=blow, every=every)
    wrong = heavier(part.figure, factor)
    held, off = play(part, figure=wrong, blows=blows), float("inf")
    with suppress(OffScript):
        off = deviation(part, play(part, figure=wrong, blows=blows, feedback=False))
    return Recovery(deviation(part, held), off, float(held.tension.min()))
