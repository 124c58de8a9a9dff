"""Kernels of adhesion: the linear program for a posture and for a motion, and derivatives with respect to the centre of mass.

The force on a foot is f = Σ λ_k (n + μ e_k) − A n: edges of the friction pyramid with λ_k ≥ 0, and an adhesion A that is the same
for all feet. With a finite grip, adhesion is directional: f = Σ λ_k (n + μ e_k) + s (toe − grip n), 0 ≤ s ≤ A. A foot then sticks
only while it is dragged along its toes, and A is the largest force along the toes of any foot.
"""

from __future__ import annotations

import math

import numpy as np

from bunraku.kernels.compile import inline, kernel
from bunraku.kinematics.tree import on_joint, place
from bunraku.locomotion.climb.gecko_kernels import points
from bunraku.locomotion.climb.simplex import minimize

PYRAMID = np.array([(math.cos(angle), math.sin(angle)) for angle in np.linspace(0.0, 2.0 * math.pi, 8, endpoint=False)])
"""Edges of the pyramid inside a friction cone: where each is, on a circle about the normal."""


@inline
def edge(normal, k, friction):
    """Edge k of the friction pyramid about a normal."""
    n0, n1, n2 = normal[0], normal[1], normal[2]
    a0, a1, a2 = (0.0, n2, -n1) if abs(n0) < 0.9 else (-n2, 0.0, n0)
    size = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    a0, a1, a2 = a0 / size, a1 / size, a2 / size
    b0, b1, b2 = n1 * a2 - n2 * a1, n2 * a0 - n0 * a2, n0 * a1 - n1 * a0
    c, s = friction * PYRAMID[k, 0], friction * PYRAMID[k, 1]
    return n0 + c * a0 + s * b0, n1 + c * a1 + s * b1, n2 + c * a2 + s * b2


@inline
def stick(normal, toe, grip):
    """The force on a foot per unit of adhesion."""
    if grip == math.inf:
        return -normal[0], -normal[1], -normal[2]
    return toe[0] - grip * normal[0], toe[1] - grip * normal[1], toe[2] - grip * normal[2]


@inline
def put(table, column, f, arm):
    """Writes a force `f` and its moment about the centre, arm × f, into a column of `table`."""
    table[0, column], table[1, column], table[2, column] = f[0], f[1], f[2]
    table[3, column] = arm[1] * f[2] - arm[2] * f[1]
    table[4, column] = arm[2] * f[0] - arm[0] * f[2]
    table[5, column] = arm[0] * f[1] - arm[1] * f[0]


@inline
def hold_once(p, normals, toes, count, centre, load, friction, grip, table, basis, forces, slope):
    """The smallest adhesion in weights, or infinity. Writes forces on the feet (n, 3) and d(adhesion)/d(centre of mass) (3,).

    `load` (6,) is what the feet must give in all: a force in weights, and a moment about the centre in weights times metres.
    """
    length = 1e-9
    for i in range(count):
        length = max(length, math.sqrt((p[i, 0] - centre[0]) ** 2 + (p[i, 1] - centre[1]) ** 2 + (p[i, 2] - centre[2]) ** 2))
    directed = grip < math.inf
    rows = 6 + count if directed else 6
    own = count * len(PYRAMID)  # first column of the adhesions s of single feet, with a finite grip
    level = own + count if directed else own  # column of A, which is minimised
    n = level + 1 + (count if directed else 0)
    last = n + rows  # columns n … last - 1 are artificial variables
    for i in range(rows + 2):
        for j in range(last + 1):
            table[i, j] = 0.0
    for i in range(count):
        arm = ((p[i, 0] - centre[0]) / length, (p[i, 1] - centre[1]) / length, (p[i, 2] - centre[2]) / length)
        for k in range(len(PYRAMID)):
            f = edge(normals[i], k, friction)
            put(table, i * len(PYRAMID) + k, f, arm)
        pull = stick(normals[i], toes[i], grip)
        if directed:
            put(table, own + i, pull, arm)
            table[6 + i, own + i], table[6 + i, level], table[6 + i, level + 1 + i] = 1.0, -1.0, 1.0
        else:
            table[0, own] += pull[0]
            table[1, own] += pull[1]
            table[2, own] += pull[2]
            table[3, own] += arm[1] * pull[2] - arm[2] * pull[1]
            table[4, own] += arm[2] * pull[0] - arm[0] * pull[2]
            table[5, own] += arm[0] * pull[1] - arm[1] * pull[0]
    for r in range(3):
        table[r, last], table[3 + r, last] = load[r], load[3 + r] / length
        slope[r] = 0.0
    turned = (load[3] < 0.0, load[4] < 0.0, load[5] < 0.0)
    for r in range(6):
        if table[r, last] < 0.0:
            for c in range(last + 1):
                table[r, c] = -table[r, c]
    table[rows, level] = 1.0
    for i in range(count):
        for r in range(3):
            forces[i, r] = math.nan
    if not minimize(table, rows, n, basis):
        return math.inf
    for i in range(count):
        for r in range(3):
            forces[i, r] = 0.0
    adhesion = 0.0
    for r in range(rows):
        c, x = basis[r], table[r, last]
        if c < own:
            f = edge(normals[c // len(PYRAMID)], c % len(PYRAMID), friction)
            for k in range(3):
                forces[c // len(PYRAMID), k] += x * f[k]
        elif c < level:
            f = stick(normals[c - own], toes[c - own], grip)
            for k in range(3):
                forces[c - own, k] += x * f[k]
        elif c == level:
            adhesion = x
    if not directed:
        for i in range(count):
            for k in range(3):
                forces[i, k] -= adhesion * normals[i, k]
    # Moving the centre by δ adds δ × force to the moments to be balanced; the dual variables of the moments give its effect on A.
    y0 = table[rows, n + 3] if turned[0] else -table[rows, n + 3]
    y1 = table[rows, n + 4] if turned[1] else -table[rows, n + 4]
    y2 = table[rows, n + 5] if turned[2] else -table[rows, n + 5]
    slope[0] = (load[1] * y2 - load[2] * y1) / length
    slope[1] = (load[2] * y0 - load[0] * y2) / length
    slope[2] = (load[0] * y1 - load[1] * y0) / length
    return adhesion


@inline
def without_tipping(p, centre, load):
    """Takes the moment about the line between the first two points of `p` out of `load`, and returns it."""
    d0, d1, d2 = p[1, 0] - p[0, 0], p[1, 1] - p[0, 1], p[1, 2] - p[0, 2]
    size = max(math.sqrt(d0 * d0 + d1 * d1 + d2 * d2), 1e-12)
    d0, d1, d2 = d0 / size, d1 / size, d2 / size
    a0, a1, a2 = centre[0] - p[0, 0], centre[1] - p[0, 1], centre[2] - p[0, 2]
    x, y, z = a1 * load[2] - a2 * load[1], a2 * load[0] - a0 * load[2], a0 * load[1] - a1 * load[0]
    moment = d0 * (load[3] + x) + d1 * (load[4] + y) + d2 * (load[5] + z)
    load[3] -= moment * d0
    load[4] -= moment * d1
    load[5] -= moment * d2
    return moment


@inline
def tableau(count):
    """Arrays for the linear program of `count` feet, with or without a grip."""
    return np.empty((8 + count, count * (len(PYRAMID) + 3) + 8)), np.empty(6 + count, np.int64)


@kernel
def hold_kernel(p, normals, toes, centre, load, friction, grip, forces, slope):
    table, basis = tableau(p.shape[0])
    return hold_once(p, normals, toes, p.shape[0], centre, load, friction, grip, table, basis, forces, slope)


@kernel
def hold_along(masses, share, Q, feet, rotations, side, aloft, loads, friction, grip, adhesion, critical, slopes, forces, tipping):
    """The smallest adhesion at every sample, the foot that is pulled hardest, derivatives (T, 3) with respect to the centre of
    mass, and the forces on all feet (T, feet, 3).

    `masses` are points, `share` their shares of the weight; `loads` (T, 6) as in `hold_once`; a foot that is `aloft` (T, feet)
    bears no force. Two feet bear no moment about the line between them: it is left out, and written to `tipping` (T,) [weights·m].
    """
    n, n_feet = masses.joints.shape[0], feet.shape[1]
    R, q, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    table, basis = tableau(n_feet)
    p, normals, toes, borne = np.empty((n_feet, 3)), np.empty((n_feet, 3)), np.empty((n_feet, 3)), np.empty((n_feet, 3))
    centre, which, load = np.empty(3), np.empty(n_feet, np.int64), np.empty(6)
    for t in range(Q.shape[0]):
        place(masses.joints, 0, n, Q[t], (0.0, 0.0, 0.0), R, q, S)
        for r in range(3):
            centre[r] = 0.0
        for i in range(share.shape[0]):
            y = on_joint(R, q, masses.carrier[i], masses.local[i])
            for r in range(3):
                centre[r] += share[i] * y[r]
        count = 0
        for foot in range(n_feet):
            if not aloft[t, foot]:
                which[count] = foot
                for r in range(3):
                    p[count, r] = feet[t, foot, r]
                    normals[count, r] = rotations[t, foot, r, 2]
                    toes[count, r] = side[foot] * rotations[t, foot, r, 1]
                count += 1
        for r in range(6):
            load[r] = loads[t, r]
        tipping[t] = without_tipping(p, centre, load) if count == 2 else 0.0
        adhesion[t] = hold_once(p, normals, toes, count, centre, load, friction, grip, table, basis, borne, slopes[t])
        lowest = math.inf
        critical[t] = which[0]
        for foot in range(n_feet):
            for r in range(3):
                forces[t, foot, r] = 0.0
        for i in range(count):
            pressed = borne[i, 0] * normals[i, 0] + borne[i, 1] * normals[i, 1] + borne[i, 2] * normals[i, 2]
            for r in range(3):
                forces[t, which[i], r] = borne[i, r]
            if pressed < lowest:
                lowest, critical[t] = pressed, which[i]


@kernel
def centre_rows(masses, share, Q, slopes, unit, rows):
    """Derivatives of slopes (T, 3) · centre of mass with respect to the scaled columns: rows (T, 1, columns)."""
    n, count = masses.joints.shape[0], share.shape[0]
    R, p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    x, J = np.empty((count, 3)), np.empty((3 * count, rows.shape[2]))
    for t in range(Q.shape[0]):
        points(masses, Q[t], R, p, S, x, J)
        for c in range(rows.shape[2]):
            total = 0.0
            for i in range(count):
                for r in range(3):
                    total += share[i] * slopes[t, r] * J[3 * i + r, c]
            rows[t, 0, c] = total * (unit if c < 3 else 1.0)
