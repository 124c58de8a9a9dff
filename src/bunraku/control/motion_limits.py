"""Limits that every sample must respect, enforced by an augmented Lagrangian.

Each bound c ≤ 0 adds ρ/2 max(0, c + m/ρ)² − m²/2ρ to the cost. Between descents the multiplier m of a violated bound grows by ρ c,
so the bound is met without a huge penalty ρ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_problem import ControlProblem
from bunraku.control.control_system import Rollout, System
from bunraku.control.cost_arrays import Bounds
from bunraku.control.keep_out import KeepOut
from bunraku.errors import BunrakuError, UnknownName
from bunraku.scene import Scene

Array = NDArray[np.float64]
Range = tuple[float | None, float | None]
"""Lowest and highest value; None if there is no bound."""


@dataclass(frozen=True)
class Limits:
    """Ranges that every sample of a motion must respect."""

    variables: Mapping[str, Range] = field(default_factory=dict)
    """Ranges of variables by name, including string lengths [rad or m]."""
    speeds: Mapping[str, float] = field(default_factory=dict)
    """Largest |rate| of kinematic variables [rad/s or m/s]."""
    forces: Mapping[str, Range] = field(default_factory=dict)
    """Ranges of force inputs by name [N or N·m]."""
    tensions: Mapping[str, Range] = field(default_factory=dict)
    """Ranges of tensions of strings and wires [N]. A slack string has no tension, and the search cannot find how to tighten it."""
    joints: bool = False
    """Whether the figure's own limits of variables apply too."""
    scene: Scene | None = None
    """Obstacles that no shape of the figure may touch."""
    margin: float = 0.01
    """Distance to keep from the obstacles [m]."""
    soft: bool = False
    """If True, limits are only penalised: there is one descent, and limits may be exceeded a little."""

    def on(self, problem: ControlProblem) -> ControlProblem:
        """The same `problem` with these limits."""
        keepout = None
        if self.scene is not None:
            sheet, dt = (
                problem.sheet,
                problem.system.dt,
            )  # starts with a low penalty: the search may pass through obstacles
            weight = max(100.0 * sheet.wx[:-1, : problem.system.n].max(initial=dt), 10.0 * sheet.wp[:-1].max(initial=0.0))
            keepout = KeepOut.of(problem.system, self.scene, self.margin, problem.steps, weight)
        return replace(problem, bounds=self.bounds(problem), keepout=keepout)

    def bounds(self, problem: ControlProblem) -> Bounds:
        """The bounds as arrays for `problem`, with zero multipliers and penalties in proportion to its cost.

        Raises UnknownName for a name that the figure does not have, BunrakuError if a lower bound is not below its upper one.
        """
        s, N = problem.system, problem.steps
        figure, dt = s.figure, s.dt
        x = _open(s.n_x)
        if self.joints:
            for k, v in enumerate(figure.variables):
                x[:, k] = v.lower, v.upper
        _set(x[:, : s.n_q], figure.names, self.variables, "variable")
        _set(x[:, s.n_q + s.n :], figure.kinematic, {k: (-v, v) for k, v in self.speeds.items()}, "kinematic variable")
        u, l = _open(len(figure.forces)), _open(s.n_links)
        _set(u, [force.name for force in figure.forces], self.forces, "force")
        ropes = [rope.name for rope in (*figure.strings, *figure.wires)]
        _set(l[:, : len(ropes)], ropes, self.tensions, "string")
        l[:, : len(ropes)] *= dt
        sheet = problem.sheet
        rho_x = _penalty(x, sheet.wx, dt)
        rho_l = _penalty(l, np.full((1, s.n_links), 1e-1 / dt), dt)
        return Bounds(
            x=x, x_m=np.zeros((2, N + 1, s.n_x)), x_rho=rho_x,
            u=u, u_m=np.zeros((2, N, len(figure.forces))), u_rho=_penalty(u, sheet.wu, dt),
            l=l, l_m=np.zeros((2, N, s.n_links)), l_rho=rho_l,
        )  # fmt: skip


def _open(n: int) -> Array:
    return np.repeat(np.array([[-np.inf], [np.inf]]), n, 1)


def _set(table: Array, names: tuple[str, ...] | list[str], ranges: Mapping[str, Range], what: str) -> None:
    for name, (low, high) in ranges.items():
        if name not in names:
            raise UnknownName(what, name, tuple(names))
        low, high = -np.inf if low is None else float(low), np.inf if high is None else float(high)
        if not low < high:
            raise BunrakuError(f"the {what} {name} has the range {low:g} … {high:g}\n  advice: give the lower bound first")
        table[:, list(names).index(name)] = low, high


def _penalty(limits: Array, weights: Array, dt: float) -> Array:
    """Per column: fifty times its weight in the cost, or fifty times the largest weight if it has none; zero without a bound."""
    usual = np.max(weights, axis=0, initial=0.0)
    return np.where(np.isfinite(limits).any(0), 50.0 * np.where(usual > 0.0, usual, usual.max(initial=0.02 * dt)), 0.0)


def violation(problem: ControlProblem, run: Rollout) -> float:
    """The largest violation of any bound of `problem` by `run`, in the bound's unit.

    Violations of distances to obstacles are divided by 100: distances have kinks, and are met less exactly.
    """
    worst = 0.0 if problem.keepout is None else 0.01 * problem.keepout.violation(run.x)
    for values, limits in _sides(problem.bounds, problem.system, run):
        if values.size:
            worst = max(worst, float(np.max(np.maximum(limits[0] - values, values - limits[1]))))
    return worst


def tightened(problem: ControlProblem, run: Rollout, *, stiffer: bool) -> ControlProblem:
    """The same `problem` with multipliers updated for `run`, and with five times the penalties if `stiffer`."""
    out, bounds, keepout = [], problem.bounds, problem.keepout
    multipliers, penalties = (bounds.x_m, bounds.u_m, bounds.l_m), (bounds.x_rho, bounds.u_rho, bounds.l_rho)
    for (values, limits), m, rho in zip(_sides(bounds, problem.system, run), multipliers, penalties, strict=True):
        beyond = np.stack([limits[0] - values, values - limits[1]])
        beyond = np.where(np.isfinite(beyond), beyond, -1.0)
        new = np.maximum(0.0, m + rho * beyond) * (rho > 0.0)
        out += [limits, np.ascontiguousarray(new), rho * (5.0 if stiffer else 1.0)]
    if keepout is not None:
        keepout = keepout.tightened(run.x, stiffer=stiffer)
    return replace(problem, bounds=Bounds(*out), keepout=keepout)


def _sides(bounds: Bounds, system: System, run: Rollout) -> list[tuple[Array, Array]]:
    x = run.x.copy()
    x[0] = np.clip(x[0], *bounds.x)  # the initial state is given
    return [(x, bounds.x), (run.u[:, system.n_kin :], bounds.u), (run.impulse, bounds.l)]
