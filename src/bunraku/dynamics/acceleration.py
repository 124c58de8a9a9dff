"""Kernels of the continuous model (`mixed`): accelerations and tensions, and their first derivative.

All of them take complex configurations and rates: second derivatives are complex steps of first ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.elastic import tension, tension_slopes
from bunraku.dynamics.kkt import border, factor, inverse, only_alive, solve
from bunraku.dynamics.lagrangian import body_inertia, column_tangents, columns, has_body, momenta, tangent
from bunraku.dynamics.springs import spring_forces, spring_slopes
from bunraku.figure.records import LinkKind
from bunraku.kernels.blocks import lend, padded
from bunraku.kernels.compile import bare, borrow, inline, keep, kernel, woven
from bunraku.kinematics.drum_layers import has_layers
from bunraku.kinematics.gap_derivatives import add_hessian, add_third, hessian, tangent_screws
from bunraku.kinematics.gaps import gaps, velocity
from bunraku.kinematics.tree import place
from bunraku.kinematics.wrapping import way_row
from bunraku.kinematics.wrapping_derivatives import MOVE, PULL, bend
from bunraku.spatial.algebra import (
    ZERO6,
    ZERO10,
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
    put3,
    put6,
    put10,
    scale3,
    scale6,
    sub3,
    weight,
)


class AccelerationWork(NamedTuple):
    """Scratch of one call, for a tree that is placed and moves."""

    R: Any
    """(joints, 3, 3) rotations, transposed."""
    p: Any
    """(joints, 3) positions."""
    S: Any
    """(joints, 6) screws."""
    V: Any
    """(joints, 6) velocities."""
    T: Any
    """(joints, 6) dS/dt."""
    acc: Any
    """(joints, 6) accelerations of what the joints above carry."""
    B: Any
    """(massive, 10) inertia of each body."""
    I: Any
    """(massive, 10) inertia of everything behind each joint."""
    f: Any
    """(massive, 6) force on everything behind each joint."""
    x: Any
    """(points, 3) points of links."""
    pull: Any
    """(points, 3) ∂gap/∂x."""
    seg: Any
    """(points + 1, 4) unit vector and 1/length of each segment."""
    A: Any
    """(links, variables) ∂gap/∂q."""
    As: Any
    """(springs, variables) ∂length/∂q of springs."""
    h: Any
    """(links,) gaps."""
    Lq: Any
    """(variables,) L_q of springs."""
    F: Any
    """(variables,) forces."""
    v: Any
    """(joints,) rates."""
    b: Any
    """(n + links,) right side, then accelerations and tensions."""
    y: Any
    """(links,) scratch of the solution."""
    K: Any
    """(n + links, padded) the linear system, then its factors."""
    L: Any
    """(n, padded) multiples of rows that elimination took."""
    E: Any
    """Elimination lists of the links that are taut."""
    alive: Any
    """(links,) whether each is taut."""
    rows: Any
    """(links,) order of pivots."""
    cols: Any
    """(links,) the same, of columns."""


@woven
def _room(tree, flat, ints, flags):
    """The scratch, cut out of one buffer; K, A, As and seg begin as zeros."""
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, npt, ns, width = tree.joints.shape[0], tree.points.shape[0], tree.springs.shape[0], padded(n + nc)
    lists = tree.elimination.shape
    K, A, As, seg = (n + nc) * width, nc * nq, ns * nq, 4 * tree.way_rows
    zeros = K + A + As + seg
    for k in range(zeros):
        flat[k] = 0.0
    joint, body, point = zeros, zeros + 37 * nj, zeros + 37 * nj + 26 * nm
    rest = point + 6 * npt
    return AccelerationWork(
        R=lend(flat, joint, (nj, 3, 3)), p=lend(flat, joint + 9 * nj, (nj, 3)), S=lend(flat, joint + 12 * nj, (nj, 6)),
        V=lend(flat, joint + 18 * nj, (nj, 6)), T=lend(flat, joint + 24 * nj, (nj, 6)), acc=lend(flat, joint + 30 * nj, (nj, 6)),
        B=lend(flat, body, (nm, 10)), I=lend(flat, body + 10 * nm, (nm, 10)), f=lend(flat, body + 20 * nm, (nm, 6)),
        x=lend(flat, point, (npt, 3)), pull=lend(flat, point + 3 * npt, (npt, 3)), seg=lend(flat, K + A + As, (tree.way_rows, 4)),
        A=lend(flat, K, (nc, nq)), As=lend(flat, K + A, (ns, nq)), h=lend(flat, rest, (nc,)), Lq=lend(flat, rest + nc, (nq,)),
        F=lend(flat, rest + nc + nq, (nq,)), v=lend(flat, joint + 36 * nj, (nj,)), b=lend(flat, rest + nc + 2 * nq, (n + nc,)),
        y=lend(flat, rest + 2 * nc + 2 * nq + n, (nc,)), K=lend(flat, 0, (n + nc, width)),
        L=lend(flat, rest + 3 * nc + 2 * nq + n, (n, width)),
        E=lend(ints, 0, lists), alive=flags, rows=lend(ints, lists[0] * lists[1], (nc,)),
        cols=lend(ints, lists[0] * lists[1] + nc, (nc,)),
    )  # fmt: skip


@woven
def _room_size(tree):
    """(floats, integers) that `_room` takes."""
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, npt, ns, width = tree.joints.shape[0], tree.points.shape[0], tree.springs.shape[0], padded(n + nc)
    floats = (2 * n + nc) * width + (nc + ns) * nq + 4 * tree.way_rows + 37 * nj + 26 * nm + 6 * npt + 3 * nc + 2 * nq + n
    return floats, tree.elimination.size + 2 * nc


@kernel
def mixed(tree, states, q, v, ak, u, out, D):
    """out = (a, τ); D = ∂(a, τ)/∂(q, v, a_K, u) unless it has no rows. q and v may be complex."""
    floats, integers = _room_size(tree)
    lent = np.empty(floats, q.dtype), np.empty(integers, np.int64), np.empty(tree.n_links, np.bool_)
    figure, rest = borrow(tree), borrow(lent)
    room = _room(figure, rest[0], rest[1], rest[2])
    rank = _accelerate(figure, room, states, q, v, ak, u, out)
    if D.shape[0] > 0:
        _derivative(figure, room, rank, q, v, ak, u, out, D)
    keep(tree)
    keep(lent)


@bare
def _accelerate(tree, room, states, q, v, ak, u, out):
    """out = (a, τ). Returns the rank of the links' block."""
    n, nm, nc, joints = tree.n_dynamic, tree.n_massive, tree.n_links, tree.joints
    zero = 0.0 * q[0]
    o, g = (zero, zero, zero), (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for c in range(nc):
        room.alive[c] = states[c] > 0 and tree.links[c].stiffness == 0.0
    only_alive(tree.elimination, n, room.alive, room.E)
    place(joints, 0, joints.shape[0], q, o, room.R, room.p, room.S)
    _follow(tree, room, g, v, ak)
    for j in range(nm):
        k = joints[j].variable
        room.F[k] = -joints[j].damping * v[k]
        room.Lq[k] = -joints[j].stiffness * (q[k] - joints[j].rest)
    for k in range(tree.forces.shape[0]):
        if tree.forces[k].joint >= 0:
            room.F[joints[tree.forces[k].joint].variable] += tree.forces[k].gain * u[k]
    if tree.springs.shape[0] > 0:
        spring_slopes(tree, q, v, u, o, room.R, room.p, room.S, room.x, room.pull, room.seg, room.As, room.Lq, room.F)
    _weigh(tree, room)
    if nc > 0:
        gaps(tree, q, room.R, room.p, room.S, o, room.x, room.pull, room.seg, room.h, room.A)
        for c in range(nc):
            room.b[n + c] = -_rate(tree, room, c, ak, zero) if room.alive[c] else zero
        border(tree, room.alive, 1.0, room.A, room.A, room.K)
        for c in range(nc):
            room.y[c] = tension(tree.links[c], room.h[c], room.A[c], q, v) if states[c] > 0 else zero
            for k in range(n):
                room.b[k] -= room.A[c, k] * room.y[c]
            out[n + c] = room.y[c]
    rank = factor(room.E, room.K, room.L, n, room.rows, room.cols, room.alive)
    solve(room.E, room.K, room.L, n, room.rows, room.cols, rank, room.b, room.y)
    for k in range(n + nc):
        if k < n or room.alive[k - n]:
            out[k] = room.b[k]
    return rank


@woven
def _follow(tree, room, g, v, ak):
    """Velocities and inertias; accelerations and forces if only the kinematic variables accelerated."""
    n, nm, joints, S, V, T, acc = tree.n_dynamic, tree.n_massive, tree.joints, room.S, room.V, room.T, room.acc
    for j in range(joints.shape[0]):
        i, s, k = joints[j].parent, get6(S, j), joints[j].variable
        rate = v[k]
        room.v[j] = rate
        U = axpy6(rate, s, get6(V, i)) if i >= 0 else scale6(rate, s)
        t = bracket(U, s)
        a = axpy6(rate, t, get6(acc, i)) if i >= 0 else scale6(rate, t)
        if k >= n:
            a = axpy6(ak[k - n], s, a)
        put6(V, j, U)
        put6(T, j, t)
        put6(acc, j, a)
        if j < nm:
            if has_body(joints[j]):
                b = body_inertia(joints[j], room.R, room.p, j)
                put10(room.B, j, b)
                put10(room.I, j, b)
                put6(room.f, j, axpy6(-1.0, weight(g, b), add6(apply(b, a), dual(U, apply(b, U)))))
            else:
                put10(room.B, j, ZERO10)
                put10(room.I, j, ZERO10)
                put6(room.f, j, ZERO6)


@woven
def _weigh(tree, room):
    """Writes the mass matrix into K and the forces that accelerate into b, in one pass down the tree."""
    n, nm, joints, S = tree.n_dynamic, tree.n_massive, tree.joints, room.S
    for j in range(nm - 1, -1, -1):
        i, k = joints[j].parent, joints[j].variable
        if i >= 0:
            put6(room.f, i, add6(get6(room.f, i), get6(room.f, j)))
            for c in range(10):
                room.I[i, c] += room.I[j, c]
        if k >= n:
            continue
        s = get6(S, j)
        room.b[k] = room.F[k] + room.Lq[k] - dot6(s, get6(room.f, j))
        P = apply(get10(room.I, j), s)
        room.K[k, k] = dot6(s, P) + joints[j].armature
        while i >= 0:
            l = joints[i].variable
            if l < n:
                room.K[l, k] = room.K[k, l] = dot6(get6(S, i), P)
            i = joints[i].parent


@bare
def _bending(link, points, room):
    """d²gap/dt² of a string over pulleys whose points move on straight lines, as they do now."""
    rate = 0.0 * room.seg[0, 0]
    for k in range(link.first, link.first + link.count):
        j = points[k].joint
        y = velocity(get6(room.V, j), get3(room.x, k), points[k].is_point) if j >= 0 else scale3(0.0, get3(room.x, k))
        put3(room.seg, way_row(points, MOVE, k), y)
    bend(link, points, room.x, room.seg)
    for k in range(link.first, link.first + link.count):
        rate += dot3(get3(room.seg, way_row(points, MOVE, k)), get3(room.seg, way_row(points, PULL, k)))
    return rate


@woven
def _rate(tree, room, c, ak, zero):
    """d²gap/dt² of link c if only the kinematic variables accelerated."""
    link, points = tree.links[c], tree.points
    first, rate, plane = link.first, zero, link.kind != LinkKind.LENGTH
    before, d = (zero, zero, zero), (zero, zero, zero)
    if link.kind == LinkKind.WRAPPED:
        rate += _bending(link, points, room)
    for k in range(first, first + link.count):
        j, y = points[k].joint, (zero, zero, zero)
        if j >= 0:
            X, w, U = get3(room.x, k), points[k].is_point, get6(room.V, j)
            y = velocity(U, X, w)
            rate += dot3(get3(room.pull, k), add3(velocity(get6(room.acc, j), X, w), cross((U[0], U[1], U[2]), y)))
        if link.kind == LinkKind.WRAPPED:
            continue
        if k == first + 1 or (k > first and not plane):
            d = sub3(before, y)
            if not plane:
                along = dot3(get3(room.seg, k - 1), d)
                rate += room.seg[k - 1, 3] * (dot3(d, d) - along * along)
        elif k > first:
            rate += 2.0 * dot3(y, d)
        before = y
    slope = zero - link.ratio
    if link.kind == LinkKind.WRAPPED and has_layers(link, points):
        last = first + link.count - 1
        slope = room.pull[last, 0]
        rate += room.seg[last, 1] * room.v[points[last].joint] ** 2
    if link.variable >= tree.n_dynamic:
        rate += slope * ak[link.variable - tree.n_dynamic]
    return rate


@inline
def _derivative(tree, room, rank, q, v, ak, u, out, D):
    """D from what `_accelerate` left behind: the residual by q, v, a_K and u, then −K⁻¹ times that."""
    n, nq, nm, nc = tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links
    nj, ns, kind = tree.joints.shape[0], tree.springs.shape[0], q.dtype
    joints, zero = tree.joints, 0.0 * q[0]
    o, g = (zero, zero, zero), (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    S, T, I, width = room.S, room.T, room.I, room.K.shape[1]
    N = np.empty((n + nc, width), kind)
    inverse(room.E, room.K, room.L, n, room.rows, room.cols, rank, N, np.empty((nc, width), kind))
    full, va = np.zeros(nq, kind), np.empty(nm, kind)
    for k in range(nq):
        full[k] = out[k] if k < n else zero + ak[k - n]
    for j in range(nm):
        va[j] = full[joints[j].variable]
    P, W, dV = np.empty((nm, 6), kind), np.empty((nm, 6), kind), np.empty((nm, 6), kind)
    dS, dT, dI, dP = np.empty((nm, 6), kind), np.empty((nm, 6), kind), np.empty((nm, 10), kind), np.empty((nm, 6), kind)
    momenta(joints, nm, room.v, room.R, room.p, S, room.V, T, room.B, I, P)
    tangent(joints, nm, room.v, room.v, va, S, room.V, room.B, W, dS, dV, dT, dI, dP)
    J = np.zeros((width, 3 * nq - n + tree.forces.shape[0]), kind)
    _inertial(joints, n, nq, nm, g, S, T, I, P, dS, dT, dI, dP, J)
    dj, ej = np.empty((nj, 3), kind), np.empty((nj, 3), kind)
    if ns > 0:
        Sqq, Fq, Fv = np.zeros((nq, nq), kind), np.zeros((nq, nq), kind), np.zeros((nq, nq), kind)
        spring_forces(tree, q, v, u, o, room.R, room.p, S, room.x, room.pull, room.seg, dj, ej, room.As, Sqq, Fq, Fv)
        for i in range(n):
            for j in range(nq):
                J[i, j] -= Sqq[i, j] + Fq[i, j]
                J[i, nq + j] -= Fv[i, j]
    _inputs(tree, room.x, S, J)
    if nc > 0:
        _links(tree, room, q, v, full, out, dj, ej, J)
    D[:] = -np.dot(N, J)
    for c in range(nc):
        if tree.links[c].stiffness > 0.0:
            D[n + c] = J[n + c]


@woven
def _inertial(joints, n, nq, nm, g, S, T, I, P, dS, dT, dI, dP, J):
    """Lagrange's equations by q, v and a_K: d/dt L_v = L_qv v + L_vv a, a tangent of the recursion along (v, a), minus L_q."""
    for j in range(nm):
        Fj, Gj, gamma = columns(j, g, S, T, I, P)
        dF, dG, _ = column_tangents(j, g, S, T, I, P, dS, dT, dI, dP)
        k = joints[j].variable
        i = j
        while i >= 0:
            l = joints[i].variable
            s, t = get6(S, i), get6(T, i)
            ds, dt = get6(dS, i), get6(dT, i)
            qq, qv, vq, mm = dot6(t, Gj) + dot3(s, gamma), dot6(t, Fj), dot6(s, Gj), dot6(s, Fj)
            dvv, dqv, dvq = dot6(ds, Fj) + dot6(s, dF), dot6(dt, Fj) + dot6(t, dF), dot6(ds, Gj) + dot6(s, dG)
            if i == j:
                qq -= joints[j].stiffness
                if k < n:
                    J[k, nq + k] += joints[j].damping
            if l < n:
                J[l, k] += dvq - qq
                J[l, nq + k] += dvv + vq - qv
                if k >= n:
                    J[l, 2 * nq + k - n] += mm
            if k < n and i != j:
                J[k, l] += dqv - qq
                J[k, nq + l] += dvv + qv - vq
                if l >= n:
                    J[k, 2 * nq + l - n] += mm
            i = joints[i].parent


@woven
def _inputs(tree, x, S, J):
    """What the force inputs do: efforts act on their variable, pushes on everything that moves their point."""
    n, joints, first = tree.n_dynamic, tree.joints, J.shape[1] - tree.forces.shape[0]
    for k in range(tree.forces.shape[0]):
        force = tree.forces[k]
        if force.joint >= 0:
            J[joints[force.joint].variable, first + k] -= force.gain
        else:
            support = tree.spring_support[force.link]
            e = get3(x, tree.springs[force.link].first + 2)
            X = get3(x, tree.springs[force.link].first)
            for s in range(1, support[0] + 1):
                i = joints[support[s]].variable
                if i < n:
                    J[i, first + k] -= dot3(e, velocity(get6(S, support[s]), X, 1.0))


@inline
def _links(tree, room, q, v, full, out, dj, ej, J):
    """Derivatives of Aᵀ τ by q, and of the rows of the links, h_qq(v, v) + h_q a = 0, by q, v and a_K."""
    n, nq, nc, joints, kind = tree.n_dynamic, tree.n_q, tree.n_links, tree.joints, v.dtype
    nj, npt, zero = joints.shape[0], tree.points.shape[0], 0.0 * v[0]
    S, x, pull, seg, alive = room.S, room.x, room.pull, room.seg, room.alive
    tau, H = np.zeros(nc, kind), np.zeros((nq, nq), kind)
    for c in range(nc):
        tau[c] = out[n + c]
    hessian(tree, tau, S, x, pull, seg, dj, ej, H)
    for i in range(n):
        for j in range(nq):
            J[i, j] += H[i, j]
    W, dS, slope = np.empty((nj, 6), kind), np.empty((nj, 6), kind), np.zeros(nq, kind)
    dx, dp, dd, de = np.empty((npt, 3), kind), np.empty((npt, 3), kind), np.empty((nj, 3), kind), np.empty((nj, 3), kind)
    tangent_screws(joints, v, S, W, dS)
    for c in range(nc):
        link, support = tree.links[c], tree.support[c]
        if link.stiffness > 0.0 and tau[c] != zero:
            H[:] = 0.0
            add_hessian(1.0, link, tree.points, joints, tree.chain, support, S, x, pull, seg, dj, ej, H)
            tension_slopes(link, tau[c], room.A[c], H, q, v, J[n + c])
            for i in range(n):
                for j in range(2 * nq):
                    J[i, j] += room.A[c, i] * J[n + c, j]
        if not alive[c]:
            continue
        H[:] = 0.0
        slope[:] = 0.0
        add_third(1.0, link, tree.points, joints, tree.chain, support, S, W, dS, x, pull, seg, dx, dp, dj, ej, dd, de, H, slope)
        for j in range(nq):
            J[n + c, nq + j] = 2.0 * slope[j]
        _add_product(v, H, n + c, J)
        H[:] = 0.0
        add_hessian(1.0, link, tree.points, joints, tree.chain, support, S, x, pull, seg, dj, ej, H)
        _add_product(full, H, n + c, J)
        for k in range(n, nq):
            J[n + c, 2 * nq + k - n] += room.A[c, k]


@woven
def _add_product(x, H, row, J):
    """J[row] += xᵀ H."""
    for j in range(x.shape[0]):
        y = 0.0 * x[0]
        for i in range(x.shape[0]):
            y += H[i, j] * x[i]
        J[row, j] += y
