"""Steps of a figure from random states, with some strings taut and some slack."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics import momentum
from bunraku.dynamics.step_derivatives import OneStep, step_derivatives, step_once
from bunraku.dynamics.step_expansion import expand
from bunraku.figure import Figure
from bunraku.kinematics import pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RandomStep:
    """One step: figure, start, inputs."""

    figure: Figure
    q0: Array
    p0: Array
    k1: Array
    u: Array
    dt: float = 0.01
    share: float = 0.5

    @property
    def x(self) -> Array:
        return np.concatenate([self.q0, self.p0, self.k1, self.u])

    @property
    def scale(self) -> Array:
        """What counts as 1 of each input: rad and m, the figure's mass at 1 m/s, about its weight."""
        n, nq, mass = self.figure.n_dynamic, self.figure.n_q, sum(body.mass for body in self.figure.bodies)
        return np.repeat([1.0, mass, 1.0, 10.0 * mass], [nq, n, nq - n, len(self.figure.forces)])

    def moved(self, dx: Array) -> RandomStep:
        f = self.figure
        ends = np.cumsum([f.n_q, f.n_dynamic, f.n_q - f.n_dynamic])
        x = self.x
        x[: len(dx)] += self.scale[: len(dx)] * dx
        q0, p0, k1, u = np.split(x, ends)
        return replace(self, q0=q0, p0=p0, k1=k1, u=u)

    def solve(self) -> OneStep:
        return step_once(self.figure, self.q0, self.p0, self.k1, dt=self.dt, forces=self.u, share=self.share, tolerance=1e-14)

    def first(self, step: OneStep) -> Array:
        return step_derivatives(
            self.figure, self.q0, step.q, step.impulse, step.states, dt=self.dt, forces=self.u, share=self.share
        ).D

    def second(self, step: OneStep, weights: Array) -> Array:
        f = self.figure
        nc, n, nq = len(step.impulse), f.n_dynamic, f.n_q
        D, H = np.empty((2 * n + nc, 2 * nq)), np.empty((len(weights), 2 * nq, 2 * nq))
        expand(f.compiled.tree, step.states, self.q0, step.q, step.impulse, self.u.copy(), self.dt, self.share, weights, D, H)
        return H


def random_step(
    figure: Figure, seed: int, *, taut: float = 1.0, pull: float = 0.01, stops: bool = False, spread: float = 0.02
) -> RandomStep:
    """A state off the start, at some speed, with a share of the strings pulled and the others hanging through."""
    rng = np.random.default_rng(seed)
    n, dt, mass = figure.n_dynamic, 0.01, sum(body.mass for body in figure.bodies)
    lower, upper = (np.clip(x, -2.0, 2.0) for x in figure.limits)
    q0 = figure.start + rng.uniform(-spread, spread, figure.n_q)
    inside = upper - lower > 0.2
    q0[inside] = np.clip(q0, lower + 0.05, upper - 0.05)[inside]
    v = rng.uniform(-0.4, 0.4, figure.n_q)
    if stops:
        ends = [figure.index(name.removesuffix(".upper")) for name in figure.compiled.link_names if name.endswith(".upper")]
        for i in rng.permutation(ends)[:3]:
            q0[i], v[i] = figure.limits[1][i] - 1e-3, 1.0
    k1 = (q0 + dt * v)[n:]
    ahead = pose(figure, q0 + dt * v).gaps
    for string, gap in zip(figure.strings, ahead, strict=False):
        if string.variable is not None and figure.index(string.variable) >= n:
            k1[figure.index(string.variable) - n] += (gap + (-pull if rng.random() < taut else 0.03)) / string.ratio
    return RandomStep(figure, q0, momentum(figure, q0, v), k1, 0.02 * mass * rng.normal(size=len(figure.forces)), dt)
