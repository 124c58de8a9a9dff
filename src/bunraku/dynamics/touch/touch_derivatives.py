"""Exact first derivatives of a step with touch, within its mode: contacts that act, stick or slide go on doing so.

Where impulses are held, a change dx of the inputs moves q1 by Y dx (bunraku.dynamics.first_derivative, with no link acting). With
N = ∂q1/∂p0 there, all of it is

    dq1 = Y dx + N (C dx − A₀ᵀ dλ)          0 = A₁ dq1 + B dx                   of rows that hold
                                            dλ_t = μ w dλ_n + μ λ_n/|s| (1 − w wᵀ) ds,  w = s/|s|,   of contacts that slide

C and B have what is special about touch: the points at which friction acts, and the directions along the surface, are where the
bodies are nearest at q0, and move with it (bunraku.dynamics.touch.touch_points); so do corners of the overlap of two faces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.home_momentum import home_momentum
from bunraku.dynamics.quantities import link_gaps
from bunraku.dynamics.rollout import STEP_BITS
from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_derivatives import force_matrix
from bunraku.dynamics.step_expansion import expand
from bunraku.dynamics.touch.touch_points import ContactPoint, carries
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
    """Of every link, then of every row of its contacts [N·s]."""
    states: NDArray[np.int8]
    """Of each of these: 0 open, 1 acting, 2 sliding."""
    pairs: tuple[tuple[str, str], ...]
    """Names of the two bodies of each contact that acts."""
    q_dx: Array | None = None
    """(n, inputs) ∂q1/∂x of the dynamic variables, for x = (q0, p0, k1, u)."""
    momentum_dx: Array | None = None
    """(n, inputs) ∂p1/∂x."""
    unique: bool = True
    """False where contacts that slide may share their load in more ways than one: then these are derivatives of one of them."""


def touch_step_once(
    figure: Figure, q0: ArrayLike, p0: ArrayLike, k1: ArrayLike = (), *, scene: Scene | None = None, touch: object = "all",
    dt: float, forces: ArrayLike | None = None, share: float = LEFT_SHARE, derivatives: bool = False,
) -> TouchStep:  # fmt: skip
    """One step of `figure` from (`q0`, `p0`) to the kinematic variables `k1`, among bodies that it touches.

    scene: what is around, as of `simulate`
    touch: which bodies touch, as of `simulate`
    dt: the time step [s]
    forces: force inputs [N or N·m], zero by default
    share: share of a force's impulse that acts at the start of the step
    derivatives: whether q_dx and momentum_dx are wanted

    Returns the step. Raises BunrakuError where it had to be taken in parts, or the puppeteer was held back: such a step has no
    derivative. Contacts that adhere have none, either, and neither have those that are between sticking and sliding.
    """
    rules = as_touch(touch)
    assert rules is not None
    simulation = TouchSimulation(figure, q0, scene=scene, touch=rules, dt=dt, share=share)
    start = simulation.q
    simulation._p[:] = np.asarray(p0, float)
    steps = simulation.step(k1 if np.size(k1) else None, forces)
    tree, impulse, states = touched(simulation, steps.impulse[0], steps.states[0])
    names, memory = simulation.bodies.names, simulation._memory
    acting = [k for k in range(int(memory.number[0])) if memory.acts[k]]
    pairs = tuple((names[memory.key[k, 0]], names[memory.key[k, 1]]) for k in acting)
    momentum = home_momentum(figure, simulation._charts, simulation._q[0], steps.q[0], steps.momentum[0])
    out = TouchStep(steps.q[0], momentum, impulse, states, pairs)
    if not derivatives:
        return out
    split = steps.bits[0] & (STEP_BITS.held | STEP_BITS.divided | STEP_BITS.frozen)
    if split or np.any(simulation._contacts.stick[: len(impulse)]) or simulation._contacts.number[4]:
        advice = "take a shorter step, or less adhesion; strings that may lie on bodies have no derivative"
        raise BunrakuError(f"{figure.name}: the step has no derivative here\n  advice: {advice}")
    u = np.zeros(len(figure.forces)) if forces is None else np.asarray(forces, float)
    D, unique = _derivative(simulation, tree, start, steps.q[0], impulse, states, u)
    if not np.isfinite(D).all():
        raise BunrakuError(f"{figure.name}: the step has no derivative here")
    n, nq = figure.n_dynamic, figure.n_q
    E = simulation.dt * force_matrix(figure, 0.5 * (start + steps.q[0]))
    D = np.concatenate([D, simulation.share * D[:, nq : nq + n] @ E], 1)
    D[n:, 2 * nq :] += (1.0 - simulation.share) * E
    return replace(out, q_dx=D[:n], momentum_dx=D[n:], unique=unique)


def _derivative(
    simulation: TouchSimulation, tree: FigureTree, q0: Array, q1: Array, lam: Array, states: NDArray[np.int8], u: Array
) -> tuple[Array, bool]:
    """∂(q1, p1)/∂(q0, p0, k1), and whether it is the only one."""
    n, nq, nc = tree.n_dynamic, tree.n_q, len(lam)
    free, H = np.empty((2 * n + nc, 2 * nq)), np.empty((0, 2 * nq, 2 * nq))
    none = np.zeros(nc, np.int8)
    expand(tree, none, q0, q1, lam, u, simulation.dt, simulation.share, np.zeros((0, 2 * n + nc)), free, H)
    free = np.concatenate([free[:n], free[n + nc :]])
    push = free[:, nq : nq + n]  # what a change of the impulses does
    (h0, A0), (h1, A1) = link_gaps(tree, q0), link_gaps(tree, q1)
    extra, slip = _moving_contacts(simulation, tree, q0, q1, lam, states)
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
        return free, True
    by_lambda = -push @ A0[rows, :n].T
    U, size, V = np.linalg.svd(M[np.ix_(rows, rows)])
    rank = int(np.sum(size > 1e-11 * size[0]))  # rows may say the same twice
    dlam = V[:rank].T @ ((U[:, :rank].T @ b[rows]) / size[:rank, None])
    unique = np.abs(by_lambda @ V[rank:].T).max(initial=0.0) < 1e-6 * np.abs(by_lambda).max()
    return np.asarray(free + by_lambda @ dlam), bool(unique)


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


def _moving_contacts(
    simulation: TouchSimulation, tree: FigureTree, q0: Array, q1: Array, lam: Array, states: NDArray[np.int8]
) -> tuple[Array, Array]:
    """By q0: the change of r (n, n_q) and of the rows (rows, n_q), because points and directions of contacts are not fixed."""
    n_dynamic, nq, t = tree.n_dynamic, tree.n_q, simulation._contacts
    extra, slip = np.zeros((n_dynamic, nq)), np.zeros((len(lam), nq))
    before, after = Pose(simulation.figure, q0), Pose(simulation.figure, q1)
    turned = [after._R[j].T @ before._R[j] - np.eye(3) for j in range(len(tree.joints))] + [np.zeros((3, 3))]
    for k in range(int(t.number[0])):
        normal, last = int(t.head[k]), int(t.head[k + 1])
        if states[normal] == 0:
            continue
        key = t.key[k]
        at = ContactPoint(tree, simulation.world, key, normal, before)
        ja, jb = (int(j) for j in simulation.world.joint[key[:2]])
        way = (turned[ja] @ (at.x - before._p[ja]) + after._p[ja] - before._p[ja]) if ja >= 0 else np.zeros(3)
        way = way - ((turned[jb] @ (at.y - before._p[jb]) + after._p[jb] - before._p[jb]) if jb >= 0 else np.zeros(3))
        for j in range(len(tree.joints)):
            i = int(tree.joints["variable"][j])
            if not (carries(tree, j, ja) or carries(tree, j, jb)):
                continue
            S = before._S[j]
            dx, dy, du, dv = at.moves(j)
            dx = dx - (np.cross(S[:3], at.x) + S[3:]) * carries(tree, j, ja)  # beyond what the material point does
            dy = dy - (np.cross(S[:3], at.y) + S[3:]) * carries(tree, j, jb)
            if at.is_corner:  # the row of its normal, −n·(x − y) at q1, moves too
                n = np.cross(at.u, at.v)
                slip[normal, i] = -(n + turned[jb] @ n) @ (dx + turned[ja] @ dx)
                for m in range(len(tree.joints)):
                    d = int(tree.joints["variable"][m])
                    if d < n_dynamic:
                        rate = n @ np.cross(before._S[m][:3], dx) * (int(carries(tree, m, jb)) - int(carries(tree, m, ja)))
                        extra[d, i] -= lam[normal] * rate
            if last - normal < 3:
                continue
            for c, along, dalong in ((normal + 1, at.u, du), (normal + 2, at.v, dv)):
                slip[c, i] = dalong @ way + along @ (turned[ja] @ dx - turned[jb] @ dy)
                for m in range(len(tree.joints)):
                    d = int(tree.joints["variable"][m])
                    if d < n_dynamic:
                        T = before._S[m]
                        rate = (dalong @ (np.cross(T[:3], at.x) + T[3:]) + along @ np.cross(T[:3], dx)) * carries(tree, m, ja)
                        rate -= (dalong @ (np.cross(T[:3], at.y) + T[3:]) + along @ np.cross(T[:3], dy)) * carries(tree, m, jb)
                        extra[d, i] -= lam[c] * rate
    return extra, slip


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
