"""Between samples: free means free.

Along the straight line from q_a to q_b every variable stays within half its step of the middle. No point of a shape can
then get farther than the bound of `shape_motion.travels`, so a pair that is farther apart than both bounds together is free on
the whole line. The others are asked again on either half, until they are free, or touch, or are too near to tell.
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
    """Whether a curve or line between two configurations is free for certain; if not, where, and what comes too near."""

    free: bool
    s: float = 0.0
    """How far along the way the trouble is, from 0 to 1."""
    a: str = ""
    b: str = ""
    value: float = math.inf
    """The distance there [m]. It may be positive: nearer than can be told apart from touching."""

    def __repr__(self) -> str:
        if self.free:
            return "<Passage: free>"
        return f"<Passage: {self.a} – {self.b} {1000 * self.value:.3g} mm at {self.s:.3f} of the way>"


def passage(narrow: NarrowPhase, names: tuple[str, ...], q_a: Array, q_b: Array, *, margin: float, resolution: float) -> Passage:
    """The first trouble on the straight line between two configurations, looked for coarse to fine, the earlier half first.

    narrow: the world. names: of its things. q_a, q_b: the ends [rad or m].
    margin: the least distance that must be kept [m]. resolution: what is nearer to it than this is not called free [m].
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
    """Samples between those of Q such that no point of a shape gets farther than `step` [m] from one to the next.

    flat: the world. Q: configurations (T, n_q). step: [m]. shapes: which shapes count (a mask); None counts all.
    Returns the places of the samples, in rows of Q (0 to T − 1), and the samples.
    """
    if len(Q) < 2:
        return np.arange(len(Q), dtype=float), Q
    middle, half = 0.5 * (Q[1:] + Q[:-1]), 0.5 * np.abs(np.diff(Q, axis=0))
    reach = np.zeros((len(middle), len(flat.joint)))
    travel(flat, np.ascontiguousarray(middle), np.ascontiguousarray(half), reach)
    if shapes is not None:
        reach = reach[:, shapes]
    # The bound on the speed holds on the whole interval, so equal parts of it take equal shares of the way.
    parts = np.maximum(np.ceil(2.0 * reach.max(1, initial=0.0) / step), 1.0).astype(np.int64)
    place = np.concatenate([*(k + np.arange(n) / n for k, n in enumerate(parts)), [len(Q) - 1.0]])
    k = np.minimum(place.astype(np.int64), len(Q) - 2)
    s = (place - k)[:, None]
    return place, (1.0 - s) * Q[k] + s * Q[k + 1]
