"""The draft of a cost: weights and references of all samples, which the terms fill in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.control.control_system import System
from bunraku.control.cost_arrays import Sheet
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.kinematics.forward import Pose
from bunraku.motion import Motion

Array = NDArray[np.float64]
Weight = float | Mapping[str, float]
Reference = Motion | Callable[[float], ArrayLike] | Mapping[str, Callable[[float], float] | float] | ArrayLike | None
"""A Motion; a function of time; functions or numbers by name; one row for all samples, or a row for each; or None."""


class WantedPoint(NamedTuple):
    """A point fixed to a joint, and its reference."""

    joint: int
    local: Array
    """Position in the joint's frame (3,) [m]."""
    weights: Array
    """Weight at each sample."""
    targets: Array
    """Reference at each sample, in the world (N + 1, 3) [m]."""


@dataclass
class Draft:
    """A `Sheet` while terms are being added: the times of the samples, the initial state, weights and references."""

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
        """The time that each sample counts for [s]: dt, and `at_end` more for the last."""
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
    """The weights of `names`, in their order. `weight` is one number for all, or numbers by name; names not given get 0.

    Error messages call each of them a `what`. Raises UnknownName for an unknown name, BunrakuError for a weight that is negative or
    not a number.
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
        raise BunrakuError(f"a weight of a {what} is negative or not finite\n  advice: give zero or a positive number")
    return out


def rows(wish: Reference, names: Sequence[str], t: Array, rest: Array, what: str) -> Array:
    """The reference `wish` of `names` at times `t` [s], one row each; `rest` for names that it does not give.

    Error messages call each of them a `what`. Raises UnknownName for an unknown name, BunrakuError for a wrong shape or type,
    NotFinite for NaN or infinity.
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
                f"  advice: give a row of {len(names)} for each of {len(t)} samples, or one row"
            )
        out[:] = given
    if not np.isfinite(out).all():
        raise NotFinite(f"the reference of the {what} is not finite")
    return out


def merge(w: Array, r: Array, more: Array, wish: Array) -> Array:
    """Adds weighted squares with weights `more` and centres `wish` to those with weights `w` and centres `r`, in place.

    Two squares with different centres equal one square about their weighted mean plus a constant. Returns that constant per row.
    """
    total = w + more
    share = np.divide(more, total, out=np.zeros_like(total), where=total > 0.0)
    constant: Array = 0.5 * (w * share * (wish - r) ** 2).sum(1)
    r += share * (wish - r)
    w[:] = total
    return constant
