"""How far a hand may move in one step: as far as some motion of the figure lets its strings follow.

Wanted is a change dk of the kinematic variables. Near the edge of what the figure can reach, no change dq of the dynamic
variables, or only a very large one, keeps every gap ≤ 0. So dk gives way:

    minimise  |e|² + σ² |dq|²   subject to   gap + A_q dq + A_k (dk + e) ≤ 0     for every string and stop,
                                             A_k (dk + e) ≤ −give                for strings that are pulled too hard,

a least-distance problem, which non-negative least squares solves (Lawson and Hanson, ch. 23).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.figure import Figure

Array = NDArray[np.float64]
SOFT = 0.1
"""σ [m/rad]: the smaller, the nearer to the edge a hand gets, and the faster limbs must move there."""


def least(C: Array, d: Array) -> tuple[Array, Array] | None:
    """The shortest x with C x ≤ d, and the multipliers of the rows; nothing where there is none."""
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


def reachable(figure: Figure, q: Array, dk: Array, *, tight: NDArray[np.bool_], give: float) -> tuple[Array, NDArray[np.bool_]]:
    """What of dk can be done in a step from q, and which strings and wires stand in the way.

    `tight` says which strings (then wires) are pulled too hard: the hand gives way to them, by `give` metres.
    """
    n, ropes = figure.n_dynamic, len(figure.strings) + len(figure.wires)
    gap, A = gap_derivatives(figure, q)
    pulls = np.array(figure.compiled.tree.links["pulls"], bool)
    rows = np.flatnonzero(pulls)
    hard = np.flatnonzero(tight & (np.abs(A[:ropes, n:]).max(1, initial=0.0) > 1e-3))
    C = np.vstack(
        [
            np.hstack([A[rows, :n] / SOFT, A[rows, n:]]),
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
