"""Forces that push at a point, as inputs: their effect on a step depends on the configuration.

A push in direction e at point x has the wrench W = (x × e, e). Its generalised force on joint i, with axis S_i, is S_i·W. Joint j
moves all that it carries: the point, a direction e that turns with the body, and the axes below it. So ∂(S_i·W)/∂q_j is
S_i·(S_j ×* W) if joint i is strictly above joint j, and zero otherwise. A direction that is fixed in the world does not turn, which
subtracts S_i·(x × ė, ė) with ė = ω_j × e.
"""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import kernel
from bunraku.kinematics.gaps import carry_points
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import axpy6, cross, dot6, dual, get3, get6


@kernel
def pushes(tree, thrusts, Q, covectors, dt, E, turn):
    """E[k] = dt · ∂F/∂u of the pushes among `thrusts`, at the middle of every step k; columns of efforts are left alone.

    With covectors, turn[k, f] = Σ_i covectors[k, i] ∂E[k, i, f]/∂q.
    """
    n, joints, nj = tree.n_dynamic, tree.joints, tree.joints.shape[0]
    R, p, S, x = np.empty((nj, 3, 3)), np.empty((nj, 3)), np.empty((nj, 6)), np.empty((tree.points.shape[0], 3))
    o, q = (0.0, 0.0, 0.0), np.empty(Q.shape[1])
    for k in range(Q.shape[0] - 1):
        for i in range(q.shape[0]):
            q[i] = 0.5 * (Q[k, i] + Q[k + 1, i])
        place(joints, 0, nj, q, o, R, p, S)
        for f in range(thrusts.shape[0]):
            force = tree.forces[thrusts[f]]
            if force.link < 0:
                continue
            link = tree.springs[force.link]
            carry_points(link, tree.points, R, p, o, x)
            at, e = get3(x, link.first), get3(x, link.first + 2)
            moment = cross(at, e)
            W = (moment[0], moment[1], moment[2], e[0], e[1], e[2])
            last = tree.points[link.first].joint
            weighted = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # Σ c_i S_i over the joints that the push acts on
            j = last
            while j >= 0:
                i = joints[j].variable
                if i < n:
                    E[k, i, f] = dt * dot6(get6(S, j), W)
                    if covectors.shape[0] > 0:
                        weighted = axpy6(dt * covectors[k, i], get6(S, j), weighted)
                j = joints[j].parent
            if covectors.shape[0] == 0:
                continue
            above, j = weighted, last
            while j >= 0:
                i = joints[j].variable
                if i < n:
                    above = axpy6(-dt * covectors[k, i], get6(S, j), above)
                y = dot6(above, dual(get6(S, j), W))
                if not force.turns:
                    e1 = cross(get3(S, j), e)
                    m1 = cross(at, e1)
                    y -= dot6(weighted, (m1[0], m1[1], m1[2], e1[0], e1[1], e1[2]))
                turn[k, f, i] = y
                j = joints[j].parent
