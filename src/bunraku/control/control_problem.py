"""ControlProblem: a system, its initial state and the cost of its motion; rollouts and their derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_system import ControlCurve, Rollout, System
from bunraku.control.cost_arrays import Bounds, Sheet, slopes, value
from bunraku.control.keep_out import KeepOut
from bunraku.control.linear_steps import LinearSteps, Slopes
from bunraku.control.projection import project
from bunraku.control.riccati import riccati
from bunraku.control.second_order import bend
from bunraku.control.tangent_sweep import tangent
from bunraku.dynamics.push_inputs import pushes
from bunraku.dynamics.step_expansion import expand_along
from bunraku.errors import BunrakuError

Array = NDArray[np.float64]


def no_gains() -> Array:
    """An empty array in place of the gains (one matrix per step): no feedback."""
    return np.zeros((0, 0, 0))


def unbounded() -> Bounds:
    """Bounds that restrict nothing."""
    return Bounds(*(np.zeros((2, 0)), np.zeros((2, 0, 0)), np.zeros(0)) * 3)


@dataclass(frozen=True)
class Broken:
    """A rollout that ended early."""

    step: int
    """The first step that failed."""
    bits: int
    """Why it failed: a bit mask, see bunraku.dynamics.rollout."""


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """Minimise the cost in `sheet` over all motions of `system` from state `start`."""

    system: System
    sheet: Sheet
    start: Array
    taut: NDArray[np.int8]
    """State of each link (string, wire or loop constraint) before the first step: 0 slack, 1 acting, 2 sliding."""
    bounds: Bounds = field(default_factory=unbounded)
    keepout: KeepOut | None = None
    tolerance: float = 1e-16
    """To which each step is solved [rad or m]. A looser one would hide the quadratic convergence of the last iterations."""

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.sheet.wx) - 1

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Names of chosen inputs that no term weighs directly; terms may still weigh their effect on the figure."""
        s, sheet = self.system, self.sheet
        hands = sheet.wx[:, s.n : s.n_q].any(0) | sheet.wx[:, s.n_q + s.n :].any(0)
        if len(sheet.acceleration):
            hands |= sheet.acceleration > 0.0
        priced = np.concatenate([hands, sheet.wu.any(0)])
        names = (*s.figure.kinematic, *(force.name for force in s.figure.forces))
        return tuple(names[k] for k in s.chosen if not priced[k])

    def project(self, curve: ControlCurve, gains: Array | None = None) -> Rollout | Broken:
        """The projection P_d of `curve` under `gains` (*trep*, eq. 12); without gains, the rollout of its inputs.

        Raises BunrakuError where the curve is that of another figure: the kernel would read beyond its arrays.
        """
        s, N = self.system, len(curve)
        expected = (N + 1, s.n_x), (N, s.n_kin + len(s.figure.forces))
        if (curve.x.shape, curve.u.shape) != expected:
            raise BunrakuError(
                f"{s.figure.name}: expected states {expected[0]} and inputs {expected[1]}, got {curve.x.shape}, {curve.u.shape}\n"
                "  advice: give a curve of this figure, with all its kinematic variables and forces"
            )
        x, u = np.empty((N + 1, s.n_x)), np.empty_like(curve.u)
        impulse, states, bits = np.empty((N, s.n_links)), np.empty((N, s.n_links), np.int8), np.zeros(N, np.int64)
        K = no_gains() if gains is None else gains
        done = project(
            s.tree, self.taut, curve.x, curve.u, K, s.hands, s.thrusts, s.dt, s.share, self.tolerance,
            x, u, impulse, states, bits,
        )  # fmt: skip
        return Rollout(x, u, impulse, states) if done == N else Broken(done, int(bits[done]))

    def cost(self, run: Rollout) -> tuple[float, float]:
        """What a descent minimises along `run`, in two parts: the cost, and the penalty of the bounds.

        The constant part of the cost, which is the same for every motion, is left out (see `total`).
        """
        s = self.system
        wished, beyond = value(s.tree, self.sheet, self.bounds, run.x, run.u, run.impulse, s.dt, s.n_kin)
        return float(wished), float(beyond) + (self.keepout.value(run.x) if self.keepout is not None else 0.0)

    def total(self, run: Rollout) -> float:
        """The cost of `run`: the sum of its terms (bunraku.control.cost), without the penalty of the bounds."""
        return self.cost(run)[0] + float(self.sheet.offset_x.sum() + self.sheet.offset_u.sum())


class MotionExpansion:
    """First and second derivatives along motions of one `problem`. Its arrays are allocated once and reused."""

    def __init__(self, problem: ControlProblem) -> None:
        s, sheet, N = problem.system, problem.sheet, problem.steps
        self.problem = problem
        bounded = len(problem.bounds.l_rho) > 0
        blocks = len(sheet.joint) > 0 or len(sheet.wc) > 0 or problem.keepout is not None
        rows_q, rows_l = (N + 1 if blocks else 0), (N if len(sheet.wl) or bounded else 0)
        self.slopes = Slopes(
            gx=np.zeros((N + 1, s.n_x)), hx=np.zeros((N + 1, s.n_x)), gu=np.zeros((N, s.n_u)), hu=np.zeros((N, s.n_u)),
            gl=np.zeros((rows_l, s.n_links)), hl=np.zeros((rows_l, s.n_links)), Hq=np.zeros((rows_q, s.n_q, s.n_q)),
            bend=np.zeros((rows_q, s.n_q, s.n_q)), acceleration=sheet.acceleration, end=sheet.end,
        )  # fmt: skip
        D = np.zeros((N, 2 * s.n + s.n_links, 2 * s.n_q))
        shape = (s.n, s.n_q, s.n_links)
        E = np.repeat(s.impulse_of_effort[None], N if s.pushed else 1, 0)
        turn = np.zeros((N if s.pushed else 0, len(s.thrusts), s.n_q))
        self.steps = LinearSteps(D, E, turn, s.hands, shape, s.dt, s.share)
        self.gains, self.feed = np.zeros((N, s.n_u, s.n_x)), np.zeros((N, s.n_u))
        self.newton_gains = np.zeros((N, s.n_u, s.n_x))
        self.weights, self.gradient = np.zeros((N, 2 * s.n + s.n_links)), np.zeros((N, s.n_u))
        self.first = np.zeros((s.n_x, s.n_x + 1))
        self._H: Array | None = None

    def at(self, run: Rollout) -> None:
        """First derivatives of the steps of `run`; gradient and Gauss–Newton Hessian of the cost."""
        s = self.problem.system
        Q, forces = self._slopes(run)
        expand_along(s.tree, run.states, Q, run.impulse, forces, s.dt, s.share, np.zeros((0, 0)), self.steps.D, no_gains())

    def safe_along(self, run: Rollout) -> float | None:
        """Linearises the steps along `run` and computes Gauss–Newton gains and feedforward, without second derivatives of the
        steps.

        Returns the expected decrease of the cost; None if the Hessian of the inputs is not positive definite, for instance because
        an input costs nothing.
        """
        self.at(run)
        return self.gauss_newton()

    def bend_along(self, run: Rollout, *, fresh: bool = True) -> float | None:
        """Does what `safe_along` does for `run`, and contracts second derivatives of the steps with the adjoint under the gains.

        If `fresh` is False, the gains are kept. Returns the expected decrease of the cost; None if the Hessian of the inputs is not
        positive definite, for instance because an input costs nothing.
        """
        s, N = self.problem.system, self.problem.steps
        if self._H is None:
            self._H = np.zeros((N, 2 * s.n_q, 2 * s.n_q))
        Q, forces = self._slopes(run)
        decrease = bend(
            s.tree, run.states, Q, run.impulse, forces, self.steps, self.slopes, fresh, self.gains, self.feed, self.weights,
            self.gradient, self._H,
        )  # fmt: skip
        if s.pushed:
            push_along(s, Q, self.weights, self.steps)
        return float(decrease) if np.isfinite(decrease) else None

    def _slopes(self, run: Rollout) -> tuple[Array, Array]:
        """Expands the cost to second order; returns configurations and forces of the motion."""
        s, p = self.problem.system, self.problem
        slopes(s.tree, p.sheet, p.bounds, run.x, run.u, run.impulse, s.dt, s.n_kin, s.hands, s.thrusts, self.slopes)
        if p.keepout is not None:
            p.keepout.add(run.x, self.slopes)
        Q = np.ascontiguousarray(run.x[:, : s.n_q])
        if s.pushed:
            push_along(s, Q, np.zeros((0, 0)), self.steps)
        return Q, np.ascontiguousarray(run.u[:, s.n_kin :])

    def gauss_newton(self, shift: float = 0.0) -> float | None:
        """Gauss–Newton gains and feedforward; `shift` times its diagonal is added to the Hessian of the inputs.

        Returns the expected decrease; None if the model is not convex.
        """
        failed, decrease = riccati(self.steps, self.slopes, no_gains(), 0.0, shift, self.gains, self.feed, self.first)
        return float(decrease) if failed < 0 and np.isfinite(decrease) else None

    def steepest(self) -> None:
        """Gains and feedforward of steepest descent: all states share one weight in the metric, all inputs another."""
        flat = [np.full_like(h, max(h.mean(), 1e-12)) for h in (self.slopes.hx, self.slopes.hu)]
        none = np.zeros((0, 0))
        metric = self.slopes._replace(hx=flat[0], hu=flat[1], Hq=no_gains(), bend=no_gains(), end=none)
        riccati(self.steps, metric, no_gains(), 0.0, 0.0, self.newton_gains, self.feed, self.first)

    def newton(self, mu: float = 0.0) -> float | None:
        """Newton's feedforward, with the exact Hessian plus `mu` times the Gauss–Newton Hessian.

        Returns the expected decrease; None if the Hessian is not positive definite.
        """
        assert self._H is not None
        failed, decrease = riccati(self.steps, self.slopes, self._H, mu, 0.0, self.newton_gains, self.feed, self.first)
        return float(decrease) if failed < 0 and np.isfinite(decrease) else None

    def direction(self, gains: Array) -> ControlCurve:
        """ζ: the change of states and chosen inputs that results from the feedforward of the last sweep with `gains`."""
        s, N = self.problem.system, self.problem.steps
        x, u = np.zeros((N + 1, s.n_x)), np.zeros((N, s.n_u))
        tangent(self.steps, gains, np.zeros_like(x), -self.feed, x, u)
        return ControlCurve(x, u)

    def slope(self, change: ControlCurve) -> float:
        """Dg·ζ: the derivative of the cost along `change`."""
        out = float(np.vdot(self.slopes.gx, change.x) + np.vdot(self.slopes.gu, change.u))
        if len(self.slopes.gl):
            out += float(np.vdot(self.slopes.gl, self._impulses(change)))
        return out

    def _impulses(self, change: ControlCurve) -> Array:
        s = self.problem.system
        out: Array = np.einsum("kij,kj->ki", self.steps.D[:, s.n : s.n + s.n_links], within(s, self.steps, change))
        return out


def within(system: System, steps: LinearSteps, change: ControlCurve) -> Array:
    """A `change` of states and chosen inputs of `system` in the coordinates in which `steps` are linearised.

    Returns rows (q, p, next kinematic variables); the impulse of a force is added to p.
    """
    s, N = system, len(change)
    inner = np.concatenate([change.x[:-1, : s.n_q + s.n], np.zeros((N, s.n_kin))], 1)
    inner[:, s.n_q + s.n + s.hands] = change.u[:, : len(s.hands)]
    E = np.broadcast_to(steps.E, (N, *steps.E.shape[1:]))
    inner[:, s.n_q : s.n_q + s.n] += s.share * np.einsum("kif,kf->ki", E, change.u[:, len(s.hands) :])
    return inner


def push_along(system: System, Q: Array, weights: Array, steps: LinearSteps) -> None:
    """Fills `steps.E` with the impulse per unit of input of the pushes of `system` (forces at a point) at configurations `Q`.

    If `weights` of the outputs of every step are given, also fills `steps.turn`: the weighted derivative ∂E/∂q.

    The share `system.share` of a force's impulse acts before the step, where its covector is that of the momentum p; the rest acts
    after the step, where its covector is that of p₊.
    """
    s, covectors = system, np.zeros((0, 0))
    if len(weights):
        left = np.einsum("ko,koi->ki", weights, steps.D[:, :, s.n_q : s.n_q + s.n])
        covectors = s.share * left + (1.0 - s.share) * weights[:, s.n + s.n_links :]
    pushes(s.tree, s.thrusts, Q, covectors, s.dt, steps.E, steps.turn)
