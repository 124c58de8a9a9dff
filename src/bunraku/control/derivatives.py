"""Derivatives of the projection operator, as *trep* writes them after Lemma 3.1, and of the cost through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.control.problem import Expansion, Problem
from bunraku.control.system import Curve, Rollout
from bunraku.control.tangent import tangent
from bunraku.dynamics.expand import expand

Array = NDArray[np.float64]


def first(problem: Problem, run: Rollout, gains: Array, change: Curve) -> Curve:
    """DP·δξ̄ at a curve that projects to `run`: δx₊ = A δx + B δu, δu = δū − K(δx − δx̄). Inputs are the chosen ones."""
    work = Expansion(problem)
    work.at(run)
    return _tangent(work, gains, change)


def second(problem: Problem, run: Rollout, gains: Array, change: Curve) -> Curve:
    """D²P·(δξ̄, δξ̄): δ²x₊ = (A − BK) δ²x + D²f(δξ, δξ), δ²u = −K δ²x, with the whole second derivative of every step."""
    s, N = problem.system, problem.steps
    work = Expansion(problem)
    work.at(run)
    along = _tangent(work, gains, change)
    outputs = 2 * s.n + s.n_links
    D, H = np.empty((outputs, 2 * s.n_q)), np.empty((outputs, 2 * s.n_q, 2 * s.n_q))
    inner = np.concatenate([along.x[:-1, : s.n_q + s.n], np.zeros((N, s.n_kin))], 1)
    inner[:, s.n_q + s.n + s.hands] = along.u[:, : len(s.hands)]
    inner[:, s.n_q : s.n_q + s.n] += s.share * along.u[:, len(s.hands) :] @ s.impulse_of_force.T
    x, u = np.zeros_like(along.x), np.zeros_like(along.u)
    for k in range(N):
        q0, q1, forces = (np.ascontiguousarray(a) for a in (run.x[k, : s.n_q], run.x[k + 1, : s.n_q], run.u[k, s.n_kin :]))
        expand(s.tree, run.states[k], q0, q1, run.impulse[k], forces, s.dt, s.share, np.eye(outputs), D, H)
        bend = np.einsum("oij,i,j->o", H, inner[k], inner[k])
        u[k] = -gains[k] @ x[k]
        one = Curve(np.stack([x[k], np.zeros(s.n_x)]), u[k : k + 1])
        x[k + 1] = _tangent_of(work, k, one)
        x[k + 1, : s.n] += bend[: s.n]
        x[k + 1, s.n_q : s.n_q + s.n] += bend[s.n + s.n_links :]
    return Curve(x, u)


def _tangent(work: Expansion, gains: Array, change: Curve) -> Curve:
    x, u = np.zeros_like(change.x), np.zeros_like(change.u)
    tangent(work.steps, gains, change.x, change.u, x, u)
    return Curve(x, u)


def _tangent_of(work: Expansion, k: int, one: Curve) -> Array:
    """A δx + B δu of step k alone."""
    s = work.problem.system
    x, u = np.zeros((2, s.n_x)), np.zeros((1, s.n_u))
    tangent(work.steps._replace(D=work.steps.D[k : k + 1]), np.zeros((1, s.n_u, s.n_x)), one.x, one.u, x, u)
    out: Array = x[1]
    return out
