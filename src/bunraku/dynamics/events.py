"""The continuous model integrated with events: strings that go slack when their tension reaches zero, and catch.

Between events any adaptive integrator will do (SciPy's DOP853). A catch is an inelastic impact (*marionettes*, eq. 13–15) of all
closed links together: q̇⁺ = q̇⁻ − M⁻¹ Aᵀ Λ with Λ ≥ 0, A q̇⁺ ≤ 0 and Λ·(A q̇⁺) = 0, so it never pulls below zero and may release a
string that was taut. The same complementarity of tensions and gap accelerations says which links act after it. Inside a step,
gaps are looked at where they are largest, not only at its ends: a string that tightens and slackens within it is not lost.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DOP853
from scipy.optimize import brentq, nnls

from bunraku.dynamics.mixed import acceleration
from bunraku.dynamics.quantities import energy, gap_derivatives, mass_matrix
from bunraku.dynamics.simulation import require_dynamic
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.compiled import SLIP
from bunraku.kinematics.forward import configuration
from bunraku.motion import Mark, Motion

Array = NDArray[np.float64]
Motor = Callable[[float], tuple[Array, Array, Array]]
CLOSED = 1e-9  # [m] of a gap that counts as closed
LOST = 1e-5  # [m] of a gap that should have been closed
LOOKS = 9  # places within a step where gaps are looked at
SHORTEST = 1e-11  # [s] between two events


def impact(figure: Figure, q: ArrayLike, v: ArrayLike, closed: ArrayLike | None = None) -> tuple[Array, Array]:
    """(v⁺, Λ) of the impact of all closed links; the kinematic variables keep their speed."""
    q_, v_ = configuration(figure, q), configuration(figure, v)
    gaps, A = gap_derivatives(figure, q_)
    shut = (gaps > -CLOSED) if closed is None else np.asarray(closed, bool)
    n = figure.n_dynamic
    M = mass_matrix(figure, q_)[:n, :n]
    Λ = np.zeros(len(gaps))
    Λ[shut] = _complementary(M, A[shut, :n], A[shut] @ v_, _both_ways(figure)[shut])
    out = v_.copy()
    out[:n] -= np.linalg.solve(M, A[:, :n].T @ Λ)
    return out, Λ


def acting(figure: Figure, q: Array, v: Array, kinematic: Array, forces: Array | None) -> NDArray[np.int8]:
    """Which closed links act: τ ≥ 0 and the gap does not open by itself."""
    gaps, A = gap_derivatives(figure, q)
    both = _both_ways(figure)
    resting = both | ((gaps > -CLOSED) & (np.abs(A @ v) < 1e-7))
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
    return np.asarray((links["pulls"] == 0) & (links["kind"] != SLIP))


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


def integrate(
    figure: Figure, motor: Motor | None = None, *, duration: float, q: ArrayLike | None = None, v: ArrayLike | None = None,
    forces: Callable[[float], ArrayLike] | None = None, samples: float = 100.0, rtol: float = 1e-9, atol: float = 1e-11,
) -> Motion:  # fmt: skip
    """The continuous model over `duration` seconds, with `samples` a second.

    `motor(t)` gives the kinematic variables, their velocities and their accelerations; without one they stand still.
    """
    require_dynamic(figure)
    n = figure.n_dynamic
    q0 = configuration(figure, figure.start if q is None else q)
    v0 = np.zeros(figure.n_q) if v is None else configuration(figure, v)
    if (figure.compiled.tree.links["kind"] == SLIP).any():
        raise BunrakuError("the continuous model has no friction\n  advice: simulate() has; or set friction: 0")
    at_rest, ropes = q0[n:].copy(), len(figure.strings)

    def hands(t: float) -> tuple[Array, Array, Array]:
        return motor(t) if motor is not None else (at_rest, np.zeros_like(at_rest), np.zeros_like(at_rest))

    def push(t: float) -> Array | None:
        return None if forces is None else np.asarray(forces(t), float)

    def whole(t: float, x: Array) -> tuple[Array, Array, Array]:
        k, k_v, k_a = hands(t)
        return np.concatenate([x[:n], k]), np.concatenate([x[n:], k_v]), np.asarray(k_a, float)

    times = np.linspace(0.0, duration, max(round(duration * samples), 1) + 1)
    Q, V = np.empty((len(times), figure.n_q)), np.empty((len(times), figure.n_q))
    tension = np.zeros((len(times), len(figure.compiled.tree.links)))
    marks: list[Mark] = []
    x, t, row = np.concatenate([q0[:n], v0[:n]]), 0.0, 0

    def settle_states(t: float, x: Array) -> tuple[Array, NDArray[np.int8]]:
        q_, v_, a_ = whole(t, x)
        v_, _ = impact(figure, q_, v_)
        return np.concatenate([x[:n], v_[:n]]), acting(figure, q_, v_, a_, push(t))

    x, states = settle_states(t, x)
    while True:
        def rate(t: float, x: Array, states: NDArray[np.int8] = states) -> Array:
            q_, v_, a_ = whole(t, x)
            return np.concatenate([v_[:n], acceleration(figure, q_, v_, kinematic=a_, forces=push(t), states=states).a])

        def watched(t: float, x: Array, states: NDArray[np.int8] = states) -> Array:
            """Positive where something must change: an open gap that closes, a tension below zero."""
            q_, v_, a_ = whole(t, x)
            gaps, _ = gap_derivatives(figure, q_)
            τ = acceleration(figure, q_, v_, kinematic=a_, forces=push(t), states=states).tension
            return np.where(_both_ways(figure), -1.0, np.where(states > 0, -τ, gaps - CLOSED / 2))

        solver = DOP853(rate, t, x, duration, rtol=rtol, atol=atol, max_step=0.05)
        event = None
        while solver.status == "running" and event is None:
            solver.step()
            path = solver.dense_output()
            event = _first(path, watched, solver.t_old or t, solver.t)
            upto = solver.t if event is None else event[0]
            while row < len(times) and times[row] <= upto + 1e-12:
                q_, v_, a_ = whole(times[row], path(times[row]))
                Q[row], V[row] = q_, v_
                if gap_derivatives(figure, q_)[0][:ropes].max(initial=0.0) > LOST:
                    raise BunrakuError(
                        f"{figure.name}: strings catch so fast after one another, at t = {t:.6g} s, that one was lost\n"
                        "  advice: use simulate(), whose steps lose none"
                    )
                tension[row] = acceleration(figure, q_, v_, kinematic=a_, forces=push(times[row]), states=states).tension
                row += 1
        if event is None:
            break
        t, link = event
        x, before = path(t), states
        x, states = settle_states(t, x)
        name = figure.compiled.link_names[link]
        marks.append(Mark(t, f"{name} {'slack' if before[link] else 'catches'}", "slack" if before[link] else "impact"))
        if np.array_equal(states, before) and len(marks) > 20 and t - marks[-20].t < 1e-9:
            raise BunrakuError(
                f"{figure.name}: {name} tightens and slackens without end at t = {t:.6g} s\n  advice: use simulate()"
            )
        if duration - t < 1e-9:
            break
    ropes += len(figure.wires)
    heat = np.array([energy(figure, a, b) for a, b in zip(Q[:row], V[:row], strict=True)])
    return Motion.of(figure, times[:row], Q[:row], v=V[:row], tension=tension[:row, :ropes], energy=heat, marks=tuple(marks))


def _first(
    path: Callable[[float], Array], watched: Callable[[float, Array], Array], a: float, b: float
) -> tuple[float, int] | None:
    """The first time in (a, b] at which something watched becomes positive, and what."""
    looks = np.linspace(a, b, LOOKS)
    values = np.array([watched(s, path(s)) for s in looks])
    best: tuple[float, int] | None = None
    for c in range(values.shape[1]):
        level = max(float(values[0, c]), 0.0)  # what has just changed may be positive, but not become more so
        rising = np.flatnonzero((values[1:, c] > level) & (values[1:, c] > values[:-1, c]))
        if len(rising):
            k = int(rising[0])

            def above(s: float, c: int = c, level: float = level) -> float:
                return float(watched(s, path(s))[c]) - level

            found = _crossing(above, float(looks[k]), float(looks[k + 1]), new=k == 0)
            if best is None or found < best[0]:
                best = (found, c)
    return best


def _crossing(above: Callable[[float], float], lo: float, hi: float, *, new: bool) -> float:
    """Where it rises through zero between lo and hi. From a `new` start it may dip for as little as a microsecond first."""
    if new:
        while hi - lo > SHORTEST and above(0.5 * (lo + hi)) >= 0.0:
            hi = 0.5 * (lo + hi)
        lo = 0.5 * (lo + hi)
    return float(brentq(above, lo, hi, xtol=1e-13)) if above(lo) < 0.0 else lo
