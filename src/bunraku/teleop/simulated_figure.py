"""Simulated figures whose strings are pulled live.

A pulled spindle follows the hand, no faster than a puppeteer's arm; one that cannot rise winds its string instead. A rubber band
pulls a hook or a limb toward the hand, and holds a pinned limb; beyond the figure's reach, only the band stretches. If the strings
cannot follow a spindle in any configuration, the spindle is held back. Ball joints have stops (see `joint_stops`). A puppet in
disorder can be untangled (see `untangling`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics import Simulation, settle
from bunraku.dynamics.quantities import energy, gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulate import simulation_of
from bunraku.errors import BunrakuError
from bunraku.figure import WORLD, Figure, Frame, Point, String
from bunraku.kinematics import Drag, pose
from bunraku.kinematics.inverse.drag import wound
from bunraku.scene import Scene
from bunraku.stage import Command, Pull, Release, Sample, Sticks, Untangle, Winch
from bunraku.teleop.hand_reach import reachable
from bunraku.teleop.joint_stops import with_ball_stops
from bunraku.teleop.rubber_bands import BandOptions, Bands
from bunraku.teleop.untangling import carried, in_order

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PullOptions:
    """Numbers that tune how the hands of a puppeteer move."""

    speed: float = 1.5
    """Maximum speed of a spindle, and of winding [m/s]."""
    acceleration: float = 30.0
    """Maximum acceleration of these [m/s²]."""
    lag: float = 0.04
    """Time constant with which a spindle follows the hand [s]."""
    stick_speed: float = 0.5
    """Speed of the puppeteer's control bar (all spindles together) at full stick [m/s]."""
    tight: float = 8.0
    """Tension, in body weights, above which the hand gives way to a string."""
    give_speed: float = 0.1
    """Speed at which the hand gives way [m/s]."""
    creep_speed: float = 0.05
    """Speed of a hand just after a string held it back [m/s], so that it does not hit the limit again and again."""
    creep_time: float = 0.4
    """Time constant with which the hand returns to its full speed [s]."""
    shortest: float = 0.02
    """Minimum length of a string [m]."""
    softness: float = 0.1
    """How early a hand slows down at the edge of the figure's reach [m/rad]: see `hand_reach`."""
    untangling: float = 1.5
    """How long it takes to bring a puppet back into order [s]."""
    bands: BandOptions = BandOptions()
    """Rubber bands that pull hooks and limbs."""


def _begun(figure: Figure, dt: float, scene: Scene, touch: object) -> Simulation:
    """A simulation from the figure's start; if that violates constraints (an open loop, a string too short), from rest."""
    try:
        return simulation_of(figure, dt=dt, scene=scene, touch=touch)
    except BunrakuError as problem:
        try:
            return simulation_of(figure, settle(figure), dt=dt, scene=scene, touch=touch)
        except BunrakuError:
            raise problem from None


class LivePuppet:
    """One simulated figure and the goals of the hands that pull it."""

    def __init__(
        self,
        figure: Figure,
        dt: float,
        *,
        options: PullOptions = PullOptions(),
        scene: Scene = Scene("stage"),
        touch: object = None,
    ) -> None:
        """The `figure` at its start, simulated in steps of `dt` [s]; `options` tune the hands; `touch` says what of it and of the
        `scene` touches (see `simulate`)."""
        self.figure, self.options = figure, options
        stopped = with_ball_stops(figure)
        self.bands = Bands(stopped, options=options.bands)
        self._drags: dict[str, Drag] = {}
        self._lifts: dict[str, tuple[float, float]] = {}
        """For each spindle whose hand winds its string: the height of the hand [m] and the length [m] at which it began."""
        self.news: set[str] = set()
        """What hands should be told since the last step."""
        self._ropes = [s.name for s in (*figure.strings, *figure.wires)]
        self._start = _begun(stopped, dt, scene, touch)
        self._begin = partial(simulation_of, stopped, dt=dt, scene=scene, touch=touch)
        self._helper: Iterator[Array] | None = None
        self._goal: Simulation | None = None
        n = figure.n_dynamic
        self._lower, self._upper = (np.array(limit[n:]) for limit in figure.limits)
        self._is_length = np.array([v.motion == "length" for v in figure.variables[n:]], bool)
        self._lower[self._is_length] = np.maximum(self._lower[self._is_length], options.shortest)
        self._speed = np.minimum(np.array([v.speed for v in figure.variables[n:]], float), options.speed)
        self._side = self._sides()
        # Which kinematic variables change the gap of each string.
        self._moves = np.abs(gap_derivatives(figure, figure.start)[1][: len(self._ropes), n:]) > 1e-3
        self.reset()

    def reset(self) -> None:
        """Back to the start, with nothing held."""
        self._take_over(self._start.copy())

    def _take_over(self, simulation: Simulation) -> None:
        """Goes on with another `simulation`, with nothing held."""
        self.simulation = simulation
        self._helper, self.q, self.tension = None, simulation.q, np.zeros(len(self._ropes))
        self._drags.clear()
        self._lifts.clear()
        self.news = set()
        self.wish = self.simulation.q[self.figure.n_dynamic :]
        self.bands.clear()
        self._rate, self._wary = np.zeros((2, len(self.wish)))

    def untangle(self) -> None:
        """Begins to bring the puppet back into order; until it is, hands have no effect."""
        if not self.figure.strings or self._helper is not None:
            return
        start = self._start.q
        goal = in_order(self.figure, self.q, start)
        try:
            self._goal = self._begin(goal)
        except BunrakuError:  # something is in the way there
            goal, self._goal = start, self._start.copy()
        self.bands.clear()
        steps = max(round(self.options.untangling / self.simulation.dt), 1)
        self._helper = carried(self.figure, self.q, goal, steps)

    def _carry(self) -> tuple[Array, float, set[str]]:
        """One step in the hands of the helper."""
        assert self._helper is not None
        q = next(self._helper, None)
        if q is None:
            assert self._goal is not None
            self._take_over(self._goal)
            return self.step()
        turned = np.array([variable.motion == "rotate" for variable in self.figure.variables])
        away = q - self.q
        away[turned] -= 2.0 * np.pi * np.round(away[turned] / (2.0 * np.pi))  # the goal may be the same after whole turns
        v = away / self.simulation.dt
        self.q, self.tension = q, np.zeros(len(self._ropes))
        gaps = pose(self.figure, q).gaps
        return np.array(energy(self.figure, q, v)), float(np.maximum(gaps, 0.0).max(initial=0.0)), set()

    def let_go(self, part: str, name: str) -> None:
        """Releases the `part` (spindle, hook, body, pin) of the string or frame `name`."""
        self.bands.let_go(f"{part} {name}")
        self._drags.pop(f"{part} {name}", None)
        self._lifts.pop(f"{part} {name}", None)
        # Forget the part of the wish that could not be reached.
        self.wish = self.simulation.q[self.figure.n_dynamic :]

    def string(self, name: str) -> String | None:
        """The string called `name`; None if there is none."""
        return next((s for s in self.figure.strings if s.name == name), None)

    # -- what hands want -----------------------------------------------------------------------------------------

    def pull(self, command: Pull) -> None:
        """Executes a `command`. Bands pull hooks and limbs; spindles and their carriages follow the hand."""
        if self._helper is not None:
            return
        to, string = np.array(command.to), self.string(command.name)
        if command.part in ("body", "pin") and command.name in self.figure.frame_index:
            at = Point(command.name, command.at)
            if self._is_moved_by_physics(command.name):
                self.bands.hold(f"{command.part} {command.name}", at, to)
            elif command.part == "body":
                self._reach(f"body {command.name}", at, to)
        elif command.part == "hook" and string is not None:
            self.bands.hold(f"hook {command.name}", string.hook, to)
        elif command.part == "spindle" and string is not None:
            self._reach(f"spindle {command.name}", string.spindle, to)
            self._lift(f"spindle {command.name}", string, to[2])

    def _is_moved_by_physics(self, frame: str) -> bool:
        return bool(np.any(pose(self.figure, self.simulation.q).jacobian(frame)[:, : self.figure.n_dynamic]))

    def _reach(self, key: str, spindle: Point, to: Array) -> None:
        """Sets the wished kinematic variables so that they bring a spindle to a point, or as near as possible."""
        q = self._wanted
        if key not in self._drags:
            moved = np.any(pose(self.figure, q).point_jacobian(spindle.frame, spindle.position), axis=0)
            names = [name for name in self.figure.kinematic if moved[self.figure.index(name)]]
            self._drags[key] = Drag(self.figure, q, spindle, moves=names)
        self.wish = self._drags[key].to(q, to).q[self.figure.n_dynamic :]

    def _lift(self, key: str, string: String, height: float) -> None:
        """Winds a string whose spindle cannot rise by as much as the hand has risen."""
        here = pose(self.figure, self._wanted)
        rises = here.point_jacobian(string.spindle.frame, string.spindle.position)[2, self.figure.n_dynamic :]
        if np.abs(rises).max(initial=0.0) > 1e-3 or self._winding(string) is None:
            return
        begun = (float(here.point(string.spindle.frame, string.spindle.position)[2]), self._length(string))
        from_height, from_length = self._lifts.setdefault(key, begun)
        self.winch(string.name, from_length - (height - from_height) - self._length(string))

    def _winding(self, string: String) -> int | None:
        """The place of the variable that winds a string among the kinematic variables; None where its length is fixed."""
        k = -1 if string.variable is None else self.figure.index(string.variable) - self.figure.n_dynamic
        return k if k >= 0 and string.ratio != 0.0 else None

    def _length(self, string: String) -> float:
        """The length that hands want a string to have [m]."""
        return float(string.wound(self._wanted[self.figure.index(string.variable or "")]))

    @property
    def _wanted(self) -> Array:
        """The configuration, with the kinematic variables that the hands want."""
        q = self.simulation.q
        q[self.figure.n_dynamic :] = self.wish
        return q

    def winch(self, name: str, by: float) -> None:
        """Winds the string `name` by `by` [m]: in if negative, out if positive. Where it is at its end, `news` says so."""
        string = self.string(name)
        if string is None:
            return
        k = self._winding(string)
        if k is None:
            self.news.add(f"{_words(name)} has a fixed length")
            return
        wanted = self._length(string) + by
        self.wish[k] = wound(self.figure, string, self._wanted, by, least=self.options.shortest)
        if abs(wanted - self._length(string)) > 1e-3:
            self.news.add(f"{_words(name)} is wound {'in' if by < 0.0 else 'out'} as far as it goes")

    def steer(self, axes: Sequence[float], dt: float) -> None:
        """Moves the control bar (all spindles) for `dt` [s]; `axes` are sticks in [−1, 1]: sideways, forward, rocking, up."""
        side, forward, rock, lift = axes
        way = self.options.stick_speed * dt
        moves = way * (side * self._along[0] + forward * self._along[1])
        winds = -way * (lift + 0.5 * rock * self._side) * self._is_length
        self.wish = np.clip(self.wish + moves + winds, self._lower, self._upper)

    def _sides(self) -> Array:
        """For each length variable: −1 on the control bar's left, +1 on its right."""
        figure, n = self.figure, self.figure.n_dynamic
        now = pose(figure)
        self._along = np.zeros((2, figure.n_q - n))
        side = np.zeros(figure.n_q - n)
        for string in figure.strings:
            at = now.point(string.spindle.frame, string.spindle.position)
            J = now.point_jacobian(string.spindle.frame, string.spindle.position)[:, n:]
            for axis in (0, 1):
                self._along[axis] = np.maximum(self._along[axis], (J[axis] > 0.5).astype(float))
            if string.variable is not None and figure.index(string.variable) >= n:
                side[figure.index(string.variable) - n] = at[0] - now.com[0]
        largest = np.abs(side).max(initial=0.0)
        return side / largest if largest > 0.0 else side

    # -- physics -------------------------------------------------------------------------------------------------

    def step(self) -> tuple[Array, float, set[str]]:
        """One step. Returns energies [J], the largest violation of a string [m], and the strings that hold a hand back."""
        if self._helper is not None:
            return self._carry()
        q, n = self.simulation.q, self.figure.n_dynamic
        go, held = self._move(q)
        self.simulation.figure = self.bands.figure
        forces, full = self.bands.forces(q, self.simulation.dt)
        held |= {name for part, _, name in (key.partition(" ") for key in full) if part == "hook"}
        before = self.simulation.copy() if go.any() else None
        steps = self.simulation.step(q[n:] + go, forces)
        if steps.bits[-1] & STEP_BITS.frozen and before is not None:
            # The step failed: try again without moving the hand.
            self._rate = np.zeros(len(go))
            self.simulation = before
            steps = self.simulation.step(q[n:], forces)
        ropes = len(self._ropes)
        self.q, self.tension = self.simulation.q, np.maximum(self.simulation.tension, 0.0)
        return steps.energy[-1], float(np.maximum(steps.gap[-1, :ropes], 0.0).max(initial=0.0)), held

    def _move(self, q: Array) -> tuple[Array, set[str]]:
        """The change of the kinematic variables in the next step, and the strings that hold them back."""
        n, dt, own = self.figure.n_dynamic, self.simulation.dt, self.options
        most = self._speed * (1.0 - self._wary) + own.creep_speed * self._wary
        wanted = np.clip((self.wish - q[n:]) / (own.lag + dt), -most, most)
        fastest = np.maximum(np.sign(wanted) * self._rate, 0.0) + own.acceleration * dt
        go = dt * np.sign(wanted) * np.minimum(np.abs(wanted), fastest)
        tight = self.simulation.tension > own.tight * self.bands.weight
        if np.abs(go).max(initial=0.0) < 1e-7 and not tight.any():
            self._rate = np.zeros(len(go))
            return self._rate, set()
        done, held = reachable(self.figure, q, go, tight=tight, give=own.give_speed * dt, softness=own.softness)
        self._rate = done / dt
        self._wary = np.where(self._moves[held | tight].any(0), 1.0, self._wary * math.exp(-dt / own.creep_time))
        stuck = np.abs(self.wish - q[n:]).max(initial=0.0) > 2e-3
        return done, {self._ropes[c] for c in np.flatnonzero(held)} if stuck else set()


class Simulated:
    """Live figures, stepped by the variational integrator while their strings are pulled.

    figures: the figures, simulated independently.
    scene: drawn around them.
    dt: time step [s].
    touch: which bodies of each figure and of the scene touch (see `simulate`); by default none. Figures that should touch each
        other are put `together` into one.
    options: how hands move.
    """

    pulls = frozenset(("spindle", "hook", "body", "pin"))
    series = (("kinetic energy", "J"), ("potential energy", "J"), ("total energy", "J"), ("constraint error", "mm"))

    def __init__(
        self,
        *figures: Figure,
        scene: Scene = Scene("stage"),
        dt: float = 0.005,
        options: PullOptions = PullOptions(),
        touch: object = None,
    ) -> None:
        self._puppets = [LivePuppet(figure, dt, options=options, scene=scene, touch=touch) for figure in figures]
        self.figures = tuple(figures)
        # Without kinematic variables there is nothing to steer.
        steered = any(figure.kinematic for figure in figures)
        self.sticks = ("side to side", "forward and back", "rock", "up and down") if steered else ()
        self.untangles = any(figure.strings for figure in figures)
        self.scene, self.dt = scene, dt
        self.reset()

    def reset(self) -> Sample:
        """Back to the start, with nothing held."""
        self._t, self._axes = 0.0, (0.0,) * len(self.sticks)
        self._held: set[tuple[int, str]] = set()
        self._told: dict[str, float] = {}
        for puppet in self._puppets:
            puppet.reset()
        return self._sample(np.zeros(2), 0.0, ())

    def apply(self, command: Command) -> None:
        """Executes a `command`; commands that do not apply to these figures are ignored."""
        match command:
            case Pull(figure) if figure < len(self._puppets):
                self._puppets[figure].pull(command)
            case Release(figure, part, name) if figure < len(self._puppets):
                self._puppets[figure].let_go(part, name)
            case Winch(figure, name, by) if figure < len(self._puppets):
                self._puppets[figure].winch(name, by)
            case Sticks(axes) if len(axes) == len(self.sticks):
                self._axes = axes
            case Untangle():
                for puppet in self._puppets:
                    puppet.untangle()

    def step(self) -> Sample:
        """The next sample."""
        before, self._held = self._held, set()
        energy, error = np.zeros(2), 0.0
        for k, puppet in enumerate(self._puppets):
            if any(self._axes):
                puppet.steer(self._axes, self.dt)
            own, gap, held = puppet.step()
            energy += own
            error = max(error, gap)
            self._held |= {(k, name) for name in held}
        self._t += self.dt
        return self._sample(energy, error, self._news(before))

    def _news(self, before: set[tuple[int, str]]) -> tuple[str, ...]:
        """Messages for hands: strings that have begun to hold one back, or are at their ends; each at most every four seconds."""
        said = [f"{_words(name)} holds the hand back: the figure cannot reach that far" for _, name in sorted(self._held - before)]
        for puppet in self._puppets:
            said += sorted(puppet.news)
            puppet.news = set()
        out = [text for text in dict.fromkeys(said) if self._t - self._told.get(text, -math.inf) > 4.0]
        self._told |= dict.fromkeys(out, self._t)
        return tuple(out)

    def _sample(self, energy: Array, error: float, news: tuple[str, ...]) -> Sample:
        kinetic, potential = (float(e) for e in energy)
        return Sample(
            self._t, tuple(puppet.q.copy() for puppet in self._puppets), tuple(puppet.tension for puppet in self._puppets),
            (kinetic, potential, kinetic + potential, 1e3 * error), tuple(sorted(self._held)), news,
            tuple(puppet.simulation.laid_now() for puppet in self._puppets),
        )  # fmt: skip


def _words(name: str) -> str:
    return f"the string {name.replace('_', ' ')}"


def placed(figure: Figure, at: tuple[float, float, float], *, name: str = "") -> Figure:
    """The `figure` moved to `at` [m], called `name` (by default its own name).

    Parts that were fixed to the world are fixed to a frame "place".
    """

    def own(frame: str) -> str:
        return "place" if frame == WORLD else frame

    def moved(point: Point) -> Point:
        return replace(point, frame=own(point.frame))

    frames = tuple(replace(f, parent="place") if f.parent == WORLD else f for f in figure.frames)
    return figure.replace(
        name=name or figure.name, frames=(Frame("place", WORLD, at), *frames),
        strings=tuple(s.reframed(own) for s in figure.strings), wires=tuple(w.reframed(own) for w in figure.wires),
        springs=tuple(replace(s, a=moved(s.a), b=moved(s.b)) for s in figure.springs),
        closures=tuple(replace(c, a=moved(c.a), b=moved(c.b)) for c in figure.closures),
        shapes=tuple(replace(s, frame="place") if s.frame == WORLD else s for s in figure.shapes),
        bodies=tuple(replace(b, frame="place") if b.frame == WORLD else b for b in figure.bodies),
    )  # fmt: skip
