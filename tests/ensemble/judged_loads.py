"""Loads and balance, judged by other code: masses from MuJoCo, forces in the world by a linear program of its own."""

from __future__ import annotations

import math

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from bunraku.ensemble.errand import Errand

Array = NDArray[np.float64]
LEVER = 0.2  # [m]: moment that a hand resists, over the weight that its agent bears
STRIDE = 1.2  # [s]: over which a walker is in balance on average


def shares(errand: Errand, R: Array) -> tuple[float, dict[str, float]]:
    """The largest share of what an agent bears, and the mass on each agent [kg], with the object turned by R (3, 3).

    Each hand pushes upward with a force and has a moment about two level axes; forces and moments about the centre of mass vanish.
    """
    carried, agents = errand.team.carried, errand.team.agents
    arms = [(agent, R @ (hold.X_OT[:3, 3] - np.array(carried.centre))) for agent in agents for hold in agent.holds]
    n, columns = len(arms), 3 * len(arms) + 1
    balance, upper = np.zeros((3, columns)), []
    for k, (agent, (x, y, _)) in enumerate(arms):
        balance[:, 3 * k] = 1.0, y, -x
        balance[1, 3 * k + 1] = balance[2, 3 * k + 2] = 1.0
        if math.isfinite(agent.bears):
            for column, sign in ((1, 1), (1, -1), (2, 1), (2, -1)):
                row = np.zeros(columns)
                row[3 * k + column], row[-1] = sign, -LEVER * agent.bears
                upper.append(row)
    for agent in agents:
        if math.isfinite(agent.bears):
            row = np.zeros(columns)
            row[[3 * k for k in range(n) if arms[k][0] is agent]] = 1.0
            row[-1] = -agent.bears
            upper.append(row)
    bounds = [(0, None), (None, None), (None, None)] * n + [(0, None)]
    cost = np.zeros(columns)
    cost[-1] = 1.0
    own = (np.array(upper), np.zeros(len(upper))) if upper else (None, None)
    found = linprog(cost, *own, balance, [carried.mass, 0.0, 0.0], bounds, method="highs-ipm")
    if found.status != 0:
        return math.inf, {}
    return float(found.x[-1]), {a.name: float(sum(found.x[3 * k] for k in range(n) if arms[k][0] is a)) for a in agents}


def mass_and_centre(model: mujoco.MjModel, data: mujoco.MjData, order: list[int], Q: Array) -> tuple[float, Array]:
    """Mass [kg] and centre of mass (T, 3) [m] of a figure in configurations Q (T, n), whose variables are at `order` in qpos."""
    out = np.empty((len(Q), 3))
    for t, q in enumerate(Q):
        data.qpos[order] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        out[t] = data.subtree_com[0]
    return float(model.body_subtreemass[0]), out


def beyond(points: Array, place: Array) -> float:
    """How far a place (2,) is outside of the convex hull of points (n, 2) [m]; infinite for fewer than three."""
    if len(points) < 3:
        return math.inf
    hull = ConvexHull(points, qhull_options="QJ")
    return float((hull.equations[:, :2] @ place + hull.equations[:, 2]).max())


def topples(t: Array, com: Array, soles: Array, stands: NDArray[np.bool_], every: float = 0.25) -> float:
    """How far a centre of mass (T, 3) leaves the place where soles (T, n, 3) stand [m]; of a walker, on average over a stride."""
    dt = float(np.diff(t).mean())
    walks = bool((stands.any(0) & ~stands.all(0)).any())
    half = round(0.5 * STRIDE / dt) if walks else 0
    padded = np.pad(com, ((half, half), (0, 0)), mode="edge")
    worst = 0.0
    for k in range(0, len(t), max(round(every / dt), 1)):
        near = slice(max(k - half, 0), k + half + 1)
        feet = soles[near][stands[near]][:, :2]
        worst = max(worst, beyond(np.unique(feet.round(6), axis=0), padded[k : k + 2 * half + 1, :2].mean(0)))
    return worst
