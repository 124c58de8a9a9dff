"""Small optimal-control problems written down once more, for CasADi and IPOPT: the same steps, sums and weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SILENT = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-11, "ipopt.acceptable_tol": 1e-11}


def cart_pendulum(q: Any, v: Any, *, cart: float = 10.0, mass: float = 1.0, length: float = 1.0, gravity: float = 9.8) -> Any:
    """L of the cart with its pendulum; θ from hanging."""
    kinetic = 0.5 * (cart + mass) * v[0] ** 2 + mass * length * v[0] * v[1] * ca.cos(q[1]) + 0.5 * mass * length**2 * v[1] ** 2
    return kinetic + mass * gravity * length * ca.cos(q[1])


def pendulum(q: Any, v: Any, *, gravity: float = 9.81) -> Any:
    """L of a point mass on a rod of 1 m."""
    return 0.5 * v[0] ** 2 + gravity * ca.cos(q[0])


def double_pendulum(q: Any, v: Any, *, gravity: float = 9.81) -> Any:
    """L of two point masses on rods of 1 m; the second angle is relative to the first."""
    a, b = q[0], q[0] + q[1]
    va, vb = v[0], v[0] + v[1]
    kinetic = va**2 + 0.5 * vb**2 + va * vb * ca.cos(a - b)
    return kinetic + gravity * (2.0 * ca.cos(a) + ca.cos(b))


class Steps:
    """Steps of the midpoint variational integrator for a Lagrangian with forces B u − damping·v, half of them on each side."""

    def __init__(self, lagrangian: Callable[[Any, Any], Any], n: int, B: Array, damping: float, dt: float) -> None:
        q0, q1, u = ca.SX.sym("q0", n), ca.SX.sym("q1", n), ca.SX.sym("u", B.shape[1])
        L = dt * lagrangian((q0 + q1) / 2, (q1 - q0) / dt)
        F = 0.5 * dt * (ca.mtimes(B, u) - damping * (q1 - q0) / dt)
        self.n, self.m, self.dt = n, B.shape[1], dt
        self.left = ca.Function("left", [q0, q1, u], [ca.gradient(L, q0) + F])
        self.right = ca.Function("right", [q0, q1, u], [ca.gradient(L, q1) + F])

    def minimum(self, wx: Array, rx: Array, wu: Array, x0: Array, u0: Array) -> tuple[float, Array]:
        """Least Σ ½ wx (x − rx)² + Σ ½ wu u² over motions from x0[0], found from the guess (x0, u0); and its q."""
        N, n = len(u0), self.n
        X, U = ca.SX.sym("X", 2 * n, N + 1), ca.SX.sym("U", self.m, N)
        J, g = 0, [X[:, 0] - x0[0]]
        for k in range(N + 1):
            J += 0.5 * ca.dot(wx[k], (X[:, k] - rx[k]) ** 2)
        for k in range(N):
            J += 0.5 * ca.dot(wu[k], U[:, k] ** 2)
            q0, q1 = X[:n, k], X[:n, k + 1]
            g += [X[n:, k] + self.left(q0, q1, U[:, k]), X[n:, k + 1] - self.right(q0, q1, U[:, k])]
        z = ca.vertcat(ca.vec(X), ca.vec(U))
        solver = ca.nlpsol("s", "ipopt", {"x": z, "f": J, "g": ca.vertcat(*g)}, SILENT)
        found = solver(x0=np.concatenate([x0.ravel(), u0.ravel()]), lbg=0, ubg=0)
        assert solver.stats()["success"]
        return float(found["f"]), np.array(found["x"]).ravel()[: x0.size].reshape(x0.shape)[:, :n]


class Arm:
    """An arm on its string, planar (two angles) or in space (three at the shoulder, one at the elbow): L, its tip, its spindle."""

    def __init__(self, figure: Any) -> None:
        self.bodies, self.gravity, self.n = figure.bodies, -figure.gravity[2], figure.n_dynamic
        self.upper, self.lower = (-figure.frame(name).position[2] for name in ("elbow", "tip"))
        self.height = figure.frame("hand_spindle" if self.n == 2 else "hand_x").position[2]

    def turns(self, q: Any) -> tuple[Any, Any]:
        """Rotations of the upper arm and of the forearm."""
        if self.n == 2:
            return _turn(1, -q[0]), _turn(1, -q[0] - q[1])
        shoulder = _turn(2, q[0]) @ _turn(1, q[1]) @ _turn(0, q[2])
        return shoulder, shoulder @ _turn(0, q[3])

    def along(self, q: Any, upper: float, lower: float) -> Any:
        """A point so far down the upper arm, and from the elbow so far down the forearm."""
        first, second = self.turns(q)
        return -upper * first[:, 2] - lower * second[:, 2]

    def lagrangian(self, q: Any, v: Any) -> Any:
        total = 0
        for body, R, (a, b) in zip(self.bodies, self.turns(q), ((0.0, None), (self.upper, 0.0)), strict=True):
            down = -body.com[2]
            x = self.along(q, down, 0.0) if b is None else self.along(q, a, down)
            speed, spin = ca.jtimes(x, q, v), R.T @ ca.reshape(ca.jtimes(ca.vec(R), q, v), 3, 3)
            omega = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
            kinetic = 0.5 * body.mass * ca.dot(speed, speed) + 0.5 * ca.dot(ca.DM(body.inertia[:3]), omega**2)
            total += kinetic - body.mass * self.gravity * x[2]
        return total

    def gap(self, q: Any, k: Any) -> Any:
        """How much longer the way from tip to spindle is than the string."""
        spindle = ca.vertcat(k[0], 0.0, self.height) if self.n == 2 else ca.vertcat(k[0], k[1], self.height)
        return ca.norm_2(self.along(q, self.upper, self.lower) - spindle) - k[-1]


def _turn(axis: int, angle: Any) -> Any:
    """A rotation about x, y or z."""
    c, s = ca.cos(angle), ca.sin(angle)
    rows = [[c, -s], [s, c]] if axis != 1 else [[c, s], [-s, c]]
    R = ca.SX.eye(3)
    a, b = [k for k in range(3) if k != axis]
    R[a, a], R[a, b], R[b, a], R[b, b] = rows[0][0], rows[0][1], rows[1][0], rows[1][1]
    return R


def arm_minimum(figure: Any, sheet: Any, dt: float, damping: float, x0: Array, u0: Array, impulse: Array) -> float:
    """An arm on its string, with gap(q₁) = 0 and a multiplier at every step.

    States are (q, momentum, rates of the hands) and inputs the hands' next places, as in the sheet.
    """
    arm, n, h, N = Arm(figure), figure.n_dynamic, figure.n_q - figure.n_dynamic, len(u0)
    q, v, q0, q1, k = (ca.SX.sym(name, size) for name, size in (("q", n), ("v", n), ("q0", n), ("q1", n), ("k", h)))
    L = ca.Function("L", [q, v], [arm.lagrangian(q, v)])
    Ld = dt * L((q0 + q1) / 2, (q1 - q0) / dt)
    F = -0.5 * damping * (q1 - q0)
    left = ca.Function("left", [q0, q1], [ca.gradient(Ld, q0) + F]).map(N)
    right = ca.Function("right", [q0, q1], [ca.gradient(Ld, q1) + F]).map(N)
    gap = ca.Function("gap", [q, k], [arm.gap(q, k)]).map(N)
    gap_q = ca.Function("gap_q", [q, k], [ca.gradient(arm.gap(q, k), q)]).map(N)
    Q, P, K, S = ca.MX.sym("Q", n, N + 1), ca.MX.sym("P", n, N + 1), ca.MX.sym("K", h, N + 1), ca.MX.sym("S", 1, N)
    rate = ca.horzcat(ca.DM(x0[0, 2 * n + h :]), (K[:, 1:] - K[:, :-1]) / dt)
    off = ca.vertcat(Q, K, P, rate) - ca.DM(sheet.rx.T)
    J = 0.5 * ca.sum1(ca.sum2(ca.DM(sheet.wx.T) * off**2))
    J += 0.5 * ca.dot(ca.DM(sheet.acceleration), ca.sum2(((rate[:, 1:] - rate[:, :-1]) / dt) ** 2))
    a, b = Q[:, :-1], Q[:, 1:]
    rows = [
        ca.vertcat(Q[:, 0], K[:, 0], P[:, 0]) - x0[0, : 2 * n + h],
        ca.vec(P[:, :-1] + left(a, b) - gap_q(a, K[:, :-1]) * ca.repmat(S, n, 1)),
        ca.vec(P[:, 1:] - right(a, b)),
        ca.vec(gap(b, K[:, 1:])),
    ]
    z = ca.vertcat(ca.vec(Q), ca.vec(P), ca.vec(K), ca.vec(S))
    solver = ca.nlpsol("s", "ipopt", {"x": z, "f": J, "g": ca.vertcat(*rows)}, SILENT | {"ipopt.max_iter": 20})
    parts = x0[:, :n], x0[:, n + h : 2 * n + h], x0[:, n : n + h], impulse[:, :1]
    found = solver(x0=np.concatenate([part.ravel() for part in parts]), lbg=0, ubg=0)
    assert solver.stats()["success"]
    return float(found["f"])
