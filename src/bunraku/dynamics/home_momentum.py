"""Momentum in the coordinates of the file, where ball joints are in other charts (bunraku.dynamics.ball_charts)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import Figure

Array = NDArray[np.float64]


def home_momentum(figure: Figure, charts: Array, own: Array, seen: Array, momentum: Array) -> Array:
    """The `momentum` of `figure` in the coordinates of the file, from that in the `charts` of its ball joints.

    own, seen: the configuration in the charts, and in the file's coordinates
    Raises BunrakuError where the latter are singular.
    """
    tree, out = figure.compiled.tree, momentum.copy()
    for C, joint in zip(charts, tree.balls, strict=True):
        if (np.eye(3) == C).all():
            continue
        first = int(tree.joints["variable"][joint])
        angles, b = slice(first, first + 3), first + 1
        if not abs(np.cos(seen[b])) > 0.02:
            raise BunrakuError(
                f"{figure.name}: {figure.names[b]} is near 90°, where the coordinates of a ball joint are singular\n"
                "  advice: turn the joint's frame, so that it moves about another pose; or use simulate"
            )
        out[angles] = _turning(seen[angles]).T @ C @ np.linalg.solve(_turning(own[angles]).T, momentum[angles])
    return out


def _turning(angles: Array) -> Array:
    """The axes about which the three `angles` of a ball joint turn, as columns: e_z, Rz e_y, Rz Ry e_x."""
    a, b, _ = angles
    ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
    return np.array([[0.0, -sa, ca * cb], [0.0, ca, sa * cb], [1.0, 0.0, -sb]])
