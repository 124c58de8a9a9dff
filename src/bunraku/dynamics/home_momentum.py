"""Between the coordinates of the file and other charts of ball joints (bunraku.dynamics.ball_charts): momentum, and starts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.quantities import momentum_of
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.spatial import so3

Array = NDArray[np.float64]


def home_momentum(figure: Figure, charts: Array, own: Array, seen: Array, momentum: Array) -> Array:
    """The `momentum` of `figure` in the coordinates of the file, from that in the `charts` of its ball joints.

    own, seen: the configuration in the charts, and in the file's coordinates
    Raises BunrakuError where the latter are singular.
    """
    out = momentum.copy()
    for C, angles in _away(figure, charts, seen):
        out[angles] = _turning(seen[angles]).T @ C @ np.linalg.solve(_turning(own[angles]).T, momentum[angles])
    return out


def momentum_in_charts(figure: Figure, charts: Array, own: Array, seen: Array, momentum: Array) -> Array:
    """The reverse of `home_momentum`: the `momentum` of a `figure` in `charts`, from that in the coordinates of its file.

    own, seen: the configuration in the charts, and in the file's coordinates
    Raises BunrakuError where the latter are singular, but for joints without any of the momentum.
    """
    out = momentum.copy()
    for C, angles in _away(figure, charts, seen, momentum):
        out[angles] = _turning(own[angles]).T @ C.T @ np.linalg.solve(_turning(seen[angles]).T, momentum[angles])
    return out


def _away(figure: Figure, charts: Array, seen: Array, momentum: Array | None = None) -> Iterator[tuple[Array, slice]]:
    """The charts of ball joints that are not at home, and the angles of these, if they have any of the `momentum`."""
    tree = figure.compiled.tree
    for C, joint in zip(charts, tree.balls, strict=True):
        first = int(tree.joints["variable"][joint])
        angles = slice(first, first + 3)
        if (np.eye(3) == C).all() or not (momentum is None or momentum[angles].any()):
            continue
        if is_singular(seen[first + 1]):
            raise BunrakuError(
                f"{figure.name}: {figure.names[first + 1]} is near 90°, where the coordinates of a ball joint are singular\n"
                "  advice: turn the joint's frame, so that it moves about another pose; or use simulate"
            )
        yield C, angles


def is_singular(b: float) -> bool:
    """Whether the second angle `b` [rad] of a ball joint is so near 90° that rates of the others say little."""
    return not abs(np.cos(b)) > 0.02


def charts_at_start(figure: Figure, q: Array, v: Array) -> tuple[Array, Array, Array, Array]:
    """Charts in which the balls of `figure` may start at the configuration `q` with rates `v`: at home, but for those that are
    singular there. Returns these, the configuration, the rates and the momentum in them."""
    tree, q, v = figure.compiled.tree, q.copy(), v.copy()
    charts, joints = np.repeat(np.eye(3)[None], len(tree.balls), 0), tree.joints
    for C, joint in zip(charts, tree.balls, strict=True):
        first = int(tree.joints["variable"][joint])
        angles = slice(first, first + 3)
        if is_singular(q[first + 1]):
            C[:] = so3.rpy(q[first + 2], q[first + 1], q[first])
            v[angles] = (C.T @ _turning(q[angles]) @ v[angles])[::-1]
            q[angles] = 0.0
            joints = joints.copy()
            joints["rotation"][joint], joints["turned"][joint] = joints["rotation"][joint] @ C, 1
    return charts, q, v, momentum_of(tree._replace(joints=joints), q, v)


def _turning(angles: Array) -> Array:
    """The axes about which the three `angles` of a ball joint turn, as columns: e_z, Rz e_y, Rz Ry e_x."""
    a, b, _ = angles
    ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
    return np.array([[0.0, -sa, ca * cb], [0.0, ca, sa * cb], [1.0, 0.0, -sb]])
