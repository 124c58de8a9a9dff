"""settle: the pose in which a figure hangs at rest.

It takes steps from rest, each only to its midpoint: q ← (q0 + q1)/2 with p0 = 0 is an implicit step down the potential (modes
shrink by 1/(1 + ω²dt²/4)), with strings that pull only. A step that would go up is halved, so the search ends at a minimum and
not at a saddle. Close to it Newton's method, which includes the geometric stiffness of taut strings, does the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.ball_charts import apply_chart, outside, recentre
from bunraku.dynamics.lagrangian import columns, slopes, total_mass
from bunraku.dynamics.quantities import compliances, gap_derivatives
from bunraku.dynamics.rollout import advance, energy, with_joints
from bunraku.dynamics.simulation import require_dynamic
from bunraku.dynamics.springs import spring_forces
from bunraku.dynamics.variational import begin, midpoint, workspace
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kernels.compile import bare, borrow, keep, kernel
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.gap_derivatives import hessian
from bunraku.kinematics.gaps import gaps
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import dot3, dot6, get6

Array = NDArray[np.float64]


@bare
def _height(tree, w, o, q, still, tension):
    """Potential energy plus tension times gap of the strings that act: it tells up from down along taut strings."""
    out = energy(tree, w, o, q, still)[1]
    gaps(tree, q, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
    for c in range(tension.shape[0]):
        if tree.links[c].stiffness == 0.0:  # the energy of what stretches is in the first part
            out += tension[c] * w.h[c]
    return out


@kernel
def _sink(tree, q, u, tension, tolerance, most):
    """Returns the size of the last step; q and the tensions are updated in place.

    Where strings are too short for the figure as it is, spindles and lengths give way until the figure has followed.
    """
    n, nq, nc, nb = tree.n_dynamic, tree.n_q, tree.n_links, tree.balls.shape[0]
    owned = with_joints(tree, tree.joints.copy())
    own = borrow(owned)
    lent = workspace(own)
    w = borrow(lent)
    C, none, never, lam, asked = np.zeros((nb, 3, 3)), np.empty((0, nq)), np.full(nb, np.inf), tension, q.copy()
    for k in range(nb):
        for a in range(3):
            C[k, a, a] = 1.0
        apply_chart(own, tree.joints, C, k)
    o, p0, p1, q1, middle, still = (0.0, 0.0, 0.0), np.zeros(n), np.empty(n), np.empty(nq), np.empty(nq), np.zeros(nq)
    mass, dt, size = total_mass(tree.joints), 0.02, 1.0
    for _ in range(most):
        for i in range(n):
            q1[i] = q[i]
        for i in range(n, nq):
            q1[i] = asked[i]
        for c in range(nc):
            lam[c] *= dt
        begin(own, w, o, q)
        advance(own, w, o, q, p0, u, dt, 1.0, mass / dt, q1, lam, p1, 1e-13)
        for c in range(nc):
            lam[c] /= dt
        size = 0.0
        for i in range(n):
            middle[i] = 0.5 * (q[i] + q1[i])
            size = max(size, abs(middle[i] - q[i]))
        for i in range(n, nq):
            middle[i] = q1[i]
            size = max(size, abs(q1[i] - asked[i]))
        rise = _height(own, w, o, middle, still, lam) - _height(own, w, o, q, still, lam)
        midpoint(own, w, o, q, middle, u, math.inf)
        for i in range(n):
            rise -= w.F[i] * (middle[i] - q[i])  # what the force inputs do on the way
        rises = rise > 0.0 and size > 1e-6  # [rad or m] in smaller steps energy is too flat to tell up from down
        if (rises or size > 0.3) and dt > 2e-3:
            dt *= 0.5
            continue
        for i in range(nq):
            q[i] = middle[i]
        if size < tolerance and dt > 0.1:
            break
        recentre(own, tree.joints, C, q, p0, none, never)
        dt = min(dt * 1.3, 0.2)
    outside(own, C, q.copy(), q.copy(), q)
    keep(owned)
    keep(lent)
    return size


@kernel
def _statics(tree, q, u, tension, Lq, Lqq):
    """L_q + F and its derivative at rest, less what links do with their tensions, over all variables."""
    lent = workspace(tree)
    w, o, joints, n = borrow(lent), (0.0, 0.0, 0.0), tree.joints, tree.n_massive
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    midpoint(tree, w, o, q, q, u, 1.0)
    place(joints, 0, joints.shape[0], q, o, w.R, w.p, w.S)
    if tree.springs.shape[0] > 0:
        spring_forces(tree, q, w.vq, u, o, w.R, w.p, w.S, w.x, w.f, w.n, w.d, w.e, w.As, w.Lqq, w.Fq, w.Fv)
    gaps(tree, q, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
    hessian(tree, tension, w.S, w.x, w.f, w.n, w.d, w.e, Lqq)
    for i in range(Lqq.shape[0]):
        for j in range(Lqq.shape[0]):
            Lqq[i, j] = -Lqq[i, j]
            if tree.springs.shape[0] > 0:
                Lqq[i, j] += w.Lqq[i, j] + w.Fq[i, j]
    for j in range(n):
        k = joints[j].variable
        Lq[k] = slopes(joints[j], j, g, q[k], 0.0, w.S, w.T, w.I, w.P)[0] + w.Lq[k] + w.F[k]
        Lqq[k, k] -= joints[j].stiffness
        _, G, gamma = columns(j, g, w.S, w.T, w.I, w.P)
        i = j
        while i >= 0:
            x = dot6(get6(w.T, i), G) + dot3(get6(w.S, i), gamma)
            Lqq[joints[i].variable, k] += x
            if i != j:
                Lqq[k, joints[i].variable] += x
            i = joints[i].parent
    keep(lent)


@dataclass(frozen=True)
class Rest:
    """Where Newton's method has gone from a pose that is nearly one of rest."""

    q: Array
    size: float
    """Of its last correction [rad or m]; infinite where it has not found a pose of rest."""
    fall: Array | None = None
    """A direction in which the figure would fall, where this is a balance."""


def _polish(figure: Figure, start: Array, u: Array, tension: Array, tolerance: float) -> Rest:
    """Newton's method on L_q + F = Aᵀ τ with the gaps of taut links closed or stretched, geometric stiffness included."""
    n, links, q = figure.n_dynamic, figure.compiled.tree.links, start.copy()
    pulls, slips, rubs = links["pulls"] > 0, links["kind"] == LinkKind.SLIP, string_frictions(links)
    taut, soft = (tension > 0.0) | ~pulls, compliances(figure, q)
    for _ in range(40):
        taut[rubs] = False
        taut[slips] = taut[links["normal"][slips]]  # a contact that carries load does not slip
        Lq, Lqq, gap, A = _balance(figure, q, u, np.where(taut, tension, 0.0))
        A, row = A[taut], np.where(slips, 0.0, gap - soft * tension)[taut]
        scale = max(np.abs(Lqq).max(initial=0.0), np.abs(Lq).max(initial=0.0), 1e-300)  # forces of a crane beside gaps in metres
        system = np.block([[Lqq / scale, -A.T], [A, np.diag(-scale * soft[taut])]])
        # The smallest of all corrections, of tensions too: a pose that may turn at no cost stays where it is.
        x = np.linalg.lstsq(system, np.concatenate([(tension[taut] @ A - Lq) / scale, -row]), rcond=1e-13)[0]
        size = float(np.abs(x[:n]).max())
        if not size < 0.1:
            break
        q[:n] += x[:n]
        tension[taut] += scale * x[n:]
        tension[~taut] = 0.0
        change = pulls & ((taut & (tension < 0.0)) | (~taut & (gap_derivatives(figure, q)[0] > tolerance)))
        taut = taut ^ change
        if size < tolerance and not change.any():
            return _judged(figure, q, u, tension, taut, size)
    return Rest(q, np.inf)


def _balance(figure: Figure, q: Array, u: Array, tension: Array) -> tuple[Array, Array, Array, Array]:
    """L_q + F and its derivative, gaps and theirs, of the dynamic variables."""
    n, nq = figure.n_dynamic, figure.n_q
    Lq, Lqq = np.zeros(nq), np.zeros((nq, nq))
    _statics(figure.compiled.tree, q, u, tension, Lq, Lqq)
    gap, A = gap_derivatives(figure, q)
    return Lq[:n], Lqq[:n, :n], gap, A[:, :n]


def _judged(figure: Figure, q: Array, u: Array, tension: Array, taut: NDArray[np.bool_], size: float) -> Rest:
    """A pose of rest, if forces balance and every direction that the links leave open goes up."""
    Lq, Lqq, _, A = _balance(figure, q, u, tension)
    weight = sum(body.mass for body in figure.bodies) * float(np.linalg.norm(figure.gravity))
    if np.abs(Lq - tension @ A).max() > 1e-6 * max(weight, np.abs(Lq).max(), 1e-6):
        return Rest(q, np.inf)
    soft = compliances(figure, q)
    free, stretched = _null_space(A[taut & (soft == 0.0)]), A[taut & (soft > 0.0)]
    stiffness = -0.5 * (Lqq + Lqq.T) + stretched.T @ (stretched / soft[taut & (soft > 0.0), None])
    values, ways = np.linalg.eigh(free.T @ stiffness @ free)
    if len(values) and values[0] < -1e-9 * max(np.abs(values).max(), 1e-3 * np.abs(Lqq).max()):  # rounding is no fall
        return Rest(q, np.inf, free @ ways[:, 0])
    return Rest(q, size)


def _null_space(A: Array) -> Array:
    """Columns that span the null space of A. By numpy: importing scipy.linalg takes a fifth of the time to a first step."""
    _, sizes, ways = np.linalg.svd(A)
    rank = int((sizes > max(A.shape) * np.finfo(float).eps * sizes.max(initial=0.0)).sum())
    return ways[rank:].T


def string_frictions(links: NDArray[np.void]) -> NDArray[np.bool_]:
    """Which of the `links` are places where a string rubs (see bunraku.dynamics.capstan)."""
    return np.asarray((links["normal"] >= 0) & (links["kind"] != LinkKind.SLIP))


def without_string_friction(tree: FigureTree) -> FigureTree:
    """The figure `tree` with strings that run freely."""
    if not string_frictions(tree.links).any():
        return tree
    links = tree.links.copy()
    links["friction"][string_frictions(links)] = 0.0
    return tree._replace(links=links)


def settle(figure: Figure, q: ArrayLike | None = None, *, forces: ArrayLike | None = None, tolerance: float = 1e-11) -> Array:
    """The configuration near `q` (by default near the start) in which `figure` hangs at rest, its kinematic variables held.

    It is a minimum of potential energy; strings may end taut or slack, and run freely where they would rub. A start that balances
    is nudged off its balance. `forces` are force inputs that push meanwhile, zero by default; `tolerance` is the last correction
    [rad or m]. Raises BunrakuError where strings are too short for any pose, or where the figure does not come to rest.
    """
    require_dynamic(figure)
    out = configuration(figure, figure.start if q is None else q)
    n = figure.n_dynamic
    nudge = 1e-4  # [rad or m] off a balance
    out[:n] += nudge * np.sin(1.0 + np.arange(n))
    u = np.zeros(len(figure.forces)) if forces is None else np.ascontiguousarray(forces, float)
    if u.shape != (len(figure.forces),):
        raise BunrakuError(f"{figure.name} has {len(figure.forces)} force inputs, got shape {u.shape}")
    tree = without_string_friction(figure.compiled.tree)
    tension, nearer, hands = np.zeros(len(tree.links)), 1e-4, out[n:].copy()
    while nearer > 1e-11:
        _sink(tree, out, u, tension, nearer, 3000)
        given = np.abs(out[n:] - hands)
        if given.max(initial=0.0) > nearer:
            most = f"{figure.kinematic[int(given.argmax())]} gives way by {given.max():.3g}"
            raise BunrakuError(
                f"{figure.name} cannot hang like this: strings are too short for any pose; {most}\n"
                "  advice: lengthen strings, or bring their spindles nearer"
            )
        out[n:] = hands
        rest = _polish(figure, out, u, tension.copy(), tolerance)
        if rest.size < tolerance:
            return rest.q
        if rest.fall is not None:
            out[:n] += 100 * nudge * rest.fall
        nearer *= 0.03
    raise BunrakuError(f"{figure.name} has not come to rest\n  advice: let something hold it up; a free figure falls for ever")
