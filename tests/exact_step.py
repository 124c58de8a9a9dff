"""A step and its derivatives in 50 digits, by other means than those of the kernels.

Places, directions and velocities go down the tree body by body; L = Σ ½ m |ẋ|² + ½ ω·Iω − V is written in CasADi's symbols, which
CasADi differentiates. What it would then compute with doubles is computed with decimals, and so are the linear systems, by dense
elimination. Every number of the figure is a symbol too: nothing is rounded on the way.

    r = p0 + D1 L_d(q0, q1) + share·dt·F − Σ θ λ gap_q(q0) = 0
    p1 = D2 L_d(q0, q1) + (1 − share)·dt·F − Σ (1 − θ) λ gap_q(q1)
    gap(q1) = 0 of links that act, slip(q1) = slip(q0) where a contact or a string sticks, λ = 0 of the others
    exp(−μφ(q0))·tight − loose = 0 where a string slips
    (1 − e) gap(q0) + e gap(q1) − l λ/(k dt) = 0 where a string stretches, e = θ + c/(k dt); θ = 1 where it does not

Sliding contacts, springs between points and pushes are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.quantities import link_gaps
from bunraku.figure.records import FigureTree, LinkKind, PointRole
from tests.decimals import DIGITS, DecimalFunction, Decimals, exact, pi, product, rounded, solve, transposed, unit
from tests.exact_ways import Way, choose, way

Array = NDArray[np.float64]

# -- the figure in symbols -------------------------------------------------------------------------------------------


class _Numbers:
    """Numbers of a figure as symbols, except 0 and ±1."""

    def __init__(self) -> None:
        self.symbols: list[Any] = []
        self.values: Decimals = []

    def __call__(self, x: Any) -> Any:
        if np.ndim(x):
            return casadi.vertcat(*(self(value) for value in x))
        return casadi.SX(float(x)) if float(x) in (0.0, 1.0, -1.0) else self.decimal(Decimal(float(x)))

    def decimal(self, x: Decimal) -> Any:
        """One that is not a double."""
        self.symbols.append(casadi.SX.sym(f"c{len(self.values)}"))
        self.values.append(x)
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


@dataclass
class _Links:
    """Links at one configuration."""

    gaps: list[Any]
    ways: dict[int, Way]
    """Of those over pulleys."""


class ExactStep:
    """The steps of a figure in which the same links act, as they do in the step from `q0` to `q1` with impulses `lam`.

    tree: the figure as kernels take it
    states: of every link: 0 slack, 1 acting, 2 slipping
    """

    def __init__(self, tree: FigureTree, states: NDArray[np.int8], q0: Array, q1: Array, lam: Array) -> None:
        assert not len(tree.springs), "springs between points and pushes are left out"
        self.tree, self.states, self.number = tree, states.tolist(), _Numbers()
        n, nq, nc, nu = tree.n_dynamic, tree.n_q, tree.n_links, len(tree.forces)
        self._sides = np.sign(lam)
        names = {"q0": nq, "q1": nq, "lam": nc, "u": nu, "dt": 1, "share": 1, "mu": n + nc, "z": n}
        s = {name: casadi.SX.sym(name, size) for name, size in names.items()}
        dt, share = s["dt"], s["share"]
        v = (s["q1"] - s["q0"]) / dt
        Ld = dt * self._lagrangian(0.5 * (s["q0"] + s["q1"]), v)
        F = self._forces(v, s["u"])
        start, end = self._links(s["q0"], q0), self._links(s["q1"], q1)
        rows = [self._row(c, s, start, end) for c in range(nc)]
        shares = [self._softness(c, dt)[0] for c in range(nc)]
        self._w = casadi.vertcat(s["q0"], s["q1"], s["lam"], s["u"])
        early, late = (
            casadi.gradient(sum((t * l * g for t, l, g in zip(part, _split(s["lam"]), gaps, strict=True)), casadi.SX(0)), q)[:n]
            for part, gaps, q in ((shares, start.gaps, s["q0"]), ([1 - t for t in shares], end.gaps, s["q1"]))
        )
        r = casadi.gradient(Ld, s["q0"])[:n] + share * dt * F - early  # without p0
        p1 = casadi.gradient(Ld, s["q1"])[:n] + (1 - share) * dt * F - late
        self._outputs = casadi.vertcat(r, *rows, p1)
        self._weighted = casadi.dot(casadi.vertcat(s["mu"], s["z"]), self._outputs)
        self._given = [casadi.vertcat(*self.number.symbols), dt, share]
        self._weights = [s["mu"], s["z"]]

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

    def _links(self, q: Any, here: Array) -> _Links:
        """All links at `q`, which is near `here`."""
        bodies, out = self._bodies(q, casadi.SX.zeros(self.tree.n_q)), _Links([], {})
        symbols = self._points(bodies)
        at = self._evaluated(casadi.horzcat(*symbols), q, here)
        known, _ = link_gaps(self.tree, np.ascontiguousarray(here))
        for c, link in enumerate(self.tree.links):
            own = slice(int(link["first"]), int(link["first"] + link["count"]))
            x = symbols[own]
            if link["kind"] in (LinkKind.PLANE, LinkKind.SLIP):
                out.gaps.append(casadi.dot(x[2], x[0] - x[1]))
            elif link["kind"] == LinkKind.LENGTH:
                ways = [a - b for a, b in pairwise(x)]
                out.gaps.append(sum((casadi.sqrt(casadi.dot(d, d)) for d in ways), casadi.SX(0)) - self._wound(link, q))
            else:
                points = self.tree.points[own]
                wound = self._wound_in_layers(link, points, q, here)
                length = known[c] + float(self._evaluated(wound, q, here))
                choice = choose(points, [at[:, k] for k in range(own.start, own.stop)], length)
                out.ways[c] = way(points, x, choice, self.number)
                out.gaps.append(out.ways[c].length - wound)
        return out

    def _evaluated(self, what: Any, q: Any, here: Array) -> Any:
        """In doubles."""
        values = [float(value) for value in self.number.values]
        return casadi.Function("f", [q, casadi.vertcat(*self.number.symbols)], [what])(here, values)

    def _points(self, bodies: list[_Body]) -> list[Any]:
        out = []
        for point in self.tree.points:
            x, j = self.number(point["position"]), int(point["joint"])
            out.append(x if j < 0 else bodies[j].R @ x + float(point["is_point"]) * bodies[j].x)
        return out

    def _wound(self, link: Any, q: Any) -> Any:
        length = self.number(link["length"])
        return length + self.number(link["ratio"]) * q[int(link["variable"])] if link["variable"] >= 0 else length

    def _wound_in_layers(self, link: Any, points: Any, q: Any, here: Array) -> Any:
        """The same on a drum of several layers: its radius is r + thickness·S, integrated."""
        if points["role"][-1] != PointRole.LAYERS:
            return self._wound(link, q)
        thick, full, r = (self.number(points[name][k]) for name, k in (("radius", -1), ("weight", -1), ("radius", -4)))
        k = int(link["variable"])
        eta = -self.number(link["ratio"]) * q[k]
        turned = -float(link["ratio"]) * here[k]
        layers = max(np.floor(turned / points["weight"][-1] + 0.5), 0.0)
        x, half = (turned - layers * points["weight"][-1]) / np.pi + 0.5, self.number.decimal(pi())
        taken = r * eta
        if layers > 0.0:
            taken += thick * (layers - 1.0) * (eta - 0.5 * layers * full)
            y = (eta - layers * full) / half + 0.5
            if x > 1.0:
                taken += thick * half * (0.5 + y - 1)
            elif x > 0.0:
                taken += thick * half * (y * y) * (y * y) * (y * y - 3 * y + 2.5)
        return self.number(link["length"]) - taken

    def _softness(self, c: int, dt: Any) -> tuple[Any, Any, Any]:
        """θ, e and 1/(k dt) of link c."""
        link = self.tree.links[c]
        if link["stiffness"] == 0.0:
            return casadi.SX(1), casadi.SX(1), casadi.SX(0)
        half = 0.5 * self.number(link["frequency"]) * dt
        fourth = (half * half) * (half * half)
        k, theta = self.number(link["stiffness"]), 0.5 + 0.5 * fourth / (1 + fourth)
        return theta, theta + self.number(link["damping"]) / (k * dt), 1 / (k * dt)

    def _row(self, c: int, s: dict[str, Any], start: _Links, end: _Links) -> Any:
        link, lam, state = self.tree.links[c], s["lam"], self.states[c]
        if not state:
            return lam[c]
        if link["stiffness"] > 0.0:
            _, e, compliance = self._softness(c, s["dt"])
            length = 0.5 * (self._wound(link, s["q0"]) + self._wound(link, s["q1"]))
            return (1 - e) * start.gaps[c] + e * end.gaps[c] - compliance * length * lam[c]
        if link["normal"] < 0:
            return end.gaps[c]
        if state == 1:
            return end.gaps[c] - start.gaps[c]
        assert link["kind"] == LinkKind.WRAPPED, "sliding contacts are left out"
        return self._slipping(c, lam, start)

    def _slipping(self, c: int, lam: Any, start: _Links) -> Any:
        """z·tight − loose at a place where a string slips."""
        links, points = self.tree.links, self.tree.points
        normal, last = int(links["normal"][c]), int(links["first"][c] + links["count"][c]) - 1
        round_place = links["count"][c] > 3 and points["role"][last - 2] == PointRole.DRUM
        place = int(links["count"][c]) - (3 if round_place else 1)
        before = [k for k in range(len(links)) if k < c and links["normal"][k] == normal and links["kind"][k] == LinkKind.WRAPPED]
        T = lam[normal] + sum((lam[k] for k in before), casadi.SX(0))
        tight, loose = (T + lam[c], T) if self._sides[c] > 0.0 else (T, T + lam[c])
        z = casadi.exp(-self.number(links["friction"][c]) * start.ways[normal].bend(place))
        return z * tight - loose

    # -- derivatives -----------------------------------------------------------------------------------------------------

    @cached_property
    def _value(self) -> DecimalFunction:
        return DecimalFunction([self._w, *self._given], [self._outputs])

    @cached_property
    def _first(self) -> DecimalFunction:
        s = casadi.SX.sym("s", self._w.shape[0])
        return DecimalFunction([self._w, *self._given, s], [casadi.jtimes(self._outputs, self._w, s)])

    @cached_property
    def _second(self) -> DecimalFunction:
        s = casadi.SX.sym("s", self._w.shape[0])
        gradient = casadi.gradient(self._weighted, self._w)
        return DecimalFunction([self._w, *self._given, *self._weights, s], [casadi.jtimes(gradient, self._w, s)])

    def at(self, q0: Array, q1: Array, lam: Array, u: Array, dt: float, share: float) -> ExactDerivatives:
        """Derivatives of the step from `q0` to `q1` with impulses `lam` and inputs `u`.

        They are those of a step whose p0 makes r = 0, and whose lengths close the gaps, whatever the rounding of q1.
        """
        w = [*exact(q0), *exact(q1), *exact(lam), *exact(u)]
        return ExactDerivatives(self, w, [self.number.values, exact(dt), exact(share)])

    def solve(self, q0: Array, p0: Array, k1: Array, u: Array, dt: float, share: float, q1: Array, lam: Array) -> ExactDerivatives:
        """The same of the step from (`q0`, `p0`) to `k1`, solved in 50 digits from a guess (`q1`, `lam`)."""
        n, nq, nc = self.tree.n_dynamic, self.tree.n_q, self.tree.n_links
        with localcontext(prec=DIGITS):
            w = [*exact(q0), *exact(q1)[:n], *exact(k1), *exact(lam), *exact(u)]
            given = [self.number.values, exact(dt), exact(share)]
            for _ in range(6):
                here = ExactDerivatives(self, w, given)
                off = [[a + b] for a, b in zip(self._value(w, *given)[0], [*exact(p0), *exact(np.zeros(nc + n))], strict=True)]
                change = [row[0] for row in solve(here.K, off[: n + nc])]
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
            return [self.step._first(self.w, *self.given, unit(k, len(self.w)))[0] for k in range(len(self.w))]

    @property
    def K(self) -> list[Decimals]:
        return transposed([self._jacobian[k][: self.ny] for k in self.y])

    def _inputs(self) -> list[Decimals]:
        """∂(r, gaps, p1)/∂x."""
        nq, size = self.step.tree.n_q, self.ny + self.n
        return transposed([unit(i - nq, size) if k is None else self._jacobian[k] for i, k in enumerate(self.x)])

    @cached_property
    def _first(self) -> list[Decimals]:
        with localcontext(prec=DIGITS):
            X = self._inputs()
            Y = solve(self.K, [[-a for a in row] for row in X[: self.ny]])
            by_y = transposed([self._jacobian[k][self.ny :] for k in self.y])
            p1 = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(product(by_y, Y), X[self.ny :], strict=True)]
        return [*Y, *p1]

    @property
    def first(self) -> Array:
        """D (outputs, inputs)."""
        return rounded(self._first)

    def second(self, z: Array) -> Array:
        """Σ_o z_o D²(output o), (inputs, inputs)."""
        with localcontext(prec=DIGITS):
            weights, ny = exact(z), self.ny
            by_y = [self._jacobian[k] for k in self.y]
            zeta = [
                [-a - sum((b * c for b, c in zip(weights[ny:], row[ny:], strict=True)), Decimal(0))]
                for a, row in zip(weights[:ny], by_y, strict=True)
            ]
            mu = [row[0] for row in solve(transposed(self.K), zeta)]
            # w moves with x by W; p0 moves none of w directly.
            W: list[Decimals] = [[Decimal(0)] * len(self.x) for _ in self.w]
            for place, row in zip(self.y, self._first[:ny], strict=True):
                W[place] = row
            for i, k in enumerate(self.x):
                if k is not None:
                    W[k] = unit(i, len(self.x))
            used = [k for k, row in enumerate(W) if any(row)]
            Phi = {k: self.step._second(self.w, *self.given, mu, weights[ny:], unit(k, len(self.w)))[0] for k in used}
            part = [W[k] for k in used]
            return rounded(product(transposed(part), product([[Phi[k][l] for l in used] for k in used], part)))


def _split(x: Any) -> list[Any]:
    return [x[k] for k in range(x.shape[0])]
