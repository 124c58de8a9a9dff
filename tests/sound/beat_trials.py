"""Judges the search for beats on pieces whose beats are known: python -m tests.sound.beat_trials FIRST LAST

FIRST, LAST: seeds of the pieces, which should be others than those that it was tuned on.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from bunraku.sound.beats import Beats, NoBeat, find_beats
from tests.sound.pieces import KINDS, Piece, piece


@dataclass(frozen=True)
class Judgement:
    """How far found beats are from true ones."""

    octave: float
    """Beats that were found for each true one, as a power of two, a third or three; the nearest."""
    tempo: float
    """Error of the tempo, as a share."""
    middle: float
    """Median of what true beats are earlier than the nearest found [s]."""
    worst: float
    """Largest distance of a true beat from the nearest found, or of a found one from the nearest true, whichever are fewer [s]."""


def judged(made: Piece, found: Beats) -> Judgement:
    """Compares the beats of a piece, from its recipe, with those that were `found`."""
    grid = found.first + 60.0 / found.tempo * np.arange(int(made.sound.duration * found.tempo / 60.0) + 1)
    grid = grid[(grid > made.beats[0] - 0.1) & (grid < made.beats[-1] + 0.1)]
    fewer, more = (made.beats, grid) if len(made.beats) <= len(grid) else (grid, made.beats)
    apart = np.array([more[np.argmin(np.abs(more - t))] - t for t in fewer]) * (1.0 if fewer is made.beats else -1.0)
    ratio = found.tempo / made.tempo
    octave = min((0.25, 1 / 3, 0.5, 2 / 3, 1.0, 1.5, 2.0, 3.0, 4.0), key=lambda one: abs(np.log(ratio / one)))
    return Judgement(octave, abs(ratio / octave - 1.0), float(np.median(apart)), float(np.abs(apart).max()))


def main(first: int, last: int) -> None:
    """Prints a line for each kind of piece, without and with a tempo that is 2 % off."""
    for hinted in (False, True):
        print("with a tempo 2 % off" if hinted else "without a tempo")
        for kind in KINDS:
            rows, missed = [], 0
            for seed in range(first, last):
                made = piece(kind, seed)
                try:
                    rows.append(judged(made, find_beats(made.sound, tempo=1.02 * made.tempo if hinted else None)))
                except NoBeat:
                    missed += 1
            same = [row for row in rows if row.octave == 1.0]
            others = ", ".join(f"{row.octave:.3g}" for row in rows if row.octave != 1.0)
            tempo, middle = max(row.tempo for row in same), np.median([row.middle for row in same])
            print(
                f"  {kind:13s} {len(rows) + missed} pieces, {missed} refused, other octaves: {others or 'none'}; "
                f"tempo within {100 * tempo:.3f} %, phase {1000 * middle:+.1f} ms (median), "
                f"all beats within {1000 * max(row.worst for row in same):.1f} ms"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
