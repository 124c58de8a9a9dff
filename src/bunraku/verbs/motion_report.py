"""A report on a motion in a few lines: duration, tensions, energy, and which strings slackened, tightened or were held back."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from bunraku.motion import Motion, Track

WORD_OF_MARK = {"slack": "slackened", "impact": "tightened", "held": "held back", "frozen": "stood still", "stopped": "stopped"}
"""Kinds of marks, and the title of each in a report."""
_ENDING = re.compile(r" (slack|catches.*|held back by .*)$")


def summary(motion: Motion) -> list[tuple[str, str]]:
    """Pairs of a title and a text about a `motion`."""
    lines = [("motion", f"{motion.duration:.4g} s of {', '.join(motion.names)} in {len(motion) - 1} steps")]
    for track in motion.tracks:
        lines += _tensions(motion, track) + _energies(track)
    lines += [(told, _counted(motion, kind)) for kind, told in WORD_OF_MARK.items()]
    return [(title, text) for title, text in lines if text]


def _tensions(motion: Motion, track: Track) -> list[tuple[str, str]]:
    if track.tension is None or not track.tension.size:
        return []
    ropes = (*track.figure.strings, *track.figure.wires)
    sample, rope = np.unravel_index(int(np.abs(track.tension).argmax()), track.tension.shape)
    most = f"at most {track.tension[sample, rope]:.3g} N, in {ropes[rope].name} at {motion.t[sample]:.3g} s"
    return [("tension", f"{most}; at the end {np.abs(track.tension[-1]).sum():.3g} N in all")]


def _energies(track: Track) -> list[tuple[str, str]]:
    if track.energy is None:
        return []
    total, kinetic = track.energy.sum(1), track.energy[:, 0].max()
    return [("energy", f"{total[0]:.4g} J at the start, {total[-1]:.4g} J at the end; kinetic at most {kinetic:.3g} J")]


def _counted(motion: Motion, kind: str) -> str:
    """Which strings, and how many times."""
    marks = [mark for mark in motion.marks if mark.kind == kind]
    if kind == "stopped":
        return f"by hand at {marks[-1].t:.4g} s" if marks else ""
    if kind == "frozen":
        return f"{len(marks)} steps, first at {marks[0].t:.3g} s" if marks else ""
    counts = Counter(_ENDING.sub("", mark.text) for mark in marks)
    return ", ".join(f"{name} {count}×" if count > 1 else name for name, count in counts.items())
