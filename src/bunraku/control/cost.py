"""Cost: a sum of weighted terms, and its translation into arrays (`Sheet`).

Each term adds ½ weight |value − reference|² dt at every sample, and `at_end` [s] · ½ weight |value − reference|² at the last one.
Forces, tensions and accelerations belong to steps, and count once per step. References need not be feasible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.control.control_system import System
from bunraku.control.cost_arrays import Sheet
from bunraku.control.cost_draft import Draft, Reference, WantedPoint, Weight, merge, rows, weights
from bunraku.errors import BunrakuError, UnknownName

Array = NDArray[np.float64]


class Term(Protocol):
    """A term of a cost."""

    def add(self, draft: Draft) -> None:
        """Adds the term to the `draft` of a sheet."""


@dataclass(frozen=True, eq=False)
class Configuration:
    """Keeps variables near their reference, by default their initial values."""

    weight: Weight
    """Weight [1/rad² or 1/m²]: one for all variables, or by name."""
    reference: Reference = None
    """Reference [rad or m]."""
    at_end: float = 0.0
    """Extra weight of the last sample [s]: it counts dt + at_end."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.names, "variable")
        _track(draft, w, rows(self.reference, s.figure.names, draft.t, draft.start[: s.n_q], "variable"), 0, self.at_end)


@dataclass(frozen=True, eq=False)
class Momentum:
    """Keeps momenta of dynamic variables near their reference, by default zero."""

    weight: Weight
    """Weight: one for all dynamic variables, or by name."""
    reference: Reference = None
    """Reference [kg·m²/s or kg·m/s]."""
    at_end: float = 0.0
    """Extra weight of the last sample [s]: it counts dt + at_end."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.dynamic, "dynamic variable")
        _track(draft, w, rows(self.reference, s.figure.dynamic, draft.t, np.zeros(s.n), "dynamic variable"), s.n_q, self.at_end)


@dataclass(frozen=True, eq=False)
class Speed:
    """Keeps rates of kinematic variables near their reference, by default zero: slow hands of the puppeteer."""

    weight: Weight = 1.0
    """Weight: one for all kinematic variables, or by name."""
    reference: Reference = None
    """Reference [rad/s or m/s]."""
    at_end: float = 0.0
    """Extra weight of the last sample [s]: it counts dt + at_end."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.kinematic, "kinematic variable")
        wish = rows(self.reference, s.figure.kinematic, draft.t, np.zeros(s.n_kin), "kinematic variable")
        _track(draft, w, wish, s.n_q + s.n, self.at_end)


@dataclass(frozen=True, eq=False)
class Acceleration:
    """Keeps accelerations of kinematic variables small: smooth hands of the puppeteer."""

    weight: Weight = 1.0
    """Weight: one for all kinematic variables, or by name."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        draft.acceleration += draft.system.dt * weights(self.weight, draft.system.figure.kinematic, "kinematic variable")


@dataclass(frozen=True, eq=False)
class Forces:
    """Keeps force inputs near their reference, by default zero."""

    weight: Weight = 1.0
    """Weight: one for all force inputs, or by name."""
    reference: Reference = None
    """Reference [N or N·m]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        names = [force.name for force in draft.system.figure.forces]
        w = draft.system.dt * weights(self.weight, names, "force")
        wish = rows(self.reference, names, draft.t[:-1], np.zeros(len(names)), "force")
        draft.offset_u += merge(draft.wu, draft.ru, w[None], wish)


@dataclass(frozen=True, eq=False)
class Tension:
    """Keeps tensions of strings and wires near their reference, by default zero."""

    weight: Weight
    """Weight: one for all strings and wires, or by name."""
    reference: Reference = None
    """[N]"""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        figure, dt = draft.system.figure, draft.system.dt
        names = [rope.name for rope in (*figure.strings, *figure.wires)]
        w = weights(self.weight, names, "string") / dt  # the sheet weighs impulses: tension · dt
        wish = dt * rows(self.reference, names, draft.t[:-1], np.zeros(len(names)), "string")
        k = len(names)
        draft.offset_u += merge(draft.wl[:, :k], draft.rl[:, :k], w[None], wish)


@dataclass(frozen=True, eq=False)
class PointAt:
    """Keeps a point of a frame near a position in the world."""

    frame: str
    reference: Reference
    """Position (x, y, z) [m], or coordinates by name, {"z": …}; the others keep their initial values as reference."""
    weight: float = 1.0
    """[1/m²]"""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Position of the point in the frame [m]."""
    at_end: float = 0.0
    """Extra weight of the last sample [s]: it counts dt + at_end."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        figure = draft.system.figure
        if self.frame not in figure.frame_index:
            raise UnknownName("frame", self.frame, tuple(figure.frame_index))
        f = figure.frame_index[self.frame]
        joint, X = int(figure.compiled.frame_joint[f]), figure.compiled.frame_X[f]
        if joint < 0:
            raise BunrakuError(f"the frame {self.frame} never moves\n  advice: name a frame that a joint moves")
        w = weights(self.weight, ["point"], "point") * draft.share(self.at_end)
        local = X[:3, :3] @ np.asarray(self.offset, float) + X[:3, 3]
        rest = draft.pose.point(self.frame, self.offset)
        draft.points.append(WantedPoint(joint, local, w, rows(self.reference, "xyz", draft.t, rest, "point")))


@dataclass(frozen=True, eq=False)
class Centre:
    """Keeps the centre of mass near a position in the world."""

    reference: Reference
    """Position (x, y, z) [m], or coordinates by name, {"z": …}; the others keep their initial values as reference."""
    weight: float = 1.0
    """[1/m²]"""
    at_end: float = 0.0
    """Extra weight of the last sample [s]: it counts dt + at_end."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        if draft.centre is not None:
            raise BunrakuError("two terms weigh the centre of mass\n  advice: keep one of them")
        w = weights(self.weight, ["centre"], "centre") * draft.share(self.at_end)
        draft.centre = w, rows(self.reference, "xyz", draft.t, draft.pose.com, "centre")


@dataclass(frozen=True, eq=False)
class CostToGo:
    """Adds ½ (x − reference)ᵀ P (x − reference) for the last state x: an estimate of the cost after the end."""

    P: Array
    """The matrix P, (states, states)."""
    reference: Array
    """(states,)."""

    __repr__ = brief

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        if draft.end is not None:
            raise BunrakuError("two CostToGo terms\n  advice: give one, with the sum of the matrices")
        P, n = np.asarray(self.P, float), draft.system.n_x
        if P.shape != (n, n):
            raise BunrakuError(f"the matrix P of CostToGo has shape {P.shape}\n  advice: the state has {n} entries")
        draft.end = np.ascontiguousarray(0.5 * (P + P.T)), np.ascontiguousarray(self.reference, float)


def _track(draft: Draft, w: Array, wish: Array, first: int, at_end: float) -> None:
    columns = slice(first, first + len(w))
    draft.offset_x += merge(draft.wx[:, columns], draft.rx[:, columns], draft.share(at_end)[:, None] * w, wish)


def sheet_of(terms: Sequence[Term], system: System, t: Array, start: Array) -> Sheet:
    """The sum of `terms` as arrays, for a motion of `system` from state `start` with samples at times `t` [s]."""
    draft = Draft(system, t, start)
    for term in terms:
        term.add(draft)
    return draft.sheet()
