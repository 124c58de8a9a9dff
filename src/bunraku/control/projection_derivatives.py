"""Derivatives of the projection operator (*trep*, after Lemma 3.1), and of the cost through it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_problem import ControlProblem, MotionExpansion, push_along, within
from bunraku.control.control_system import ControlCurve, Rollout
from bunraku.control.tangent_sweep import tangent
from bunraku.dynamics.step_expansion import expand

Array = NDArray[np.float64]


def first(problem: ControlProblem, run: Rollout, gains: Array, change: ControlCurve) -> ControlCurve:
    """DP·δξ̄ at a curve of `problem` that projects to `run` under `gains` K: δx₊ = A δx + B δu, δu = δū − K(δx − δx̄).

    `change` is δξ̄ = (δx̄, δū); its inputs are the chosen ones.
    """
    work = MotionExpansion(problem)
    work.at(run)
    return _tangent(work, gains, change)


def second(problem: ControlProblem, run: Rollout, gains: Array, change: ControlCurve) -> ControlCurve:
    """D²P·(δξ̄, δξ̄): δ²x₊ = (A − BK) δ²x + D²f(δξ, δξ), δ²u = −K δ²x, with the whole second derivative of every step.

    `problem`, `run`, `gains` K and `change` δξ̄ are those of `first`.
    """
    s, N = problem.system, problem.steps
    work = MotionExpansion(problem)
    work.at(run)
    along = _tangent(work, gains, change)
    outputs = 2 * s.n + s.n_links
    D, H = np.empty((outputs, 2 * s.n_q)), np.empty((outputs, 2 * s.n_q, 2 * s.n_q))
    inner = within(s, work.steps, along)
    x, u = np.zeros_like(along.x), np.zeros_like(along.u)
    for k in range(N):
        q0, q1, forces = (np.ascontiguousarray(a) for a in (run.x[k, : s.n_q], run.x[k + 1, : s.n_q], run.u[k, s.n_kin :]))
        expand(s.tree, run.states[k], q0, q1, run.impulse[k], forces, s.dt, s.share, np.eye(outputs), D, H)
        bend = np.einsum("oij,i,j->o", H, inner[k], inner[k])
        if s.pushed:
            bend += _turned(work, k, np.stack([q0, q1]), along)
        u[k] = -gains[k] @ x[k]
        one = ControlCurve(np.stack([x[k], np.zeros(s.n_x)]), u[k : k + 1])
        x[k + 1] = _tangent_of(work, k, one)
        x[k + 1, : s.n] += bend[: s.n]
        x[k + 1, s.n_q : s.n_q + s.n] += bend[s.n + s.n_links :]
    return ControlCurve(x, u)


def _turned(work: MotionExpansion, k: int, ends: Array, along: ControlCurve) -> Array:
    """Second-order effect on every output of step k: pushes change while the configuration changes."""
    s, outputs = work.problem.system, work.steps.D.shape[1]
    D, E, turn = work.steps.D[k : k + 1], np.empty((1, *work.steps.E.shape[1:])), np.zeros((1, *work.steps.turn.shape[1:]))
    middle, out = along.x[k : k + 2, : s.n_q].mean(0), np.empty(outputs)
    for o, weights in enumerate(np.eye(outputs)):
        push_along(s, ends, weights[None], work.steps._replace(D=D, E=E, turn=turn))
        out[o] = 2.0 * along.u[k, len(s.hands) :] @ turn[0] @ middle
    return out


def _tangent(work: MotionExpansion, gains: Array, change: ControlCurve) -> ControlCurve:
    x, u = np.zeros_like(change.x), np.zeros_like(change.u)
    tangent(work.steps, gains, change.x, change.u, x, u)
    return ControlCurve(x, u)


def _tangent_of(work: MotionExpansion, k: int, one: ControlCurve) -> Array:
    """A δx + B δu of step k alone."""
    s = work.problem.system
    x, u = np.zeros((2, s.n_x)), np.zeros((1, s.n_u))
    E = work.steps.E[k : k + 1] if len(work.steps.E) > 1 else work.steps.E
    tangent(work.steps._replace(D=work.steps.D[k : k + 1], E=E), np.zeros((1, s.n_u, s.n_x)), one.x, one.u, x, u)
    out: Array = x[1]
    return out
