"""How far a hand may move in one step, so that the figure can follow on its strings.

The hand wants to change the kinematic variables by dk. Near the edge of the figure's reach, no change dq of the dynamic variables
keeps every gap ≤ 0, or only a very large one. So dk is corrected by the e that solves

    minimise  |e|² + σ² |dq|²   subject to   gap + A_q dq + A_k (dk + e) ≤ 0     for every string and stop,
                                             A_k (dk + e) ≤ −give                for strings that are pulled too hard,

where A_q and A_k are the derivatives of the gaps. This is a least-distance problem, solved by non-negative least squares (Lawson
and Hanson, ch. 23). It does not involve inverse kinematics: dk was computed before, by `bunraku.kinematics.Drag`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.figure import Figure

Array = NDArray[np.float64]


def least(C: Array, d: Array) -> tuple[Array, Array] | None:
    """The shortest x with C x ≤ d, and the multipliers of the rows; None if there is none."""
    if (d >= 0.0).all():
        return np.zeros(C.shape[1]), np.zeros(len(d))
    E = np.vstack([-C.T, -d])
    f = np.zeros(len(E))
    f[-1] = 1.0
    u, _ = nnls(E, f)
    r = E @ u - f
    if not -r[-1] > 1e-9:
        return None
    return np.asarray(-r[:-1] / r[-1]), np.asarray(u)


def reachable(
    figure: Figure, q: Array, dk: Array, *, tight: NDArray[np.bool_], give: float, softness: float = 0.1
) -> tuple[Array, NDArray[np.bool_]]:
    """The allowed change of the kinematic variables in a step, and which strings and wires hold the hand back.

    figure, q: the figure and its configuration before the step, (n_q,).
    dk: the change that the hand wants, (n_q − n_dynamic,).
    tight: which strings (then wires) are pulled too hard, so that the hand must give way.
    give: how far it gives way to them in this step [m].
    softness: σ [m/rad]: a smaller value lets a hand get nearer to the edge of its reach, where limbs must move faster.
    """
    n, ropes = figure.n_dynamic, len(figure.strings) + len(figure.wires)
    gap, A = gap_derivatives(figure, q)
    pulls = np.array(figure.compiled.tree.links["pulls"], bool)
    rows = np.flatnonzero(pulls)
    hard = np.flatnonzero(tight & (np.abs(A[:ropes, n:]).max(1, initial=0.0) > 1e-3))
    C = np.vstack(
        [
            np.hstack([A[rows, :n] / softness, A[rows, n:]]),
            np.hstack([np.zeros((len(hard), n)), A[hard, n:]]),
        ]
    )
    d = np.concatenate([-gap[rows] - A[rows, n:] @ dk, -A[hard, n:] @ dk - give])
    found = least(C, d)
    if found is None:
        return np.zeros(len(dk)), np.asarray(gap[:ropes] + A[:ropes, n:] @ dk > 0.0)
    x, multipliers = found
    e, acting = x[n:], np.zeros(ropes, bool)
    if np.linalg.norm(e) > 0.5 * np.linalg.norm(dk):
        rows = np.concatenate([rows, hard])[multipliers > 0.0]
        acting[rows[rows < ropes]] = True
    return dk + e, acting
