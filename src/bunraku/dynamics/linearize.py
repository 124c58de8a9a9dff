"""linearize: exact A and B along a motion; controllability and observability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.dynamics.puppeteer import Puppeteer
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulate import motion_of, requested
from bunraku.dynamics.simulation import LEFT_SHARE, Simulation
from bunraku.dynamics.step_derivatives import StepDerivatives, step_derivatives
from bunraku.figure import Figure
from bunraku.motion import Motion

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Linearization:
    """The linear steps along a motion."""

    motion: Motion
    steps: tuple[StepDerivatives, ...]
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
    v: ArrayLike | None = None, forces: Puppeteer = None, share: float = LEFT_SHARE,
) -> Linearization:  # fmt: skip
    """Exact A and B of every step of the motion that `simulate` makes of the same arguments.

    `figure`, `puppeteer`, `duration` [s], `dt` [s], `q`, `v`, `forces` and `share` are those of `simulate`.
    """
    simulation = Simulation(figure, q, v, dt=dt, share=share)
    start = simulation.q
    K, U = requested(simulation, puppeteer, forces, duration)
    ran = simulation.run(K, U)
    Q = np.concatenate([start[None], ran.q])
    steps = tuple(
        step_derivatives(figure, Q[k], Q[k + 1], ran.impulse[k], ran.states[k], dt=dt, forces=U[k], share=share)
        for k in range(len(K))
    )
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


def linearize_at_rest(
    figure: Figure, q: ArrayLike, *, dt: float = 0.01, forces: ArrayLike | None = None, share: float = LEFT_SHARE
) -> StepDerivatives:
    """The first derivative of a step of `figure` at a pose `q` of rest (see `settle`), where the step goes nowhere.

    `dt` is the time step [s], `forces` are the force inputs that hold the pose, zero by default; `share` is that of `simulate`.
    """
    simulation = Simulation(figure, q, dt=dt, share=share)
    u = None if forces is None else np.asarray(forces, float)
    before = simulation.step(forces=u)  # at rest, momentum is half of what weight does in a step; then nothing moves
    steps = simulation.step(forces=u)
    return step_derivatives(figure, before.q[0], steps.q[0], steps.impulse[0], steps.states[0], dt=dt, forces=u, share=share)
