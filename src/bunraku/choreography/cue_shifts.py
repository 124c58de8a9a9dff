"""Optimal shifts: by how much flexible cues (those with `give`) should come earlier or later.

Cues that depend on each other are timed together: cues of one puppet between two rests, and cues that wait for each other. They are
simulated only in the window of time that they affect. Results are cached on disk.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.compose import reference
from bunraku.choreography.played_steps import Played
from bunraku.choreography.score import Score
from bunraku.choreography.switching_times import TimeLimits, TimesOptions, optimize_times
from bunraku.errors import FileError
from bunraku.kernels.folders import user_cache
from bunraku.outcome import STOPPED
from bunraku.progress import Listener, Progress
from bunraku.writing import writing

Array = NDArray[np.float64]
Window = tuple[float, float]


@dataclass(frozen=True)
class ShiftOptions:
    """Numbers that tune the timing of a show."""

    dt: float = 0.04
    """Simulation step [s]."""
    after: float = 1.0
    """How long a puppet is simulated after its last cue [s], so that swinging afterwards has a cost."""
    search: TimesOptions = TimesOptions(iterations=8, tolerance=1e-3)
    """Options of Newton's method."""


def best_shifts(
    made: Score, *, folder: Path | None = None, again: bool = False, options: ShiftOptions = ShiftOptions(),
    progress: Listener | None = None,
) -> Array:  # fmt: skip
    """The best shifts of all flexible cues of the score `made` [counts].

    folder: where results are cached; the user's cache folder if None.
    again: whether cached results are ignored.
    options: step and accuracy.
    progress: called for every group of cues, as stage "timing".

    Raises KeyboardInterrupt on Ctrl-C; the results of earlier groups stay in the cache.
    """
    shifts = np.zeros(len(made.give))
    found_groups = groups(made, options=options)
    for number, (chosen, windows) in enumerate(found_groups):
        if progress is not None:
            progress(Progress("timing", number / len(found_groups)))
        players = [Played(made, role, options.dt, window, chosen) for role, window in windows.items()]
        limits = _within(made.limits, chosen, shifts)
        file = (folder or user_cache() / "rehearsals") / f"timing-{_fingerprint(made, players, limits, options)}.txt"
        found = None if again else _loaded(file, len(chosen))
        if found is None:
            best = optimize_times(*players, times=np.zeros(len(chosen)), limits=limits, options=options.search)
            if best.outcome.kind == STOPPED.kind:
                raise KeyboardInterrupt
            found = best.times
            _kept(file, found)
        shifts[list(chosen)] = found
    return shifts


def groups(made: Score, *, options: ShiftOptions = ShiftOptions()) -> list[tuple[tuple[int, ...], dict[str, Window]]]:
    """Groups of shifts of the score `made` that depend on each other, with the time window [s] in which they affect each puppet.

    `options` say how long a puppet is simulated after its last cue.
    """
    own: list[tuple[set[int], dict[str, Window]]] = [({k}, _windows(made, k, options.after)) for k in range(len(made.give))]
    merged = True
    while merged:
        merged = False
        for i, (one, mine) in enumerate(own):
            for j in range(i + 1, len(own)):
                other, theirs = own[j]
                if any(role in theirs and _overlap(mine[role], theirs[role]) for role in mine):
                    joined = {role: _joined(mine.get(role), theirs.get(role)) for role in {*mine, *theirs}}
                    own[i] = (one | other, joined)
                    del own[j]
                    merged = True
                    break
            if merged:
                break
    return [(tuple(sorted(chosen)), dict(sorted(windows.items()))) for chosen, windows in own]


def _windows(made: Score, shift: int, after: float) -> dict[str, Window]:
    count, out = made.script.count, dict[str, Window]()
    for role in made.script.roles:
        spans = []
        for timed in made.of(role.name):
            low = float(timed.begin[0] - np.abs(timed.begin[1:]) @ made.give) * count
            high = float(timed.end[0] + np.abs(timed.end[1:]) @ made.give) * count
            spans.append((max(low, 0.0), high, timed.begin[1 + shift] != 0.0 or timed.end[1 + shift] != 0.0))
        if any(moves for _, _, moves in spans):
            begin, end = min(a for a, _, moves in spans if moves), max(b for _, b, moves in spans if moves)
            while (wider := min((a for a, b, _ in spans if a < begin < b), default=begin)) < begin:
                begin = wider  # extend the window back to where the puppet rests
            out[role.name] = (begin, min(end + after, made.counts * count))
    return out


def _overlap(a: Window, b: Window) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _joined(a: Window | None, b: Window | None) -> Window:
    both = [window for window in (a, b) if window is not None]
    return min(w[0] for w in both), max(w[1] for w in both)


def _within(limits: TimeLimits, chosen: tuple[int, ...], shifts: Array) -> TimeLimits:
    """Limits of the chosen shifts, with the others fixed."""
    rows = limits.rows[:, list(chosen)]
    other = shifts.copy()
    other[list(chosen)] = 0.0
    touched = np.any(rows != 0.0, axis=1)
    return TimeLimits(rows[touched], (limits.bound - limits.rows @ other)[touched])


def _fingerprint(made: Score, players: list[Played], limits: TimeLimits, options: ShiftOptions) -> str:
    digest = hashlib.sha256(f"timing 2 {options}".encode())  # increase the number when the method changes
    for player in players:
        found = reference(made, player.role, player.t, np.zeros(len(made.give)))
        own = list(player.chosen or ())
        digest.update(repr((player.figure.name, player.dt, len(player.t))).encode())
        for array in (found.value, found.first[..., own]):
            digest.update(np.round(array * 1e6).astype(np.int64).tobytes())
    for array in (limits.rows, limits.bound):
        digest.update(np.round(array * 1e9).astype(np.int64).tobytes())
    return digest.hexdigest()[:24]


def _loaded(file: Path, count: int) -> Array | None:
    try:
        found = np.array([float(word) for word in file.read_text(encoding="utf-8").split()])
    except (OSError, ValueError):
        return None  # missing or broken: computed again
    return found if len(found) == count and np.isfinite(found).all() else None


def _kept(file: Path, shifts: Array) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with writing(file) as temporary:
            temporary.write_text(" ".join(repr(float(v)) for v in shifts), encoding="utf-8")
    except (OSError, FileError):
        pass  # on a full or read-only disk nothing is cached
