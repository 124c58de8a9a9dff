"""Repertoire: the motions that a puppet knows by name.

A `MotionPiece` begins and ends at the puppet's rest, at the middle of the stage, facing +y. It names the parts of the puppet that
it moves. It may contain a loop that can be repeated, so that a wave can last for any time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from bunraku.choreography.puppet import Puppet
from bunraku.errors import UnknownName
from bunraku.motion import Motion
from bunraku.motion.symmetry import partner
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionPiece:
    """A motion that a puppet knows."""

    name: str
    motion: Motion
    parts: tuple[str, ...]
    """Parts of the puppet that it moves."""
    loop: tuple[float, float] | None = None
    """Beginning and end of the part that may be repeated [s]; None if there is none."""
    travels: bool = False
    """Whether it may take the puppet to another place."""
    text: str = ""
    """One line of description."""
    way: Array | None = None
    """How far its steps have led at each sample [m ahead, or rad to the left if it `turns`], (T,); None if steps do not tell."""
    turns: bool = False
    """Whether its steps lead about the vertical."""
    loose: bool = False
    """Whether strings go slack in it."""
    fastest: float = 0.7
    """Shortest allowed duration, as a share of its natural duration."""
    slowest: float = 2.0
    """Longest allowed duration, as a share of its natural duration."""
    fade: float = 0.4
    """Duration of the cross-fade between rounds of the loop, before and after their join [s]."""

    @property
    def duration(self) -> float:
        """Duration with one round of its loop [s]."""
        return self.motion.duration

    @property
    def period(self) -> float:
        """Duration of one round of the loop [s]; 0 if there is no loop."""
        return self.loop[1] - self.loop[0] if self.loop else 0.0

    @property
    def _ends_of_loop(self) -> tuple[int, int]:
        """The samples at which the loop begins and ends."""
        assert self.loop is not None
        a, b = np.searchsorted(self.motion.t - self.motion.t[0], self.loop)
        return int(a), int(b)

    def loops(self, duration: float) -> int:
        """The number of rounds of the loop that comes closest to this `duration` [s]."""
        if self.loop is None:
            return 1
        return max(1, 1 + round((duration - self.duration) / self.period))

    def natural(self, loops: int) -> float:
        """Duration with this number of `loops` at its natural speed [s]."""
        return self.duration + (loops - 1) * self.period

    def fits(self, duration: float) -> bool:
        """Whether it may be played in this `duration` [s]."""
        own = self.natural(self.loops(duration))
        return self.fastest * own <= duration + 1e-9 and (duration <= self.slowest * own + 1e-9)

    @property
    def shortest(self) -> float:
        """Shortest allowed duration [s]."""
        return self.fastest * self.duration

    @property
    def longest(self) -> float:
        """Longest allowed duration [s]; infinite if it has a loop."""
        return math.inf if self.loop else self.slowest * self.duration

    def unrolled(self, loops: int) -> tuple[Array, Array]:
        """Times from 0 [s] and the deviation from rest (T, n_q), with the loop played `loops` times."""
        t, off = self.motion.t - self.motion.t[0], self.motion.q - self.motion.q[0]
        if self.loop is None or loops == 1:
            return t, off
        a, b = self._ends_of_loop
        # Rounds are cross-faded where they join, so that neither speed nor acceleration jumps there.
        period, fade = b - a, min(round(self.fade / t[1]), a, len(t) - 1 - b, (b - a) // 2)
        k = np.arange(len(t) + (loops - 1) * period)
        out = off[np.minimum(k, len(t) - 1)]
        for j in range(1, loops):
            share = eased(0.5 + 0.5 * (k - a - j * period) / max(fade, 1))[:, None]
            out += share * (off[np.clip(k - j * period, 0, len(t) - 1)] - out)
        return k * t[1], out

    def led(self, loops: int) -> float:
        """How far its steps lead with `loops` rounds of its loop [m ahead, or rad to the left]; 0 if steps do not tell."""
        return float(self._way(loops)[-1]) if self.way is not None else 0.0

    def progress(self, loops: int) -> BSpline:
        """Which share of its way its steps have led, as a function of progress 0 … 1, with `loops` rounds."""
        way = self._way(loops)
        still = [(1, 0.0), (2, 0.0)]
        return make_interp_spline(np.linspace(0.0, 1.0, len(way)), way / way[-1], k=5, bc_type=(still, still))

    def _way(self, loops: int) -> Array:
        assert self.way is not None
        if self.loop is None or loops == 1:
            return self.way
        a, b = self._ends_of_loop
        rounds = [self.way[a:b] + k * (self.way[b] - self.way[a]) for k in range(loops)]
        return np.concatenate([self.way[:a], *rounds, self.way[b:] + (loops - 1) * (self.way[b] - self.way[a])])

    def curve(self, loops: int) -> BSpline:
        """The deviation from rest as a function of progress 0 … 1, with `loops` rounds: a spline that starts and ends smoothly."""
        t, off = self.unrolled(loops)
        still = [(1, np.zeros(off.shape[1])), (2, np.zeros(off.shape[1]))]
        return make_interp_spline(t / t[-1], off, k=5, bc_type=(still, still))


@dataclass(frozen=True, eq=False)
class Repertoire:
    """The pieces of a puppet."""

    puppet: Puppet
    pieces: Mapping[str, MotionPiece]

    def __getitem__(self, name: str) -> MotionPiece:
        if name not in self.pieces:
            raise UnknownName("motion", name, tuple(self.pieces))
        return self.pieces[name]

    @cached_property
    def mirrored(self) -> Mapping[str, MotionPiece]:
        """The same pieces with left and right exchanged."""
        names = self.puppet.parts

        def flipped(piece: MotionPiece) -> MotionPiece:
            way = -piece.way if piece.turns and piece.way is not None else piece.way
            parts = tuple(partner(part, names) for part in piece.parts)
            return replace(piece, motion=piece.motion.mirror(), parts=parts, way=way)

        return {name: flipped(piece) for name, piece in self.pieces.items()}
