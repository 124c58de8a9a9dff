"""perform: a script becomes a motion of all its puppets.

It is scored, checked for strings that would cross, timed where cues may give, rehearsed stretch by stretch from rest to rest,
and played: every puppet under feedback about what it rehearsed, strings that may go slack and all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.choreography.compose import reference
from bunraku.choreography.crossing import Near, nearest
from bunraku.choreography.cue_shifts import best_shifts
from bunraku.choreography.part import OffScript, Part, play
from bunraku.choreography.rehearse import DT, Hung, Rehearsed, rehearse
from bunraku.choreography.score import Score, Timed, score
from bunraku.choreography.script import Script
from bunraku.errors import BunrakuError, FileError, parts
from bunraku.motion import Mark, Motion, Track

Array = NDArray[np.float64]
APART = 0.04  # [m] between strings of different puppets
REST = 0.6  # [s] of stillness at the end


@dataclass(frozen=True, eq=False)
class Performance:
    """A show that was played."""

    motion: Motion
    reference: Motion
    score: Score
    shifts: Array
    """Of the cues that may give [counts]."""
    parts: dict[str, Part]
    near: Near | None
    report: dict[str, float] = field(default_factory=dict)
    """Seconds of each stage, stretches rehearsed anew, and how well it went."""

    __repr__ = brief


Progress = Callable[[str, float], None]


def perform(
    script: Script, *, folder: Path | None = None, again: bool = False, threads: int | None = None,
    progress: Progress | None = None,
) -> Performance:  # fmt: skip
    """The motion of a script. Rehearsals are kept in `folder`, in the user's cache where none is given, and not asked for
    `again` unless that is wanted: change a cue, and only what depends on it is rehearsed.
    """
    tell = progress or (lambda stage, done: None)
    report, begun = {}, time.perf_counter()

    def lap(stage: str) -> None:
        nonlocal begun
        report[f"{stage} [s]"], begun = time.perf_counter() - begun, time.perf_counter()

    made = score(script)
    t = DT * np.arange(round((made.counts * script.count + REST) / DT) + 1, dtype=float)
    _require_apart(made, t, np.zeros(len(made.give)))
    lap("score")
    tell("timing", 0.0)
    shifts = best_shifts(made, dt=2.0 * DT, folder=folder, again=again)
    made, none = made.on_samples(shifts, DT), np.zeros(0)
    wanted = {role.name: reference(made, role.name, t, none).value for role in script.roles}
    _require_apart(made, t, none)
    lap("timing")
    stretches = [(role.name, a, b) for role in script.roles for a, b in stretches_of(made, role.name, len(t))]
    rehearsed, fresh = _rehearsed(made, wanted, stretches, folder, again, threads, tell)
    report["rehearsed anew"] = float(fresh)
    lap("rehearsal")
    with ThreadPoolExecutor(_threads(threads)) as pool:
        found = pool.map(lambda name: _part(made, name, wanted[name], stretches, rehearsed), wanted)
        parts = dict(zip(wanted, found, strict=True))
        tracks = tuple(pool.map(lambda name: _played(made, name, parts[name]), parts))
    motion = Motion(t, tracks, marks=tuple(_marks(made)))
    asked = Motion(t, tuple(Track(script.role(name).figure, q, name=name) for name, q in wanted.items()))
    near = nearest({track.name: (track.figure, track.q) for track in motion.tracks})
    lap("play")
    for track in tracks:
        n = track.figure.n_dynamic
        report[f"{track.name} off by [rms]"] = float(np.sqrt(np.mean((track.q[:, :n] - wanted[track.name][:, :n]) ** 2)))
    return Performance(motion, asked, made, shifts, parts, near, report)


def stretches_of(made: Score, role: str, samples: int) -> Iterator[tuple[int, int]]:
    """The samples between which a puppet moves, from rest to rest; cues that overlap are rehearsed together."""
    spans = []
    for timed in made.of(role):
        if timed.piece.parts or timed.goal != timed.origin:
            begin, end = (round(float(when[0]) * made.script.count / DT) for when in (timed.begin, timed.end))
            spans.append((begin, end))
    spans.sort()
    while spans:
        a, b = spans.pop(0)
        while spans and spans[0][0] < b:
            b = max(b, spans.pop(0)[1])
        yield a, min(b, samples - 1)


def _rehearsed(
    made: Score, wanted: dict[str, Array], stretches: list[tuple[str, int, int]], folder: Path | None, again: bool,
    threads: int | None, tell: Progress,
) -> tuple[list[Rehearsed], int]:  # fmt: skip
    hung = {role.name: Hung(role.repertoire.puppet) for role in made.script.roles}
    fresh: list[Rehearsed] = []
    done = 0

    def one(stretch: tuple[str, int, int]) -> Rehearsed:
        nonlocal done
        name, a, b = stretch
        try:
            found = rehearse(hung[name], wanted[name][a : b + 1], folder=folder, again=again, solved=fresh.append)
        except BunrakuError as error:
            raise _blamed(made, name, a * DT, error) from None
        done += 1
        tell("rehearsal", done / len(stretches))
        return found

    with ThreadPoolExecutor(_threads(threads)) as pool:
        return list(pool.map(one, stretches)), len(fresh)


def _threads(wanted: int | None) -> int:
    return wanted or min(4, os.cpu_count() or 1)


def _blamed(made: Score, role: str, t: float, error: BunrakuError) -> FileError:
    message, advice = parts(error)
    return _active(made, role, t).cue.where.error(message, advice=advice or "make the motion smaller or slower")


def _active(made: Score, role: str, t: float) -> Timed:
    """The cue of a puppet that has begun last before t."""
    begun = [timed for timed in made.of(role) if timed.begin[0] * made.script.count <= t + 1e-6]
    return begun[-1] if begun else made.of(role)[0]


def _require_apart(made: Score, t: Array, shifts: Array) -> None:
    """No string comes near another puppet's, as far as the reference tells."""
    sparse = t[::5]
    near = nearest({r.name: (r.figure, reference(made, r.name, sparse, shifts).value) for r in made.script.roles})
    if near is None or near.distance > APART:
        return
    when = float(sparse[near.sample])
    latest = max((_active(made, role, when) for role in near.roles if made.of(role)), key=lambda timed: timed.begin[0])
    raise latest.cue.where.error(
        f"strings cross at count {when / made.script.count:.1f}: {near.roles[0]}'s {near.strings[0]} and {near.roles[1]}'s "
        f"{near.strings[1]} come within {100 * near.distance:.0f} cm",
        advice="keep the puppets further apart, or let one wait until the other has passed",
    )


def _part(made: Score, role: str, wanted: Array, stretches: list[tuple[str, int, int]], rehearsed: list[Rehearsed]) -> Part:
    """All of a puppet's show: rehearsed stretches, and rest between them."""
    own = made.script.role(role)
    figure, hung = own.figure, Hung(own.repertoire.puppet)
    n, nq = figure.n_dynamic, figure.n_q
    x = np.zeros((len(wanted), 2 * nq))
    x[:, :nq], x[:, nq : nq + n] = wanted, hung.momentum
    u, impulse = wanted[1:, n:].copy(), np.repeat(hung.impulse[None], len(wanted) - 1, 0)
    for (name, a, b), found in zip(stretches, rehearsed, strict=True):
        if name == role:
            x[a : b + 1], u[a:b], impulse[a:b] = found.x, found.u, found.impulse
    return Part(figure, DT, x, u, hung.gains(x, u, impulse))


def _played(made: Score, role: str, part: Part) -> Track:
    try:
        run = play(part)
    except OffScript as error:
        raise _blamed(made, role, error.step * DT, error) from None
    v = np.gradient(run.q, DT, axis=0)
    return Track(part.figure, run.q, v=v, tension=run.tension, gap=run.gap, name=role)


def _marks(made: Score) -> Iterator[Mark]:
    for timed in made.cues:
        yield Mark(float(timed.begin[0]) * made.script.count, f"{timed.role.name}: {timed.piece.name}", "cue")
