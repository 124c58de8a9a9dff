"""How the rows of contacts change with q0 because their points and directions are not fixed in the bodies.

A row is a function s(P, c) of a few points P_k, each fixed in a body within the step, and of a length c. The configuration q0
at its start has put them where they are. Where q0 changes and P_k goes elsewhere than its body takes it, by δP_k, the row
changes at q1 by Σ f_k·δP_k + s_c δc, with f_k = ∂s/∂P_k, and so does its gradient at q0, along which its impulse acts:

    δA_d = Σ_k δf_k·(ω_d × P_k + w_k v_d) + f_k·(ω_d × δP_k)           of the variable d with the screw (ω_d, v_d)

Slips count from q0, so that for them the change of s at q0 is taken off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_arrays import MANIFOLD, Contacts, TouchWorld
from bunraku.dynamics.touch.touch_points import ContactPoint, Surface, carries
from bunraku.figure.records import FigureTree, LinkKind
from bunraku.kinematics.forward import Pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Row:
    """The points of a row [m] and its length c; or how they change."""

    points: Any
    """(k, 3)"""
    length: Any


class MovingRows:
    """Rows of the contacts `t` of a figure `tree` among the bodies `world`, from the pose `before` a step to that `after` it."""

    def __init__(self, tree: FigureTree, world: TouchWorld, t: Contacts, before: Pose, after: Pose) -> None:
        self._tree, self._world, self._t, self._before, self._after = tree, world, t, before, after
        self._points: dict[int, ContactPoint] = {}
        self._surfaces: dict[tuple[int, int], Surface] = {}
        self._shared: dict[tuple[int, int], dict[int, Surface]] = {}
        nj = len(tree.joints)
        self._carries = np.array([[carries(tree, i, j) for j in range(nj)] + [False] for i in range(nj)]).reshape(nj, nj + 1)

    def changes(self, k: int, lam: Array, extra: Array, slip: Array) -> None:
        """Adds the changes by q0 of the rows of contact k, with the impulses `lam`: of r to `extra` (n, n_q), of the rows to `slip`
        (rows, n_q)."""
        normal, last = int(self._t.head[k]), int(self._t.head[k + 1])
        self._surface(k)
        first = normal if self._points[k].is_corner else normal + 1  # other normals have points that are fixed, or are nearest
        bodies = self._world.joint[self._t.key[k, :2]]
        joints = [int(j) for j in np.flatnonzero(self._carries[:, bodies].any(1))]
        for c in range(first, last):
            self._change(
                c, self._row(k, c - normal), {j: self._row(k, c - normal, j) for j in joints}, float(lam[c]), extra, slip[c]
            )

    def _surface(self, k: int, joint: int = -1) -> Surface:
        """Of contact k; or how it moves with the variable of `joint`."""
        if k not in self._points:
            self._points[k] = ContactPoint(self._tree, self._world, self._t.key[k], int(self._t.head[k]), self._before)
        if (k, joint) not in self._surfaces:
            self._surfaces[k, joint] = self._points[k].here if joint < 0 else self._points[k].moves(joint)
        return self._surfaces[k, joint]

    def _sharing(self, k: int, joint: int = -1) -> dict[int, Surface]:
        """The surfaces of all contacts that share the plane of contact k, the first of which it is, as from there; k alone where it
        shares none. Or how they move with the variable of `joint`."""
        lead = int(self._t.plane[k])
        if lead < 0:
            return {k: self._surface(k, joint)}
        if (lead, joint) not in self._shared:
            own = [int(i) for i in np.flatnonzero(self._t.plane[: int(self._t.number[0])] == lead)]
            at = {i: self._surface(i, joint) for i in own}
            swapped = [i for i in own if self._t.key[i, 0] != self._t.key[lead, 0]]
            at.update({i: Surface(at[i].y, at[i].x, -at[i].n, at[i].u, at[i].v) for i in swapped})
            self._shared[lead, joint] = at
        return self._shared[lead, joint]

    def _row(self, k: int, row: int, joint: int = -1) -> _Row:
        """Row number `row` of contact k: 0 its normal, then two slips, then two turns; or how it moves with that of `joint`."""
        own = self._surface(k, joint)
        if row == 0:
            return _Row(np.array([own.x, own.y, -own.n]), 0.0)
        if row > 2:  # v·n changes by the angle about u
            return _Row(np.array([own.v if row == 3 else own.u, np.zeros(3), own.n]), 0.0)
        sharing = self._sharing(k, joint)
        lead = next(iter(sharing.values()))
        x, along = sharing[k].x, lead.u if row == 1 else lead.v
        if len(sharing) == 1:
            return _Row(np.array([x, lead.y, along]), 0.0)
        return _Row(np.array([x, lead.y, along, lead.n, lead.n]), self._length(k, joint))

    def _length(self, k: int, joint: int) -> float:
        """c = h − 2 H of contact k (bunraku.collision.manifold.shared_planes), or its change."""
        at, own = self._sharing(k), list(self._sharing(k)).index(k)
        lead = next(iter(at))
        n, apart = at[lead].n, np.array([each.x for each in at.values()]) - at[lead].y
        height = apart @ n
        weight = np.exp((height.min() - height) / MANIFOLD.lowest)
        weight /= weight.sum()
        mean = float(weight @ height)
        if joint < 0:
            return float(height[own] - 2.0 * mean)
        moves = self._sharing(k, joint)
        rise = apart @ moves[lead].n + (np.array([each.x for each in moves.values()]) - moves[lead].y) @ n
        return float(rise[own] - 2.0 * (weight * (1.0 - (height - mean) / MANIFOLD.lowest)) @ rise)

    def _change(self, c: int, row: _Row, moves: dict[int, _Row], impulse: float, extra: Array, slip: Array) -> None:
        """Adds what row c does where it `moves` with the variables of these joints: to `extra` and to its own `slip` (n_q,)."""
        tree, before, after = self._tree, self._before, self._after
        link, variable = tree.links[c], tree.joints["variable"]
        records = tree.points[int(link["first"]) : int(link["first"]) + len(row.points)]
        joints, weight, P = records["joint"], records["is_point"][:, None], row.points
        turns, on = before._S[:, None, :3], self._carries[:, joints, None]
        rates = on * (np.cross(turns, P) + weight * before._S[:, None, 3:])  # (joints, points, 3) of the material points
        R = np.array([after._R[i].T @ before._R[i] if i >= 0 else np.eye(3) for i in joints])
        p0, p1 = (np.array([pose._p[i] if i >= 0 else np.zeros(3) for i in joints]) for pose in (before, after))
        ends, f = np.einsum("kij,kj->ki", R, P - weight * p0) + weight * p1, _pulls(P, row.length)
        dynamic = variable < tree.n_dynamic
        for j, change in moves.items():
            moved, i = change.points - rates[j], int(variable[j])
            slip[i] = _slope(ends, row.length, np.einsum("kij,kj->ki", R, moved), change.length)
            if int(link["kind"]) == LinkKind.SLIP:
                slip[i] -= _slope(P, row.length, moved, change.length)
            df = np.imag(_pulls(P + 1e-30j * moved, row.length + 1e-30j * change.length)) / 1e-30
            force = np.sum(df * rates + on * f * np.cross(turns, moved), (1, 2))
            np.add.at(extra[:, i], variable[dynamic], -impulse * force[dynamic])


def row_value(P: Any, c: Any) -> Any:
    """s of a row: see bunraku.kinematics.gaps, and bunraku.kinematics.shared_slips for one of five points.

    P: (3 or 5, 3) its points and directions [m]
    c: its length [m], of one of five points
    """
    d = P[0] - P[1]
    return P[2] @ d if len(P) == 3 else P[2] @ d - (P[2] @ P[4]) * (P[3] @ d + c) / (1.0 + P[3] @ P[4])


def _slope(P: Array, c: float, dP: Array, dc: float) -> float:
    """How s changes where its points and its length do."""
    return float(np.imag(row_value(P + 1e-30j * dP, c + 1e-30j * dc)) / 1e-30)


def _pulls(P: Any, c: Any) -> Any:
    """f_k = ∂s/∂P_k."""
    d = P[0] - P[1]
    if len(P) == 3:
        return np.array([P[2], -P[2], d])
    u, n, m = P[2], P[3], P[4]
    whole = 1.0 + n @ m
    a, b = (u @ m) / whole, (n @ d + c) / whole
    return np.array([u - a * n, a * n - u, d - b * m, a * b * m - a * d, a * b * n - b * u])
