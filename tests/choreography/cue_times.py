"""When cues are seen to happen: the delay that brings what was played nearest to what the script asks for.

The script's own counts say when each cue begins, and the samples of the library what it looks like; nothing else is shared with
what times and composes a show.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.script import Script
from bunraku.motion import Motion

Array = NDArray[np.float64]
STILL = 0.02  # [rad or m] a variable that moves less does not tell when
UPPER = ("neck", "lshoulder", "rshoulder", "lelbow", "relbow", "torso_r")


def delays(script: Script, motion: Motion) -> dict[str, float]:
    """How late each cue of head, arms or trunk is seen [s], by "figure motion count", for cues that begin `at` a count."""
    out = {}
    for cue in script.cues:
        known = script.role(cue.role).repertoire
        piece = (known.mirrored if cue.mirrored else known.pieces)[cue.motion]
        if cue.start.cue or cue.counts is None or piece.way is not None:
            continue
        begin, length = cue.start.counts * script.count, cue.counts * script.count
        track = motion.track(cue.role)
        names = [v for v in track.figure.dynamic if v.startswith(UPPER)]
        own = [k for k in map(track.figure.index, names) if k in known.puppet.variables(piece.parts)]
        t, off = piece.unrolled(piece.loops(length))
        own = [k for k in own if np.ptp(off[:, k]) > STILL]
        if own:
            out[f"{cue.role} {cue.motion} {cue.start.counts:g}"] = _delay(
                motion.t, track.q[:, own], begin + t / t[-1] * length, known.puppet.rest[own] + cue.size * off[:, own]
            )
    return out


def _delay(t: Array, played: Array, when: Array, wanted: Array) -> float:
    """The delay of `played` (T, n) at times `t` behind `wanted` at times `when` that leaves the least difference [s]."""
    some = (t > when[0]) & (t < when[-1])

    def left(delay: float) -> float:
        asked = np.stack([np.interp(t[some] - delay, when, column) for column in wanted.T], 1)
        return float(np.sum((played[some] - asked) ** 2))

    tried = np.arange(-0.1, 0.1001, 0.002)
    costs = np.array([left(delay) for delay in tried])
    k = int(np.clip(np.argmin(costs), 1, len(tried) - 2))
    a, b, c = costs[k - 1 : k + 2]
    return float(tried[k] + 0.001 * (a - c) / (a - 2.0 * b + c))
