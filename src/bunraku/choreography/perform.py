"""perform: turns a script into a motion of all its puppets.

The script is scored (its cues get times), checked for strings that would cross, and its flexible cues are timed. Every puppet
rehearses stretch by stretch: a stretch is an interval of motion from rest to rest. Then the show is played: every puppet is
simulated with strings that may go slack, and feedback keeps it near what it rehearsed. Where there are props, or actors, all are
simulated together, with what they touch.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.arguments import require_common, require_kind
from bunraku.choreography.company import BoardOptions, Company
from bunraku.choreography.compose import reference
from bunraku.choreography.crossing import NearestStrings, nearest
from bunraku.choreography.cue_shifts import ShiftOptions, best_shifts
from bunraku.choreography.part import OffScript, PlayedPart, RehearsedPart, play
from bunraku.choreography.rehearse import Hung, RehearsalOptions, Rehearsed, rehearse
from bunraku.choreography.score import Score, ScoreOptions, Timed, score
from bunraku.choreography.script import Script
from bunraku.choreography.show_outcomes import NOT_REHEARSED, PERFORMED
from bunraku.choreography.show_result import Performance
from bunraku.choreography.soles import feet_of
from bunraku.choreography.theatre import costumed, theatre
from bunraku.errors import BunrakuError, FileError, parts
from bunraku.kernels.clock import worked
from bunraku.motion import Mark, Motion, Track
from bunraku.outcome import STOPPED, Outcome
from bunraku.progress import Listener, Progress
from bunraku.scene import Scene
from bunraku.workers.blas_threads import one_blas_thread

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerformOptions:
    """Numbers that tune a performance."""

    string_distance: float = 0.04
    """Smallest allowed distance between strings of different puppets [m]."""
    final_rest: float = 0.6
    """How long the puppets hang still at the end [s]."""
    score: ScoreOptions = ScoreOptions()
    shifts: ShiftOptions = ShiftOptions()
    rehearsal: RehearsalOptions = RehearsalOptions()
    boards: BoardOptions = BoardOptions()


@dataclass(frozen=True)
class Stretch:
    """Samples `first` to `last` between which the puppet that plays `role` moves, from rest to rest."""

    role: str
    first: int
    last: int


def perform(
    script: Script, *, folder: Path | None = None, again: bool = False, threads: int | None = None, seed: int | None = None,
    progress: Listener | None = None, options: PerformOptions = PerformOptions(),
) -> Performance:  # fmt: skip
    """Performs a script.

    script: who plays what, and when (`load_script`).
    folder: where rehearsals are cached; the user's cache folder if None. After a change, only what depends on it is rehearsed
    again.
    again: whether everything is rehearsed again, ignoring the cache.
    threads: number of stretches (motions from rest to rest) rehearsed in parallel; by default the number of processors, at most 4.
    seed: seed of the pushes that test the feedback (`Performance.recoveries`); by default 0. Nothing else is random.
    progress: called with the stages "score", "timing", "rehearsal" and "play".
    options: distances, speeds, and how puppets rehearse.

    Returns the performance. Its outcome is not ok if the rehearsal of a stretch did not converge. After Ctrl-C its outcome is of
    kind "stopped", and it has no motion, since playing takes long; finished rehearsals are in the cache, and the next call goes on
    from there. Raises FileError, which names the cue, if the script cannot be played.
    """
    require_kind("script", script, Script, expected="a Script", advice="bunraku.choreography.load_script(…) gives one")
    require_common(seed, progress)
    show = _Show(script, folder, again, threads or min(4, os.cpu_count() or 1), progress or (lambda _: None), options)
    outcome = PERFORMED
    try:
        with one_blas_thread():
            show.score_it()
            show.time_it()
            outcome = show.rehearse_it()
            show.play_it()
    except KeyboardInterrupt:
        outcome = STOPPED.because("finished rehearsals are cached on disk; perform it again to go on from there")
    return Performance(
        script, outcome, show.motion, show.scene, show.seconds, seed or 0, reference=show.asked, score=show.score,
        shifts=show.shifts, parts=show.parts, near=show.near, errors=show.errors, rehearsed_anew=show.anew, company=show.company,
    )  # fmt: skip


def stretches_of(made: Score, role: str, samples: int, *, dt: float) -> Iterator[Stretch]:
    """The stretches of the puppet that plays `role`; cues that overlap belong to one stretch.

    made: a score without shifts.
    samples: number of samples of the show.
    dt: time between two samples [s].
    """
    spans = []
    for timed in made.of(role):
        if timed.piece.parts or timed.goal != timed.origin:
            begin, end = (round(float(when[0]) * made.script.count / dt) for when in (timed.begin, timed.end))
            spans.append((begin, end))
    spans.sort()
    while spans:
        a, b = spans.pop(0)
        while spans and spans[0][0] < b:
            b = max(b, spans.pop(0)[1])
        yield Stretch(role, a, min(b, samples - 1))


class _Stopped(Exception):
    """Ends a search on another thread after Ctrl-C."""


@dataclass
class _Show:
    """A performance in progress: each stage adds what the next one needs."""

    script: Script
    folder: Path | None
    again: bool
    threads: int
    tell: Listener
    options: PerformOptions
    seconds: dict[str, float] = field(default_factory=dict)
    score: Score | None = None
    shifts: Array = field(default_factory=lambda: np.zeros(0))
    wanted: dict[str, Array] = field(default_factory=dict)
    found: dict[Stretch, Rehearsed] = field(default_factory=dict)
    anew: int = 0
    parts: dict[str, RehearsedPart] = field(default_factory=dict)
    motion: Motion | None = None
    scene: Scene | None = None
    asked: Motion | None = None
    near: NearestStrings | None = None
    errors: dict[str, float] = field(default_factory=dict)
    company: Company | None = None

    def __post_init__(self) -> None:
        self.dt, self.t = self.options.rehearsal.dt, np.zeros(0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measures the time of a stage and reports its beginning and end."""
        begun = worked()
        self.tell(Progress(name, 0.0))
        try:
            yield
        finally:
            self.seconds[name] = worked() - begun
        self.tell(Progress(name, 1.0))

    @property
    def made(self) -> Score:
        assert self.score is not None
        return self.score

    # -- the stages ----------------------------------------------------------------------------------------------

    def score_it(self) -> None:
        with self.stage("score"):
            self.score = score(self.script, options=self.options.score)
            end = self.score.counts * self.script.count + self.options.final_rest
            self.t = self.dt * np.arange(round(end / self.dt) + 1, dtype=float)
            self._require_apart(np.zeros(len(self.score.give)))

    def time_it(self) -> None:
        with self.stage("timing"):
            self.shifts = best_shifts(
                self.made, folder=self.folder, again=self.again, options=self.options.shifts, progress=self.tell
            )
            self.score, none = self.made.on_samples(self.shifts, self.dt), np.zeros(0)
            self.wanted = {role.name: reference(self.score, role.name, self.t, none).value for role in self.script.roles}
            self._require_apart(none)

    def rehearse_it(self) -> Outcome:
        """Rehearses all stretches; raises KeyboardInterrupt on Ctrl-C."""
        stretches = [s for role in self.script.roles for s in stretches_of(self.made, role.name, len(self.t), dt=self.dt)]
        with self.stage("rehearsal"):
            self.found = self._rehearsed(stretches)
        lost = [(s, found) for s, found in self.found.items() if not found.converged]
        if lost:
            stretch, found = min(lost, key=lambda one: one[0].first)
            cue = self._active(stretch.role, stretch.first * self.dt).cue
            name = f"{stretch.role}'s {cue.motion} ({cue.name}, line {cue.where.line})"
            others = f", nor did that of {len(lost) - 1} more stretches" if len(lost) > 1 else ""
            why = f"the rehearsal of {name} did not converge{others}"
            return replace(NOT_REHEARSED, kind=found.outcome, why=why)
        return PERFORMED

    def play_it(self) -> None:
        with self.stage("play"):
            with ThreadPoolExecutor(self.threads) as pool:
                self.parts = dict(zip(self.wanted, pool.map(self._part, self.wanted), strict=True))
                tracks = self._played_together() if self._touches else tuple(pool.map(self._played, self.parts))
            marks = tuple(mark for mark in self._marks() if mark.t <= self.t[-1])
            self.asked = Motion(
                self.t, tuple(Track(self.script.role(name).figure, q, name=name) for name, q in self.wanted.items())
            )
            self.near = nearest({track.name: (track.figure, track.q) for track in tracks[: len(self.parts)]})
            for track in tracks[: len(self.parts)]:
                n = track.figure.n_dynamic
                away = track.q[:, :n] - self.wanted[track.name][:, :n]
                self.errors[track.name] = float(np.sqrt(np.mean(away**2)))
            motion = costumed(Motion(self.t, tracks, marks=marks))
            self.scene = theatre(motion, boards=None if self.company is None else self.company.boards)
            self.motion = motion

    # -- rehearsal -----------------------------------------------------------------------------------------------

    def _rehearsed(self, stretches: list[Stretch]) -> dict[Stretch, Rehearsed]:
        hung = {role.name: Hung(role.repertoire.puppet, self.options.rehearsal) for role in self.script.roles}
        anew: list[Rehearsed] = []
        ready: list[Stretch] = []
        stop = threading.Event()

        def heard(_: Progress) -> None:
            if stop.is_set():
                raise _Stopped
            self.tell(Progress("rehearsal", len(ready) / len(stretches), f"{len(ready)} of {len(stretches)} stretches"))

        def one(stretch: Stretch) -> Rehearsed:
            wanted = self.wanted[stretch.role][stretch.first : stretch.last + 1]
            try:
                found = rehearse(
                    hung[stretch.role], wanted, loose=self._loose(stretch), folder=self.folder, again=self.again,
                    solved=anew.append, progress=heard,
                )  # fmt: skip
            except BunrakuError as error:
                raise self._blamed(stretch.role, stretch.first * self.dt, error) from None
            ready.append(stretch)
            self.tell(Progress("rehearsal", len(ready) / len(stretches), f"{len(ready)} of {len(stretches)} stretches"))
            return found

        with ThreadPoolExecutor(self.threads) as pool:
            futures = {stretch: pool.submit(one, stretch) for stretch in stretches}
            try:
                return {stretch: future.result() for stretch, future in futures.items()}
            except BaseException:  # Ctrl-C, or an error, also stops the others
                stop.set()
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                self.anew = len(anew)

    def _loose(self, stretch: Stretch) -> bool:
        """Whether strings go slack in a piece of a stretch."""
        begin, end = (k * self.dt / self.script.count for k in (stretch.first, stretch.last))
        return any(t.piece.loose and t.begin[0] < end and t.end[0] > begin for t in self.made.of(stretch.role))

    def _part(self, role: str) -> RehearsedPart:
        """A puppet's part in the whole show: rehearsed stretches, and rest between them."""
        own, wanted, end = self.script.role(role), self.wanted[role], len(self.t) - 1
        figure, hung = own.figure, Hung(own.repertoire.puppet, self.options.rehearsal)
        n, nq = figure.n_dynamic, figure.n_q
        x = np.zeros((len(wanted), 2 * nq))
        x[:, :nq], x[:, nq : nq + n] = wanted, hung.momentum
        u, impulse = wanted[1:, n:].copy(), np.repeat(hung.impulse[None], len(wanted) - 1, 0)
        for stretch, found in self.found.items():
            a, b = stretch.first, min(stretch.last, end)
            if stretch.role == role and a < b:
                x[a : b + 1], u[a:b], impulse[a:b] = found.x[: b - a + 1], found.u[: b - a], found.impulse[: b - a]
        return RehearsedPart(figure, self.dt, x, u, hung.gains(x, u, impulse), feet_of(own.repertoire.puppet))

    @property
    def _touches(self) -> bool:
        """Whether puppets are simulated with what they touch: if there are props, or strings of a puppet go slack in its motions.

        Others are rehearsed such that they keep clear of the boards.
        """
        return bool(self.script.props) or any(t.piece.loose for role in self.script.roles for t in self.made.of(role.name))

    def _played_together(self) -> tuple[Track, ...]:
        self.company = Company(self.parts, self.script.props, self.options.boards)
        try:
            run = self.company.play()
        except OffScript as error:
            raise self._blamed(next(iter(self.parts)), error.step * self.dt, error) from None
        puppets = (self._track(role, played) for role, played in run.puppets.items())
        props = (Track(self.script.props[name], q, name=name) for name, q in run.props.items())
        return (*puppets, *props)

    def _played(self, role: str) -> Track:
        try:
            return self._track(role, play(self.parts[role]))
        except OffScript as error:
            raise self._blamed(role, error.step * self.dt, error) from None

    def _track(self, role: str, run: PlayedPart) -> Track:
        v = np.gradient(run.q, self.dt, axis=0)
        return Track(self.parts[role].figure, run.q, v=v, tension=run.tension, gap=run.gap, name=role, laid=run.laid)

    def _marks(self) -> Iterator[Mark]:
        for timed in self.made.cues:
            yield Mark(float(timed.begin[0]) * self.script.count, f"{timed.role.name}: {timed.piece.name}", "cue")

    # -- what cannot be played -----------------------------------------------------------------------------------

    def _blamed(self, role: str, t: float, error: BunrakuError) -> FileError:
        message, advice = parts(error)
        return self._active(role, t).cue.where.error(message, advice=advice or "make the motion smaller or slower")

    def _active(self, role: str, t: float) -> Timed:
        """The cue of a puppet that began last before t."""
        own = self.made.of(role)
        begun = [timed for timed in own if timed.begin[0] * self.script.count <= t + 1e-6]
        return begun[-1] if begun else own[0]

    def _require_apart(self, shifts: Array) -> None:
        """Raises FileError if strings of two puppets come too near each other in the reference."""
        made, sparse = self.made, self.t[::5]
        near = nearest({r.name: (r.figure, reference(made, r.name, sparse, shifts).value) for r in self.script.roles})
        if near is None or near.distance > self.options.string_distance:
            return
        when = float(sparse[near.sample])
        latest = max((self._active(role, when) for role in near.roles if made.of(role)), key=lambda timed: timed.begin[0])
        raise latest.cue.where.error(
            f"strings cross at count {when / self.script.count:.1f}: {near.roles[0]}'s {near.strings[0]} and {near.roles[1]}'s "
            f"{near.strings[1]} come within {100 * near.distance:.0f} cm",
            advice="keep the puppets farther apart, or let one wait until the other has passed",
        )
