"""settle: the pose in which a figure hangs at rest.

Steps from rest, each to its own midpoint: q ← (q0 + q1)/2 with p0 = 0 is an implicit step down the potential (modes shrink by
1/(1 + ω²dt²/4)), with strings that pull only; growing steps turn it into Newton's method.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics.lagrangian import total_mass
from bunraku.dynamics.rollout import advance
from bunraku.dynamics.simulation import require_dynamic
from bunraku.dynamics.variational import begin, workspace
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration
from bunraku.spatial.kernel import kernel

Array = NDArray[np.float64]


@kernel
def _settle(tree, q, u, lam, tolerance, most):
    """Returns the size of the last step; q and lam (tension) are updated in place."""
    n, nq, nc = tree.shape[0], tree.shape[1], tree.shape[3]
    w = workspace(tree)
    o, p0, p1, q1 = (0.0, 0.0, 0.0), np.zeros(n), np.empty(n), np.empty(nq)
    mass, dt, size = total_mass(tree.joints), 0.02, 1.0
    for _ in range(most):
        for i in range(nq):
            q1[i] = q[i]
        for c in range(nc):
            lam[c] *= dt
        begin(tree, w, o, q)
        advance(tree, w, o, q, p0, u, dt, 1.0, mass / dt, q1, lam, p1, 1e-13)
        for c in range(nc):
            lam[c] /= dt
        size = 0.0
        for i in range(n):
            half = 0.5 * (q1[i] - q[i])
            size = max(size, abs(half))
            q[i] += half
        for i in range(n, nq):
            q[i] = q1[i]
        if size < tolerance and dt > 0.5:
            break
        if size < 0.2:
            dt = min(dt * 1.3, 1.0)
        else:
            dt = max(dt * 0.7, 0.01)
    return size


def settle(figure: Figure, q: ArrayLike | None = None, *, forces: ArrayLike | None = None, tolerance: float = 1e-11) -> Array:
    """The configuration near q (or the start) in which the figure hangs at rest, its kinematic variables held.

    A minimum of potential energy: strings may end taut or slack. A start that balances is nudged off its balance.
    """
    require_dynamic(figure)
    out = configuration(figure, figure.start if q is None else q)
    n = figure.n_dynamic
    out[:n] += 1e-4 * np.sin(1.0 + np.arange(n))
    u = np.zeros(len(figure.forces)) if forces is None else np.ascontiguousarray(forces, float)
    lam = np.zeros(len(figure.compiled.tree.links))
    size = _settle(figure.compiled.tree, out, u, lam, tolerance, 5000)
    if not size < tolerance:
        raise BunrakuError(
            f"{figure.name} has not come to rest: it still moves by {size:.2g} a step\n"
            "  advice: is anything holding it up? a free figure falls for ever"
        )
    return out
