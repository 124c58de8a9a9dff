"""How the points where bodies touch move with the configuration: they are not fixed in the bodies, unless these have corners there.

A contact is given by the points and directions of its normal row (bunraku.kinematics.feature_gaps). Where they move, so do the
nearest points of the two bodies and the directions along their surfaces. The derivative is taken by a complex step, which is exact.

Where faces of two polytopes meet, some contacts are corners of their overlap: an edge of one above a side of the other's face, or a
face above a corner of the other's. These are no fixed points of a body, either (bunraku.dynamics.touch.overlap_corners).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_arrays import BODY, TouchWorld
from bunraku.dynamics.touch.overlap_corners import Corner, corner_of
from bunraku.errors import BunrakuError
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kinematics.forward import Pose
from bunraku.spatial import so3

Array = NDArray[np.float64]


class Surface(NamedTuple):
    """Where two bodies a and b touch; or how that changes."""

    x: Any
    """The point of a [m]."""
    y: Any
    """That of b."""
    n: Any
    """The normal, from b to a."""
    u: Any
    """A direction along the surface."""
    v: Any
    """The other one, n × u."""


class ContactPoint:
    """The contact with this `key` whose normal is the row `link` of `tree`, where its figure is at the pose `here`.

    world: all bodies, for their radii

    Raises BunrakuError where the contact is no smooth function of the configuration.
    """

    def __init__(self, tree: FigureTree, world: TouchWorld, key: NDArray[np.int64], link: int, here: Pose) -> None:
        row = tree.links[link]
        if int(row["kind"]) == LinkKind.PLANE and key[3] >= BODY.rim:
            raise BunrakuError(
                "the step has no derivative here: a plane stands for the rim of a cylinder, which an edge or a rim runs along\n"
                "  advice: tilt one of the bodies"
            )
        self._row, self._key = row, key
        self.kind, self.count = int(row["kind"]), int(row["count"])
        points = tree.points[int(row["first"]) : int(row["first"]) + self.count]
        self.joints = [int(j) for j in points["joint"]]
        self._weight = points["is_point"]
        self._x = np.array([_at(here, p) for p in points])
        self._radius = [float(world.radius[body]) if key[2 + side] < BODY.rim else 0.0 for side, body in enumerate(key[:2])]
        self._tree, self._S = tree, here._S
        self._corner: Corner | None = corner_of(world, key, here, self._x) if self.kind == LinkKind.PLANE else None
        if self._corner is not None:
            self.joints += self._corner.joints
            self._weight = np.concatenate([self._weight, self._corner.weights])
            self._x = np.concatenate([self._x, self._corner.points])
        self.here = Surface(*(np.real(part) for part in self._geometry(self._x.astype(complex))))

    @property
    def is_corner(self) -> bool:
        """Whether it is a corner of the overlap of two faces, which is no fixed point of a body."""
        return self._corner is not None

    def moves(self, joint: int) -> Surface:
        """How it changes with the variable of `joint`."""
        S = self._S[joint]
        x = self._x.astype(complex)
        carried = {j: carries(self._tree, joint, j) for j in set(self.joints)}
        for k, j in enumerate(self.joints):
            if carried[j]:
                x[k] += 1e-30j * (so3.cross(S[:3], self._x[k]) + self._weight[k] * S[3:])
        return Surface(*(np.imag(part) / 1e-30 for part in self._geometry(x)))

    def _geometry(self, p: NDArray[np.complex128]) -> Surface:
        row, (ra, rb) = self._row, self._radius
        if self._corner is not None:
            p = np.concatenate([[self._corner.place(p[self.count :])], p[1:]])
        if self.kind == LinkKind.PLANE:
            n = -p[2]
            x, y = p[0] - ra * n, p[0] - (n @ (p[0] - p[1]) + ra) * n
        elif self.kind == LinkKind.RIM and self.count > 4:
            x, y, n = self._curves(p)
            x = x - ra * n
        elif self.kind == LinkKind.RIM:
            n, down = p[3], p[3] - (p[3] @ p[2]) * p[2]
            x = p[0] - float(row["ratio"]) / np.sqrt(down @ down) * down
            y = x + (n @ (p[1] - x)) * n
        else:
            x, y, n = self._features(p)
            x, y = x - ra * n, y + rb * n
        first = np.eye(3)[0 if abs(n[0].real) < 0.6 else 1]
        u = first - (n @ first) * n
        u = u / np.sqrt(u @ u)
        return Surface(x, y, n, u, so3.cross(n, u))

    def _curves(self, p: NDArray[np.complex128]) -> tuple[Any, Any, Any]:
        """A rim beside a point, a line or a rim: see bunraku.kinematics.rim_gaps."""
        rims, ratio, places = self.count == 6, float(self._row["ratio"]), np.zeros(2, complex)
        done = False
        for _ in range(40):
            b, tb = _on_rim(p[2], p[3], places[1])
            a, ta = _on_rim(p[4], p[5], places[0]) if rims else (places[0] * p[4], p[4])
            y = p[0] + a - p[1] - b
            if done:
                break
            J = np.array([[ta @ ta - (a @ y if rims else 0.0), -ta @ tb], [ta @ tb, -tb @ tb - b @ y]])
            if not np.any(ta):  # a point
                J[0, 0] = 1.0
            change = np.linalg.solve(J, [-ta @ y, -tb @ y])
            turn = np.abs(change[0 if rims else 1 :]).max()
            places = places + change * min(1.0, 0.3 / max(turn, 1e-300))
            done = bool(turn < 1e-10)  # of which it leaves the square
        n = y if ratio == 0.0 else ratio * so3.cross(ta, tb)
        return p[0] + a, p[1] + b, n / np.sqrt(n @ n)

    def _features(self, p: NDArray[np.complex128]) -> tuple[Any, Any, Any]:
        d, lines = p[0] - p[1], p[2:]
        s = -np.linalg.solve(lines @ lines.T, lines @ d) if len(lines) else np.zeros(0)
        y = d + s @ lines
        if self.count == 4:
            n = float(self._row["ratio"]) * so3.cross(lines[0], lines[1])
            return p[0] + s[0] * lines[0], p[1] - s[1] * lines[1], n / np.sqrt(n @ n)
        n = y / np.sqrt(y @ y)
        if self.count == 3 and BODY.edge <= self._key[2] < BODY.rim:
            return p[0] + s[0] * lines[0], p[1], n
        return p[0], p[1] - (s @ lines if self.count == 3 else 0.0), n


def _on_rim(axis: Any, start: Any, angle: complex) -> tuple[Any, Any]:
    """The place at an `angle` from the `start`, from the centre, and the tangent there."""
    aside = so3.cross(axis, start)
    return np.cos(angle) * start + np.sin(angle) * aside, np.cos(angle) * aside - np.sin(angle) * start


def _at(here: Pose, point: np.void) -> Array:
    """A point or direction in the world."""
    X = here.X_joint(int(point["joint"]))
    return np.asarray(X[:3, :3] @ point["position"] + float(point["is_point"]) * X[:3, 3])


def carries(tree: FigureTree, i: int, j: int) -> bool:
    """Whether joint `i` of `tree` carries what joint `j` does."""
    return j >= 0 and i in tree.chain[j, 1 : 1 + tree.chain[j, 0]]
