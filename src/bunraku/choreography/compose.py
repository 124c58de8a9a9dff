"""Compose: adds up all cues of a puppet to one reference, as a function of time and of the shifts of the cues.

A shift is the amount by which a flexible cue comes earlier or later. Each cue adds its piece's deviation from rest to the parts
that it moves, or to all parts while no other cue overlaps it. If cues take the puppet to another place, the whole puppet is
translated and turned. Values are jets: they carry their derivatives with respect to the shifts, which makes timing exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.jet import Jet
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.score import Score, Timed

Array = NDArray[np.float64]


def reference(score: Score, role: str, t: Array, shifts: Array) -> Jet:
    """The configurations of the puppet that plays `role` in a `score`, (T, n_q), with derivatives with respect to the shifts.

    t: times [s], (T,).
    shifts: shifts of the flexible cues [counts].
    """
    puppet, cues = score.script.role(role).repertoire.puppet, score.of(role)
    m = len(shifts)
    local = Jet.constant(np.repeat(puppet.rest[None], len(t), 0), m)
    x, y, turn = (Jet.constant(np.full(len(t), at), m) for at in _origin(score, role))
    for timed in cues:
        u = phase(timed, t, shifts, score.script.count)
        _layer(local, timed, u, alone=not any(_overlap(timed, other) for other in cues if other is not timed))
        x, y, turn = (_moved(base, timed, u, b - a) for base, a, b in zip((x, y, turn), timed.origin, timed.goal, strict=True))
    return placed(puppet, local, x, y, turn)


def _origin(score: Score, role: str) -> tuple[float, float, float]:
    own = score.script.role(role)
    return (*own.place, own.facing)


def phase(timed: Timed, t: Array, shifts: Array, count: float) -> Jet:
    """Progress of a `timed` cue from 0 to 1: u = (t − s)/d, where start s and duration d are linear in the shifts.

    t: times [s], (T,).
    shifts: shifts of the flexible cues [counts].
    count: length of one count [s].
    """
    begin, length = timed.begin * count, (timed.end - timed.begin) * count
    s, d = begin[0] + begin[1:] @ shifts, length[0] + length[1:] @ shifts
    u = (t - s) / d
    first = -(begin[1:] + u[:, None] * length[1:]) / d
    cross = first[:, :, None] * length[1:][None, None, :]
    second = -(cross + cross.swapaxes(1, 2)) / d
    on = (u > 0.0) & (u < 1.0)
    return Jet(np.clip(u, 0.0, 1.0), np.where(on[:, None], first, 0.0), np.where(on[:, None, None], second, 0.0))


def _overlap(a: Timed, b: Timed) -> bool:
    return bool(a.begin[0] < b.end[0] - 1e-9 and b.begin[0] < a.end[0] - 1e-9)


def _layer(local: Jet, timed: Timed, u: Jet, *, alone: bool) -> None:
    """Adds a piece to `local` while it lasts. If `alone`, all its variables are added, not only those of its own parts."""
    known, piece = timed.role.repertoire, timed.played
    on = np.flatnonzero((u.value > 0.0) & (u.value < 1.0))
    if not piece.parts or not len(on):
        return
    own = known.puppet.variables(known.puppet.parts if alone else piece.parts)
    curve, during = piece.curve(timed.loops), Jet(u.value[on], u.first[on], u.second[on])
    more = during.through(*(timed.size * curve(during.value, k)[:, own] for k in range(3)))
    rows = np.ix_(on, own)
    local.value[rows] += more.value
    local.first[rows] += more.first
    local.second[rows] += more.second


def _moved(base: Jet, timed: Timed, u: Jet, by: float) -> Jet:
    """Adds a straight motion from rest to rest: as the steps of the piece lead, or with minimum jerk, 10u³ − 15u⁴ + 6u⁵."""
    if by == 0.0:
        return base
    v = u.value
    if timed.piece.way is not None:
        share = timed.played.progress(timed.loops)
        return base + u.through(by * share(v), by * share(v, 1), by * share(v, 2))
    return base + u.through(
        by * v**3 * (10 - 15 * v + 6 * v * v), by * 30 * v**2 * (1 - v) ** 2, by * 60 * v * (1 - v) * (1 - 2 * v)
    )


def placed(puppet: Puppet, local: Jet, x: Jet, y: Jet, turn: Jet) -> Jet:
    """As `Puppet.placed`, with derivatives: a `puppet` at `local`, moved to (`x`, `y`) [m], turned by `turn` [rad]."""
    out = Jet(local.value.copy(), local.first.copy(), local.second.copy())
    c, s = turn.cos(), turn.sin()
    pairs: Sequence[Sequence[int]] = (puppet.root[:2], *puppet.spindles.tolist())
    for i, j in pairs:
        a, b = local.column(i), local.column(j)
        out.put(i, x + c * a - s * b)
        out.put(j, y + s * a + c * b)
    out.put(puppet.root[3], local.column(puppet.root[3]) + turn)
    return out
