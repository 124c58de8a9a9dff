"""Manipulation: closed-form inverse kinematics of arms that hold, for a whole motion at once (*carrying*, Section IV-B).

The elbow of an arm with seven variables can swivel. The swivel is chosen over the whole motion by dynamic programming, so that arms
avoid their limits and do not jump. An arm with six variables has up to eight solutions, one of which is followed throughout; so is
one of a `GeneralArm`, which stays as near as possible to where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator
from scipy.ndimage import gaussian_filter1d

from bunraku.figure import WORLD
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.inverse.arm import ClosedArm
from bunraku.kinematics.inverse.general_arm import GeneralArm
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ManipulateOptions:
    """How arm solutions are chosen among all that reach."""

    max_change: float = 0.2
    """Largest change of a joint from one sample to the next [rad]."""
    slowed_change: float = 0.35
    """Largest change while the motion can still be slowed down [rad]."""
    swivels: int = 30
    """Number of elbow swivels that are compared, evenly spaced over a full turn."""
    stride: int = 4
    """Samples between two choices of swivel."""
    best_swivel: float = 0.35
    """Preferred swivel, with the elbow away from the body [rad]."""

    @property
    def angles(self) -> Array:
        """The swivels that are compared [rad]."""
        return np.linspace(-np.pi, np.pi, self.swivels, endpoint=False)


@dataclass(frozen=True, eq=False)
class Held:
    """An arm's angles at every sample, or the first sample that has none."""

    angles: Array
    """(T, n) [rad]."""
    lost: int | None = None
    """The first sample that cannot be held."""


def jump_of(angles: Array) -> float:
    """The largest change of `angles` (T, n) from one sample to the next [rad]."""
    return float(np.abs(np.diff(angles, axis=0)).max(initial=0.0))


def hold(
    arm: ClosedArm | GeneralArm, X_WT: Array, Q: Array, frames: Array | None = None, *,
    clear: Callable[[Array], float] | None = None,
    options: ManipulateOptions = ManipulateOptions(),
) -> Held:  # fmt: skip
    """The angles of an `arm` that brings its tool to `X_WT` (T, 4, 4), with the body in the configurations `Q` (T, n).

    frames: frames of those configurations, if already computed
    clear: penetration of configurations (T, n) [m], 0 if free; of several solutions of an arm, the clearest is taken
    options: how the arm is chosen among all that reach
    """
    X = _seen(arm, X_WT, frames_along(arm.figure, Q) if frames is None else frames)
    if isinstance(arm, ClosedArm) and arm.swivels:
        return _swivelled(arm, X, Q[0], options)
    return _followed(arm, X, Q, clear, options)


def _seen(arm: ClosedArm | GeneralArm, X_WT: Array, frames: Array) -> Array:
    """All targets relative to the arm's base at the first sample, because `nearest_many` takes one q for all."""
    if arm.base == WORLD:
        return X_WT
    X_WB = frames[:, arm.figure.frame_index[arm.base]]
    return np.asarray(X_WB[0] @ se3.inverse(X_WB) @ X_WT)


# -- seven variables -------------------------------------------------------------------------------------------------


def _swivelled(arm: ClosedArm, X: Array, q: Array, options: ManipulateOptions) -> Held:
    """Chooses swivels every few samples and interpolates smoothly; if that fails, chooses at every sample."""
    for stride, smooth in ((options.stride, 2.0), (options.stride, 0.0), (1, 1.5), (1, 0.0)):
        knots = np.unique(np.append(np.arange(0, len(X), stride), len(X) - 1))
        swivel, near, lost = _chosen(arm, X[knots], q, options)
        if lost is not None:
            if stride == 1:
                return Held(np.empty((0, 7)), lost)
            continue
        if smooth:
            swivel = gaussian_filter1d(swivel, smooth, mode="nearest")
        every = np.arange(len(X))
        along = PchipInterpolator(knots, swivel)(every) if len(knots) > 1 else np.repeat(swivel, len(X))
        angles, found = arm.nearest_many(X, q, swivel=along, near=near[np.searchsorted(knots, every)])
        if found.all() and jump_of(angles) < options.max_change:
            return Held(angles)
    return Held(angles, None if found.all() else int(found.argmin()))


def _chosen(arm: ClosedArm, X: Array, q: Array, options: ManipulateOptions) -> tuple[Array, Array, int | None]:
    """The swivels (T,) and angles (T, 7) of least cost along the motion; or the first sample that is out of reach."""
    swivels = options.angles
    T, K = len(X), len(swivels)
    lower, upper = arm.limits
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    flat, found = arm.nearest_many(np.repeat(X, K, 0), q, swivel=np.tile(swivels, T), near=np.tile(middle, (T * K, 1)))
    angles, ok = flat.reshape(T, K, -1), found.reshape(T, K)
    left = arm.figure.compiled.tree.joints["position"][_first(arm)][1] > 0.0
    best = options.best_swivel if left else -options.best_swivel
    off = (swivels - best + np.pi) % (2.0 * np.pi) - np.pi
    with np.errstate(invalid="ignore"):
        cost = np.where(ok, 0.05 * off**2 + (np.abs((angles - middle) / half) ** 8).sum(-1) * 0.1, np.inf)
        total, came = cost[0], np.zeros((T, K), np.int64)
        for k in range(1, T):
            # Squared change of all joints, for every pair of swivels.
            step = ((angles[k][:, None] - angles[k - 1][None]) ** 2).sum(-1)
            ways = np.where(np.isnan(step), np.inf, 4.0 * step) + total
            came[k] = ways.argmin(1)
            total = ways[np.arange(K), came[k]] + cost[k]
            if not np.isfinite(total).any():
                return np.empty(0), np.empty((0, 7)), k
    if not np.isfinite(total).any():
        return np.empty(0), np.empty((0, 7)), 0
    pick = np.empty(T, np.int64)
    pick[-1] = total.argmin()
    for k in range(T - 1, 0, -1):
        pick[k - 1] = came[k, pick[k]]
    return np.unwrap(swivels[pick]), angles[np.arange(T), pick], None


def _first(arm: ClosedArm) -> int:
    """Index of the arm's first joint."""
    return int(np.flatnonzero(arm.figure.compiled.tree.joints["variable"] == arm.indices[0])[0])


# -- six variables ---------------------------------------------------------------------------------------------------


def _followed(
    arm: ClosedArm | GeneralArm, X: Array, Q: Array, clear: Callable[[Array], float] | None, options: ManipulateOptions
) -> Held:  # fmt: skip
    """Follows each solution of the first sample; of those that are free, takes the one farthest from jumps and limits."""
    q = Q[0]
    starts = arm.solutions(X[0], q, within_limits=True)
    tried = [_at_once(arm, X, first, q, options.max_change) for first in starts]
    best = _best(arm, tried)
    if best is not None and (clear is None or clear(_with(arm, Q, best)) >= 0.0):
        return best
    # Slower to compute, sample by sample; if these jump, the motion can be slowed down.
    tried = [own if own.lost is None else _one_by_one(arm, X, first, q) for own, first in zip(tried, starts, strict=True)]
    whole = [own for own in tried if own.lost is None]
    if not whole:
        return Held(np.empty((0, len(arm.indices))), max((own.lost or 0 for own in tried), default=0))
    smooth = [own for own in whole if jump_of(own.angles) < options.slowed_change]
    if clear is None or not smooth:
        return max(whole, key=lambda own: _ease(arm, own))
    return max(smooth, key=lambda own: (round(clear(_with(arm, Q, own)), 3), _ease(arm, own)))


def _best(arm: ClosedArm | GeneralArm, tried: list[Held]) -> Held | None:
    return max((own for own in tried if own.lost is None), key=lambda own: _ease(arm, own), default=None)


def _ease(arm: ClosedArm | GeneralArm, own: Held) -> float:
    """Distance from limits and from jumps [rad]."""
    lower, upper = arm.limits
    return float(np.minimum(own.angles - lower, upper - own.angles).min()) - 10.0 * jump_of(own.angles)


def _with(arm: ClosedArm | GeneralArm, Q: Array, own: Held) -> Array:
    out = Q.copy()
    out[:, arm.indices] = own.angles
    return out


def _at_once(arm: ClosedArm | GeneralArm, X: Array, first: Array, q: Array, max_change: float) -> Held:
    """Angles nearest to the first sample's, in one call; lost if they jump."""
    out, found = arm.nearest_many(X, q, near=first)
    return Held(out, None if found.all() and jump_of(out) < max_change else 0)


def _one_by_one(arm: ClosedArm | GeneralArm, X: Array, first: Array, q: Array) -> Held:
    """Angles sample by sample, each nearest to the last."""
    if isinstance(arm, GeneralArm):
        angles, reached = arm.followed(X, first, q)
        return Held(angles, None if reached.all() else int(reached.argmin()))
    out, near = np.empty((len(X), len(first))), first
    for k, target in enumerate(X):
        angles, found = arm.nearest_many(target[None], q, near=near[None])
        if not found[0]:
            return Held(out, k)
        out[k] = near = angles[0]
    return Held(out)
