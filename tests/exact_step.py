"""A step and its derivatives in 50 digits, by other means than those of the kernels.

Places, directions and velocities go down the tree body by body; L = Σ ½ m |ẋ|² + ½ ω·Iω − V is written in CasADi's symbols, which
CasADi differentiates. What it would then compute with doubles is computed with decimals, and so are the linear systems, by dense
elimination. Every number of the figure is a symbol too: nothing is rounded on the way.

    r = p0 + D1 L_d(q0, q1) + share·dt·F − Σ λ gap_q(q0) = 0,    p1 = D2 L_d(q0, q1) + (1 − share)·dt·F
    gap(q1) = 0 of links that act, slip(q1) = slip(q0) where a contact sticks, λ = 0 of the others

Sliding contacts, springs between points and pushes are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

from bunraku.figure.records import FigureTree, LinkKind

Array = NDArray[np.float64]
Decimals = list[Decimal]
DIGITS = 50

# -- decimals --------------------------------------------------------------------------------------------------------


def _sine(x: Decimal, *, first: int = 1) -> Decimal:
    """Its series; that of the cosine from the term 0 on."""
    term, total, k = x if first else Decimal(1), Decimal(0), first
    while True:
        after = total + term
        if after == total and k > abs(x):
            return total
        total, term, k = after, -term * x * x / ((k + 1) * (k + 2)), k + 2


def _one(function: Any) -> Any:
    return lambda x, _: function(x)


_OPERATIONS: dict[int, Any] = {
    casadi.OP_ASSIGN: _one(lambda x: x), casadi.OP_ADD: Decimal.__add__, casadi.OP_SUB: Decimal.__sub__,
    casadi.OP_MUL: Decimal.__mul__, casadi.OP_DIV: Decimal.__truediv__, casadi.OP_NEG: _one(Decimal.__neg__),
    casadi.OP_SQ: _one(lambda x: x * x), casadi.OP_TWICE: _one(lambda x: x + x), casadi.OP_INV: _one(lambda x: 1 / x),
    casadi.OP_SQRT: _one(Decimal.sqrt), casadi.OP_SIN: _one(_sine), casadi.OP_COS: _one(lambda x: _sine(x, first=0)),
}  # fmt: skip


class _Function:
    """A CasADi function of vectors, evaluated in decimals."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        f = casadi.Function("f", list(inputs), [casadi.densify(x) for x in outputs])
        self.sizes = [f.nnz_out(k) for k in range(f.n_out())]
        self.room = f.sz_w()
        self.lines: list[tuple[int, Any, int, int]] = []
        for k in range(f.n_instructions()):
            op, to, of = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
            if op == casadi.OP_INPUT:
                self.lines.append((to[0], None, of[0], of[1]))
            elif op == casadi.OP_CONST:
                self.lines.append((to[0], Decimal(f.instruction_constant(k)), 0, 0))
            elif op == casadi.OP_OUTPUT:
                self.lines.append((-1, (to[0], to[1]), of[0], 0))
            else:
                self.lines.append((to[0], _OPERATIONS[op], of[0], of[-1]))

    def __call__(self, *values: Decimals) -> list[Decimals]:
        w = [Decimal(0)] * self.room
        out = [[Decimal(0)] * size for size in self.sizes]
        for to, what, a, b in self.lines:
            if what is None:
                w[to] = values[a][b]
            elif to < 0:
                out[what[0]][what[1]] = w[a]
            elif isinstance(what, Decimal):
                w[to] = what
            else:
                w[to] = what(w[a], w[b])
        return out


def _solve(A: list[Decimals], B: list[Decimals]) -> list[Decimals]:
    """A⁻¹ B by rows, with row pivoting."""
    m, A, B = len(A), [row[:] for row in A], [row[:] for row in B]
    for j in range(m):
        k = max(range(j, m), key=lambda i: abs(A[i][j]))
        A[j], A[k], B[j], B[k] = A[k], A[j], B[k], B[j]
        inverse = 1 / A[j][j]
        for i in range(j + 1, m):
            f = A[i][j] * inverse
            if f:
                A[i] = [a - f * b if b else a for a, b in zip(A[i], A[j], strict=True)]
                B[i] = [a - f * b if b else a for a, b in zip(B[i], B[j], strict=True)]
    for j in range(m - 1, -1, -1):
        for k in range(j + 1, m):
            f = A[j][k]
            if f:
                B[j] = [a - f * b for a, b in zip(B[j], B[k], strict=True)]
        inverse = 1 / A[j][j]
        B[j] = [inverse * b for b in B[j]]
    return B


def _product(A: list[Decimals], B: list[Decimals]) -> list[Decimals]:
    columns = list(zip(*B, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True) if a and b), Decimal(0)) for column in columns] for row in A]


def _transposed(A: list[Decimals]) -> list[Decimals]:
    return [list(row) for row in zip(*A, strict=True)]


def _unit(k: int, size: int) -> Decimals:
    out = [Decimal(0)] * size
    out[k] = Decimal(1)
    return out


def _exact(x: Any) -> Decimals:
    return [Decimal(float(value)) for value in np.ravel(x)]


def _rounded(A: list[Decimals]) -> Array:
    return np.array([[float(a) for a in row] for row in A])


# -- the figure in symbols -------------------------------------------------------------------------------------------


class _Numbers:
    """Numbers of a figure as symbols, except 0 and ±1."""

    def __init__(self) -> None:
        self.symbols: list[Any] = []
        self.values: Decimals = []

    def __call__(self, x: Any) -> Any:
        if np.ndim(x):
            return casadi.vertcat(*(self(value) for value in x))
        if float(x) in (0.0, 1.0, -1.0):
            return casadi.SX(float(x))
        self.symbols.append(casadi.SX.sym(f"c{len(self.values)}"))
        self.values.append(Decimal(float(x)))
        return self.symbols[-1]


class _Body:
    """Where the frame of a joint is and how it moves, in symbols."""

    def __init__(self, joint: Any, above: _Body | None, q: Any, v: Any, number: _Numbers) -> None:
        axis = int(joint["kind"]) % 3
        R = casadi.horzcat(*(number(joint["rotation"][:, k]) for k in range(3)))
        c = number(joint["position"])
        if above is None:
            zero = casadi.SX.zeros(3)
            self.R, self.x, self.omega, self.v = R, c, zero, zero
        else:
            c = above.R @ c
            self.R, self.x, self.omega, self.v = above.R @ R, above.x + c, above.omega, above.v + casadi.cross(above.omega, c)
        e, slide, speed = self.R[:, axis], casadi.SX(0), casadi.SX(0)
        if joint["kind"] < 3:
            a, b, cosine, sine = (axis + 1) % 3, (axis + 2) % 3, casadi.cos(q), casadi.sin(q)
            turn = casadi.SX.eye(3)
            turn[a, a], turn[a, b], turn[b, a], turn[b, b] = cosine, -sine, sine, cosine
            self.R = self.R @ turn
            if joint["pitch"]:
                slide, speed = number(joint["pitch"]) * q, number(joint["pitch"]) * v
            after = self.omega + e * v
        else:
            slide, speed, after = q, v, self.omega
        self.v = self.v + casadi.cross(self.omega, e * slide) + e * speed
        self.x, self.omega = self.x + e * slide, after

    def kinetic(self, joint: Any, number: _Numbers) -> tuple[Any, Any]:
        """Kinetic energy of its body, and m·x of its centre."""
        c = self.R @ number(joint["com"])
        v, turn = self.v + casadi.cross(self.omega, c), self.R.T @ self.omega
        xx, xy, xz, yy, yz, zz = (number(i) for i in joint["inertia"])
        inertia = casadi.vertcat(casadi.horzcat(xx, xy, xz), casadi.horzcat(xy, yy, yz), casadi.horzcat(xz, yz, zz))
        m = number(joint["mass"])
        return 0.5 * m * casadi.dot(v, v) + 0.5 * casadi.dot(turn, inertia @ turn), m * (self.x + c)


class ExactStep:
    """The steps of a figure in which the same links act.

    tree: the figure as kernels take it
    states: of every link: 0 slack, 1 acting
    """

    def __init__(self, tree: FigureTree, states: Sequence[int]) -> None:
        assert not len(tree.springs), "springs between points and pushes are left out"
        assert max(states, default=0) < 2, "sliding contacts are left out"
        self.tree, self.states, self.number = tree, list(states), _Numbers()
        n, nq, nc, nu = tree.n_dynamic, tree.n_q, tree.n_links, len(tree.forces)
        names = {"q0": nq, "q1": nq, "lam": nc, "u": nu, "dt": 1, "share": 1, "mu": n + nc, "z": n}
        q0, q1, lam, u, dt, share, mu, z = (casadi.SX.sym(name, size) for name, size in names.items())
        v = (q1 - q0) / dt
        Ld = dt * self._lagrangian(0.5 * (q0 + q1), v)
        F = self._forces(v, u)
        gaps0, gaps1 = self._gaps(q0), self._gaps(q1)
        acting = [casadi.SX(state > 0) for state in states]
        slips = [casadi.SX(bool(kind == LinkKind.SLIP)) for kind in tree.links["kind"]]
        gaps = [a * (g1 - s * g0) + (1 - a) * l for a, s, g0, g1, l in zip(acting, slips, gaps0, gaps1, _split(lam), strict=True)]
        held = casadi.gradient(casadi.dot(lam, casadi.vertcat(*gaps0)), q0)[:n] if nc else casadi.SX.zeros(n)
        self._w = casadi.vertcat(q0, q1, lam, u)
        r = casadi.gradient(Ld, q0)[:n] + share * dt * F - held  # without p0
        p1 = casadi.gradient(Ld, q1)[:n] + (1 - share) * dt * F
        self._outputs = casadi.vertcat(r, *gaps, p1)
        self._weighted = casadi.dot(casadi.vertcat(mu, z), self._outputs)
        self._given = [casadi.vertcat(*self.number.symbols), dt, share]
        self._weights = [mu, z]

    # -- what a figure is ------------------------------------------------------------------------------------------------

    def _bodies(self, q: Any, v: Any) -> list[_Body]:
        out: list[_Body] = []
        for joint in self.tree.joints:
            i, k = int(joint["parent"]), int(joint["variable"])
            out.append(_Body(joint, out[i] if i >= 0 else None, q[k], v[k], self.number))
        return out

    def _lagrangian(self, q: Any, v: Any) -> Any:
        L, g = casadi.SX(0), self.number(self.tree.gravity)
        for body, joint in zip(self._bodies(q, v), self.tree.joints, strict=True):
            kinetic, moment = body.kinetic(joint, self.number)
            k = int(joint["variable"])
            L += kinetic + casadi.dot(g, moment) + 0.5 * self.number(joint["armature"]) * v[k] ** 2
            L -= 0.5 * self.number(joint["stiffness"]) * (q[k] - self.number(joint["rest"])) ** 2
        return L

    def _forces(self, v: Any, u: Any) -> Any:
        F = casadi.SX.zeros(self.tree.n_q)
        for joint in self.tree.joints[: self.tree.n_massive]:
            F[int(joint["variable"])] -= self.number(joint["damping"]) * v[int(joint["variable"])]
        for k, force in enumerate(self.tree.forces):
            F[int(self.tree.joints["variable"][force["joint"]])] += self.number(force["gain"]) * u[k]
        return F[: self.tree.n_dynamic]

    def _gaps(self, q: Any) -> list[Any]:
        bodies, out = self._bodies(q, casadi.SX.zeros(self.tree.n_q)), []
        for link in self.tree.links:
            points = []
            for point in self.tree.points[int(link["first"]) : int(link["first"] + link["count"])]:
                x, j = self.number(point["position"]), int(point["joint"])
                points.append(x if j < 0 else bodies[j].R @ x + float(point["is_point"]) * bodies[j].x)
            if link["kind"] != LinkKind.LENGTH:
                out.append(casadi.dot(points[2], points[0] - points[1]))
                continue
            length = self.number(link["length"])
            if link["variable"] >= 0:
                length += self.number(link["ratio"]) * q[int(link["variable"])]
            ways = [a - b for a, b in pairwise(points)]
            out.append(sum((casadi.sqrt(casadi.dot(d, d)) for d in ways), casadi.SX(0)) - length)
        return out

    # -- derivatives -----------------------------------------------------------------------------------------------------

    @cached_property
    def _value(self) -> _Function:
        return _Function([self._w, *self._given], [self._outputs])

    @cached_property
    def _first(self) -> _Function:
        s = casadi.SX.sym("s", self._w.shape[0])
        return _Function([self._w, *self._given, s], [casadi.jtimes(self._outputs, self._w, s)])

    @cached_property
    def _second(self) -> _Function:
        s = casadi.SX.sym("s", self._w.shape[0])
        gradient = casadi.gradient(self._weighted, self._w)
        return _Function([self._w, *self._given, *self._weights, s], [casadi.jtimes(gradient, self._w, s)])

    def at(self, q0: Array, q1: Array, lam: Array, u: Array, dt: float, share: float) -> ExactDerivatives:
        """Derivatives of the step from `q0` to `q1` with impulses `lam` and inputs `u`.

        They are those of a step whose p0 makes r = 0, and whose lengths close the gaps, whatever the rounding of q1.
        """
        w = [*_exact(q0), *_exact(q1), *_exact(lam), *_exact(u)]
        return ExactDerivatives(self, w, [self.number.values, _exact(dt), _exact(share)])

    def solve(self, q0: Array, p0: Array, k1: Array, u: Array, dt: float, share: float, q1: Array, lam: Array) -> ExactDerivatives:
        """The same of the step from (`q0`, `p0`) to `k1`, solved in 50 digits from a guess (`q1`, `lam`)."""
        n, nq, nc = self.tree.n_dynamic, self.tree.n_q, self.tree.n_links
        with localcontext(prec=DIGITS):
            w = [*_exact(q0), *_exact(q1)[:n], *_exact(k1), *_exact(lam), *_exact(u)]
            given = [self.number.values, _exact(dt), _exact(share)]
            for _ in range(6):
                here = ExactDerivatives(self, w, given)
                off = [[a + b] for a, b in zip(self._value(w, *given)[0], [*_exact(p0), *_exact(np.zeros(nc + n))], strict=True)]
                change = [row[0] for row in _solve(here.K, off[: n + nc])]
                places = [*range(nq, nq + n), *range(2 * nq, 2 * nq + nc)]
                for place, d in zip(places, change, strict=True):
                    w[place] -= d
                if max(map(abs, change)) < Decimal("1e-40"):
                    return ExactDerivatives(self, w, given)
        raise ArithmeticError("Newton's method does not converge")


class ExactDerivatives:
    """Of (q1, λ, p1) by x = (q0, p0, k1, u), at one step; q1 of the dynamic variables."""

    def __init__(self, step: ExactStep, w: Decimals, given: list[Decimals]) -> None:
        self.step, self.w, self.given = step, w, given
        n, nq, nc, nu = step.tree.n_dynamic, step.tree.n_q, step.tree.n_links, len(step.tree.forces)
        self.n, self.ny = n, n + nc
        self.y = [*range(nq, nq + n), *range(2 * nq, 2 * nq + nc)]
        # The place of every input in w; p0 is none of w.
        self.x = [*range(nq), *([None] * n), *range(nq + n, 2 * nq), *range(2 * nq + nc, 2 * nq + nc + nu)]

    @property
    def q1(self) -> Array:
        nq = self.step.tree.n_q
        return np.array([float(a) for a in self.w[nq : nq + self.n]])

    @property
    def p1(self) -> Array:
        with localcontext(prec=DIGITS):
            return np.array([float(a) for a in self.step._value(self.w, *self.given)[0][self.ny :]])

    @cached_property
    def _jacobian(self) -> list[Decimals]:
        """By columns: those of w."""
        with localcontext(prec=DIGITS):
            return [self.step._first(self.w, *self.given, _unit(k, len(self.w)))[0] for k in range(len(self.w))]

    @property
    def K(self) -> list[Decimals]:
        return _transposed([self._jacobian[k][: self.ny] for k in self.y])

    def _inputs(self) -> list[Decimals]:
        """∂(r, gaps, p1)/∂x."""
        nq, size = self.step.tree.n_q, self.ny + self.n
        return _transposed([_unit(i - nq, size) if k is None else self._jacobian[k] for i, k in enumerate(self.x)])

    @cached_property
    def _first(self) -> list[Decimals]:
        with localcontext(prec=DIGITS):
            X = self._inputs()
            Y = _solve(self.K, [[-a for a in row] for row in X[: self.ny]])
            by_y = _transposed([self._jacobian[k][self.ny :] for k in self.y])
            p1 = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(_product(by_y, Y), X[self.ny :], strict=True)]
        return [*Y, *p1]

    @property
    def first(self) -> Array:
        """D (outputs, inputs)."""
        return _rounded(self._first)

    def second(self, z: Array) -> Array:
        """Σ_o z_o D²(output o), (inputs, inputs)."""
        with localcontext(prec=DIGITS):
            weights, ny = _exact(z), self.ny
            by_y = [self._jacobian[k] for k in self.y]
            zeta = [
                [-a - sum((b * c for b, c in zip(weights[ny:], row[ny:], strict=True)), Decimal(0))]
                for a, row in zip(weights[:ny], by_y, strict=True)
            ]
            mu = [row[0] for row in _solve(_transposed(self.K), zeta)]
            # w moves with x by W; p0 moves none of w directly.
            W: list[Decimals] = [[Decimal(0)] * len(self.x) for _ in self.w]
            for place, row in zip(self.y, self._first[:ny], strict=True):
                W[place] = row
            for i, k in enumerate(self.x):
                if k is not None:
                    W[k] = _unit(i, len(self.x))
            used = [k for k, row in enumerate(W) if any(row)]
            Phi = {k: self.step._second(self.w, *self.given, mu, weights[ny:], _unit(k, len(self.w)))[0] for k in used}
            part = [W[k] for k in used]
            return _rounded(_product(_transposed(part), _product([[Phi[k][l] for l in used] for k in used], part)))


def _split(x: Any) -> list[Any]:
    return [x[k] for k in range(x.shape[0])]
