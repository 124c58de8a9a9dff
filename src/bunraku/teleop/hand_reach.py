"""How far a hand may move in one step: only as far as the figure can follow on its strings.

The hand wants to change the kinematic variables by dk. Near the edge of what the figure can reach, no change dq of the dynamic
variables keeps every gap ≤ 0, or only a very large one. So dk is corrected by e:

    minimise  |e|² + σ² |dq|²   subject to   gap + A_q dq + A_k (dk + e) ≤ 0     for every string and stop,
                                             A_k (dk + e) ≤ −give                for strings that are pulled too hard,

a least-distance problem, which non-negative least squares solves (Lawson and Hanson, ch. 23). This is no inverse kinematics: what
the hand wants was found before, by `bunraku.kinematics.Drag`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.figure import Figure

Array = NDArray[np.float64]


def least(C: Array, d: Array) -> tuple[Array, Array] | None:
    """The shortest x with C x ≤ d, and the multipliers of the rows; None if no x is allowed."""
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
    """The change of the kinematic variables that a hand may make in a step, and which strings and wires hold it back.

    figure, q: the figure and its configuration before the step, (n_q,).
    dk: the change that the hand wants, (n_q − n_dynamic,).
    tight: which strings (then wires) are pulled too hard: the hand gives way to them,
    give: by so much [m].
    softness: σ [m/rad]: the smaller, the nearer a hand gets to the edge of its reach, and the faster limbs must move there.
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
