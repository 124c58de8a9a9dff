"""Repertoire: the motions that a puppet knows by name.

A `Piece` begins and ends at the puppet's rest, at the middle of the stage, facing +y, and says which parts of the puppet
it moves. Its loop may be repeated, so that a wave is as long as it is wanted.
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
FASTEST, SLOWEST = 0.7, 2.0  # of a piece's own duration
FADE = 0.4  # [s] before and after a join of two rounds


@dataclass(frozen=True, eq=False)
class Piece:
    """A motion that a puppet knows."""

    name: str
    motion: Motion
    parts: tuple[str, ...]
    loop: tuple[float, float] | None = None
    travels: bool = False
    """It may take the puppet to another place."""
    text: str = ""

    @property
    def duration(self) -> float:
        """With its loop played once [s]."""
        return self.motion.duration

    @property
    def period(self) -> float:
        return self.loop[1] - self.loop[0] if self.loop else 0.0

    def loops(self, duration: float) -> int:
        """How many rounds of the loop come closest to this duration."""
        if self.loop is None:
            return 1
        return max(1, 1 + round((duration - self.duration) / self.period))

    def natural(self, loops: int) -> float:
        """How long it likes to last with this number of rounds [s]."""
        return self.duration + (loops - 1) * self.period

    def fits(self, duration: float) -> bool:
        own = self.natural(self.loops(duration))
        return FASTEST * own <= duration + 1e-9 and (duration <= SLOWEST * own + 1e-9)

    @property
    def shortest(self) -> float:
        return FASTEST * self.duration

    @property
    def longest(self) -> float:
        """[s]"""
        return math.inf if self.loop else SLOWEST * self.duration

    def unrolled(self, loops: int) -> tuple[Array, Array]:
        """Times from 0 and the deviation from rest, with the loop played `loops` times."""
        t, off = self.motion.t - self.motion.t[0], self.motion.q - self.motion.q[0]
        if self.loop is None or loops == 1:
            return t, off
        a, b = np.searchsorted(t, self.loop[0]), np.searchsorted(t, self.loop[1])
        # Rounds fade into each other where they join, so that neither speed nor acceleration jumps there.
        period, fade = b - a, min(round(FADE / t[1]), a, len(t) - 1 - b, (b - a) // 2)
        k = np.arange(len(t) + (loops - 1) * period)
        out = off[np.minimum(k, len(t) - 1)]
        for j in range(1, loops):
            share = eased(0.5 + 0.5 * (k - a - j * period) / max(fade, 1))[:, None]
            out += share * (off[np.clip(k - j * period, 0, len(t) - 1)] - out)
        return k * t[1], out

    def curve(self, loops: int) -> BSpline:
        """The deviation from rest over 0 … 1; it sets out and arrives without speed and without acceleration."""
        t, off = self.unrolled(loops)
        still = [(1, np.zeros(off.shape[1])), (2, np.zeros(off.shape[1]))]
        return make_interp_spline(t / t[-1], off, k=5, bc_type=(still, still))


@dataclass(frozen=True, eq=False)
class Repertoire:
    """A puppet's pieces."""

    puppet: Puppet
    pieces: Mapping[str, Piece]

    def __getitem__(self, name: str) -> Piece:
        if name not in self.pieces:
            raise UnknownName("motion", name, tuple(self.pieces))
        return self.pieces[name]

    @cached_property
    def mirrored(self) -> Mapping[str, Piece]:
        """The same with left and right exchanged."""
        names = self.puppet.parts
        return {
            name: replace(piece, motion=piece.motion.mirror(), parts=tuple(partner(part, names) for part in piece.parts))
            for name, piece in self.pieces.items()
        }
