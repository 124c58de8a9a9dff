"""simulate: figure + puppeteer + initial state → Motion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.arguments import require_common, require_kind, require_number
from bunraku.dynamics.elastic import early_share
from bunraku.dynamics.puppeteer import Puppeteer, force_rows, kinematic_rows
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulation import LEFT_SHARE, HeldBack, Simulation, Steps, slip_free
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import Pose
from bunraku.motion import Mark, Motion
from bunraku.motion.laid_strings import LaidPoints
from bunraku.progress import Listener, Progress
from bunraku.scene import Scene

Array = NDArray[np.float64]
REPORT_EVERY = 2000  # steps between two reports of progress, and between two moments at which Ctrl-C is heard


def simulate(
    figure: Figure, puppeteer: Puppeteer = None, *, duration: float, dt: float = 0.01, q: ArrayLike | None = None,
    v: ArrayLike | None = None, forces: Puppeteer = None, share: float = LEFT_SHARE, scene: Scene | None = None,
    touch: object = None, seed: int | None = None, progress: Listener | None = None,
) -> Motion:  # fmt: skip
    """The motion of a figure over time, with its tensions, gaps and energies.

    figure: what moves
    puppeteer: the kinematic variables over time: a function of time, functions or numbers by variable name, a Motion, or rows of
        values; a variable that it does not set stays where it starts
    duration: how long [s]
    dt: the time step [s]
    q: the configuration at the start, `figure.start` by default
    v: the velocities at the start, zero by default
    forces: the force inputs over time, given like `puppeteer`; zero by default
    share: share of the impulse of forces and dampers in a step that acts at its start, the rest at its end: ½ makes steps second
        order, 1 is the rule of trep
    scene: what is around the figure, where it may touch something
    touch: which bodies touch: "all", pairs of names (of shapes, frames, obstacles, "floor"), or a Touch; by default none.
        Neighbours in a figure never touch, and neither do shapes of one tree that are in each other at the start
    seed: taken because every verb takes one; nothing here is random
    progress: hears `Progress("simulate", done, text)` every few thousand steps

    Whatever is asked for, at every sample all links are closed to 1e-9 m, and only those that are closed pull. Marks say when a
    string slackens, when it catches, when bodies meet, and when a link held the puppeteer back because no configuration reaches
    what he asked for. Ctrl-C returns the motion so far: shorter than `duration`, with a mark of kind "stopped" at its last sample.
    Raises BunrakuError if `duration` or `dt` is not positive, if `share` is not from 0 to 1, if the motion would not fit into
    memory, or if the start breaks a constraint (a string too short, a loop open, a contact point below its plane, bodies in each
    other).
    """
    require_kind("figure", figure, Figure, expected="a Figure", advice="bunraku.load(…) and bunraku.library.named(…) give one")
    require_number("duration", duration, unit="s")
    require_number("dt", dt, unit="s")
    require_common(seed, progress)
    simulation = simulation_of(figure, q, v, dt=dt, share=share, scene=scene, touch=touch)
    start = simulation.q
    parts: list[Steps] = []
    met: list[Mark] = []
    laid: list[LaidPoints] = []
    stopped = False
    try:
        K, U = requested(simulation, puppeteer, forces, duration)
        # Steps of large figures take long. The clock does not decide, since where a run begins again has an effect on rounding.
        count = max(REPORT_EVERY // max(figure.n_q // 50, 1) ** 2, 1)
        for first in range(0, len(K), count):
            parts.append(simulation.run(K[first : first + count], U[first : first + count]))
            met += simulation.meetings(first)
            laid += simulation.laid(parts[-1])
            if progress is not None:
                done = min(first + count, len(K))
                progress(Progress("simulate", done / len(K), f"{done * dt:.4g} of {duration:.4g} s"))
    except KeyboardInterrupt:
        stopped = True
    if not parts:
        return Motion.of(figure, [0.0], start[None], marks=(_stopped_mark(0.0),))
    motion = motion_of(simulation, start, parts, laid)
    return replace(motion, marks=(*motion.marks, *met, *([_stopped_mark(motion.t[-1])] if stopped else ())))


def simulation_of(
    figure: Figure, q: ArrayLike | None = None, v: ArrayLike | None = None, *, dt: float = 0.01, share: float = LEFT_SHARE,
    scene: Scene | None = None, touch: object = None,
) -> Simulation:  # fmt: skip
    """A simulation of `figure`, with or without touch; q, v, dt, share, scene and touch are those of `simulate`.

    Raises BunrakuError where the start breaks a constraint, or `touch` says what it cannot.
    """
    if touch is None:
        return Simulation(figure, q, v, dt=dt, share=share)
    from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch  # its kernels are loaded only where they are used

    rules = as_touch(touch)
    assert rules is not None
    return TouchSimulation(figure, q, v, scene=scene, touch=rules, dt=dt, share=share)


def _stopped_mark(t: float) -> Mark:
    return Mark(t, "stopped by hand", "stopped")


def requested(simulation: Simulation, puppeteer: Puppeteer, forces: Puppeteer, duration: float) -> tuple[Array, Array]:
    """Rows of kinematic variables and of force inputs, one for every step of `duration` [s] that `simulation` takes from here on.

    `puppeteer` and `forces` are those of `simulate`. Raises BunrakuError for a duration that is not positive, or too long to keep.
    """
    figure, dt = simulation.figure, simulation.dt
    if not 0.0 < duration < np.inf:
        raise BunrakuError(f"the duration is {duration} s\n  advice: give a number of seconds above zero")
    steps = max(round(duration / dt), 1)
    if steps * figure.n_q > 1e9:  # values of q: 8 GB, and as much again for the velocities
        raise BunrakuError(f"{steps:.3g} steps of {figure.name} are too many to keep\n  advice: shorten it, or lengthen dt")
    times: Array = dt * np.arange(1, steps + 1, dtype=float)
    return kinematic_rows(figure, puppeteer, times, simulation.q[figure.n_dynamic :]), force_rows(figure, forces, times)


def simulate_many(jobs: Iterable[Callable[[], Motion]], *, threads: int | None = None) -> list[Motion]:
    """The motions that `jobs` return, in their order, simulated in parallel by so many `threads`: rollouts release the GIL."""
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda job: job(), jobs))


def motion_of(simulation: Simulation, start: Array, parts: list[Steps], laid: Sequence[LaidPoints] = ()) -> Motion:
    """The motion of `parts` that `simulation` took one after the other, with the configuration at the `start` in front.

    laid: where strings lay on bodies after each step
    """
    figure, dt = simulation.figure, simulation.dt
    q = np.concatenate([start[None], *(part.q for part in parts)])
    t = dt * np.arange(len(q))
    ropes, contacts = len(figure.strings) + len(figure.wires), slip_free(figure)
    impulse = np.concatenate([part.impulse for part in parts])
    gap = np.concatenate([parts[0].gap[:1], *(part.gap for part in parts)])
    gap[0, :ropes] = Pose(figure, start).gaps
    energy = np.concatenate([part.energy for part in parts])
    states = np.concatenate([part.states for part in parts])
    passing = np.concatenate([part.passing for part in parts])
    force, lost = _forces_of(figure, impulse, passing, gap, dt)
    middle = 0.5 * (energy[1:] + energy[:-1])
    frozen_at = np.concatenate([part.bits & STEP_BITS.frozen for part in parts])
    return Motion.of(
        figure, t, q, v=np.gradient(q, t, axis=0) if len(q) > 1 else None, tension=force[:, :ropes], contact=force[:, contacts],
        gap=gap[:, :ropes], energy=np.concatenate([energy[:1], middle, energy[-1:]]),
        laid=({}, *laid, *({},) * (len(q) - 1 - len(laid))) if any(laid) else None,
        marks=(
            *_string_marks(figure, dt, states, gap[1:]), *_passing_marks(figure, dt, lost), *_held_marks(simulation, parts),
            *_still_marks(dt, frozen_at),
        ),
    )  # fmt: skip


def _forces_of(figure: Figure, impulse: Array, passing: Array, gap: Array, dt: float) -> tuple[Array, Array]:
    """Forces of the links at every sample [N], from their impulses in every step, and the impulses that belong to none [N·s].

    The impulse of a step acts at its beginning, and stands for half a step before and half a step after; at the start there is only
    the half after. The impulse of a string that catches belongs to the end of its step, where the gap is closed. What stretches
    takes its impulse in two parts, at both ends of the step. So no force is where a gap is open. Within a divided step a string may
    catch and slacken again: then its gap is open at both ends.
    """
    closed = gap >= -1e-9  # [m] rounding
    impulse = impulse + np.where(closed[:-1], passing, 0.0)
    force = np.concatenate([impulse, np.zeros_like(impulse[:1])]) / dt
    catches = ~closed[:-1] & (impulse != 0.0)
    force[0, ~catches[0]] *= 2.0
    force[:-1][catches] = 0.0
    force[1:][catches] += impulse[catches] / dt
    rests = ~catches[-1] & closed[-1]
    force[-1, rests] = force[-2, rests]  # no impulse has acted at the end of the last step yet
    links = figure.compiled.tree.links
    for c in np.flatnonzero(links["stiffness"]):
        early = early_share(float(links["frequency"][c]), dt)
        force[1:-1, c] = (early * impulse[1:, c] + (1.0 - early) * impulse[:-1, c]) / dt
        near, far = impulse[[0, -1], c], impulse[[min(1, len(impulse) - 1), max(-2, -len(impulse))], c]  # of both ends
        force[[0, -1], c] = np.maximum(0.0, [2.0 * early, 1.0] * near + (1.0 - early) * (near - far)) / dt
    return force, np.where(closed[:-1], 0.0, passing)


def _string_marks(figure: Figure, dt: float, states: NDArray[np.int8], gap: Array) -> list[Mark]:
    """Marks where a string goes slack, and where one that has hung through catches."""
    out = []
    for c, string in enumerate(figure.strings):
        change = np.flatnonzero(np.diff((states[:, c] > 0).astype(int))) + 1
        runs = np.split(np.arange(len(states)), change)
        for run in runs:
            if states[run[0], c] > 0 or gap[run, c].min() > -1e-3:  # [m] less than that is noise, not hanging through
                continue
            if run[0] > 0:
                out.append(Mark(dt * (run[0] + 1), f"{string.name} slack", "slack"))
            if run[-1] + 1 < len(states):
                out.append(Mark(dt * (run[-1] + 2), f"{string.name} catches", "impact"))
    return out


def _passing_marks(figure: Figure, dt: float, lost: Array) -> list[Mark]:
    """Marks where a string catches and slackens again within a step, with its impulse, which no tension shows."""
    return [
        Mark(dt * (int(k) + 1), f"{figure.strings[c].name} catches for an instant, {lost[k, c]:.3g} N s", "impact")
        for k, c in np.argwhere(lost[:, : len(figure.strings)] > 0.0)
    ]


def _held_marks(simulation: Simulation, parts: list[Steps]) -> list[Mark]:
    """Marks at the start of every stretch in which a link held the puppeteer back, with the most in that stretch."""
    figure, out, offset = simulation.figure, [], 0
    found: dict[str, list[HeldBack]] = {}
    for part in parts:
        for one in simulation.held(part):
            found.setdefault(one.link, []).append(one._replace(step=offset + one.step))
        offset += len(part.bits)
    for link, each in found.items():
        gaps = np.flatnonzero(np.diff([one.step for one in each]) > 5) + 1
        for stretch in np.split(np.arange(len(each)), gaps):
            most = max((each[k] for k in stretch), key=lambda one: one.by)
            turns = figure.variables[figure.index(most.variable)].motion in ("rotate", "screw")
            by = f"{most.by:.3g} rad" if turns else f"{1e3 * most.by:.1f} mm"
            out.append(Mark(simulation.dt * (each[stretch[0]].step + 1), f"{link} held back by {by}", "held"))
    return out


def _still_marks(dt: float, frozen: NDArray[np.int64]) -> list[Mark]:
    """Marks at steps that had no solution, in which nothing moved."""
    return [Mark(dt * (int(k) + 1), "no step possible: everything held still", "frozen") for k in np.flatnonzero(frozen)]
