"""Ground under feet: where a foot can lie flat, and how it tilts there."""

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
"""Points (n, 2) to heights (n,)."""
UNEVEN = 0.008  # [m] that ground may be off a plane
SHIFTS = np.array([0.0, *(s * k for k in (0.02, 0.04, 0.06, 0.08, 0.1, 0.12, 0.14, 0.16) for s in (-1.0, 1.0))])
EDGE = 0.03  # [m] that toes keep off a riser, and heels a third of it
OVERHANG = 0.3  # share of heel and toes that may be over an edge
HALF_WIDTH = 0.036


@dataclass(frozen=True, eq=False)
class Ground:
    """Soles on the ground: the point under each ankle, and axes whose z is the ground's normal."""

    at: Array
    R: Array


def level(heights: Heights | None, points: Array) -> Array:
    """Heights of points (…, 2), checked."""
    if heights is None:
        return np.zeros(points.shape[:-1])
    flat = np.ascontiguousarray(points.reshape(-1, 2))
    found = np.asarray(heights(flat), float)
    if found.shape != (len(flat),):
        raise BunrakuError(f"heights gave {found.shape} for {len(flat)} points\n  advice: heights(points (n, 2)) returns (n,)")
    if not np.isfinite(found).all():
        raise NotFinite(f"no height at {flat[~np.isfinite(found)][0]}\n  advice: the ground goes on everywhere the person may step")
    return found.reshape(points.shape[:-1])


def rest(place: Array, leg: Leg, heights: Heights | None) -> Ground:
    """Feet (n, 3) set down: moved along themselves off edges, as little as need be, and tilted with the ground."""
    place = np.array(place)
    if heights is None:
        return Ground(np.column_stack([place[:, :2], np.zeros(len(place))]), so3.about(2, place[:, 2]))
    inner = np.array([(1.0 - OVERHANG) * leg.heel, 0.0, 0.5 * leg.toe, (1.0 - OVERHANG) * leg.toe])
    lengths = np.array([leg.heel - 0.3 * EDGE, leg.heel, *inner, leg.toe, leg.toe + EDGE])
    x, y = (grid.ravel() for grid in np.meshgrid(lengths, [-HALF_WIDTH, HALF_WIDTH], indexing="ij"))
    c, s = np.cos(place[:, 2])[:, None, None], np.sin(place[:, 2])[:, None, None]
    along = SHIFTS[:, None] + x  # (shifts, probes)
    points = np.stack([place[:, :1, None] + c * along - s * y, place[:, 1:2, None] + s * along + c * y], -1)
    z = level(heights, points)
    A = np.column_stack([np.ones(len(x)), x, y])
    within = np.isin(x, inner)
    plane = np.linalg.pinv(A[within]) @ z[..., within, None]  # height under the ankle, and slopes
    above = z - (A @ plane)[..., 0]
    # Ends of the sole may hang over an edge, but not be inside what rises there.
    off = np.where(within, np.abs(above), above).max(-1)
    k = np.where((off < UNEVEN).any(1), (off < UNEVEN).argmax(1), off.argmin(1))
    row = np.arange(len(place))
    own, rough = plane[row, k, :, 0], off[row, k] >= UNEVEN
    own[rough] = np.column_stack([z[row, k][:, within].max(1), np.zeros((len(place), 2))])[rough]
    own[~rough] = _bearing(A, z[row, k], own, (x >= leg.heel) & (x <= leg.toe))[~rough]
    place[:, 0] += SHIFTS[k] * np.cos(place[:, 2])
    place[:, 1] += SHIFTS[k] * np.sin(place[:, 2])
    normal = np.stack([-own[:, 1], -own[:, 2], np.ones(len(own))], 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    e_y = np.cross(normal, [1.0, 0.0, 0.0])
    e_y /= np.linalg.norm(e_y, axis=1, keepdims=True)
    tilt = np.stack([np.cross(e_y, normal), e_y, normal], -1)
    return Ground(np.column_stack([place[:, :2], own[:, 0]]), so3.about(2, place[:, 2]) @ tilt)


def _bearing(A: Array, z: Array, plane: Array, sole: NDArray[np.bool_]) -> Array:
    """Planes (n, 3) that soles lie on: where slopes meet, under the whole sole; and such that nothing of it is in the ground."""
    A, z = A[sole], z[:, sole]
    bridges = np.asarray((np.abs(z - plane @ A.T) < 2.0 * UNEVEN).all(1))  # else an end hangs over an edge
    out: Array = np.where(bridges[:, None], z @ np.linalg.pinv(A).T, plane)
    out[:, 0] += np.maximum(z - out @ A.T, 0.0).max(1)
    return out
