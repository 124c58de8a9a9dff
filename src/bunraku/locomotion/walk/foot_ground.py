"""Ground under feet: where a foot can lie flat, and its tilt there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.locomotion.walk.legs import Leg
from bunraku.spatial import so3

Array = NDArray[np.float64]
Heights = Callable[[Array], ArrayLike]
"""A function from points (n, 2) [m] to heights of the ground (n,) [m]."""


@dataclass(frozen=True)
class FootGroundOptions:
    """Where a foot may be set down."""

    unevenness: float = 0.008
    """Largest deviation of the ground under a sole from a plane [m]."""
    longest_shift: float = 0.16
    """Largest shift of a foot along its own axis, to avoid an edge [m]."""
    shift_step: float = 0.02
    """Increment of the shifts that are tried, smallest first [m]."""
    riser_gap: float = 0.03
    """Distance of toes from the vertical face of a step; heels keep three tenths of it [m]."""
    overhang: float = 0.3
    """Share of heel and toes that may hang over an edge."""
    half_width: float = 0.036
    """Half the width of a sole [m]."""

    @property
    def shifts(self) -> Array:
        """All shifts [m], in the order in which they are tried."""
        count = round(self.longest_shift / self.shift_step)
        return np.array([0.0, *(sign * round(k * self.shift_step, 9) for k in range(1, count + 1) for sign in (-1.0, 1.0))])


@dataclass(frozen=True, eq=False)
class FootGround:
    """The ground under each stance."""

    at: Array
    """Point of the ground under each ankle (n, 3) [m]."""
    R: Array
    """Axes (n, 3, 3); z is the normal of the ground."""


def level(heights: Heights | None, points: Array) -> Array:
    """The heights of `points` (…, 2) from the function `heights`, checked; zero without one.

    Raises BunrakuError if it returns a wrong shape, NotFinite if a height is not finite.
    """
    if heights is None:
        return np.zeros(points.shape[:-1])
    flat = np.ascontiguousarray(points.reshape(-1, 2))
    found = np.asarray(heights(flat), float)
    if found.shape != (len(flat),):
        raise BunrakuError(f"heights gave {found.shape} for {len(flat)} points\n  advice: heights(points (n, 2)) returns (n,)")
    if not np.isfinite(found).all():
        raise NotFinite(
            f"no height at {flat[~np.isfinite(found)][0]}\n  advice: heights must be finite wherever the person may step"
        )
    return found.reshape(points.shape[:-1])


def rest(
    place: Array, leg: Leg, heights: Heights | None, *, options: FootGroundOptions = FootGroundOptions()
) -> FootGround:  # fmt: skip
    """Sets the feet of a `leg` at `place` (n, 3) (x, y [m], heading [rad]) down on ground with these `heights`.

    Each is shifted along its own axis as little as possible to avoid edges, and tilted with the ground. The ground is flat if
    `heights` is None. `options` define where a foot may be set down.
    """
    place = np.array(place)
    if heights is None:
        return FootGround(np.column_stack([place[:, :2], np.zeros(len(place))]), so3.about(2, place[:, 2]))
    shifts, uneven, firm = options.shifts, options.unevenness, 1.0 - options.overhang
    inner = np.array([firm * leg.heel, 0.0, 0.5 * leg.toe, firm * leg.toe])
    lengths = np.array([leg.heel - 0.3 * options.riser_gap, leg.heel, *inner, leg.toe, leg.toe + options.riser_gap])
    x, y = (grid.ravel() for grid in np.meshgrid(lengths, [-options.half_width, options.half_width], indexing="ij"))
    c, s = np.cos(place[:, 2])[:, None, None], np.sin(place[:, 2])[:, None, None]
    along = shifts[:, None] + x  # (shifts, probes)
    points = np.stack([place[:, :1, None] + c * along - s * y, place[:, 1:2, None] + s * along + c * y], -1)
    z = level(heights, points)
    A = np.column_stack([np.ones(len(x)), x, y])
    within = np.isin(x, inner)
    plane = np.linalg.pinv(A[within]) @ z[..., within, None]  # height under the ankle, and two slopes
    above = z - (A @ plane)[..., 0]
    # Ends of the sole may hang over an edge, but must not be inside rising ground.
    off = np.where(within, np.abs(above), above).max(-1)
    k = np.where((off < uneven).any(1), (off < uneven).argmax(1), off.argmin(1))
    row = np.arange(len(place))
    own, rough = plane[row, k, :, 0], off[row, k] >= uneven
    own[rough] = np.column_stack([z[row, k][:, within].max(1), np.zeros((len(place), 2))])[rough]
    own[~rough] = _bearing(A, z[row, k], own, (x >= leg.heel) & (x <= leg.toe), 2.0 * uneven)[~rough]
    place[:, 0] += shifts[k] * np.cos(place[:, 2])
    place[:, 1] += shifts[k] * np.sin(place[:, 2])
    normal = np.stack([-own[:, 1], -own[:, 2], np.ones(len(own))], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    e_y = np.cross(normal, [1.0, 0.0, 0.0])
    e_y /= np.linalg.norm(e_y, axis=1, keepdims=True)
    tilt = np.stack([np.cross(e_y, normal), e_y, normal], -1)
    return FootGround(np.column_stack([place[:, :2], own[:, 0]]), so3.about(2, place[:, 2]) @ tilt)


def _bearing(A: Array, z: Array, plane: Array, sole: NDArray[np.bool_], most: float) -> Array:
    """Planes (n, 3) that support the soles: fitted to the whole sole where slopes meet; raised until no part is in the ground."""
    A, z = A[sole], z[:, sole]
    bridges = np.asarray((np.abs(z - plane @ A.T) < most).all(1))  # otherwise an end hangs over an edge
    out: Array = np.where(bridges[:, None], z @ np.linalg.pinv(A).T, plane)
    out[:, 0] += np.maximum(z - out @ A.T, 0.0).max(1)
    return out
