"""linearize: exact A and B along a motion; controllability and observability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.dynamics.puppeteer import Puppeteer
from bunraku.dynamics.quantities import gap_derivatives
from bunraku.dynamics.rollout import STEP_BITS, rollout
from bunraku.dynamics.simulate import motion_of, requested
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE, Simulation
from bunraku.dynamics.step_derivatives import expand
from bunraku.errors import BunrakuError
from bunraku.figure import Effort, Figure
from bunraku.kinematics.forward import configuration, pose
from bunraku.motion import Motion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class StepDerivative:
    """First derivative of one step. Outputs (q1, λ, p1), inputs (q0, p0, k1, u)."""

    D: Array
    n: int
    n_q: int
    n_links: int
    names: tuple[str, ...] = ()
    """Of the states (q, p): what A is about."""
    switching: tuple[str, ...] = ()
    """Links that are just between taut and slack: gap and tension are both zero. The derivative is that of the side they are on."""

    @property
    def A(self) -> Array:
        """∂(q, p)₁/∂(q, p)₀, kinematic variables included; theirs are zero, as the puppeteer sets them anew."""
        n, nq = self.n, self.n_q
        A = np.zeros((nq + n, nq + n))
        A[:n] = self.D[:n, : nq + n]
        A[nq:] = self.D[n + self.n_links :, : nq + n]
        return A

    @property
    def B(self) -> Array:
        """∂(q, p)₁/∂(k1, u)."""
        n, nq = self.n, self.n_q
        B = np.zeros((nq + n, self.D.shape[1] - nq - n))
        B[:n] = self.D[:n, nq + n :]
        B[n:nq, : nq - n] = np.eye(nq - n)
        B[nq:] = self.D[n + self.n_links :, nq + n :]
        return B


def force_matrix(figure: Figure, q: ArrayLike) -> Array:
    """∂F/∂u (n_dynamic, inputs): what the force inputs of `figure` do to its dynamic variables at `q`."""
    n, here = figure.n_dynamic, pose(figure, q)
    B = np.zeros((n, len(figure.forces)))
    for k, force in enumerate(figure.forces):
        if isinstance(force, Effort):
            B[figure.index(force.variable), k] = force.gain
        else:
            e = here.X(force.at.frame)[:3, :3] @ force.direction if force.turns else np.array(force.direction)
            B[:, k] = here.point_jacobian(force.at.frame, force.at.position)[:, :n].T @ e
    return B


@dataclass(frozen=True)
class OneStep:
    """The result of one step."""

    q: Array
    momentum: Array
    impulse: Array
    """Of every link: tension · dt [N·s]."""
    states: NDArray[np.int8]
    """Of every link: 0 slack, 1 acting, 2 sliding."""
    bits: int
    """What happened: see bunraku.dynamics.rollout."""


def step_once(
    figure: Figure, q0: ArrayLike, p0: ArrayLike, k1: ArrayLike, *, dt: float, forces: ArrayLike | None = None,
    share: float = LEFT_SHARE, tolerance: float = STEP_TOLERANCE,
) -> OneStep:  # fmt: skip
    """One step of `figure` from (`q0`, `p0`) to the kinematic variables `k1`: the function whose derivative `step_derivative` is.

    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step; the rest acts at its end
    tolerance: error that Newton's method may leave [rad or m]

    A ball joint that nears its singular angle leaves its momentum in another chart: `bits` then has `STEP_BITS.recharted`.
    """
    tree = figure.compiled.tree
    n, nq, nc = figure.n_dynamic, figure.n_q, len(tree.links)
    u = np.zeros(len(figure.forces)) if forces is None else np.asarray(forces, float)
    q, p, lam = np.repeat(configuration(figure, q0)[None], 4, 0), np.array(p0, float), np.zeros(nc)
    out = np.empty((1, nq)), np.empty((1, n)), np.empty((1, nc)), np.empty((0, nc)), np.empty((0, 2))
    states, bits = np.empty((1, nc), np.int8), np.empty(1, np.int64)
    rollout(
        tree, q, p, lam, np.repeat(np.eye(3)[None], len(tree.balls), 0), np.zeros(nc, np.bool_),
        np.array(k1, float)[None], np.ascontiguousarray(u[None]), dt, share, tolerance, *out, states, bits,
    )  # fmt: skip
    return OneStep(out[0][0], out[1][0], out[2][0], states[0], int(bits[0]))


def step_derivative(
    figure: Figure, q0: ArrayLike, q1: ArrayLike, impulse: ArrayLike, states: ArrayLike, *, dt: float,
    forces: ArrayLike | None = None, share: float = LEFT_SHARE,
) -> StepDerivative:  # fmt: skip
    """The derivative of (q1, λ, p1) with respect to (q0, p0, k1, u), for the step of `figure` from `q0` to `q1`.

    impulse: of every link [N·s]
    states: of every link: 0 slack, 1 acting, 2 sliding
    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step; the rest acts at its end

    Raises BunrakuError where the step has no derivative.
    """
    tree = figure.compiled.tree
    n, nq, nc = figure.n_dynamic, figure.n_q, len(tree.links)
    u = np.zeros(len(figure.forces)) if forces is None else np.ascontiguousarray(forces, float)
    D = np.empty((2 * n + nc, 2 * nq))
    none = np.zeros((0, 2 * n + nc)), np.zeros((0, 2 * nq, 2 * nq))
    expand(
        tree, np.ascontiguousarray(states, np.int8), configuration(figure, q0), configuration(figure, q1),
        np.ascontiguousarray(impulse, float), u, dt, share, none[0], D, none[1],
    )  # fmt: skip
    if not np.isfinite(D).all():
        raise BunrakuError(f"{figure.name}: the step has no derivative here")
    E = dt * force_matrix(figure, 0.5 * (np.asarray(q0, float) + np.asarray(q1, float)))
    by_force = share * D[:, nq : nq + n] @ E
    by_force[n + nc :] += (1.0 - share) * E
    names = (*figure.names, *(f"momentum of {name}" for name in figure.dynamic))
    between = _switching(figure, configuration(figure, q1), np.asarray(impulse, float) / dt)
    return StepDerivative(np.concatenate([D, by_force], 1), n, nq, nc, names, between)


def _switching(figure: Figure, q: Array, tension: Array) -> tuple[str, ...]:
    """The links that pull only, are closed, and do not pull."""
    none = 1e-8  # [m of a gap, N of a tension]
    gaps, _ = gap_derivatives(figure, q)
    between = (figure.compiled.tree.links["pulls"] > 0) & (gaps > -none) & (np.abs(tension) < none)
    return tuple(name for name, here in zip(figure.compiled.link_names, between, strict=True) if here)


@dataclass(frozen=True, eq=False)
class Linearization:
    """The linear steps along a motion."""

    motion: Motion
    steps: tuple[StepDerivative, ...]
    """One for each step, from sample k to sample k + 1."""
    broken: tuple[int, ...]
    """Steps that a puppeteer was held in, or that were taken in parts: nearby steps may differ from what A and B say."""

    __repr__ = brief

    @property
    def A(self) -> Array:
        """(steps, states, states)."""
        return np.array([step.A for step in self.steps])

    @property
    def B(self) -> Array:
        """(steps, states, inputs)."""
        return np.array([step.B for step in self.steps])

    @property
    def switches(self) -> dict[int, tuple[str, ...]]:
        """The links between taut and slack, of the steps that have any."""
        return {k: step.switching for k, step in enumerate(self.steps) if step.switching}


def linearize(
    figure: Figure, puppeteer: Puppeteer = None, *, duration: float, dt: float = 0.01, q: ArrayLike | None = None,
    v: ArrayLike | None = None, forces: Puppeteer = None,
) -> Linearization:  # fmt: skip
    """Exact A and B of every step of the motion that `simulate` makes of the same arguments.

    `figure`, `puppeteer`, `duration` [s], `dt` [s], `q`, `v` and `forces` are those of `simulate`.
    """
    simulation = Simulation(figure, q, v, dt=dt)
    start = simulation.q
    K, U = requested(simulation, puppeteer, forces, duration)
    ran = simulation.run(K, U)
    Q = np.concatenate([start[None], ran.q])
    steps = tuple(step_derivative(figure, Q[k], Q[k + 1], ran.impulse[k], ran.states[k], dt=dt, forces=U[k]) for k in range(len(K)))
    broken = np.flatnonzero(ran.bits & (STEP_BITS.held | STEP_BITS.divided | STEP_BITS.frozen))
    return Linearization(motion_of(simulation, start, [ran]), steps, tuple(broken.tolist()))


@dataclass(frozen=True, eq=False)
class Controllability:
    """Whether small inputs can undo every small disturbance."""

    controllable: bool
    reachable: int
    """Dimension of what inputs reach."""
    needed: int
    """Dimension of what disturbances persist."""
    weakest: float
    """Cosine of the angle between what persists and what inputs reach, where it is worst; 0 where something is out of reach."""
    beyond: Array
    """Disturbances that persist and that no input reaches, a column each."""

    __repr__ = brief

    def __str__(self) -> str:
        if self.controllable:
            return f"locally controllable: inputs reach all {self.needed} dimensions in which a disturbance persists"
        out = self.beyond.shape[1]
        return f"not locally controllable: {out} of {self.needed} dimensions in which a disturbance persists are out of reach"

    def report(self, names: Sequence[str]) -> str:
        """The same with the states that have most part in what is out of reach; `names` are those of the states."""
        lines = [str(self)]
        for column in self.beyond.T:
            first = [k for k in np.argsort(-np.abs(column))[:4] if abs(column[k]) > 0.1 * np.abs(column).max()]
            lines.append("  " + " ".join(f"{column[k]:+.2f} {names[k]}" for k in first))
        return "\n".join(lines)


def controllability(A: Array, B: Array, *, rank: float = 1e-9) -> Controllability:
    """Whether inputs control x₁ = `A` x + `B` u at a fixed point. Singular values below `rank` of the largest count as zero.

    Strings that are taut, and kinematic variables, wipe out part of a disturbance by themselves (A is singular there): what
    must be reached is the range of a high power of A.
    """
    n = len(A)
    reach = _orthonormal(B, rank)
    while True:
        wider = _orthonormal(np.concatenate([reach, A @ reach], 1), rank)
        if wider.shape[1] == reach.shape[1]:
            break
        reach = wider
    persisting = np.eye(n)
    for _ in range(n):
        smaller = _orthonormal(A @ persisting, rank)
        if smaller.shape[1] == persisting.shape[1]:
            persisting = smaller
            break
        persisting = smaller
    _, seen, ways = np.linalg.svd(reach.T @ persisting) if persisting.size else (None, np.ones(1), np.zeros((0, 0)))
    cosines = np.zeros(persisting.shape[1])
    cosines[: len(seen)] = seen[: len(cosines)]
    missed = cosines < 1e-6
    weakest = float(cosines.min(initial=1.0))
    return Controllability(not missed.any(), reach.shape[1], persisting.shape[1], weakest, persisting @ ways[missed].T)


def observability(A: Array, C: Array, *, rank: float = 1e-9) -> Controllability:
    """Whether the outputs `C` x of x₁ = `A` x reveal every persisting part of the state: controllability of (Aᵀ, Cᵀ).

    Singular values below `rank` of the largest count as zero.
    """
    return controllability(A.T, C.T, rank=rank)


def _orthonormal(M: Array, rank: float) -> Array:
    U, s, _ = np.linalg.svd(M / np.maximum(np.linalg.norm(M, axis=0), 1e-300), full_matrices=False)
    return np.asarray(U[:, s > rank * max(s[0] if len(s) else 0.0, 1e-300)])


def linearize_at_rest(figure: Figure, q: ArrayLike, *, dt: float = 0.01, forces: ArrayLike | None = None) -> StepDerivative:
    """The first derivative of a step of `figure` at a pose `q` of rest (see `settle`), where the step goes nowhere.

    `dt` is the time step [s], `forces` are the force inputs that hold the pose, zero by default.
    """
    simulation = Simulation(figure, q, dt=dt)
    u = None if forces is None else np.asarray(forces, float)
    before = simulation.step(forces=u)  # at rest, momentum is half of what weight does in a step; then nothing moves
    steps = simulation.step(forces=u)
    return step_derivative(figure, before.q[0], steps.q[0], steps.impulse[0], steps.states[0], dt=dt, forces=u)
