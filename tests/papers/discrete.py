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


def arm_minimum(figure: Any, sheet: Any, dt: float, damping: float, x0: Array, u0: Array, impulse: Array) -> float:
    """The planar arm on its string: two links of the figure's masses, and gap(q₁) = 0 with a multiplier at every step.

    States are (q, momentum, rates of the hands) and inputs the hands' next places, as in the sheet.
    """
    (m1, c1, i1), (m2, c2, i2) = ((b.mass, b.com[2], b.inertia[1]) for b in figure.bodies)
    upper = -figure.frame("elbow").position[2]
    lower, height = -figure.frame("tip").position[2], figure.frame("hand_spindle").position[2]
    g = -figure.gravity[2]
    q0, q1, k = ca.SX.sym("q0", 2), ca.SX.sym("q1", 2), ca.SX.sym("k", 2)

    def place(q: Any, along: float) -> Any:  # x and z of a point of the lower link; angles swing toward +x
        a, b = q[0], q[0] + q[1]
        return ca.vertcat(upper * ca.sin(a) + along * ca.sin(b), -upper * ca.cos(a) - along * ca.cos(b))

    def lagrangian(q: Any, v: Any) -> Any:
        second = ca.jtimes(place(q, -c2), q, v)
        kinetic = 0.5 * (m1 * c1**2 + i1) * v[0] ** 2 + 0.5 * i2 * (v[0] + v[1]) ** 2 + 0.5 * m2 * ca.dot(second, second)
        return kinetic - m1 * g * c1 * ca.cos(q[0]) - m2 * g * place(q, -c2)[1]

    q, v = ca.SX.sym("q", 2), ca.SX.sym("v", 2)
    L = ca.Function("L", [q, v], [lagrangian(q, v)])
    Ld = dt * L((q0 + q1) / 2, (q1 - q0) / dt)
    F = -0.5 * damping * (q1 - q0)
    left = ca.Function("left", [q0, q1], [ca.gradient(Ld, q0) + F])
    right = ca.Function("right", [q0, q1], [ca.gradient(Ld, q1) + F])
    distance = ca.norm_2(place(q, lower) - ca.vertcat(k[0], height))
    gap = ca.Function("gap", [q, k], [distance - k[1]])
    gap_q = ca.Function("gap_q", [q, k], [ca.gradient(distance, q)])
    N = len(u0)
    X, K, S = ca.SX.sym("X", 4, N + 1), ca.SX.sym("K", 2, N + 1), ca.SX.sym("S", 1, N)
    J, rows = 0, [X[:, 0] - x0[0, [0, 1, 4, 5]], K[:, 0] - x0[0, 2:4]]
    rate = [ca.DM(x0[0, 6:])] + [(K[:, k + 1] - K[:, k]) / dt for k in range(N)]
    for j in range(N + 1):
        x = ca.vertcat(X[:2, j], K[:, j], X[2:, j], rate[j])
        J += 0.5 * ca.dot(sheet.wx[j], (x - sheet.rx[j]) ** 2)
    for j in range(N):
        J += 0.5 * ca.dot(sheet.acceleration, ((rate[j + 1] - rate[j]) / dt) ** 2)
        a, b = X[:2, j], X[:2, j + 1]
        rows += [
            X[2:, j] + left(a, b) - gap_q(a, K[:, j]) * S[j], X[2:, j + 1] - right(a, b), gap(b, K[:, j + 1])
        ]  # fmt: skip
    z = ca.vertcat(ca.vec(X), ca.vec(K), ca.vec(S))
    solver = ca.nlpsol("s", "ipopt", {"x": z, "f": J, "g": ca.vertcat(*rows)}, SILENT | {"ipopt.max_iter": 20})
    guess = np.concatenate([x0[:, [0, 1, 4, 5]].ravel(), x0[:, 2:4].ravel(), impulse.ravel()])
    found = solver(x0=guess, lbg=0, ubg=0)
    assert solver.stats()["success"]
    return float(found["f"])
