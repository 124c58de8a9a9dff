"""Lengths of MuJoCo's tendons in 50 digits, and their derivatives, by other means than those of MuJoCo and of the kernels.

Bodies are placed by decimals, one after the other. Which side of a sphere or cylinder a tendon passes is taken from MuJoCo's own
points; where it touches is then found in the plane: by the tangents, or, inside a ring, where the way over a point of the circle
is shortest. A derivative is a difference quotient over 1e-20 rad, whose error is 1e-40.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, localcontext
from typing import Any, NamedTuple

import mujoco
import numpy as np

from tests.decimals import DIGITS, Decimals, angle, cosine, exact, pi, sine

SMALL = Decimal("1e-20")
Rows = list[Decimals]


class Placed(NamedTuple):
    """Where something is."""

    x: Decimals
    R: Rows

    def point(self, p: Decimals) -> Decimals:
        return [x + _dot(row, p) for x, row in zip(self.x, self.R, strict=True)]

    def seen(self, p: Decimals) -> Decimals:
        """A point of the world, in this frame."""
        d = _minus(p, self.x)
        return [_dot([row[k] for row in self.R], d) for k in range(3)]

    def then(self, other: Placed) -> Placed:
        R = [[_dot(row, [other.R[i][k] for i in range(3)]) for k in range(3)] for row in self.R]
        return Placed(self.point(other.x), R)


class ExactTendons:
    """The tendons of a model at one configuration: `data` after mj_forward."""

    def __init__(self, model: Any, data: Any) -> None:
        self.model, self.data = model, data
        self._places: dict[tuple[int, int, int], Placed] = {}
        """Of bodies, by joint that is moved, and whither."""

    def length(self, tendon: int) -> Decimal:
        with localcontext(prec=DIGITS):
            return self._length(tendon, -1, 0)

    def arm(self, tendon: int, joint: int) -> Decimal:
        """∂length/∂q of a hinge or slide."""
        with localcontext(prec=DIGITS):
            return (self._length(tendon, joint, 1) - self._length(tendon, joint, -1)) / (2 * SMALL)

    # -- places ----------------------------------------------------------------------------------------------------------

    def _body(self, body: int, joint: int, sign: int) -> Placed:
        m = self.model
        if joint >= 0 and not self._moves(body, int(m.jnt_bodyid[joint])):
            joint, sign = -1, 0
        key = body, joint, sign
        if key not in self._places:
            self._places[key] = self._found(body, joint, sign)
        return self._places[key]

    def _moves(self, body: int, other: int) -> bool:
        while body not in (0, other):
            body = int(self.model.body_parentid[body])
        return body == other

    def _found(self, body: int, joint: int, sign: int) -> Placed:
        m = self.model
        if body == 0:
            return Placed([Decimal(0)] * 3, [[Decimal(i == k) for k in range(3)] for i in range(3)])
        own = range(int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body]))
        here = self._body(int(m.body_parentid[body]), joint, sign).then(_placed(m.body_pos[body], m.body_quat[body]))
        for j in own:
            at = int(m.jnt_qposadr[j])
            kind, q = mujoco.mjtJoint(int(m.jnt_type[j])), self.data.qpos[at : at + 7]
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                here = _placed(q[:3], q[3:])
                continue
            if kind == mujoco.mjtJoint.mjJNT_BALL:
                turn = _rotation(q[:4])
            else:
                value = Decimal(float(q[0])) - Decimal(float(m.qpos0[at])) + (sign * SMALL if j == joint else 0)
                axis = _unit(exact(m.jnt_axis[j]))
                if kind == mujoco.mjtJoint.mjJNT_SLIDE:
                    here = Placed(here.point([value * a for a in axis]), here.R)
                    continue
                turn = _about(axis, value)
            anchor = exact(m.jnt_pos[j])
            here = here.then(Placed(anchor, turn))
            here = Placed(here.point([-a for a in anchor]), here.R)
        return here

    def _site(self, site: int, joint: int, sign: int) -> Decimals:
        return self._body(int(self.model.site_bodyid[site]), joint, sign).point(exact(self.model.site_pos[site]))

    # -- ways ------------------------------------------------------------------------------------------------------------

    def _length(self, tendon: int, joint: int, sign: int) -> Decimal:
        total = Decimal(0)
        for weight, a, b, geom, seen in self._stretches(tendon):
            ends = self._site(a, joint, sign), self._site(b, joint, sign)
            if geom < 0:
                total += weight * _norm(_minus(*ends))
                continue
            m = self.model
            frame = self._body(int(m.geom_bodyid[geom]), joint, sign).then(_placed(m.geom_pos[geom], m.geom_quat[geom]))
            ball = m.geom_type[geom] == mujoco.mjtGeom.mjGEOM_SPHERE
            total += weight * _over(ball, Decimal(float(m.geom_size[geom, 0])), [frame.seen(x) for x in ends], frame.seen(seen))
        return total

    def _stretches(self, tendon: int) -> Iterator[tuple[Decimal, int, int, int, Decimals]]:
        """(weight, site, next site, geom that is touched or −1, about the middle of the tendon on it)."""
        m, d = self.model, self.data
        first, weight = int(m.tendon_adr[tendon]), Decimal(1)
        items = range(first, first + int(m.tendon_num[tendon]))
        at, places, objects = int(d.ten_wrapadr[tendon]), d.wrap_xpos.reshape(-1, 3), d.wrap_obj.ravel()
        last = -1
        geom, middle = -1, exact(np.zeros(3))
        for k in items:
            kind, what = mujoco.mjtWrap(int(m.wrap_type[k])), int(m.wrap_objid[k])
            if kind == mujoco.mjtWrap.mjWRAP_PULLEY:
                weight, last = 1 / Decimal(float(m.wrap_prm[k])), -1
                at += 1
            elif kind == mujoco.mjtWrap.mjWRAP_SITE:
                if last >= 0:
                    yield weight, last, what, geom, middle
                last, geom = what, -1
                at += 1
            elif objects[at] == what and kind in (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER):
                geom, both = what, places[at : at + 2]
                middle = exact(both.mean(0))
                at += 2


def _over(ball: bool, r: Decimal, ends: Rows, seen: Decimals) -> Decimal:
    """The length from one end over a sphere or cylinder about z to the other, in its frame; it passes near `seen`."""
    a, b = ends
    if ball:
        x = _unit(a)
        y = _unit(_minus(b, [_dot(b, x) * u for u in x]))
    else:
        x, y = [Decimal(1), Decimal(0), Decimal(0)], [Decimal(0), Decimal(1), Decimal(0)]
    A, B, near = ([_dot(p, x), _dot(p, y)] for p in (a, b, seen))
    climb = Decimal(0) if ball else b[2] - a[2]
    off, flat = min((_norm(_minus(middle, near)), length) for length, middle in (_tangents(r, A, B, sense) for sense in (1, -1)))
    if off > Decimal("1e-12"):  # it touches at one point, from inside
        flat = _bent(r, A, B, near)
    return (flat * flat + climb * climb).sqrt()


def _tangents(r: Decimal, A: Decimals, B: Decimals, sense: int) -> tuple[Decimal, Decimals]:
    """The length of the way round in this sense, and the middle of its two tangent points."""
    touch = []
    for p, way in ((A, sense), (B, -sense)):
        square = _dot(p, p)
        t = (square - r * r).sqrt()
        touch.append([(p[0] * r * r - way * r * p[1] * t) / square, (p[1] * r * r + way * r * p[0] * t) / square])
    turned = sense * angle(touch[0][0] * touch[1][1] - touch[0][1] * touch[1][0], _dot(*touch))
    arc = r * (turned if turned >= 0 else turned + 2 * pi())
    middle = [(u + v) / 2 for u, v in zip(*touch, strict=True)]
    return _norm(_minus(A, touch[0])) + arc + _norm(_minus(B, touch[1])), middle


def _bent(r: Decimal, A: Decimals, B: Decimals, near: Decimals) -> Decimal:
    """The shortest way over a point of the circle: Newton's method, from the point that is nearest to `near`."""
    p = angle(near[1], near[0])
    for _ in range(50):
        e = [r * cosine(p), r * sine(p)]
        m = [-e[1], e[0]]
        first, second = Decimal(0), Decimal(0)
        for end in (A, B):
            d = _minus(e, end)
            length = _norm(d)
            slope = _dot(d, m) / length
            first += slope
            second += (_dot(m, m) - _dot(d, e) - slope * slope) / length
        p -= first / second
        if abs(first / second) < Decimal("1e-45"):
            break
    else:
        raise ArithmeticError("Newton's method does not converge")
    e = [r * cosine(p), r * sine(p)]
    return _norm(_minus(e, A)) + _norm(_minus(e, B))


# -- three numbers -------------------------------------------------------------------------------------------------------


def _dot(a: Decimals, b: Decimals) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def _minus(a: Decimals, b: Decimals) -> Decimals:
    return [x - y for x, y in zip(a, b, strict=True)]


def _norm(a: Decimals) -> Decimal:
    return _dot(a, a).sqrt()


def _unit(a: Decimals) -> Decimals:
    size = _norm(a)
    return [x / size for x in a]


def _placed(position: Any, quaternion: Any) -> Placed:
    return Placed(exact(position), _rotation(quaternion))


def _rotation(quaternion: Any) -> Rows:
    w, x, y, z = _unit(exact(quaternion))
    return [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]


def _about(axis: Decimals, turn: Decimal) -> Rows:
    c, s = cosine(turn), sine(turn)
    x, y, z = axis
    across = [[Decimal(0), -z, y], [z, Decimal(0), -x], [-y, x, Decimal(0)]]
    return [[c * (i == k) + s * across[i][k] + (1 - c) * axis[i] * axis[k] for k in range(3)] for i in range(3)]
