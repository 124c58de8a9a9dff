"""The continuous model integrated with events: strings that go slack when their tension reaches zero, and catch.

Between events any adaptive integrator will do (SciPy's DOP853). A catch is an inelastic impact (*marionettes*, eq. 13–15) of all
closed links together: q̇⁺ = q̇⁻ − M⁻¹ Aᵀ Λ with Λ ≥ 0, A q̇⁺ ≤ 0 and Λ·(A q̇⁺) = 0, so it never pulls below zero and may release a
string that was taut. The same complementarity, of tensions and gap accelerations, says which links act after it. Gaps are looked
at several times within each step of the integrator, so that a string which tightens and slackens inside it is not missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853
from scipy.optimize import brentq, nnls

from bunraku.dynamics.continuous_model import AccelerationAndTension, acceleration
from bunraku.dynamics.quantities import energy, gap_derivatives, mass_matrix
from bunraku.dynamics.simulation import require_admissible, require_dynamic
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration
from bunraku.motion import Mark, Motion

Array = NDArray[np.float64]
States = NDArray[np.int8]
Motor = Callable[[float], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class EventOptions:
    """Numbers that tune how events are found."""

    closed: float = 1e-9
    """Gap that counts as closed [m]."""
    lost: float = 1e-5
    """Gap that shows that an event was missed [m]."""
    looks: int = 9
    """Times within a step of the integrator at which gaps are looked at, both ends included."""
    min_time: float = 1e-11
    """Shortest time between two events [s]."""
    max_step: float = 0.05
    """Longest step of the integrator [s]."""


def impact(
    figure: Figure,
    q: ArrayLike,
    v: ArrayLike,
    closed: ArrayLike | None = None,
    *,
    options: EventOptions = EventOptions(),
) -> tuple[Array, Array]:
    """Velocities after the impact of all closed links of `figure` at (`q`, `v`), and the impulse of each link [N·s].

    `closed` says of every link whether it takes part; by default those whose gaps are closed (`options.closed`). The kinematic
    variables keep their speed.
    """
    q_, v_ = configuration(figure, q), configuration(figure, v)
    gaps, A = gap_derivatives(figure, q_)
    shut = (gaps > -options.closed) if closed is None else np.asarray(closed, bool)
    n = figure.n_dynamic
    M = mass_matrix(figure, q_)[:n, :n]
    Λ = np.zeros(len(gaps))
    Λ[shut] = _complementary(M, A[shut, :n], A[shut] @ v_, _both_ways(figure)[shut])
    out = v_.copy()
    out[:n] -= np.linalg.solve(M, A[:, :n].T @ Λ)
    return out, Λ


def acting(
    figure: Figure,
    q: Array,
    v: Array,
    kinematic: Array,
    forces: Array | None,
    *,
    options: EventOptions = EventOptions(),
) -> States:
    """1 for the closed links of `figure` that act at (`q`, `v`), 0 for the others.

    A link acts where τ ≥ 0 and its gap does not open by itself, with accelerations `kinematic` of the kinematic variables and
    these force inputs (`forces`, zero by default). `options.closed` says which gaps count as closed.
    """
    gaps, A = gap_derivatives(figure, q)
    both = _both_ways(figure)
    resting = both | ((gaps > -options.closed) & (np.abs(A @ v) < 1e-7))
    states = np.zeros(len(gaps), np.int8)
    if not resting.any():
        return states
    n = figure.n_dynamic
    # Gap accelerations with no link acting: differences of what all of them together, and none of them, leave.
    M = mass_matrix(figure, q)[:n, :n]
    loose = acceleration(figure, q, v, kinematic=kinematic, forces=forces, states=states)
    held = acceleration(figure, q, v, kinematic=kinematic, forces=forces, states=resting.astype(np.int8))
    opening = A[resting, :n] @ (loose.a - held.a)
    τ = _complementary(M, A[resting, :n], opening, both[resting])
    states[np.flatnonzero(resting)[(τ > 0.0) | both[resting]]] = 1
    return states


def _both_ways(figure: Figure) -> NDArray[np.bool_]:
    links = figure.compiled.tree.links
    return np.asarray((links["pulls"] == 0) & (links["normal"] < 0))


def _complementary(M: Array, A: Array, speed: Array, both: NDArray[np.bool_]) -> Array:
    """Λ ≥ 0 with speed − G Λ ≤ 0, complementary, G = A M⁻¹ Aᵀ: the least norm of |L⁻¹(Aᵀ Λ) − …|, a problem of least squares."""
    if not len(A):
        return np.zeros(0)
    root = np.linalg.solve(np.linalg.cholesky(M), A.T)  # G = rootᵀ root
    target = np.linalg.lstsq(root.T, speed, rcond=None)[0]
    signed = np.concatenate([root, -root[:, both]], 1)  # a wire's multiplier has either sign
    x, _ = nnls(signed, target)
    Λ = x[: len(A)].copy()
    Λ[both] -= x[len(A) :]
    return np.asarray(Λ)


@dataclass(frozen=True)
class _Course:
    """The continuous model as an integrator sees it: a rate of x = (q, v) of the dynamic variables, while the same links act."""

    figure: Figure
    motor: Motor
    forces: Callable[[float], ArrayLike] | None
    options: EventOptions

    def whole(self, t: float, x: Array) -> tuple[Array, Array, Array]:
        """q and v of all variables, and the accelerations of the kinematic ones."""
        k, k_v, k_a = self.motor(t)
        n = self.figure.n_dynamic
        return np.concatenate([x[:n], k]), np.concatenate([x[n:], k_v]), np.asarray(k_a, float)

    def push(self, t: float) -> Array | None:
        return None if self.forces is None else np.asarray(self.forces(t), float)

    def accelerate(self, t: float, x: Array, states: States) -> AccelerationAndTension:
        q, v, a = self.whole(t, x)
        return acceleration(self.figure, q, v, kinematic=a, forces=self.push(t), states=states)

    def rate(self, t: float, x: Array, states: States) -> Array:
        return np.concatenate([x[self.figure.n_dynamic :], self.accelerate(t, x, states).a])

    def watched(self, t: float, x: Array, states: States) -> Array:
        """Positive where something must change: an open gap that closes, a tension below zero."""
        gaps, _ = gap_derivatives(self.figure, self.whole(t, x)[0])
        τ = self.accelerate(t, x, states).tension
        return np.where(_both_ways(self.figure), -1.0, np.where(states > 0, -τ, gaps - self.options.closed / 2))

    def caught(self, t: float, x: Array) -> tuple[Array, States]:
        """x after the impact of all closed links, and those that act then."""
        q, v, a = self.whole(t, x)
        v, _ = impact(self.figure, q, v, options=self.options)
        n = self.figure.n_dynamic
        return np.concatenate([x[:n], v[:n]]), acting(self.figure, q, v, a, self.push(t), options=self.options)


class _Samples:
    """Samples at even times, filled in as the integration gets there."""

    def __init__(self, course: _Course, times: Array) -> None:
        n_q, n_links = course.figure.n_q, len(course.figure.compiled.tree.links)
        self.course, self.times, self.row = course, times, 0
        self.Q, self.V, self.tension = (np.empty((len(times), m)) for m in (n_q, n_q, n_links))

    def take(self, path: Callable[[float], Array], upto: float, states: States) -> None:
        """Takes the samples up to `upto` [s] from `path`; raises BunrakuError where a string shows that an event was missed."""
        figure = self.course.figure
        while self.row < len(self.times) and self.times[self.row] <= upto + 1e-12:
            t, k = float(self.times[self.row]), self.row
            x = path(t)
            self.Q[k], self.V[k], _ = self.course.whole(t, x)
            if gap_derivatives(figure, self.Q[k])[0][: len(figure.strings)].max(initial=0.0) > self.course.options.lost:
                raise BunrakuError(
                    f"{figure.name}: strings catch so fast after one another, at t = {t:.6g} s, that one was missed\n"
                    "  advice: use simulate(), whose steps lose none"
                )
            self.tension[k] = self.course.accelerate(t, x, states).tension
            self.row += 1

    def motion(self, marks: Sequence[Mark]) -> Motion:
        figure, k, ropes = self.course.figure, self.row, len(self.course.figure.strings) + len(self.course.figure.wires)
        Q, V = self.Q[:k], self.V[:k]
        heat = np.array([energy(figure, q, v) for q, v in zip(Q, V, strict=True)])
        return Motion.of(figure, self.times[:k], Q, v=V, tension=self.tension[:k, :ropes], energy=heat, marks=tuple(marks))


def integrate(
    figure: Figure, motor: Motor | None = None, *, duration: float, q: ArrayLike | None = None, v: ArrayLike | None = None,
    forces: Callable[[float], ArrayLike] | None = None, samples: float = 100.0, rtol: float = 1e-9, atol: float = 1e-11,
    options: EventOptions = EventOptions(),
) -> Motion:  # fmt: skip
    """The motion of the continuous model, with marks where strings slacken and catch.

    figure: what moves; without friction
    motor: gives the kinematic variables, their velocities and their accelerations at a time [s]; without one they stand still
    duration: how long [s]
    q: the configuration at the start, `figure.start` by default
    v: the velocities at the start, zero by default
    forces: gives the force inputs at a time [s]; zero by default
    samples: how many a second
    rtol: relative tolerance of the integrator
    atol: absolute tolerance of the integrator [rad, m, rad/s or m/s]
    options: numbers that tune how events are found

    Raises BunrakuError for a start that breaks a constraint, for a figure with friction, and where strings catch faster than
    events can be told apart.
    """
    require_dynamic(figure)
    n = figure.n_dynamic
    q0 = configuration(figure, figure.start if q is None else q)
    v0 = np.zeros(figure.n_q) if v is None else configuration(figure, v)
    require_admissible(figure, q0)
    if (figure.compiled.tree.links["normal"] >= 0).any():
        raise BunrakuError("the continuous model has no friction\n  advice: simulate() has; or set friction: 0")
    still = np.zeros(figure.n_q - n)
    course = _Course(figure, motor or (lambda t: (q0[n:], still, still)), forces, options)
    taken = _Samples(course, np.linspace(0.0, duration, max(round(duration * samples), 1) + 1))
    marks: list[Mark] = []
    t = 0.0
    x, states = course.caught(t, np.concatenate([q0[:n], v0[:n]]))
    while (event := _until_event(course, taken, t, x, states, duration, rtol=rtol, atol=atol)) is not None:
        t, link, x = event
        before = states
        x, states = course.caught(t, x)
        name = figure.compiled.link_names[link]
        marks.append(Mark(t, f"{name} {'slack' if before[link] else 'catches'}", "slack" if before[link] else "impact"))
        if np.array_equal(states, before) and len(marks) > 20 and t - marks[-20].t < 1e-9:
            raise BunrakuError(
                f"{figure.name}: {name} tightens and slackens without end at t = {t:.6g} s\n  advice: use simulate()"
            )
        if duration - t < 1e-9:
            break
    return taken.motion(marks)


def _until_event(
    course: _Course, taken: _Samples, t: float, x: Array, states: States, duration: float, **tolerances: float
) -> tuple[float, int, Array] | None:
    """Time of the next event after (t, x), its link, and x there; None where there is none until the end."""
    solver = DOP853(lambda t, x: course.rate(t, x, states), t, x, duration, max_step=course.options.max_step, **tolerances)
    while solver.status == "running":
        solver.step()
        path = solver.dense_output()
        event = _first(path, lambda t, x: course.watched(t, x, states), solver.t_old or t, solver.t, course.options)
        taken.take(path, solver.t if event is None else event[0], states)
        if event is not None:
            return *event, path(event[0])
    return None


def _first(
    path: Callable[[float], Array], watched: Callable[[float, Array], Array], a: float, b: float, options: EventOptions
) -> tuple[float, int] | None:
    """The first time in (a, b] at which something watched becomes positive, and what."""
    looks = np.linspace(a, b, options.looks)
    values = np.array([watched(s, path(s)) for s in looks])
    best: tuple[float, int] | None = None
    for c in range(values.shape[1]):
        level = max(float(values[0, c]), 0.0)  # what has just changed may be positive, but not become more so
        rising = np.flatnonzero((values[1:, c] > level) & (values[1:, c] > values[:-1, c]))
        if len(rising):
            k = int(rising[0])

            def above(s: float, c: int = c, level: float = level) -> float:
                return float(watched(s, path(s))[c]) - level

            found = _crossing(above, float(looks[k]), float(looks[k + 1]), options.min_time if k == 0 else None)
            if best is None or found < best[0]:
                best = (found, c)
    return best


def _crossing(above: Callable[[float], float], lo: float, hi: float, shortest: float | None) -> float:
    """Where it rises through zero between lo and hi. After an event it may dip first, for no less than the `shortest` time [s]."""
    if shortest is not None:
        while hi - lo > shortest and above(0.5 * (lo + hi)) >= 0.0:
            hi = 0.5 * (lo + hi)
        lo = 0.5 * (lo + hi)
    return float(brentq(above, lo, hi, xtol=1e-13)) if above(lo) < 0.0 else lo
