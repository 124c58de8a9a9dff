"""Rehearse: finds a motion of a puppet that is near its reference, and the hands that produce it.

The reference adds up motions that were made separately: hands that simply follow it would make the puppet swing. Optimal control
finds the hands that keep the puppet closest to the reference. It treats strings as wires, which never go slack, so that the
problem is smooth. Limits require that the wires only pull; the resulting motion is then possible with strings as well.

Wires cannot do a motion in which strings go slack. There the hands follow the reference, and feedback corrects them; a puppet with
soles stands on the boards meanwhile.
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
from bunraku.choreography.company import BoardOptions, Company
from bunraku.choreography.part import PlayedPart, RehearsedPart, play
from bunraku.choreography.puppet import TORSO, Puppet
from bunraku.choreography.soles import FeetOptions, feet_of, leg_strings, standing
from bunraku.control import Acceleration, Configuration, Limits, Momentum, Optimum, Speed, Tension, optimize
from bunraku.control.control_problem import MotionExpansion
from bunraku.control.control_system import Rollout, System
from bunraku.control.cost import Term
from bunraku.control.cost_draft import Draft
from bunraku.control.newton import Method
from bunraku.control.optimize import problem_of
from bunraku.dynamics import Simulation, momentum
from bunraku.errors import BunrakuError, FileError
from bunraku.figure import Contact, Figure, Point, Wire
from bunraku.kernels.folders import user_cache
from bunraku.outcome import STOPPED
from bunraku.progress import Listener
from bunraku.spatial.rest_to_rest import eased
from bunraku.writing import writing

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RehearsalOptions:
    """Weights, limits and accuracy of a rehearsal. Weights are relative to that of a squared joint angle, 1/rad²."""

    dt: float = 0.02
    """Time step [s]."""
    root_weight: float = 10.0
    """Weight of position and heading of the torso."""
    leg_weight: float = 0.02
    """Weight of the joints of a leg that stands on boards."""
    swings_held: bool = False
    """Whether feedback corrects legs in the air, too: when motions are made, not when they are played."""
    swing_weight: float = 0.1
    """Weight of the joints of such a leg."""
    hand_weight: float = 1.0
    """Weight of the positions of the hands. A small one leaves them free; a large one keeps strings away from a partner's."""
    momentum_weight: float = 1e-4
    """Weight of the rate of every dynamic variable."""
    speed_weight: float = 1e-3
    """Weight of the speed of the hands."""
    acceleration_weight: float = 2e-4
    """Weight of the acceleration of the hands."""
    feedback_acceleration_weight: float = 1e-3
    """Weight of the acceleration of the hands in the computation of the feedback gains."""
    standing_acceleration_weight: float = 0.02
    """The same for puppets that stand on boards."""
    standing_root_weight: float = 50.0
    """Weight of position and heading of their torso in that computation."""
    tension_weight: float = 0.02
    """Weight of a deviation by `light_tension` from the tension at rest, for strings that carry at most `light_tension` at rest."""
    light_tension: float = 2.0
    """Strings that carry more than this at rest [N] have a smaller weight, proportional to (tension at rest)^−2.5."""
    least_tension_weight: float = 3e-5
    """Smallest weight of a tension [1/N²], so that braking with the strings of the torso has a cost."""
    end_tension_factor: float = 50.0
    """Factor on the weight of tensions at both ends of a stretch, where a jump of the tension would jerk a hand."""
    end_tension_fade: float = 0.08
    """Time constant with which that factor decays [s]."""
    least_tension: float = 0.6
    """Soft lower limit of every tension [N], so that strings do not go slack."""
    arrival: float = 1500.0
    """Extra weight of the last sample [s], so that the puppet comes to rest."""
    arrival_time: float = 0.4
    """Time over which the remaining error at the end is removed afterwards [s]."""
    tolerance: float = 1e-4
    """The search ends when the expected relative decrease of the cost is below this."""
    iterations: int = 60
    """Maximum number of iterations."""
    near_enough: float = 0.1
    """A search that did not converge is accepted if its last iteration expected a relative decrease below this."""
    lessons: int = 2
    """How often a puppet on boards tries a motion to learn how late its parts are: each costs as much as to play the stretch."""
    no_worse: float = 0.002
    """A try is kept that is not farther from what is wanted than another by more than this [rad or m]."""
    seen: float = 0.1
    """A variable that moves less does not tell [rad or m]."""
    longest_lead: float = 0.08
    """By how much hands are ahead at most after one try [s]."""
    following_error: float = 0.06
    """A puppet that follows its reference is near enough with this root-mean-square deviation [rad or m]."""
    following_end: float = 0.4
    """Largest deviation of any variable at the end of a stretch that was followed [rad or m]; feedback removes it."""
    slack_tension: float = 3.0
    """What strings that are slack at rest are taken to pull when gains are computed [N]: they pull when they lift a leg."""
    boards: BoardOptions = BoardOptions()
    feet: FeetOptions = FeetOptions()
    growth: tuple[float, ...] = (0.15, 0.3, 0.5, 0.75, 1.0)
    """Shares of the wanted motion that are solved one after the other if the whole motion is too large for one search."""


@dataclass(frozen=True, eq=False)
class Rehearsed:
    """The result for one stretch."""

    x: Array
    """States, (N + 1, n_x)."""
    u: Array
    """Hands, (N, kinematic)."""
    impulse: Array
    """Impulses of strings and wires [N·s], (N, …)."""
    iterations: int
    outcome: str
    """"followed", or the kind of outcome of the search: "converged", "out of iterations"."""
    converged: bool
    """Whether the search ended at an optimum, or near enough."""

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class EasedTension:
    """A term of the cost: tensions stay near those at rest, above all at the ends of a stretch."""

    tension: Tension
    factor: float
    """Factor on their weight at the ends."""
    fade: float
    """Time constant with which that factor decays [s]."""

    def add(self, draft: Draft) -> None:
        """Adds this term to the cost in `draft`."""
        self.tension.add(draft)
        steps = np.arange(len(draft.wl))
        nearest = draft.system.dt * np.minimum(steps, steps[::-1])
        draft.wl *= 1.0 + self.factor * np.exp(-nearest / self.fade)[:, None]


@dataclass(frozen=True, eq=False)
class FootedConfiguration:
    """A term of the cost: variables stay near their reference; those of a leg count more or less as it stands or swings."""

    configuration: Configuration
    factors: Array
    """Factors on the weights of all variables, (N + 1, n_q)."""

    def add(self, draft: Draft) -> None:
        """Adds this term to the cost in `draft`."""
        before = draft.wx.copy()
        self.configuration.add(draft)
        own = slice(0, self.factors.shape[1])
        draft.wx[:, own] = before[:, own] + (draft.wx - before)[:, own] * self.factors


@dataclass(frozen=True, eq=False)
class Hung:
    """A puppet in rehearsal, with wires instead of strings."""

    puppet: Puppet
    options: RehearsalOptions = RehearsalOptions()

    @cached_property
    def wired(self) -> Figure:
        """The figure with all strings as wires."""
        figure = self.puppet.figure
        wires = tuple(Wire(**{f.name: getattr(s, f.name) for f in fields(s)}) for s in figure.strings)
        return replace(figure, strings=(), wires=(*wires, *figure.wires))

    @cached_property
    def grounded(self) -> Figure:
        """The wired figure with a contact with the boards under the middle of each sole."""
        contacts = tuple(
            Contact(f"{foot.part}_stands", Point(foot.frame, tuple(foot.corners.mean(0))), friction=1.0)
            for foot in feet_of(self.puppet)
        )
        return replace(self.wired, contacts=(*self.wired.contacts, *contacts))

    @cached_property
    def feet(self) -> int:
        """How many feet it stands on."""
        return len(feet_of(self.puppet))

    @cached_property
    def boards(self) -> float:
        """Height of the boards below its soles [m]."""
        rest = self.puppet.rest[None]
        low = min(foot.places(self.puppet.figure, rest)[0, :, 2].min() for foot in feet_of(self.puppet))
        return float(low) - self.options.boards.gap

    @cached_property
    def _still(self) -> tuple[Array, Array]:
        """Tensions and momenta at rest. In a step, weight acts on the momentum before strings do, so momenta are not zero."""
        figure, rest, dt = self.puppet.figure, self.puppet.rest, self.options.dt
        if self.feet:
            return self._still_on_boards
        steps = Simulation(figure, rest, dt=dt).run(np.repeat(rest[None, figure.n_dynamic :], 3, 0))
        return steps.impulse[-1, : len(figure.strings)] / dt, steps.momentum[-1]

    @property
    def _still_on_boards(self) -> tuple[Array, Array]:
        figure, rest = self.puppet.figure, self.puppet.rest
        n, n_q = figure.n_dynamic, figure.n_q
        x = np.zeros((4, 2 * n_q))
        x[:, :n_q] = rest
        still = RehearsedPart(figure, self.options.dt, x, x[1:, n:n_q].copy(), np.zeros((3, n_q - n, 2 * n_q)))
        run = Company({"puppet": still}, options=self.options.boards).play().puppets["puppet"]
        return run.tension[-1, : len(figure.strings)], run.x[-1, n_q : n_q + n]

    @property
    def momentum(self) -> Array:
        """Momenta of the dynamic variables at rest."""
        return self._still[1]

    @property
    def impulse(self) -> Array:
        """Impulses of strings and wires over a step at rest [N·s]."""
        return self.options.dt * np.concatenate([self._still[0], np.zeros(len(self.puppet.figure.wires))])

    def gains(self, x: Array, u: Array, impulse: Array) -> Array:
        """Gains K of u = ū − K (x − x̄) along a whole part (N, kinematic, n_x), which bring the puppet back after a push.

        x: states x̄, (N + 1, n_x).
        u: hands ū, (N, kinematic).
        impulse: impulses of strings and wires [N·s], (N, …).
        """
        own, N = self.options, len(u)
        s = System.of(self.grounded, dt=own.dt, inputs=self.wired.kinematic)
        cost: list[Term] = [
            FootedConfiguration(Configuration(self._weights(), x[:, : s.n_q], at_end=1.0), self._swinging(x[:, : s.n_q])),
            Speed(own.speed_weight, at_end=1.0),
            Acceleration(own.standing_acceleration_weight if self.feet else own.feedback_acceleration_weight),
        ]
        work = MotionExpansion(problem_of(s, cost, duration=N * own.dt, q=x[0, : s.n_q]))
        states = np.zeros((N, s.n_links), np.int8)  # joints are not at their stops
        states[:, : impulse.shape[1]] = 1
        pull = np.zeros((N, s.n_links))
        pull[:, : impulse.shape[1]] = impulse
        if self.feet:
            stands = standing(self.puppet, x[1:, : s.n_q], self.boards, own.feet)
            states[:, impulse.shape[1] : impulse.shape[1] + 3 * self.feet] = np.repeat(stands, 3, axis=1)
            for k, own_strings in enumerate(leg_strings(self.puppet)):
                states[:, own_strings] = ~stands[:, k, None]
            pull *= states > 0
        work.at(Rollout(x, np.concatenate([u, np.zeros((N, len(self.wired.forces)))], 1), pull, states))
        work.gauss_newton()
        return self._without_legs(work.gains.copy(), x) if self.feet else work.gains.copy()

    def _swinging(self, q: Array) -> Array:
        """Factors on weights along `q` (N + 1, n_q) of a puppet with soles: those of its torso, and of legs in the air."""
        factors, own = np.ones_like(q), self.options
        if self.feet:
            factors[:, list(self.puppet.root)] = own.standing_root_weight / own.root_weight
            for foot, stands in zip(feet_of(self.puppet), standing(self.puppet, q, self.boards, own.feet).T, strict=True):
                factors[np.ix_(~stands, foot.dynamic)] = own.swing_weight / own.leg_weight
        return factors

    def _without_legs(self, gains: Array, x: Array) -> Array:
        """`gains` along states `x` that leave legs to the boards, to their weight, and to hands that stay above them (`LegHands`).

        Where a sole is held is no error that hands could correct, and a leg that swings hangs from one of its strings at a time,
        not from two wires.
        """
        n_q, n = self.wired.n_q, self.wired.n_dynamic
        stands = standing(self.puppet, x[: len(gains), :n_q], self.boards, self.options.feet)
        for foot, own in zip(feet_of(self.puppet), stands.T, strict=True):
            left = np.flatnonzero(own | (not self.options.swings_held))
            gains[np.ix_(left, foot.kinematic - n)] = 0.0
            columns = np.concatenate([foot.dynamic, n_q + foot.dynamic, foot.kinematic, n_q + foot.kinematic])
            gains[np.ix_(left, np.arange(gains.shape[1]), columns)] = 0.0
        return gains

    def followed(self, wanted: Array) -> Rehearsed | None:
        """The motion on strings, which may go slack, whose hands follow the reference `wanted` (N + 1, n_q), corrected by feedback.

        None if the puppet cannot follow.
        """
        figure, own, n, n_q = self.puppet.figure, self.options, self.wired.n_dynamic, self.wired.n_q
        u = np.ascontiguousarray(wanted[1:, n:])
        try:
            if self.feet:
                return self._judged(self._followed_on_boards(wanted), wanted)
            free = Simulation(figure, wanted[0], dt=own.dt).run(u)
            x = np.zeros((len(wanted), 2 * n_q))
            x[:, :n_q], x[0, n_q : n_q + n], x[1:, n_q : n_q + n] = wanted, self.momentum, free.momentum
            x[1:, n_q + n :] = np.diff(wanted[:, n:], axis=0) / own.dt
            near = x.copy()
            near[1:, :n_q] = free.q
            # Wires that hardly pull would be no constraint; where strings are slack, they are taken to pull a little.
            gains = self.gains(near, u, np.maximum(free.impulse[:, : len(self.impulse)], 0.3 * self.impulse))
            return self._judged(play(RehearsedPart(figure, own.dt, x, u, gains)), wanted)
        except BunrakuError:
            return None

    def _followed_on_boards(self, wanted: Array) -> PlayedPart:
        """The motion of a puppet that stands on boards."""
        figure, own, n, n_q = self.puppet.figure, self.options, self.wired.n_dynamic, self.wired.n_q
        u = np.ascontiguousarray(wanted[1:, n:])
        x = np.zeros((len(wanted), 2 * n_q))
        x[:, :n_q], x[1:, n_q + n :] = wanted, np.diff(wanted[:, n:], axis=0) / own.dt
        for k, v in enumerate(np.gradient(wanted, own.dt, axis=0)):
            x[k, n_q : n_q + n] = self.momentum + momentum(figure, wanted[k], v)
        impulse = np.maximum(self.impulse, own.dt * own.slack_tension)
        gains, feet = self.gains(x, u, np.repeat(impulse[None], len(u), 0)), feet_of(self.puppet)
        late, best, least = np.zeros(n_q), None, np.inf
        for lesson in range(1 + own.lessons):
            part = RehearsedPart(figure, own.dt, x.copy(), u, gains, feet)
            played = Company({"puppet": part}, options=own.boards).play().puppets["puppet"]
            error = float(np.sqrt(np.mean((played.q - wanted)[:, self._free] ** 2)))
            if best is None or error < least + own.no_worse:
                best, least = played, min(error, least)
            if lesson < own.lessons:
                late += self._late(played.q, wanted)
                hands = self._ahead(wanted, late)[:, n:]
                u, x[:, n:n_q], x[1:, n_q + n :] = hands[1:].copy(), hands, np.diff(hands, axis=0) / own.dt
        assert best is not None
        return best

    @cached_property
    def _free(self) -> NDArray[np.int64]:
        """Dynamic variables besides those of legs, which stand where they were put down."""
        legs = [foot.dynamic for foot in feet_of(self.puppet)]
        return np.setdiff1d(np.arange(self.wired.n_dynamic), np.concatenate([np.zeros(0, int), *legs]))

    def _late(self, played: Array, wanted: Array) -> Array:
        """How much later each part `played` what was `wanted`, along with its strings [s], (n_q,); 0 for trunk, legs, still parts.

        If the part is late by τ, it is off by −τ times its rate: least squares over all samples tell τ.
        """
        n, out, legs = self.wired.n_dynamic, np.zeros(self.wired.n_q), {foot.part for foot in feet_of(self.puppet)}
        rate, off = np.gradient(wanted, self.options.dt, axis=0), played - wanted
        for part, own in self.puppet.parts.items():
            moved = own[(own < n) & (np.ptp(wanted[:, own], axis=0) > self.options.seen)]
            if part not in legs and part != TORSO and len(moved):
                late = -np.sum(off[:, moved] * rate[:, moved]) / np.sum(rate[:, moved] ** 2)
                out[own] = np.clip(late, -self.options.longest_lead, self.options.longest_lead)
        return out

    def _ahead(self, wanted: Array, by: Array) -> Array:
        """`wanted` (N + 1, n_q), each variable ahead by so much time [s], but where it begins."""
        t = self.options.dt * np.arange(len(wanted))
        begun = eased(t / self.options.arrival_time)
        return np.stack([np.interp(t + lead * begun, t, column) for lead, column in zip(by, wanted.T, strict=True)], 1)

    def _judged(self, played: PlayedPart, wanted: Array) -> Rehearsed:
        """What was `played`, and whether it is near enough to what was `wanted`."""
        own, n = self.options, self.wired.n_dynamic
        away = np.abs(played.q - wanted)[:, self._free]
        close = np.sqrt(np.mean(away**2)) < own.following_error and away[-1].max() < own.following_end
        return Rehearsed(played.x, played.q[1:, n:].copy(), own.dt * played.tension[1:], 1, "followed", bool(close))

    def _rates(self) -> dict[str, float]:
        """Weights of momenta such that equal rates cost the same: a swinging hand counts as much as a torso."""
        figure, rest = self.wired, self.puppet.rest
        unit = np.eye(figure.n_q)[: figure.n_dynamic]
        inertia = [momentum(figure, rest, v)[k] for k, v in enumerate(unit)]
        return {name: self.options.momentum_weight / m**2 for name, m in zip(figure.dynamic, inertia, strict=True)}

    def _weights(self) -> dict[str, float]:
        root = [self.wired.names[k] for k in self.puppet.root]
        hands = dict.fromkeys(self.wired.kinematic, self.options.hand_weight)
        weights = dict.fromkeys(self.wired.dynamic, 1.0) | dict.fromkeys(root, self.options.root_weight) | hands
        for foot in feet_of(self.puppet):  # hips must not give way to correct a foot that stands where it stands
            weights |= {self.wired.names[k]: self.options.leg_weight for k in foot.dynamic}
        return weights

    def cost(self, wanted: Array) -> list[Term]:
        """The terms of the cost of a stretch whose reference is `wanted` (N + 1, n_q)."""
        (tension, still), own = self._still, self.options
        light = own.light_tension
        pulls = {  # strings that carry more have smaller weights
            s.name: max(own.tension_weight / light**2 * (light / max(t, light)) ** 2.5, own.least_tension_weight)
            for s, t in zip(self.puppet.figure.strings, tension, strict=True)
        }
        full = np.concatenate([tension, np.zeros(len(self.puppet.figure.wires))])
        return [
            Configuration(self._weights(), wanted, at_end=own.arrival),
            Momentum(self._rates(), still, at_end=200.0 * own.arrival),
            Speed(own.speed_weight, at_end=10.0 * own.arrival),
            Acceleration(own.acceleration_weight),
            EasedTension(Tension(pulls, full), own.end_tension_factor, own.end_tension_fade),
        ]

    def _limits(self, wanted: Array) -> Limits:
        """Strings pull, and no foot is lowered below where it stands, or below its reference: the stage has a floor."""
        tensions = {string.name: (self.options.least_tension, None) for string in self.puppet.figure.strings}
        lowest = np.maximum(self.puppet.rest, wanted.max(0))
        lengths = {name: (None, float(lowest[self.wired.index(name)])) for name in self.puppet.legs}
        return Limits(variables=lengths, tensions=tensions, soft=True)

    def optimum(self, wanted: Array, *, guess: Optimum | None = None, progress: Listener | None = None) -> Optimum:
        """The motion closest to a reference, by optimal control.

        wanted: the reference, (N + 1, n_q), one sample per time step.
        guess: where the search starts; by default with the hands of the reference.
        progress: called at every iteration.

        Uses Gauss–Newton steps. Exact second derivatives are used only if these fail: they would save a third of the iterations,
        but make each three times as expensive.
        """
        best = self._searched(wanted, guess or wanted[1:, self.wired.n_dynamic :], "gauss-newton", progress)
        lost = best.outcome.kind in ("stalled", "out of iterations")
        return self._searched(wanted, best, "auto", progress) if lost else best

    def _searched(self, wanted: Array, guess: Optimum | Array, method: Method, progress: Listener | None) -> Optimum:
        own = self.options
        fall = np.zeros(self.wired.n_q)  # the velocity after half a step of free fall gives the momenta at rest
        fall[self.puppet.root[2]] = 0.5 * own.dt * self.wired.gravity[2]
        best = optimize(
            self.wired, self.cost(wanted), duration=(len(wanted) - 1) * own.dt, dt=own.dt, q=wanted[0], v=fall,
            inputs=self.wired.kinematic, guess=guess, tolerance=own.tolerance, iterations=own.iterations, method=method,
            limits=self._limits(wanted), progress=progress,
        )  # fmt: skip
        if best.outcome.kind == STOPPED.kind:
            raise KeyboardInterrupt
        return best

    def grown(self, wanted: Array, *, progress: Listener | None = None) -> Optimum:
        """As `optimum`, in several searches: first for a small share of the motion `wanted` (N + 1, n_q), then for more.

        Each search starts from the result of the one before, stabilised by its gains. This is for motions so large that a search
        from the hands of the reference fails. `progress` is called at every iteration.
        """
        small = [wanted[0] + size * (wanted - wanted[0]) for size in self.options.growth]
        best = self.optimum(small[0], progress=progress)
        for more in small[1:]:
            best = self.optimum(more, guess=best, progress=progress)
        return best

    def surest(self, wanted: Array, *, progress: Listener | None = None) -> Optimum:
        """`optimum` for the reference `wanted` (N + 1, n_q), or `grown` if that is better; calls `progress` at every iteration."""
        try:
            best = self.optimum(wanted, progress=progress)
        except BunrakuError:  # the simulation fails with the hands of the reference
            return self.grown(wanted, progress=progress)
        if self.accepts(best):
            return best
        other = self.grown(wanted, progress=progress)
        return other if other.cost + other.penalty < best.cost + best.penalty else best

    def accepts(self, best: Optimum) -> bool:
        """Whether the search `best` ended at an optimum, or near enough."""
        return best.outcome.kind == "converged" or (bool(best.tail) and best.tail[-1] < self.options.near_enough)

    def arrived(self, x: Array, end: Array) -> Array:
        """`x` (T, n) with its last sample moved to `end` (n,), so that stretches join; the correction is spread over
        `arrival_time`.

        A hand that corrected a tenth of a millimetre in one step would pull at the strings of the torso with 20 N.
        """
        own = self.options
        share = eased((np.arange(len(x)) - len(x) + 1) * own.dt / own.arrival_time + 1.0)[:, None]
        return np.asarray(x + share * (end - x[-1]))

    def ended(self, x: Array, end: Array) -> Array:
        """States `x` (N + 1, n_x) that end at rest at the configuration `end` (n_q,).

        Momenta and rates of hands go with the correction: feedback would take it for a push otherwise, and hands would run away.
        """
        figure, n, n_q = self.puppet.figure, self.wired.n_dynamic, self.wired.n_q
        still = np.concatenate([end, self.momentum, np.zeros(n_q - n)])
        out = self.arrived(x, still)
        more = np.gradient(out[:, :n_q] - x[:, :n_q], self.options.dt, axis=0)
        for k in np.flatnonzero(np.any(more[:, :n] != 0.0, axis=1)):
            out[k, n_q : n_q + n] += momentum(figure, out[k, :n_q], more[k])
        out[1:, n_q + n :] = np.diff(out[:, n:n_q], axis=0) / self.options.dt
        return out

    def fingerprint(self, wanted: Array, loose: bool) -> str:
        """A hash of all that the rehearsal of `wanted` (N + 1, n_q), `loose` or not, depends on. Differences below a nanometre do
        not count."""
        figure = self.puppet.figure
        described = [getattr(figure, f.name) for f in fields(figure) if f.init]  # repr(figure) is short: it has no masses
        digest = hashlib.sha256(
            f"rehearsal 27 {loose} {self.options}\n{described}".encode()
        )  # increase the number when the method changes
        digest.update(np.round(wanted * 1e9).astype(np.int64).tobytes())
        return digest.hexdigest()[:24]


def rehearse(
    hung: Hung, wanted: Array, *, loose: bool = False, folder: Path | None = None, again: bool = False,
    solved: Callable[[Rehearsed], None] | None = None, progress: Listener | None = None,
) -> Rehearsed:  # fmt: skip
    """A motion of a puppet on a stretch from rest to rest: from the cache, by `Hung.followed`, or by `Hung.surest`.

    hung: the puppet.
    wanted: the reference, (N + 1, n_q), one sample per time step. The cache ignores where on the stage it begins.
    loose: whether it is made of motions in which strings go slack. A search, which takes strings for wires, would not find it.
    folder: where results are cached; the user's cache folder if None.
    again: whether cached results are ignored.
    solved: called with a result that was not in the cache.
    progress: called at every iteration. If it raises, nothing is cached.

    Raises BunrakuError if no motion is found.
    """
    puppet, n = hung.puppet, hung.wired.n_dynamic
    here = np.zeros_like(wanted[0])
    for i, j in (puppet.root[:2], *puppet.spindles.tolist()):
        here[i], here[j] = wanted[0, puppet.root[0]], wanted[0, puppet.root[1]]
    local = wanted - here
    file = (folder or user_cache() / "rehearsals") / f"{hung.fingerprint(local, loose)}.npz"
    found = None if again else _loaded(file)
    if found is None:
        found = hung.followed(local) if loose else None
        if found is None or not (found.converged or hung.feet):  # what stands on boards, a search would not find either
            best = hung.surest(local, progress=progress)
            found = Rehearsed(
                best.run.x, best.kinematic, best.run.impulse, len(best.history), best.outcome.kind, hung.accepts(best)
            )
        found = replace(found, x=hung.ended(found.x, local[-1]), u=hung.arrived(found.u, local[-1, n:]))
        _kept(file, found)
        if solved is not None:
            solved(found)
    x, u = found.x.copy(), found.u + here[n:]
    x[:, : len(here)] += here
    return replace(found, x=x, u=u)


def _loaded(file: Path) -> Rehearsed | None:
    try:
        with file.open("rb") as opened, np.load(opened) as kept:
            return Rehearsed(
                kept["x"], kept["u"], kept["impulse"], int(kept["iterations"]), str(kept["outcome"]), bool(kept["converged"])
            )
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None  # missing or broken: computed again


def _kept(file: Path, found: Rehearsed) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with writing(file) as temporary, Path(temporary).open("wb") as out:
            np.savez(out, **{own.name: getattr(found, own.name) for own in fields(found)})
    except (OSError, FileError):
        pass  # on a full or read-only disk nothing is cached
