"""Forces on the feet that a controller aims at: inside the friction cones, small on feet that have just landed or soon lift."""

from __future__ import annotations

import daqp
import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.climb.climb_dynamics import NeededForces, loads
from bunraku.locomotion.climb.foot_swing import FootPaths

Array = NDArray[np.float64]


def foot_forces(
    needed: NeededForces, feet: FootPaths, *, friction: float = 1.0, adhesion: Array, ramp: float = 0.05, sides: int = 8
) -> Array:  # fmt: skip
    """Forces on the feet (T, feet, 3), in body weights, that move the bodies as `needed`.

    feet: the paths of the feet at the same samples
    friction: coefficient of friction
    adhesion: of each foot at every sample (T,) [weights]
    ramp: time in which a foot takes over its load after landing, and gives it up before lifting off [s]
    sides: number of sides of the pyramid inside the friction cone

    Each sample is a quadratic program: the least weighted sum of squares, in which the weight of a foot grows towards its landing
    and its lift-off. Where no forces satisfy all cones, the cones are left out. Two feet bear no moment about the line between
    them; it is left out.
    """
    load = loads(needed)
    centre = np.einsum("b,tbi->ti", needed.mass, needed.place) / needed.mass.sum()
    arm = feet.p - centre[:, None]
    size = float(np.abs(arm).max())
    load[:, 3:] /= size
    share, out = shares(feet, ramp), np.zeros(feet.p.shape)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    inner = friction * np.cos(np.pi / sides)
    for t in range(len(load)):
        stand = np.flatnonzero(share[t] > 0.0)
        G = np.zeros((6, 3 * len(stand)))
        cone = np.zeros((sides * len(stand), 3 * len(stand)))
        for i, foot in enumerate(stand):
            x, y, z = arm[t, foot] / size
            own = slice(3 * i, 3 * i + 3)
            G[:3, own], G[3:, own] = np.eye(3), [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
            R = feet.R[t, foot]
            along = np.cos(angle)[:, None] * R[:, 0] + np.sin(angle)[:, None] * R[:, 1]
            cone[sides * i : sides * (i + 1), own] = along - inner * R[:, 2]  # f_t − μ f_n ≤ μ A
        G, given = _balance(G, load[t], arm[t, stand] / size)
        H = np.diag(np.repeat(1.0 / share[t, stand], 3))
        A = np.ascontiguousarray(np.concatenate([G, cone]))
        upper = np.concatenate([given, np.full(len(cone), inner * adhesion[t])])
        lower = np.concatenate([given, np.full(len(cone), -1e30)])
        sense = np.concatenate([np.full(len(given), 5), np.zeros(len(cone))]).astype(np.int32)
        x, _, flag, _ = daqp.solve(H, np.zeros(len(H)), A, upper, lower, sense)
        if flag < 1:
            W = np.repeat(share[t, stand], 3)
            x = W * (G.T @ np.linalg.solve((G * W) @ G.T, given))
        out[t, stand] = np.reshape(x, (-1, 3))
    return out


def _balance(G: Array, load: Array, arms: Array) -> tuple[Array, Array]:
    """The equations G f = load of forces at `arms` (n, 3) from the centre; for two of them, without the moment about their line."""
    if len(arms) != 2:
        return G, load
    x, y, z = arms[0]
    to_foot = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    across = np.linalg.svd((arms[1] - arms[0])[None])[2][1:]  # two directions perpendicular to the line
    rows = np.concatenate([np.eye(3, 6), across @ np.concatenate([-to_foot, np.eye(3)], 1)])
    return np.asarray(rows @ G), np.asarray(rows @ load)


def shares(feet: FootPaths, ramp: float) -> Array:
    """How much each foot should bear (T, feet): 0 while it swings, 1 while it stands, less within `ramp` [s] of a swing."""
    T, n = feet.p.shape[:2]
    steps, dt = max(round(ramp / float(feet.t[1] - feet.t[0])), 1), 1.0
    out = np.ones((T, n))
    for foot in range(n):
        swings = feet.aloft[:, foot]
        for kind in (1, -1):
            since = np.full(T, float(steps))
            run = float(steps)
            for k in range(T)[::kind]:
                run = 0.0 if swings[k] else run + dt
                since[k] = run
            out[:, foot] *= np.where(swings, 0.0, np.clip(since / steps, 0.02, 1.0))
    return out
