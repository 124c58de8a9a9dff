"""Whether the straight line between two configurations is free of collisions on its whole length, not only at samples.

Along the line from q_a to q_b every variable stays within half its step, |q_b − q_a| / 2, of its value at the middle.
`shape_motion.travels` bounds how far any point of a shape then moves. A pair of shapes that is farther apart at the middle
than the sum of their bounds is free on the whole line. Otherwise the line is halved and both halves are checked, until every
pair is free, or one touches, or one is too near to decide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_pairs import NarrowPhase
from bunraku.collision.pair_rows import rows, settled
from bunraku.collision.shape_motion import travel
from bunraku.collision.world_arrays import MODE, WorldArrays

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Passage:
    """Whether a curve or line between two configurations is certain to be free; if not, where, and which things come too near."""

    free: bool
    s: float = 0.0
    """Where two things come too near: fraction of the way, from 0 to 1."""
    a: str = ""
    b: str = ""
    value: float = math.inf
    """The distance of the two things `a` and `b` there [m]. It may be positive: too near to prove that they do not touch."""

    def __repr__(self) -> str:
        if self.free:
            return "<Passage: free>"
        return f"<Passage: {self.a} – {self.b} {1000 * self.value:.3g} mm at {self.s:.3f} of the way>"


def passage(narrow: NarrowPhase, names: tuple[str, ...], q_a: Array, q_b: Array, *, margin: float, resolution: float) -> Passage:
    """A place on the straight line between two configurations that is not free, if there is one; earlier halves are searched first.

    narrow: the world. names: the names of its things. q_a, q_b: the ends [rad or m].
    margin: the least distance that must be kept [m]. resolution: a pair nearer to the margin than this is not called free [m].
    """
    flat, step = narrow.flat, q_b - q_a
    pending = [(0.0, 1.0)]
    while pending:
        start, end = pending.pop()
        middle, width = 0.5 * (start + end), 0.5 * (end - start)
        Q, half = (q_a + middle * step)[None], width * np.abs(step)[None]
        found = settled(narrow, Q, rows(flat, Q, within=margin, mode=MODE.all, half=half))
        if not len(found):
            continue
        row = int(np.argmin(found.value))
        value, spare = float(found.value[row]), found.floats[:, 10] - margin
        if value < margin or float(spare.max()) < resolution:
            i, j = found.ints[row, 1:3].tolist()
            return Passage(False, middle, names[i], names[j], value)
        pending += [(middle, end), (start, middle)]
    return Passage(True)


def denser(flat: WorldArrays, Q: Array, *, step: float, shapes: NDArray[np.bool_] | None = None) -> tuple[Array, Array]:
    """Samples of Q and more between them, so that no point of a shape moves more than `step` [m] from one to the next.

    flat: the world. Q: configurations (T, n_q). step: [m]. shapes: which shapes count (a mask); None counts all.
    Returns the position of each sample in rows of Q (2.5 is halfway between rows 2 and 3), and the samples.
    """
    if len(Q) < 2:
        return np.arange(len(Q), dtype=float), Q
    middle, half = 0.5 * (Q[1:] + Q[:-1]), 0.5 * np.abs(np.diff(Q, axis=0))
    reach = np.zeros((len(middle), len(flat.joint)))
    travel(flat, np.ascontiguousarray(middle), np.ascontiguousarray(half), reach)
    if shapes is not None:
        reach = reach[:, shapes]
    # `reach` is a bound on the speed times half the interval, so it divides evenly over equal parts of the interval.
    parts = np.maximum(np.ceil(2.0 * reach.max(1, initial=0.0) / step), 1.0).astype(np.int64)
    place = np.concatenate([*(k + np.arange(n) / n for k, n in enumerate(parts)), [len(Q) - 1.0]])
    k = np.minimum(place.astype(np.int64), len(Q) - 2)
    s = (place - k)[:, None]
    return place, (1.0 - s) * Q[k] + s * Q[k + 1]
