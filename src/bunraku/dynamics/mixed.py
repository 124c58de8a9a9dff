"""The continuous mixed dynamic–kinematic model (*marionettes*, eq. 1–12).

For given (q, v), accelerations of the kinematic variables (their *velocities* are the inputs and must be continuous: eq. 12 of
the paper writes the accelerations) and force inputs, find the accelerations a of the dynamic variables and the tensions τ:

    d/dt L_v − L_q − F + Aᵀ τ = 0             d/dt L_v = D(L_v)[(v, a)]
    A a + vᵀ gap_qq v = 0                     for the links that are taut

τ > 0 pulls the hook toward the spindle. The derivative of d/dt L_v is the tangent of the Hessian of L along (v, a), so first
derivatives are one recursion more. Second derivatives are the complex step of the first, which loses no digit: every kernel
here takes complex numbers, and Im f(x + ih)/h with h = 1e-30 is the derivative to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.kkt import factor, inverse, only_alive, solve
from bunraku.dynamics.lagrangian import columns, momenta, tangent
from bunraku.dynamics.springs import spring_forces, spring_slopes
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.figure.compiled import LENGTH
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.gaps import add_hessian, add_third, gaps, hessian, tangent_screws
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import (
    add3,
    add6,
    apply,
    axpy6,
    bracket,
    cross,
    dot3,
    dot6,
    dual,
    get3,
    get6,
    get10,
    put6,
    scale6,
    sub3,
    weight,
)
from bunraku.spatial.kernel import borrow, inline, keep, kernel

Array = NDArray[np.float64]


@kernel
def mixed(tree, states, q, v, ak, u, out, D):
    """out = (a, τ); D = ∂(a, τ)/∂(q, v, a_K, u) unless it has no rows. Complex q and v are welcome."""
    lent = tree
    tree = borrow(lent)
    n, nq, nm, nc = tree.shape
    nj, npt, ns, kind = tree.joints.shape[0], tree.points.shape[0], tree.springs.shape[0], q.dtype
    joints, zero = tree.joints, 0.0 * q[0]
    o, g = (zero, zero, zero), (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    R, p, S = np.empty((nj, 3, 3), kind), np.empty((nj, 3), kind), np.empty((nj, 6), kind)
    V, T, acc = np.empty((nj, 6), kind), np.empty((nj, 6), kind), np.empty((nj, 6), kind)
    B, I, P, f = np.empty((nm, 10), kind), np.empty((nm, 10), kind), np.empty((nm, 6), kind), np.empty((nm, 6), kind)
    x, pull, seg = np.empty((npt, 3), kind), np.empty((npt, 3), kind), np.zeros((npt + 1, 4), kind)
    h, A, As = np.empty(nc, kind), np.zeros((nc, nq), kind), np.zeros((ns, nq), kind)
    Lq, F, vj = np.zeros(nq, kind), np.zeros(nq, kind), np.empty(nj, kind)
    K, E = np.zeros((n + nc, n + nc), kind), tree.elimination.copy()
    alive, rows, cols = np.empty(nc, np.bool_), np.empty(nc, np.int64), np.empty(nc, np.int64)
    for c in range(nc):
        alive[c] = states[c] > 0
    only_alive(tree.elimination, n, alive, E)
    place(joints, 0, nj, q, o, R, p, S)
    for j in range(nj):
        vj[j] = v[joints[j].q]
    if nc > 0:
        gaps(tree, q, R, p, S, o, x, pull, seg, h, A)
    momenta(joints, nm, vj, R, p, S, V, T, B, I, P)
    for j in range(nj):  # velocities and accelerations with a = 0 but for the kinematic variables
        i, s, k = joints[j].parent, get6(S, j), joints[j].q
        if j >= nm:
            put6(V, j, axpy6(vj[j], s, get6(V, i)) if i >= 0 else scale6(vj[j], s))
            put6(T, j, bracket(get6(V, j), s))
        a = axpy6(vj[j], get6(T, j), get6(acc, i)) if i >= 0 else scale6(vj[j], get6(T, j))
        put6(acc, j, axpy6(ak[k - n], s, a) if k >= n else a)
    for j in range(nm):
        body, U = get10(B, j), get6(V, j)
        put6(f, j, axpy6(-1.0, weight(g, body), add6(apply(body, get6(acc, j)), dual(U, apply(body, U)))))
        F[joints[j].q] = -joints[j].damping * vj[j]
        Lq[joints[j].q] = -joints[j].stiffness * (q[joints[j].q] - joints[j].rest)
    for k in range(tree.forces.shape[0]):
        if tree.forces[k].joint >= 0:
            F[joints[tree.forces[k].joint].q] += tree.forces[k].gain * u[k]
    if ns > 0:
        spring_slopes(tree, q, v, u, o, R, p, S, x, pull, seg, As, Lq, F)
    b = np.zeros(n + nc, kind)
    for j in range(nm - 1, -1, -1):
        i, k = joints[j].parent, joints[j].q
        if i >= 0:
            for c in range(6):
                f[i, c] += f[j, c]
        if k < n:
            b[k] = F[k] + Lq[k] - dot6(get6(S, j), get6(f, j))
        Fj, Gj, gamma = columns(j, g, S, T, I, P)
        i = j
        while i >= 0:
            qi = joints[i].q
            if qi < n and k < n:
                m = dot6(get6(S, i), Fj)
                if i == j:
                    m += joints[j].armature
                K[qi, k] = m
                K[k, qi] = m
            i = joints[i].parent
    for c in range(nc):
        if not alive[c]:
            continue
        link = tree.links[c]
        rate = zero
        for k in range(link.first, link.first + link.count):
            j = tree.points[k].joint
            if j >= 0:
                X, w, U, W = get3(x, k), tree.points[k].w, get6(V, j), get6(acc, j)
                y = _velocity(U, X, w)
                rate += dot3(get3(pull, k), add3(_velocity(W, X, w), cross((U[0], U[1], U[2]), y)))
        if link.kind == LENGTH:
            for k in range(link.first, link.first + link.count - 1):
                d = sub3(_point_velocity(tree.points, V, x, k, zero), _point_velocity(tree.points, V, x, k + 1, zero))
                along = dot3(get3(seg, k), d)
                rate += seg[k, 3] * (dot3(d, d) - along * along)
        else:
            k = link.first
            d = sub3(_point_velocity(tree.points, V, x, k, zero), _point_velocity(tree.points, V, x, k + 1, zero))
            rate += 2.0 * dot3(_point_velocity(tree.points, V, x, k + 2, zero), d)
        if link.variable >= n:
            rate -= link.ratio * ak[link.variable - n]
        b[n + c] = -rate
    for j in range(n):
        for s in range(1, E[j, 0] + 1):
            c = E[j, s]
            if c >= n:
                K[j, c] = A[c - n, j]
                K[c, j] = A[c - n, j]
    rank = factor(E, K, n, rows, cols, alive)
    solve(E, K, n, rows, cols, rank, b, np.empty(nc, kind))
    for k in range(n + nc):
        out[k] = b[k]
    if D.shape[0] == 0:
        keep(lent)
        return
    N = np.empty((n + nc, n + nc), kind)
    inverse(E, K, n, rows, cols, rank, N)
    # -- first derivative: r by q, v, a_K, u; then −N times that --
    nk, nu = nq - n, tree.forces.shape[0]
    full, va = np.zeros(nq, kind), np.empty(nm, kind)
    for k in range(nq):
        full[k] = out[k] if k < n else zero + ak[k - n]
    for j in range(nm):
        va[j] = full[joints[j].q]
    W, dS, dV, dT = np.empty((nm, 6), kind), np.empty((nm, 6), kind), np.empty((nm, 6), kind), np.empty((nm, 6), kind)
    dI, dP = np.empty((nm, 10), kind), np.empty((nm, 6), kind)
    Tqq, Tqv, Tvv = np.zeros((nm, nm), kind), np.zeros((nm, nm), kind), np.zeros((nm, nm), kind)
    tangent(joints, nm, g, vj, vj, va, S, V, T, B, I, P, W, dS, dV, dT, dI, dP, Tqq, Tqv, Tvv)
    J = np.zeros((n + nc, 2 * nq + nk + nu), kind)
    for j in range(nm):
        Fj, Gj, gamma = columns(j, g, S, T, I, P)
        k = joints[j].q
        i = j
        while i >= 0:
            l = joints[i].q
            s, t = get6(S, i), get6(T, i)
            qq, qv, vq, mm = dot6(t, Gj) + dot3(s, gamma), dot6(t, Fj), dot6(s, Gj), dot6(s, Fj)
            if i == j:
                qq -= joints[j].stiffness
                if k < n:
                    J[k, nq + k] += joints[j].damping
            if l < n:
                J[l, k] += Tqv[j, i] - qq
                J[l, nq + k] += Tvv[i, j] + vq - qv
                if k >= n:
                    J[l, 2 * nq + k - n] += mm
            if k < n and i != j:
                J[k, l] += Tqv[i, j] - qq
                J[k, nq + l] += Tvv[i, j] + qv - vq
                if l >= n:
                    J[k, 2 * nq + l - n] += mm
            i = joints[i].parent
    dj, ej = np.empty((nj, 3), kind), np.empty((nj, 3), kind)
    if ns > 0:
        Sqq, Fq, Fv = np.zeros((nq, nq), kind), np.zeros((nq, nq), kind), np.zeros((nq, nq), kind)
        spring_forces(tree, q, v, u, o, R, p, S, x, pull, seg, dj, ej, As, Sqq, Fq, Fv)
        for i in range(n):
            for j in range(nq):
                J[i, j] -= Sqq[i, j] + Fq[i, j]
                J[i, nq + j] -= Fv[i, j]
    for k in range(nu):
        force = tree.forces[k]
        if force.joint >= 0:
            J[joints[force.joint].q, 2 * nq + nk + k] -= force.gain
        else:
            support = tree.spring_support[force.link]
            e = get3(x, tree.springs[force.link].first + 2)
            X = get3(x, tree.springs[force.link].first)
            for s in range(1, support[0] + 1):
                i = joints[support[s]].q
                if i < n:
                    J[i, 2 * nq + nk + k] -= dot3(e, _velocity(get6(S, support[s]), X, 1.0))
    if nc > 0:
        tau, H = np.zeros(nc, kind), np.zeros((nq, nq), kind)
        for c in range(nc):
            tau[c] = out[n + c] if alive[c] else zero
        hessian(tree, tau, S, x, pull, seg, dj, ej, H)
        for i in range(n):
            for j in range(nq):
                J[i, j] += H[i, j]
        Wj, dSj = np.empty((nj, 6), kind), np.empty((nj, 6), kind)
        dx, dp, dd, de = np.empty((npt, 3), kind), np.empty((npt, 3), kind), np.empty((nj, 3), kind), np.empty((nj, 3), kind)
        slope = np.zeros(nq, kind)
        tangent_screws(joints, v, S, Wj, dSj)
        for c in range(nc):
            if not alive[c]:
                continue
            link, support = tree.links[c], tree.support[c]
            H[:] = 0.0
            slope[:] = 0.0
            add_third(
                1.0, link, tree.points, joints, tree.chain, support, S, Wj, dSj, x, pull, seg, dx, dp, dj, ej, dd, de, H, slope
            )
            for j in range(nq):
                J[n + c, nq + j] = 2.0 * slope[j]
                y = zero
                for i in range(nq):
                    y += H[i, j] * v[i]
                J[n + c, j] = y
            H[:] = 0.0
            add_hessian(1.0, link, tree.points, joints, tree.chain, support, S, x, pull, seg, dj, ej, H)
            for j in range(nq):
                y = zero
                for i in range(nq):
                    y += H[i, j] * full[i]
                J[n + c, j] += y
            for k in range(n, nq):
                J[n + c, 2 * nq + k - n] += A[c, k]
    D[:] = -np.dot(N, J)
    keep(lent)


@inline
def _velocity(s, x, w):
    return (
        s[1] * x[2] - s[2] * x[1] + w * s[3],
        s[2] * x[0] - s[0] * x[2] + w * s[4],
        s[0] * x[1] - s[1] * x[0] + w * s[5],
    )


@inline
def _point_velocity(points, V, x, k, zero):
    j = points[k].joint
    if j < 0:
        return (zero, zero, zero)
    return _velocity(get6(V, j), get3(x, k), points[k].w)


@dataclass(frozen=True)
class Acceleration:
    """Of the dynamic variables, and the tensions of all links (0 where slack)."""

    a: Array
    tension: Array
    states: NDArray[np.int8]


_NONE = np.zeros((0, 0))


def _inputs(
    figure: Figure, q: ArrayLike, v: ArrayLike, kinematic: ArrayLike | None, forces: ArrayLike | None
) -> tuple[Array, Array, Array, Array]:
    nk = figure.n_q - figure.n_dynamic
    ak = np.zeros(nk) if kinematic is None else np.ascontiguousarray(kinematic, float)
    u = np.zeros(len(figure.forces)) if forces is None else np.ascontiguousarray(forces, float)
    if ak.shape != (nk,) or u.shape != (len(figure.forces),):
        raise BunrakuError(f"{figure.name} has {nk} kinematic variables and {len(figure.forces)} force inputs")
    return configuration(figure, q), configuration(figure, v), ak, u


def acceleration(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> Acceleration:  # fmt: skip
    """a and τ at (q, v). `states` says which links are taut (1) or slack (0); all are taut unless told."""
    tree = figure.compiled.tree
    q_, v_, ak, u = _inputs(figure, q, v, kinematic, forces)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    out = np.empty(figure.n_dynamic + len(tree.links))
    mixed(tree, taut, q_, v_, ak, u, out, _NONE)
    return Acceleration(out[: figure.n_dynamic], out[figure.n_dynamic :], taut)


def acceleration_derivative(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """∂(a, τ)/∂(q, v, a_K, u)."""
    tree = figure.compiled.tree
    q_, v_, ak, u = _inputs(figure, q, v, kinematic, forces)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    rows = figure.n_dynamic + len(tree.links)
    D = np.empty((rows, 2 * figure.n_q + len(ak) + len(u)))
    mixed(tree, taut, q_, v_, ak, u, np.empty(rows), D)
    return D


def acceleration_second_derivative(
    figure: Figure, q: ArrayLike, v: ArrayLike, *, kinematic: ArrayLike | None = None, forces: ArrayLike | None = None,
    states: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """∂²(a, τ)/∂(q, v, a_K, u)², (outputs, inputs, inputs)."""
    tree = figure.compiled.tree
    x = np.concatenate(_inputs(figure, q, v, kinematic, forces)).astype(complex)
    taut = np.ones(len(tree.links), np.int8) if states is None else np.ascontiguousarray(states, np.int8)
    rows, nq = figure.n_dynamic + len(tree.links), figure.n_q
    cuts = np.cumsum([nq, nq, nq - figure.n_dynamic])
    out, D = np.empty(rows, complex), np.empty((rows, len(x)), complex)
    H = np.empty((rows, len(x), len(x)))
    for k in range(len(x)):
        x[k] += 1e-30j
        q_, v_, ak, u = (np.ascontiguousarray(part) for part in np.split(x, cuts))
        mixed(tree, taut, q_, v_, ak, u, out, D)
        H[:, :, k] = D.imag * 1e30
        x[k] = x[k].real
    return H
