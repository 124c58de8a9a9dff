"""Second derivatives of L_d by the variables of pairs of joints of which one is above the other.

With i above j, or i = j, the second derivatives of L are products of something of i, its screw S and T = dS/dt, with something of
j: F, G, γ (bunraku.dynamics.lagrangian). Those of L_d = dt·L((q0 + q1)/2, (q1 − q0)/dt) are sums of four of them,

    qq = dt L_qi qj,   vv = 1/dt L_vi vj,   qv = L_qi vj,   vq = L_vi qj
    dd = vv + ½ (qv + ds),   sd = ½ qq + qv,   ds = ½ qq + vq,   ss = qq

by the shift s of both ends of the step, q0 = s, and its way d = q1 − q0. In these, but not in (q0, q1), the large M/dt comes
alone, in dd, and never has to cancel. With ∂/∂q1 = ∂_d and ∂/∂q0 = ∂_s − ∂_d, D1 L_d by q1 is sd − dd, and by a shift ss − ds.

They are computed for all i at once, from the columns of all joints (`pair_rows` and `pair_tangents` in bunraku.kernels.row_sums);
callers read those of i above j.
"""

from __future__ import annotations

from bunraku.dynamics.lagrangian import column_tangents, columns
from bunraku.kernels.compile import woven
from bunraku.kernels.row_sums import GAMMA, TANGENT, F, G, put_column
from bunraku.spatial.algebra import get6


@woven
def _put(f, j, at, force, turn, gamma):
    k = at + F
    f[j, k], f[j, k + 1], f[j, k + 2], f[j, k + 3], f[j, k + 4], f[j, k + 5] = force
    k = at + G
    f[j, k], f[j, k + 1], f[j, k + 2], f[j, k + 3], f[j, k + 4], f[j, k + 5] = turn
    k = at + GAMMA
    f[j, k], f[j, k + 1], f[j, k + 2] = gamma


@woven
def spread(joints, n, row, S, T, V):
    """Writes the columns of the first n joints, all of them before any is read: a processor waits for what it has just written."""
    for j in range(n):
        put_column(V, joints[j].variable, row, get6(S, j))
        put_column(V, joints[j].variable, row + 6, get6(T, j))


@woven
def put_columns(n, g, S, T, I, P, f):
    """(F, G, γ) of the first n joints, likewise all before any is read."""
    for j in range(n):
        force, turn, gamma = columns(j, g, S, T, I, P)
        _put(f, j, 0, force, turn, gamma)


@woven
def put_column_tangents(n, g, S, T, I, P, dS, dT, dI, dP, f):
    """The same of the tangents that `lagrangian.tangent` has left."""
    for j in range(n):
        force, turn, gamma = column_tangents(j, g, S, T, I, P, dS, dT, dI, dP)
        _put(f, j, TANGENT, force, turn, gamma)
