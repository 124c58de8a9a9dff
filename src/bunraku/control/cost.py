"""Cost: a sum of weighted terms, and the sheet of arrays that it becomes.

Each term adds Σ dt ½ weight |thing − reference|² over all samples, and `at_end` · ½ weight |thing − reference|² [s] at the last
one. Forces, tensions and accelerations belong to steps, and count once a step. The figure need not be able to follow a reference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.control.control_system import System
from bunraku.control.cost_arrays import Sheet
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.kinematics.forward import Pose
from bunraku.motion import Motion

Array = NDArray[np.float64]
Weight = float | Mapping[str, float]
Reference = Motion | Callable[[float], ArrayLike] | Mapping[str, Callable[[float], float] | float] | ArrayLike | None
"""A Motion; a function of time; functions or numbers by name; one row for all samples, or a row for each; or None."""


class Term(Protocol):
    """A term of a cost."""

    def add(self, draft: Draft) -> None:
        """Adds the term to the `draft` of a sheet."""


class WantedPoint(NamedTuple):
    """A point of a joint, and where it is wanted."""

    joint: int
    local: Array
    """Where on the joint (3,) [m]."""
    weights: Array
    """Of each sample."""
    targets: Array
    """Of each sample, in the world (N + 1, 3) [m]."""


@dataclass
class Draft:
    """A sheet while it is written: times of the samples, and where the motion starts."""

    system: System
    t: Array
    start: Array
    wx: Array = field(init=False)
    rx: Array = field(init=False)
    wu: Array = field(init=False)
    ru: Array = field(init=False)
    wl: Array = field(init=False)
    rl: Array = field(init=False)
    offset_x: Array = field(init=False)
    offset_u: Array = field(init=False)
    acceleration: Array = field(init=False)
    points: list[WantedPoint] = field(default_factory=list)
    centre: tuple[Array, Array] | None = None
    end: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        s, N = self.system, len(self.t) - 1
        forces = len(s.figure.forces)
        self.wx, self.rx = np.zeros((N + 1, s.n_x)), np.repeat(self.start[None], N + 1, 0)
        self.rx[:, s.n_q :] = 0.0
        self.wu, self.ru = np.zeros((N, forces)), np.zeros((N, forces))
        self.wl, self.rl = np.zeros((N, s.n_links)), np.zeros((N, s.n_links))
        self.offset_x, self.offset_u = np.zeros(N + 1), np.zeros(N)
        self.acceleration = np.zeros(s.n_kin)

    @property
    def pose(self) -> Pose:
        """The pose at the start."""
        return Pose(self.system.figure, self.start[: self.system.n_q])

    def share(self, at_end: float) -> Array:
        """What each sample counts for [s]: dt, and `at_end` more for the last."""
        counts = np.full(len(self.t), self.system.dt)
        counts[-1] += at_end
        return counts

    def sheet(self) -> Sheet:
        k, N = len(self.points), len(self.t)
        none = np.zeros((0, 0))
        end, r_end = self.end if self.end is not None else (none, np.zeros(0))
        wc, centre = self.centre if self.centre is not None else (np.zeros(0), np.zeros((0, 3)))
        tension = bool(self.wl.any())
        return Sheet(
            wx=self.wx, rx=self.rx, wu=self.wu, ru=self.ru, wl=self.wl if tension else none, rl=self.rl if tension else none,
            acceleration=self.acceleration if self.acceleration.any() else np.zeros(0), end=end, r_end=r_end,
            joint=np.array([p.joint for p in self.points], np.int64), local=np.array([p.local for p in self.points]).reshape(k, 3),
            wp=np.array([p.weights for p in self.points]).T.reshape(N, k).copy(),
            target=np.array([p.targets for p in self.points]).reshape(k, N, 3).swapaxes(0, 1).copy(), wc=wc, centre=centre,
            offset_x=self.offset_x, offset_u=self.offset_u,
        )  # fmt: skip


def weights(weight: Weight, names: Sequence[str], what: str) -> Array:
    """The weights of `names`, in their order, from `weight`: one number for all, or numbers by name, 0 for those not named.

    Errors call a name a `what`. Raises UnknownName for other names, BunrakuError for weights that are negative or no numbers.
    """
    out = np.zeros(len(names))
    for name in weight if isinstance(weight, Mapping) else ():
        if name not in names:
            raise UnknownName(what, name, tuple(names))
    try:
        if isinstance(weight, Mapping):
            for name, value in weight.items():
                out[list(names).index(name)] = value
        else:
            out[:] = weight
    except (TypeError, ValueError):
        raise BunrakuError(f"the weight of a {what} is {str(weight)[:40]}\n  advice: give a number, or numbers by name") from None
    if not (np.isfinite(out).all() and (out >= 0.0).all()):
        raise BunrakuError(f"a weight of a {what} is negative or not finite\n  advice: zero counts nothing, more counts more")
    return out


def rows(wish: Reference, names: Sequence[str], t: Array, rest: Array, what: str) -> Array:
    """The reference `wish` of `names` at times `t` [s], a row each; `rest` for those that it does not name.

    Errors call a name a `what`. Raises UnknownName for other names, BunrakuError for another shape, NotFinite for other numbers.
    """
    out = np.repeat(np.asarray(rest, float)[None], len(t), 0)
    if isinstance(wish, Motion):
        track = wish.resample(times=t).only if len(wish) > 1 else wish.only
        shared = [name for name in names if name in track.figure.names]
        if not shared:
            raise UnknownName(what, names[0], track.figure.names)
        out[:, [list(names).index(name) for name in shared]] = track.q[:, track.figure.indices(shared)]
    elif isinstance(wish, Mapping):
        for name, way in wish.items():
            if name not in names:
                raise UnknownName(what, name, tuple(names))
            out[:, list(names).index(name)] = [float(way(float(x))) for x in t] if callable(way) else float(way)
    elif wish is not None:
        try:
            given = np.array([wish(float(x)) for x in t] if callable(wish) else wish, float)
        except (TypeError, ValueError):
            advice = "give numbers, or a function of time"
            raise BunrakuError(f"the reference of the {what} is {str(wish)[:40]}\n  advice: {advice}") from None
        if given.shape not in ((len(t), len(names)), (len(names),)):
            raise BunrakuError(
                f"the reference of the {what} has shape {given.shape}\n"
                f"  advice: a row of {len(names)} for each of {len(t)} samples, or one row"
            )
        out[:] = given
    if not np.isfinite(out).all():
        raise NotFinite(f"the reference of the {what} is not finite")
    return out


@dataclass(frozen=True, eq=False)
class Configuration:
    """Keeps variables near their reference; without one, near where they start."""

    weight: Weight
    """[1/rad² or 1/m²], of all variables or by name."""
    reference: Reference = None
    """[rad or m]"""
    at_end: float = 0.0
    """What the last sample counts for besides dt [s]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.names, "variable")
        _track(draft, w, rows(self.reference, s.figure.names, draft.t, draft.start[: s.n_q], "variable"), 0, self.at_end)


@dataclass(frozen=True, eq=False)
class Momentum:
    """Keeps momenta of dynamic variables near their reference; without one, near zero."""

    weight: Weight
    """Of all dynamic variables or by name."""
    reference: Reference = None
    """[kg·m²/s or kg·m/s]"""
    at_end: float = 0.0
    """What the last sample counts for besides dt [s]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.dynamic, "dynamic variable")
        _track(draft, w, rows(self.reference, s.figure.dynamic, draft.t, np.zeros(s.n), "dynamic variable"), s.n_q, self.at_end)


@dataclass(frozen=True, eq=False)
class Speed:
    """Keeps rates of kinematic variables near their reference; without one, near zero: the puppeteer's hands move slowly."""

    weight: Weight = 1.0
    """Of all kinematic variables or by name."""
    reference: Reference = None
    """[rad/s or m/s]"""
    at_end: float = 0.0
    """What the last sample counts for besides dt [s]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        s = draft.system
        w = weights(self.weight, s.figure.kinematic, "kinematic variable")
        wish = rows(self.reference, s.figure.kinematic, draft.t, np.zeros(s.n_kin), "kinematic variable")
        _track(draft, w, wish, s.n_q + s.n, self.at_end)


@dataclass(frozen=True, eq=False)
class Acceleration:
    """Keeps accelerations of kinematic variables small: the puppeteer's hands move smoothly."""

    weight: Weight = 1.0
    """Of all kinematic variables or by name."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        draft.acceleration += draft.system.dt * weights(self.weight, draft.system.figure.kinematic, "kinematic variable")


@dataclass(frozen=True, eq=False)
class Forces:
    """Keeps force inputs near their reference; without one, small."""

    weight: Weight = 1.0
    """Of all force inputs or by name."""
    reference: Reference = None
    """[N or N·m]"""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        names = [force.name for force in draft.system.figure.forces]
        w = draft.system.dt * weights(self.weight, names, "force")
        wish = rows(self.reference, names, draft.t[:-1], np.zeros(len(names)), "force")
        draft.offset_u += _merge(draft.wu, draft.ru, w[None], wish)


@dataclass(frozen=True, eq=False)
class Tension:
    """Keeps tensions of strings and wires near their reference; without one, small."""

    weight: Weight
    """Of all strings and wires or by name."""
    reference: Reference = None
    """[N]"""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        figure, dt = draft.system.figure, draft.system.dt
        names = [rope.name for rope in (*figure.strings, *figure.wires)]
        w = weights(self.weight, names, "string") / dt  # of impulses: tension · dt
        wish = dt * rows(self.reference, names, draft.t[:-1], np.zeros(len(names)), "string")
        k = len(names)
        draft.offset_u += _merge(draft.wl[:, :k], draft.rl[:, :k], w[None], wish)


@dataclass(frozen=True, eq=False)
class PointAt:
    """Keeps a point of a frame near a place in the world."""

    frame: str
    reference: Reference
    """Place (x, y, z) [m], or coordinates by name, {"z": …}; those that are not named stay near where they start."""
    weight: float = 1.0
    """[1/m²]"""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the point is in the frame [m]."""
    at_end: float = 0.0
    """What the last sample counts for besides dt [s]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        figure = draft.system.figure
        if self.frame not in figure.frame_index:
            raise UnknownName("frame", self.frame, tuple(figure.frame_index))
        f = figure.frame_index[self.frame]
        joint, X = int(figure.compiled.frame_joint[f]), figure.compiled.frame_X[f]
        if joint < 0:
            raise BunrakuError(f"the frame {self.frame} never moves\n  advice: name one that a joint carries")
        w = weights(self.weight, ["point"], "point") * draft.share(self.at_end)
        local = X[:3, :3] @ np.asarray(self.offset, float) + X[:3, 3]
        rest = draft.pose.point(self.frame, self.offset)
        draft.points.append(WantedPoint(joint, local, w, rows(self.reference, "xyz", draft.t, rest, "point")))


@dataclass(frozen=True, eq=False)
class Centre:
    """Keeps the centre of mass near a place in the world."""

    reference: Reference
    """Place (x, y, z) [m], or coordinates by name, {"z": …}; those that are not named stay near where they start."""
    weight: float = 1.0
    """[1/m²]"""
    at_end: float = 0.0
    """What the last sample counts for besides dt [s]."""

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        if draft.centre is not None:
            raise BunrakuError("two terms weigh the centre of mass\n  advice: give one")
        w = weights(self.weight, ["centre"], "centre") * draft.share(self.at_end)
        draft.centre = w, rows(self.reference, "xyz", draft.t, draft.pose.com, "centre")


@dataclass(frozen=True, eq=False)
class CostToGo:
    """Adds ½ (x − reference)ᵀ P (x − reference) of the last state x: an estimate of the cost of what comes after."""

    P: Array
    """(states, states)."""
    reference: Array
    """(states,)."""

    __repr__ = brief

    def add(self, draft: Draft) -> None:
        """Adds the term to `draft`."""
        if draft.end is not None:
            raise BunrakuError("two terms give the cost at the end\n  advice: give one, with the sum of the matrices")
        P, n = np.asarray(self.P, float), draft.system.n_x
        if P.shape != (n, n):
            raise BunrakuError(f"the matrix at the end has shape {P.shape}\n  advice: the state has {n} entries")
        draft.end = np.ascontiguousarray(0.5 * (P + P.T)), np.ascontiguousarray(self.reference, float)


def _track(draft: Draft, w: Array, wish: Array, first: int, at_end: float) -> None:
    columns = slice(first, first + len(w))
    draft.offset_x += _merge(draft.wx[:, columns], draft.rx[:, columns], draft.share(at_end)[:, None] * w, wish)


def _merge(w: Array, r: Array, more: Array, wish: Array) -> Array:
    """Two squares about different centres are one square about their mean, in place, and a constant a row, which is returned."""
    total = w + more
    share = np.divide(more, total, out=np.zeros_like(total), where=total > 0.0)
    constant: Array = 0.5 * (w * share * (wish - r) ** 2).sum(1)
    r += share * (wish - r)
    w[:] = total
    return constant


def sheet_of(terms: Sequence[Term], system: System, t: Array, start: Array) -> Sheet:
    """The arrays of a cost, the sum of `terms`, for a motion of `system` from state `start` with samples at times `t` [s]."""
    draft = Draft(system, t, start)
    for term in terms:
        term.add(draft)
    return draft.sheet()
