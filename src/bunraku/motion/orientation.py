"""Three rotations about one point, treated as one orientation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.frame import ORIGIN, Frame
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Turn:
    """Three variables that turn about orthogonal axes through one point, one after the other.

    Every such order of axes is z, y, x in other coordinates: the angles a, b, c give R = C Rz(a) Ry(b) Rx(± c) Cᵀ, C constant.
    """

    name: str
    columns: NDArray[np.int64]
    C: Array
    sign: float

    def quaternion(self, q: ArrayLike) -> Array:
        """The orientations (…, 4) at configurations `q` (…, n_q)."""
        a, b, c = np.moveaxis(np.asarray(q, float)[..., self.columns], -1, 0) / 2.0
        zero = np.zeros_like(a)
        z, y, x = (
            np.stack([np.cos(angle), *(np.sin(angle) if k == axis else zero for k in range(3))], -1)
            for angle, axis in ((a, 2), (b, 1), (c * self.sign, 0))
        )
        out = product(product(z, y), x)
        out[..., 1:] = out[..., 1:] @ self.C.T
        return out

    def angles(self, R: ArrayLike, near: ArrayLike) -> Array:
        """The angles (…, 3) [rad] that give the rotations `R` (…, 3, 3); of all solutions, those nearest to `near`."""
        zyx = so3.angles_zyx(self.C.T @ np.asarray(R, float) @ self.C)
        flip = np.array([1.0, 1.0, self.sign])
        return np.asarray(_nearest(zyx, np.asarray(near, float) * flip) * flip)

    def along(self, R: ArrayLike, near: ArrayLike) -> Array:
        """The angles (T, 3) [rad] that give the rotations `R` (T, 3, 3) and change least between samples, starting near `near`."""
        flip = np.array([1.0, 1.0, self.sign])
        zyx = zyx_along(self.C.T @ np.asarray(R, float) @ self.C, np.asarray(near, float) * flip)
        return np.asarray(zyx * flip)


def turns(figure: Figure) -> tuple[Turn, ...]:
    """The orientations of a `figure`: ball and free joints, and other triples of rotations about orthogonal axes at a point."""
    out = []
    taken: set[str] = set()
    for group in figure.groups:
        taken |= set(group.frames)
        out.append(_turn(figure, tuple(figure.frame(name) for name in group.frames[-3:])))
    for last in figure.frames:
        middle = figure.frame(last.parent) if last.parent in figure.frame_index else None
        first = figure.frame(middle.parent) if middle is not None and middle.parent in figure.frame_index else None
        if middle is None or first is None or {first.name, middle.name, last.name} & taken:
            continue
        if _orthogonal(first, middle, last):
            taken |= {first.name, middle.name, last.name}
            out.append(_turn(figure, (first, middle, last)))
    return tuple(out)


def zyx_along(R: ArrayLike, near: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
    """Angles (T, 3) [rad] with Rz Ry Rx = `R` (T, 3, 3) that change least between samples, starting near `near`."""
    zyx = so3.angles_zyx(R)
    zyx[0] = _nearest(zyx[0], np.asarray(near, float))
    # Of each sample's two triples, stay with the one that is nearer to the last sample's.
    stay = np.sum(_wrap(np.diff(zyx, axis=0)) ** 2, -1)
    change = np.sum(_wrap(_other(zyx[1:]) - zyx[:-1]) ** 2, -1)
    swapped = np.concatenate([[False], np.logical_xor.accumulate(change < stay)])
    zyx = np.unwrap(np.where(swapped[:, None], _other(zyx), zyx), axis=0)
    for k in np.flatnonzero(_singular(zyx)):
        zyx[k] = _nearest(zyx[k], zyx[max(int(k) - 1, 0)])
    return zyx


def product(a: ArrayLike, b: ArrayLike) -> Array:
    """The product of quaternions `a` and `b` (…, 4): first b, then a."""
    aw, ax, ay, az = np.moveaxis(np.asarray(a, float), -1, 0)
    bw, bx, by, bz = np.moveaxis(np.asarray(b, float), -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        -1,
    )


def continuous(quaternions: Array) -> Array:
    """The same orientations as `quaternions` (T, 4), without jumps of sign between samples."""
    flips = np.where(np.sum(quaternions[1:] * quaternions[:-1], -1) < 0.0, -1.0, 1.0)
    return quaternions * np.cumprod(np.concatenate([[1.0], flips]))[:, None]


def _orthogonal(*frames: Frame) -> bool:
    plain = all(frame.position == ORIGIN and frame.rotation == so3.IDENTITY for frame in frames[1:])
    variables = [frame.variable for frame in frames if frame.variable is not None]
    axes = np.array([variable.axis for variable in variables if variable.motion == "rotate"])
    return plain and axes.shape == (3, 3) and bool(np.allclose(axes @ axes.T, np.eye(3), atol=1e-12))


def _turn(figure: Figure, frames: tuple[Frame, ...]) -> Turn:
    variables = [frame.variable for frame in frames if frame.variable is not None]
    first, second, third = (np.array(variable.axis) for variable in variables)
    x = np.cross(second, first)  # e_x = e_y × e_z
    columns = figure.indices(variable.name for variable in variables)
    return Turn(frames[-1].name, columns, np.stack([x, second, first], 1), float(np.sign(x @ third)))


def _wrap(angle: Array) -> Array:
    """The angle, shifted by whole turns to between −π and π."""
    return np.asarray(angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi)))


def _other(zyx: Array) -> Array:
    """The other triple that gives the same orientation."""
    return np.stack([zyx[..., 0] + np.pi, np.pi - zyx[..., 1], zyx[..., 2] + np.pi], -1)


def _singular(zyx: Array) -> NDArray[np.bool_]:
    return np.asarray(np.abs(np.cos(zyx[..., 1])) < 1e-9)


def _nearest(zyx: Array, near: Array) -> Array:
    """Of the two triples that give an orientation, and their whole turns, the nearest to `near`."""
    a, b = near + _wrap(zyx - near), near + _wrap(_other(zyx) - near)
    closer = np.sum((a - near) ** 2, -1) <= np.sum((b - near) ** 2, -1)
    out = np.where(closer[..., None], a, b)
    # Where y = ±π/2 only z ∓ x is known: share the change between the two.
    singular = _singular(zyx)
    if np.any(singular):
        up = np.sign(np.sin(zyx[..., 1]))
        change = _wrap(zyx[..., 0] - up * zyx[..., 2] - (near[..., 0] - up * near[..., 2])) / 2.0
        y = near[..., 1] + _wrap(zyx[..., 1] - near[..., 1])
        shared = np.stack([near[..., 0] + change, y, near[..., 2] - up * change], -1)
        out = np.where(singular[..., None], shared, out)
    return out
