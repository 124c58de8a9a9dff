"""Company: the puppets of a show and its props, simulated together, so that they touch the boards, each other and the props.

Each puppet is corrected by the feedback of its own part. Boards carry soles, limbs do not pass through bodies, a foot kicks a ball;
whatever happens to a puppet happens to all that it touches.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.part import (
    Blow,
    OffScript,
    PlayedPart,
    Recovery,
    RehearsedPart,
    deviation,
    heavier,
    random_blows,
)
from bunraku.choreography.soles import LegHands
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure import Figure
from bunraku.figure.together import started, together
from bunraku.kinematics import pose
from bunraku.kinematics.rest_stance import bottom
from bunraku.scene import Scene

Array = NDArray[np.float64]
Index = NDArray[np.int64]


@dataclass(frozen=True)
class BoardOptions:
    """What the stage is made of, and how it is played on."""

    friction: float = 0.8
    """Of shoes on boards, and of whatever else touches."""
    settling: int = 10
    """Steps at rest before a show begins, in which puppets come to stand and props to lie."""
    gap: float = 1e-4
    """How far below the lowest sole at rest the boards are [m]."""
    strings_lie: bool = True
    """Whether strings lie on limbs that they meet, instead of passing through."""
    max_correction: float = 0.25
    """How far feedback moves a hand at most from where it should be [m]: a puppet that is caught is not torn loose."""


@dataclass(frozen=True, eq=False)
class Company:
    """The parts of all puppets, by name, and the props that they meet."""

    parts: Mapping[str, RehearsedPart]
    props: Mapping[str, Figure] = field(default_factory=dict)
    options: BoardOptions = BoardOptions()

    @property
    def boards(self) -> float:
        """Height of the boards [m]: just below the lowest sole at rest."""
        return min(_lowest(part.figure, part.x[0, : part.figure.n_q]) for part in self.parts.values()) - self.options.gap

    def play(self, *, figures: Mapping[str, Figure] | None = None, blows: Mapping[str, list[Blow]] | None = None) -> PlayedShow:
        """Simulates all parts together.

        figures: the figures that play, by name, by default those that rehearsed. They may differ a little, for instance in mass.
        blows: pushes during the show, by name.

        Raises OffScript if a puppet cannot be moved on, BunrakuError if bodies are in each other at the start.
        """
        run = _Run(self, figures or {}, blows or {})
        for k in range(run.steps):
            run.step(k)
        return run.played()

    def recoveries(self, *, seed: int = 0, factor: float = 1.03) -> dict[str, Recovery]:
        """How far each puppet deviates from its part when all are pushed every five seconds, and too heavy.

        seed: seed of the directions of pushes.
        factor: factor on all masses.

        Raises OffScript if a puppet cannot be moved on even with feedback.
        """
        rng = np.random.default_rng(seed)
        blows = {name: random_blows(part, rng) for name, part in self.parts.items()}
        wrong = {name: heavier(part.figure, factor) for name, part in self.parts.items()}
        held, off = self.play(figures=wrong, blows=blows), dict.fromkeys(self.parts, float("inf"))
        loose = replace(self, parts={name: replace(part, gains=0.0 * part.gains) for name, part in self.parts.items()})
        with suppress(OffScript):
            fallen = loose.play(figures=wrong, blows=blows)
            off = {name: deviation(part, fallen.puppets[name]) for name, part in self.parts.items()}
        return {
            name: Recovery(deviation(part, held.puppets[name]), off[name], float(held.puppets[name].tension.min()))
            for name, part in self.parts.items()
        }


@dataclass(frozen=True, eq=False)
class PlayedShow:
    """A show as it was played."""

    puppets: Mapping[str, PlayedPart]
    props: Mapping[str, Array]
    """Configurations of each prop, (N + 1, n_q)."""


class _Run:
    """A simulation in progress."""

    def __init__(self, company: Company, figures: Mapping[str, Figure], blows: Mapping[str, list[Blow]]) -> None:
        self.company, self.parts = company, company.parts
        self.figures = {name: figures.get(name, part.figure) for name, part in self.parts.items()}
        first = next(iter(self.parts.values()))
        self.dt, self.steps = first.dt, len(first.u)
        begun = {
            name: started(figure, dict(zip(figure.names, self.parts[name].x[0], strict=False)))
            for name, figure in self.figures.items()
        }
        whole = together("show", begun | dict(company.props))
        self.n = whole.n_dynamic
        self.rows = {name: _rows(whole, name, figure) for name, figure in (*self.figures.items(), *company.props.items())}
        self.blows = {(name, blow.step): blow.momentum for name, those in blows.items() for blow in those}
        scene = Scene("boards", floor=company.boards)
        options = company.options
        touch = Touch(matter=Matter(friction=options.friction), strings="all" if options.strings_lie else ())
        self.simulation = TouchSimulation(whole, scene=scene, touch=touch, dt=self.dt)
        rest = self.simulation.q[self.n :]
        settled = self.simulation.run(np.repeat(rest[None], options.settling, 0), energy=False)
        self.q, self.ropes = [settled.q[-1]], len(whole.strings) + len(whole.wires)
        self.tension, self.gap = [settled.impulse[-1, : self.ropes] / self.dt], [settled.gap[-1, : self.ropes]]
        self.laid = [self.simulation.laid_now()]
        self.names = [rope.name for rope in (*whole.strings, *whole.wires)]
        self.legs = {
            name: LegHands(part.figure, part.feet, part.x[:, : part.figure.n_q], company.boards, self.dt)
            for name, part in self.parts.items()
        }
        self.speeds = {name: np.zeros(part.figure.n_q - part.figure.n_dynamic) for name, part in self.parts.items()}
        self.x: dict[str, list[Array]] = {name: [part.x[0].copy()] for name, part in self.parts.items()}

    def step(self, k: int) -> None:
        """Step number `k` of the show."""
        hands = self.q[-1][self.n :].copy()
        for name, part in self.parts.items():
            rows, n = self.rows[name], part.figure.n_dynamic
            if (name, k) in self.blows:
                self.simulation.push(rows[:n], self.blows[name, k])
                self.x[name][-1][part.figure.n_q : part.figure.n_q + n] += self.blows[name, k]
            most, n_q = self.company.options.max_correction, part.figure.n_q
            off, legs = self.x[name][-1] - part.x[k], self.legs[name]
            off[:n_q] -= legs.off
            off[n_q + n :] -= self.speeds[name]
            moved = legs.follow(self.x[name][-1][:n_q], k)[n:]
            self.speeds[name] = moved / self.dt
            hands[rows[n:] - self.n] = part.u[k] + legs.off[n:] - np.clip(part.gains[k] @ off, -most, most)
        done = self.simulation.run(hands[None], energy=False)
        if done.bits[0] & STEP_BITS.frozen or not np.abs(done.q[0]).max() < 1e4:
            raise OffScript(self.simulation.figure, k, self.dt)
        for name, part in self.parts.items():
            self.x[name].append(self._state(name, part, done.q[0], done.momentum[0], k))
        self.q.append(done.q[0])
        self.tension.append(done.impulse[0, : self.ropes] / self.dt)
        self.gap.append(done.gap[0, : self.ropes])
        self.laid.append(self.simulation.laid_now())

    def _state(self, name: str, part: RehearsedPart, q: Array, p: Array, k: int) -> Array:
        """The state (q, p, rates of hands) of a puppet; where a ball joint has left its chart, p is taken to be as rehearsed."""
        rows, n = self.rows[name], part.figure.n_dynamic
        own = p[rows[:n]] if self.simulation.is_at_home(rows[:n]) else part.x[k + 1, part.figure.n_q : part.figure.n_q + n]
        rates = (q - self.q[-1])[rows[n:]] / self.dt
        return np.concatenate([q[rows], own, rates])

    def played(self) -> PlayedShow:
        """Everything since the beginning."""
        q, tension, gap = np.array(self.q), np.array(self.tension), np.array(self.gap)
        puppets = {}
        for name, figure in self.figures.items():
            own = [self.names.index(f"{name}.{rope.name}") for rope in (*figure.strings, *figure.wires)]
            laid = tuple({k: at[rope] for k, rope in enumerate(own) if rope in at} for at in self.laid)
            puppets[name] = PlayedPart(self.parts[name].figure, np.array(self.x[name]), tension[:, own], gap[:, own], laid)
        return PlayedShow(puppets, {name: q[:, self.rows[name]] for name in self.company.props})


def _lowest(figure: Figure, q: Array) -> float:
    """Height of the lowest point of what hangs on the strings [m]."""
    here = pose(figure, q)
    joints = figure.compiled.tree.joints["variable"]
    moved = [s for s in figure.shapes if joints[figure.compiled.frame_joint[figure.frame_index[s.frame]]] < figure.n_dynamic]
    return min(bottom(shape, here.X(shape.frame)) for shape in moved)


def _rows(whole: Figure, name: str, figure: Figure) -> Index:
    """Where the variables of the part `name` are in those of the `whole`."""
    return np.array([whole.index(f"{name}.{variable}") for variable in figure.names])
