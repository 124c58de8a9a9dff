"""The Lagrangian of a tree of one-variable joints, and its derivatives, in world coordinates.

With S_j the screw of joint j, V_j its velocity, T_j = [V_j, S_j] = dS_j/dt, and I_j, P_j the inertia and momentum of
everything behind it (plain sums, since all is about one origin):

    L_v = S_j·P_j                       L_q = T_j·P_j + S_j·weight_j
    F_j = ∂P_j/∂v_j = I_j S_j           G_j = ∂P_j/∂q_j = I_j T_j + S_j ×* P_j

and for i above or equal to j:  L_qi qj = T_i·G_j + ω_i·γ_j,  L_qi vj = T_i·F_j,  L_vi qj = S_i·G_j,  L_vi vj = S_i·F_j.
A joint's own spring adds −k (q − rest) to L_q, its armature a·v to L_v.
"""

from __future__ import annotations

from bunraku.kernels.compile import bare, woven
from bunraku.kinematics.tree import on_joint
from bunraku.spatial.algebra import (
    ZERO6,
    ZERO10,
    add3,
    add6,
    apply,
    axpy6,
    bracket,
    carried,
    cross,
    dot6,
    dual,
    get6,
    get10,
    lever,
    put6,
    put10,
    scale6,
    weight,
)


@woven
def body_inertia(joint, R, p, j):
    """The body on joint j, about the origin, in world axes."""
    m, b, c = joint.mass, joint.inertia, joint.com
    x, y, z = on_joint(R, p, j, c)
    u0, u1, u2 = R[j, 0, 0], R[j, 0, 1], R[j, 0, 2]
    v0, v1, v2 = R[j, 1, 0], R[j, 1, 1], R[j, 1, 2]
    w0, w1, w2 = R[j, 2, 0], R[j, 2, 1], R[j, 2, 2]
    s0, s1, s2 = b[0] * u0 + b[1] * v0 + b[2] * w0, b[0] * u1 + b[1] * v1 + b[2] * w1, b[0] * u2 + b[1] * v2 + b[2] * w2
    t0, t1, t2 = b[1] * u0 + b[3] * v0 + b[4] * w0, b[1] * u1 + b[3] * v1 + b[4] * w1, b[1] * u2 + b[3] * v2 + b[4] * w2
    g0, g1, g2 = b[2] * u0 + b[4] * v0 + b[5] * w0, b[2] * u1 + b[4] * v1 + b[5] * w1, b[2] * u2 + b[4] * v2 + b[5] * w2
    return (
        m, m * x, m * y, m * z,
        u0 * s0 + v0 * t0 + w0 * g0 + m * (y * y + z * z), u0 * s1 + v0 * t1 + w0 * g1 - m * x * y,
        u0 * s2 + v0 * t2 + w0 * g2 - m * x * z, u1 * s1 + v1 * t1 + w1 * g1 + m * (x * x + z * z),
        u1 * s2 + v1 * t2 + w1 * g2 - m * y * z, u2 * s2 + v2 * t2 + w2 * g2 + m * (x * x + y * y),
    )  # fmt: skip


@woven
def has_body(joint):
    return joint.mass > 0.0 or joint.inertia[0] + joint.inertia[3] + joint.inertia[5] > 0.0


@woven
def total_mass(joints):
    """Of all bodies and rotors: the scale by which gaps are weighed against impulses."""
    m = 0.0
    for j in range(joints.shape[0]):
        m += joints[j].mass + joints[j].armature
    return m


@bare
def momenta(joints, n, v, R, p, S, V, T, B, I, P):
    """V, T, the body inertias B, and the sums I and P, of the first n joints at rates v (one a joint)."""
    for j in range(n):
        i = joints[j].parent
        s = get6(S, j)
        U = axpy6(v[j], s, get6(V, i)) if i >= 0 else scale6(v[j], s)
        put6(V, j, U)
        put6(T, j, bracket(U, s))
        if has_body(joints[j]):
            b = body_inertia(joints[j], R, p, j)
            put10(B, j, b)
            put10(I, j, b)
            put6(P, j, apply(b, U))
        else:
            put10(B, j, ZERO10)
            put10(I, j, ZERO10)
            put6(P, j, ZERO6)
    _gather(joints, n, I, P)


@woven
def _gather(joints, n, I, P):
    """Inertias and momenta of bodies become those of everything behind each joint."""
    for j in range(n - 1, 0, -1):
        i = joints[j].parent
        if i >= 0:
            for k in range(10):
                I[i, k] += I[j, k]
            for k in range(6):
                P[i, k] += P[j, k]


@bare
def fill_mass(joints, n, S, T, I, P, M):
    """M = ∂²L/∂v∂v over all variables, of what `momenta` has just seen: L_vi vj = S_i·F_j."""
    for j in range(n):
        F, _, _ = columns(j, (0.0, 0.0, 0.0), S, T, I, P)
        i = j
        while i >= 0:
            x = dot6(get6(S, i), F) + (joints[j].armature if i == j else 0.0)
            M[joints[i].variable, joints[j].variable] = x
            M[joints[j].variable, joints[i].variable] = x
            i = joints[i].parent


@woven
def slopes(joint, j, g, q, v, S, T, I, P):
    """(L_q, L_v) of joint j at value q and rate v."""
    s, h = get6(S, j), get6(P, j)
    return (
        dot6(get6(T, j), h) + dot6(s, weight(g, get10(I, j))) - joint.stiffness * (q - joint.rest),
        dot6(s, h) + joint.armature * v,
    )


@woven
def columns(j, g, S, T, I, P):
    """(F, G, γ) of joint j: one side of every second derivative that has j as its lower index."""
    s, inertia = get6(S, j), get10(I, j)
    F = apply(inertia, s)
    G = add6(apply(inertia, get6(T, j)), dual(s, get6(P, j)))
    return F, G, cross(lever(inertia, s), g)


@bare
def energies(joints, n, g, q, v, R, p, S, V, T, B, I, P):
    """Kinetic and potential energy of what `momenta` has just seen; the zero of height is the origin."""
    kinetic, potential = 0.0, 0.0
    for j in range(n):
        kinetic += 0.5 * dot6(get6(V, j), apply(get10(B, j), get6(V, j))) + 0.5 * joints[j].armature * v[j] * v[j]
        potential -= B[j, 1] * g[0] + B[j, 2] * g[1] + B[j, 3] * g[2]
        away = q[joints[j].variable] - joints[j].rest
        potential += 0.5 * joints[j].stiffness * away * away
    return kinetic, potential


@bare
def tangent(joints, n, v, a, b, S, V, B, W, dS, dV, dT, dI, dP):
    """How the first n joints and their sums change along (a, b) in (q, v), after `momenta`.

    The tangent of the recursion itself: W = Σ S a, δS = [W, S], δV = Σ δS v + S b, δT = [δV, S] + [V, δS], and
    inertias carried by W.
    """
    for j in range(n):
        i = joints[j].parent
        s = get6(S, j)
        nothing = scale6(0.0, s)
        w, y = (get6(W, i), get6(dV, i)) if i >= 0 else (nothing, nothing)
        ds = bracket(w, s)
        w = axpy6(a[j], s, w)
        y = axpy6(v[j], ds, axpy6(b[j], s, y))
        put6(W, j, w)
        put6(dS, j, ds)
        put6(dV, j, y)
        put6(dT, j, add6(bracket(y, s), bracket(get6(V, j), ds)))
        if has_body(joints[j]):
            body = get10(B, j)
            rate = carried(body, w)
            put10(dI, j, rate)
            put6(dP, j, add6(apply(rate, get6(V, j)), apply(body, y)))
        else:
            put10(dI, j, ZERO10)
            put6(dP, j, ZERO6)
    _gather(joints, n, dI, dP)


@woven
def column_tangents(j, g, S, T, I, P, dS, dT, dI, dP):
    """(δF, δG, δγ) of joint j."""
    s, t, ds, inertia, rate = get6(S, j), get6(T, j), get6(dS, j), get10(I, j), get10(dI, j)
    dF = add6(apply(rate, s), apply(inertia, ds))
    dG = add6(add6(apply(rate, t), apply(inertia, get6(dT, j))), add6(dual(ds, get6(P, j)), dual(s, get6(dP, j))))
    return dF, dG, cross(add3(lever(rate, s), lever(inertia, ds)), g)
