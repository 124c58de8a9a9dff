"""Exact first derivatives of a step with touch, within its mode: contacts that act, stick or slide go on doing so.

Where impulses are held, a change dx of the inputs moves q1 by Y dx (bunraku.dynamics.first_derivative, with no link acting). With
N = ∂q1/∂p0 there, all of it is

    dq1 = Y dx + N (C dx − A₀ᵀ dλ)          0 = A₁ dq1 + B dx                   of rows that hold
                                            dλ_t = μ w dλ_n + μ λ_n/|s| (1 − w wᵀ) ds,  w = s/|s|,   of contacts that slide

C and B have what is special about touch: the points at which friction acts, and the directions along the surface, are where the
bodies are nearest at q0, and move with it (bunraku.dynamics.touch.moving_rows); so do corners of the overlap of two faces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.manifold.touch_arrays import MANIFOLD
from bunraku.dynamics.home_momentum import home_momentum
from bunraku.dynamics.quantities import link_gaps
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_derivatives import force_matrix
from bunraku.dynamics.step_expansion import expand
from bunraku.dynamics.touch.moving_rows import MovingRows
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kinematics.forward import Pose
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TouchStep:
    """One step with touch, and its derivatives where they were asked for."""

    q: Array
    """(n_q,) the configuration after it."""
    momentum: Array
    """(n,) after it."""
    impulse: Array
    """Of every link, then of every row of its contacts [N·s]; of the last part, where the step was taken in parts."""
    states: NDArray[np.int8]
    """Of each of these: 0 open, 1 acting, 2 sliding."""
    pairs: tuple[tuple[str, str], ...]
    """Names of the two bodies of each contact that acts."""
    modes: tuple[tuple[float, tuple[tuple[int, ...], ...]], ...] = ()
    """Where derivatives were asked for: of each part of the step, its share of it, and of each contact that is closed at its end
    the bodies, the features and whether it slides. Steps with equal modes have the same derivatives up to smooth changes."""
    q_dx: Array | None = None
    """(n, inputs) ∂q1/∂x of the dynamic variables, for x = (q0, p0, k1, u)."""
    momentum_dx: Array | None = None
    """(n, inputs) ∂p1/∂x."""


@dataclass(frozen=True, eq=False)
class _Part:
    """A part of a step, from the configuration q0 to q1, with all that its derivative needs."""

    simulation: TouchSimulation
    begun: float
    """The share of the step that came before it."""
    share: float
    """Its own share."""
    q0: Array
    q1: Array
    momentum: Array
    tree: FigureTree
    """Of the figure with the contacts of this part."""
    impulse: Array
    states: NDArray[np.int8]
    acting: tuple[tuple[int, ...], ...]
    """Bodies and features of each contact that acts, and what it does: 1 sticks, 2 slides."""


def touch_step_once(
    figure: Figure, q0: ArrayLike, p0: ArrayLike, k1: ArrayLike = (), *, scene: Scene | None = None, touch: object = "all",
    dt: float, forces: ArrayLike | None = None, share: float = LEFT_SHARE, derivatives: bool = False,
) -> TouchStep:  # fmt: skip
    """One step of `figure` from (`q0`, `p0`) to the kinematic variables `k1`, among bodies that it touches.

    It stays in the coordinates of the file. `simulate` follows free bodies that turn fast with coordinates of their own, and takes
    such steps in parts, so that it errs less: the two differ by about the square of the angle by which a body turns in the step.

    scene: what is around, as of `simulate`
    touch: which bodies touch, as of `simulate`
    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step
    derivatives: whether q_dx and momentum_dx are wanted

    Returns the step. Raises BunrakuError where derivatives are wanted and there are none: where the puppeteer was held back, a
    contact adheres, a string may lie on a body, or a contact is between sticking and sliding; and where the motion is one of many,
    because contacts that slide may share their load in more ways than one.
    """
    rules = as_touch(touch)
    assert rules is not None
    simulation = TouchSimulation(figure, q0, scene=scene, touch=rules, dt=dt, share=share)
    simulation._charts[:], simulation._q[:], simulation._p[:] = np.eye(3), simulation.q, np.asarray(p0, float)
    simulation._single = True
    u = np.zeros(len(figure.forces)) if forces is None else np.asarray(forces, float)
    hands = simulation.q[figure.n_dynamic :] if not np.size(k1) else np.asarray(k1, float)
    before = simulation.copy()
    part, bits = _take(simulation, 0.0, 1.0, simulation.q, hands, u)
    names = simulation.bodies.names
    pairs = tuple((names[a], names[b]) for a, b, *_ in part.acting)
    out = TouchStep(part.q1, part.momentum, part.impulse, part.states, pairs)
    if not derivatives:
        return out
    if bits & (STEP_BITS.held | STEP_BITS.frozen):
        raise BunrakuError(f"{figure.name}: the step has no derivative here: it is held back\n  advice: take a shorter step")
    parts = [part] if not bits & STEP_BITS.divided else _divided(before, 0.0, 1.0, simulation.dt, hands, u)
    if np.abs(parts[-1].q1 - part.q1).max() > 1e-8:
        raise BunrakuError(f"{figure.name}: the step has no derivative here: its parts are not the same again")
    n, D = figure.n_dynamic, _chained(parts, u)
    modes = tuple((each.share, _mode(each)) for each in parts)
    return replace(out, modes=modes, q_dx=D[:n], momentum_dx=D[n:])


def _take(simulation: TouchSimulation, begun: float, share: float, q0: Array, hands: Array, u: Array) -> tuple[_Part, int]:
    """The part of a step that brings `simulation` from q0 to these `hands`, and its bits."""
    steps, memory = simulation.step(hands, u), simulation._memory
    tree, impulse, states = touched(simulation, steps.impulse[0], steps.states[0])
    momentum = home_momentum(simulation.figure, simulation._charts, simulation._q[0], steps.q[0], steps.momentum[0])
    acting = tuple((*(int(x) for x in memory.key[k]), int(memory.acts[k])) for k in range(int(memory.number[0])) if memory.acts[k])
    return _Part(simulation, begun, share, q0, steps.q[0], momentum, tree, impulse, states, acting), int(steps.bits[0])


def _divided(before: TouchSimulation, begun: float, share: float, dt: float, hands: Array, u: Array) -> list[_Part]:
    """The parts in which the step dt from the state `before` is taken, from `begun` on, as shares of it.

    `hands` are the kinematic variables at the end of the whole step. As bunraku.dynamics.touch.touch_rollout does: what cannot be
    taken at once is taken in halves.
    """
    figure, q0 = before.figure, before.q
    n, trial = figure.n_dynamic, before.copy()
    trial.dt = share * dt
    part, bits = _take(trial, begun, share, q0, q0[n:] + (hands - q0[n:]) * share / (1.0 - begun), u)
    if not bits & (STEP_BITS.divided | STEP_BITS.held | STEP_BITS.frozen):
        return [part]
    if share * MANIFOLD.parts < 1.5 * MANIFOLD.firm:
        raise BunrakuError(f"{figure.name}: the step has no derivative here: not even in short parts\n  advice: start elsewhere")
    halves = _divided(before, begun, 0.5 * share, dt, hands, u)
    return halves + _divided(_go_on(halves[-1], 0.5 * share * dt), begun + 0.5 * share, 0.5 * share, dt, hands, u)


def _go_on(part: _Part, dt: float) -> TouchSimulation:
    """A simulation that goes on where `part` ended, with its rates and all charts at home; its next step is dt."""
    out, rates = part.simulation.copy(), (part.q1 - part.q0) / part.simulation.dt
    out._charts[:] = np.eye(3)
    out._q[:] = part.q1 - dt * np.array([0.0, 1.0, 2.0, 3.0, 4.0, 0.0])[:, None] * rates
    out._q[1:-1, out.figure.n_dynamic :] = part.q1[out.figure.n_dynamic :]
    out._p[:], out._seen = part.momentum, part.q1
    return out


def _chained(parts: list[_Part], u: Array) -> Array:
    """∂(q1, p1)/∂(q0, p0, k1, u) of a step that is taken in these parts."""
    figure = parts[0].simulation.figure
    n, nq, nu = figure.n_dynamic, figure.n_q, len(u)
    nk, inputs = nq - n, 2 * nq + nu
    by_x = np.eye(nq + n, inputs)  # of q and p where a part begins
    by_x[n:nq] = 0.0
    k0, k1, forces = np.eye(nk, inputs, n), np.eye(nk, inputs, nq + n), np.eye(nu, inputs, 2 * nq)
    for part in parts:
        start, end = ((1.0 - at) * k0 + at * k1 for at in (part.begun, part.begun + part.share))
        by_x = _derivative(part, u) @ np.concatenate([by_x[:n], start, by_x[-n:], end, forces])
    if not np.isfinite(by_x).all():
        raise BunrakuError(f"{figure.name}: the step has no derivative here")
    return by_x


def _derivative(part: _Part, u: Array) -> Array:
    """∂(q1, p1)/∂(q0, p0, k1, u) of one part of a step."""
    simulation, tree, q0, q1, lam, states = part.simulation, part.tree, part.q0, part.q1, part.impulse, part.states
    if np.any(simulation._contacts.stick[: len(lam)]) or simulation._contacts.number[4]:
        raise BunrakuError(
            f"{simulation.figure.name}: the step has no derivative here\n"
            "  advice: leave out adhesion, and strings that lie on bodies: these have none"
        )
    n, nq = tree.n_dynamic, tree.n_q
    D = _without_forces(simulation, tree, q0, q1, lam, states, u)
    E = simulation.dt * force_matrix(simulation.figure, 0.5 * (q0 + q1))
    D = np.concatenate([D, simulation.share * D[:, nq : nq + n] @ E], 1)
    D[n:, 2 * nq :] += (1.0 - simulation.share) * E
    return D


def _mode(part: _Part) -> tuple[tuple[int, ...], ...]:
    """Bodies and features of each contact that is closed at the end of a part, and of each of its rows 1, or 2 where it slides.

    Which of the contacts of two faces act is not determined, so that all that are closed count; some are found more than once.
    """
    t, (h0, _), (h1, _) = part.simulation._contacts, link_gaps(part.tree, part.q0), link_gaps(part.tree, part.q1)
    closed = [k for k in range(int(t.number[0])) if part.states[t.head[k]] > 0 or h1[t.head[k]] > -1e-10]
    states = _as_they_move(part.tree, part.impulse, part.states, h1 - h0)
    found = {(*t.key[k].tolist(), *np.maximum(states[t.head[k] : t.head[k + 1]], 1).tolist()) for k in closed}
    return tuple(sorted(found))


def _without_forces(
    simulation: TouchSimulation, tree: FigureTree, q0: Array, q1: Array, lam: Array, states: NDArray[np.int8], u: Array
) -> Array:
    """∂(q1, p1)/∂(q0, p0, k1)."""
    n, nq, nc = tree.n_dynamic, tree.n_q, len(lam)
    free, H = np.empty((2 * n + nc, 2 * nq)), np.empty((0, 2 * nq, 2 * nq))
    none = np.zeros(nc, np.int8)
    expand(tree, none, q0, q1, lam, u, simulation.dt, simulation.share, np.zeros((0, 2 * n + nc)), free, H)
    free = np.concatenate([free[:n], free[n + nc :]])
    push = free[:, nq : nq + n]  # what a change of the impulses does
    (h0, A0), (h1, A1) = link_gaps(tree, q0), link_gaps(tree, q1)
    extra, slip = np.zeros((n, nq)), np.zeros((nc, nq))  # of r and the rows, because contacts are elsewhere for another q0
    t, figure = simulation._contacts, simulation.figure
    moving = MovingRows(tree, simulation.world, t, Pose(figure, q0), Pose(figure, q1))
    for k in range(int(t.number[0])):
        if states[t.head[k]] > 0:
            moving.changes(k, lam, extra, slip)
    states = _as_they_move(tree, lam, states, h1 - h0)
    rows = np.flatnonzero(states > 0)
    direct = np.zeros((nc, 2 * nq))  # of the rows themselves, by x
    direct[:, nq + n :] = A1[:, n:]
    slips = tree.links["kind"] == LinkKind.SLIP
    direct[slips, :nq] -= A0[slips]
    direct[:, :nq] += slip
    free = free + push @ np.pad(extra, ((0, 0), (0, 2 * nq - nq)))
    G, g = A1[:, :n] @ -(push[:n] @ A0[:, :n].T), A1[:, :n] @ free[:n] + direct  # ds = g dx + G dλ
    M, b = G.copy(), -g
    for c in rows:
        if states[c] == 2 and (c - tree.links["normal"][c]) % 2 == 1:
            _slide(tree, int(c), lam, h1 - h0, G, g, M, b)
    if len(rows) == 0:
        return free
    by_lambda = -push @ A0[rows, :n].T
    U, size, V = np.linalg.svd(M[np.ix_(rows, rows)])
    rank = int(np.sum(size > 1e-11 * size[0]))  # rows may say the same twice
    dlam = V[:rank].T @ ((U[:, :rank].T @ b[rows]) / size[:rank, None])
    if np.abs(U[:, rank:].T @ b[rows]).max(initial=0.0) > 1e-8 * np.abs(b[rows]).max():
        raise BunrakuError(
            f"{simulation.figure.name}: the step has no derivative here: contacts that stick contradict each other beside it\n"
            "  advice: take a shorter step"
        )
    if np.abs(by_lambda @ V[rank:].T).max(initial=0.0) > 1e-6 * np.abs(by_lambda).max():
        raise BunrakuError(
            f"{simulation.figure.name}: the step has no derivative here: contacts that slide may share their load in many ways\n"
            "  advice: tilt one of the faces that meet"
        )
    return np.asarray(free + by_lambda @ dlam)


def _as_they_move(tree: FigureTree, lam: Array, states: NDArray[np.int8], slip: Array) -> NDArray[np.int8]:
    """The `states` of all rows, of slips and turns by what they do: they slide where they move, at the limit of their impulse.

    Contacts of a face that sticks share its friction in many ways: in some, one of them is at its limit, though it does not move.
    """
    out = states.copy()
    for c in np.flatnonzero((states > 0) & (tree.links["kind"] == LinkKind.SLIP)):
        normal = int(tree.links["normal"][c])
        if (c - normal) % 2 == 1:
            limit = float(tree.links["friction"][c]) * lam[normal]
            moves = np.hypot(*slip[c : c + 2]) > 1e-11 and np.hypot(*lam[c : c + 2]) > (1.0 - 1e-6) * limit
            out[c : c + 2] = 2 if moves else 1
    return out


def _slide(tree: FigureTree, c: int, lam: Array, slip: Array, G: Array, g: Array, M: Array, b: Array) -> None:
    """The equations of the sliding rows c and c + 1, in place of ds = 0."""
    normal, friction = int(tree.links["normal"][c]), float(tree.links["friction"][c])
    s = slip[c : c + 2]
    size = float(np.hypot(*s))
    if size == 0.0:
        raise BunrakuError("the step has no derivative here: a contact that slides has not moved\n  advice: take a longer step")
    w = s / size
    turn = friction * lam[normal] / size * (np.eye(2) - np.outer(w, w))
    M[c : c + 2] = -turn @ G[c : c + 2]
    M[c, c] += 1.0
    M[c + 1, c + 1] += 1.0
    M[c : c + 2, normal] -= friction * w
    b[c : c + 2] = turn @ g[c : c + 2]


def touched(simulation: TouchSimulation, impulse: Array, states: NDArray[np.int8]) -> tuple[FigureTree, Array, NDArray[np.int8]]:
    """The figure of the last step of `simulation` with its contacts, and `impulse` and `states` of its links with theirs behind."""
    tree, t, memory = simulation.figure.compiled.tree, simulation._contacts, simulation._memory
    links, points = int(t.number[1]), int(t.number[2])
    lam, acts = np.zeros(links), np.zeros(links, np.int8)
    lam[: len(impulse)], acts[: len(states)] = impulse, states
    elimination = _elimination(tree, t.support[:links], t.links[:links])
    for k in range(int(memory.number[0])):
        first, rows = int(t.head[k]), int(memory.rows[k])
        lam[first : first + rows] = memory.impulse[k, :rows]
        acts[first] = min(memory.acts[k], 1)
        acts[first + 1 : first + rows] = memory.acts[k]
    grown = tree._replace(
        n_links=links, way_rows=6 * (points + 1), points=t.points[:points].copy(), links=t.links[:links].copy(),
        support=t.support[:links].copy(), elimination=elimination,
    )  # fmt: skip
    return grown, lam, acts


def _elimination(tree: FigureTree, support: NDArray[np.int64], links: NDArray[np.void]) -> NDArray[np.int64]:
    """Elimination lists with the rows of contacts."""
    n, variable = tree.n_dynamic, tree.joints["variable"]
    lists = [[int(k) for k in row[1 : 1 + row[0]]] for row in tree.elimination]
    for c in range(tree.n_links, len(links)):
        for d in sorted({int(variable[j]) for j in support[c, 1 : 1 + support[c, 0]]}):
            if d < n:
                lists[d].append(n + c)
    for d in range(n - 1, -1, -1):  # what springs couple inherits the rows
        for k in [k for k in lists[d] if k < n]:
            lists[k] += [c for c in lists[d] if c >= n + tree.n_links and c not in lists[k]]
    out = np.zeros((n, 1 + max((len(row) for row in lists), default=0)), np.int64)
    for d, row in enumerate(lists):
        out[d, 0], out[d, 1 : 1 + len(row)] = len(row), row
    return out
