"""Score: when every cue of a script begins and ends, and whether it can be played.

Times are in counts (beats). They depend linearly on the *shifts* of the flexible cues, which may come earlier or later by up to
their `give`; cues that follow such a cue shift with it. All mistakes that can be found without simulation are reported here, with
their line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.choreography.puppet import TORSO
from bunraku.choreography.repertoire import MotionPiece
from bunraku.choreography.script import Cue, Role, Script
from bunraku.choreography.switching_times import TimeLimits
from bunraku.errors import FileError

Array = NDArray[np.float64]
COUNT_TOLERANCE = 1e-9  # times that differ by less are equal [counts]


@dataclass(frozen=True)
class ScoreOptions:
    """How fast a puppet may be moved."""

    walking_speed: float = 0.7
    """Maximum mean speed during a cue [m/s]."""
    turning_speed: float = 1.8
    """Maximum mean turning speed during a cue [rad/s]; faster turns tangle the strings."""
    longest_step: float = 1.3
    """Longest steps, as a share of those of the piece."""
    straight: float = 0.2
    """Steps that lead ahead may lead aside by so much [rad]."""


@dataclass(frozen=True, eq=False)
class Timed:
    """A cue with its times."""

    cue: Cue
    role: Role
    piece: MotionPiece
    begin: Array
    """Its beginning, (1 + m,): the count without shifts, then its derivatives with respect to the m shifts."""
    end: Array
    """Its end, in the same form."""
    origin: tuple[float, float, float]
    """Position and direction of the puppet before it: x, y [m], turn [rad]."""
    goal: tuple[float, float, float]
    """Position and direction of the puppet after it: x, y [m], turn [rad]."""
    loops: int = 1
    """Number of rounds of the piece's loop."""

    @property
    def counts(self) -> float:
        """Duration without shifts [counts]."""
        return float(self.end[0] - self.begin[0])

    @property
    def played(self) -> MotionPiece:
        """The piece, or its mirror image: as the cue says, and where steps turn to the right instead of the left."""
        right = self.piece.turns and self.goal[2] < self.origin[2]
        return self.role.repertoire.mirrored[self.piece.name] if self.cue.mirrored != right else self.piece

    @property
    def aside(self) -> float:
        """Which way its goal is, from where the puppet faces, to its left [rad]; 0 if it stays where it is."""
        x, y = self.goal[0] - self.origin[0], self.goal[1] - self.origin[1]
        return math.remainder(math.atan2(-x, y) - self.origin[2], 2.0 * math.pi) if math.hypot(x, y) > 0.0 else 0.0

    @property
    def size(self) -> float:
        """Factor on the piece's deviation from rest. Steps are as long as their way and number ask for."""
        if self.piece.way is None:
            return self.cue.size
        return self.way / abs(self.played.led(self.loops))

    @property
    def way(self) -> float:
        """How far its steps must lead [m, or rad if they turn]."""
        if self.piece.turns:
            return abs(self.goal[2] - self.origin[2])
        return math.dist(self.origin[:2], self.goal[:2])


@dataclass(frozen=True, eq=False)
class Score:
    """A script whose times are known up to the shifts."""

    script: Script
    cues: tuple[Timed, ...]
    give: Array
    """Largest size of each shift [counts]."""

    __repr__ = brief

    @property
    def counts(self) -> float:
        """The last count of the show, for any shifts."""
        ends = (float(t.end[0] + np.abs(t.end[1:]) @ self.give) for t in self.cues)
        return math.ceil(max(ends) - COUNT_TOLERANCE)

    def of(self, role: str) -> list[Timed]:
        """The cues of the puppet that plays `role`, in the order in which they begin."""
        return sorted((t for t in self.cues if t.role.name == role), key=lambda t: t.begin[0])

    def on_samples(self, shifts: Array, dt: float) -> Score:
        """The score with these `shifts` [counts] applied, and all cues rounded to samples `dt` [s] apart.

        Equal stretches then have exactly equal samples, and are found in the cache.
        """
        count = self.script.count

        def snapped(timed: Timed) -> Timed:
            begin, end = (float(when[0] + when[1:] @ shifts) * count / dt for when in (timed.begin, timed.end))
            # The length is rounded down, so that it never overlaps the next cue.
            first, steps = round(begin), math.floor(end - begin + 1e-6)
            return replace(timed, begin=np.array([first * dt / count]), end=np.array([(first + steps) * dt / count]))

        cues = tuple(snapped(timed) for timed in self.cues)
        return Score(self.script, cues, np.zeros(0))

    @property
    def limits(self) -> TimeLimits:
        """Limits of the shifts: their own bounds, no cue before the start, no overlap, no cue too fast or too slow."""
        m = len(self.give)
        rows, bound = [*np.eye(m), *-np.eye(m)], [*self.give, *self.give]
        for a, b in self.pairs():
            rows.append(a.end[1:] - b.begin[1:])
            bound.append(float(b.begin[0] - a.end[0]))
        for t in self.cues:
            own, count = t.piece.natural(t.loops), self.script.count
            length = t.end - t.begin
            rows += [-t.begin[1:], -length[1:], length[1:]]
            least, most = t.piece.fastest * own / count, t.piece.slowest * own / count
            bound += [float(t.begin[0]), float(length[0]) - least, most - float(length[0])]
        kept = [k for k, row in enumerate(rows) if np.any(row)]
        return TimeLimits(np.array([rows[k] for k in kept]).reshape(-1, m), np.array([max(bound[k], 0.0) for k in kept]))

    def pairs(self) -> Iterator[tuple[Timed, Timed]]:
        """Cues of one puppet that need the same part of it: the first must end before the second begins."""
        for role in self.script.roles:
            cues = self.of(role.name)
            for k, b in enumerate(cues):
                for part in parts_of(b):
                    before = [a for a in cues[:k] if part in parts_of(a)]
                    if before:
                        yield before[-1], b


def parts_of(timed: Timed) -> tuple[str, ...]:
    """The parts of its puppet that a `timed` cue needs."""
    piece = timed.played
    moves = timed.goal != timed.origin
    return (*piece.parts, TORSO) if moves and TORSO not in piece.parts else piece.parts


def score(script: Script, *, options: ScoreOptions = ScoreOptions()) -> Score:
    """The times of all cues of a `script`; `options` limit how fast puppets may be moved.

    Raises FileError, which names the line that cannot be played, and why.
    """
    flexible = [cue.name for cue in script.cues if cue.give > 0.0]
    times = _Times(script, flexible)
    timed = []
    for role in script.roles:
        stands = (*role.place, role.facing)
        own = sorted((cue for cue in script.cues if cue.role == role.name), key=lambda cue: times.begin(cue)[0])
        for cue in own:
            begin, end = times.begin(cue), times.end(cue)
            goal = _goal(cue, stands)
            piece = role.repertoire[cue.motion]
            seconds = float(end[0] - begin[0]) * script.count
            timed.append(Timed(cue, role, piece, begin, end, stands, goal, piece.loops(seconds)))
            _require_playable(script, timed[-1], seconds, options)
            stands = goal
    timed.sort(key=lambda t: script.cues.index(t.cue))
    made = Score(script, tuple(timed), np.array([script.cue(name).give for name in flexible]))
    for a, b in made.pairs():
        if a.end[0] > b.begin[0] + COUNT_TOLERANCE:
            raise _overlap(a, b)
    _require_music(made)
    return made


def _require_music(made: Score) -> None:
    """Raises FileError if the music ends more than a count before the script."""
    music, count = made.script.music, made.script.count
    if music is None or music.where is None or music.sound.duration > (made.counts - 1.0) * count:
        return
    raise music.where.error(
        f"the music is too short: {music.sound.duration:.4g} s from there, and the script lasts {made.counts:g} counts "
        f"({made.counts * count:.4g} s)",
        advice="begin the music earlier, choose a longer recording, or shorten the script",
    )


def _goal(cue: Cue, stands: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y = cue.to if cue.to is not None else stands[:2]
    if cue.facing is None:
        return x, y, stands[2]
    return x, y, stands[2] + math.remainder(cue.facing - stands[2], 2.0 * math.pi)  # the shorter way


class _Times:
    """Beginning and end of every cue, found by following the cues that it waits for."""

    def __init__(self, script: Script, flexible: list[str]) -> None:
        self.script, self.flexible = script, flexible
        self.known: dict[tuple[str, bool], Array] = {}
        self.asked: list[tuple[str, bool]] = []

    def _called(self, name: str) -> Cue:
        """The cue called `name`; for a cue of everyone, that of the first figure."""
        cues = self.script.cues
        return next((c for c in cues if c.name == name), None) or next(c for c in cues if c.name.startswith(f"{name} ("))

    def begin(self, cue: Cue) -> Array:
        return self._find(cue, False)

    def end(self, cue: Cue) -> Array:
        return self._find(cue, True)

    def _find(self, cue: Cue, end: bool) -> Array:
        key = (cue.name, end)
        if key in self.known:
            return self.known[key]
        if key in self.asked:
            waits = " → ".join(name for name, _ in (*self.asked[self.asked.index(key) :], key))
            raise cue.where.error(f"these cues wait for each other: {waits}", advice="let one of them begin at a count")
        self.asked.append(key)
        found = self._end(cue) if end else self._begin(cue)
        self.asked.pop()
        self.known[key] = found
        return found

    def _begin(self, cue: Cue) -> Array:
        start = cue.start
        found = np.zeros(1 + len(self.flexible)) if not start.cue else self._find(self._called(start.cue), start.at_end).copy()
        found[0] += start.counts
        if found[0] < -COUNT_TOLERANCE:
            raise cue.where.place_of("wait").error(
                f"this cue would begin {-found[0]:g} counts before the show", advice="use a larger 'wait'"
            )
        if cue.give > 0.0:
            found[1 + self.flexible.index(cue.name)] += 1.0
        return found

    def _end(self, cue: Cue) -> Array:
        begin = self._find(cue, False)
        if cue.until:
            end = self._find(self._called(cue.until), False)
            if end[0] <= begin[0] + COUNT_TOLERANCE:
                raise cue.where.place_of("until").error(
                    f"{cue.until!r} begins at count {end[0]:g}, no later than this cue (count {begin[0]:g})",
                    advice="let this one begin earlier, or that one later",
                )
            return end
        piece = self.script.role(cue.role).repertoire[cue.motion]
        natural = max(1.0, float(round(piece.duration / self.script.count)))
        if natural * self.script.count < piece.shortest:
            natural += 1.0
        end = begin.copy()
        end[0] += cue.counts if cue.counts is not None else natural
        return end


def _require_playable(script: Script, timed: Timed, seconds: float, options: ScoreOptions) -> None:
    cue, piece = timed.cue, timed.piece
    place = cue.where.place_of("counts" if cue.counts is not None else "until" if cue.until else timed.role.name)
    least = math.ceil(piece.shortest / script.count - COUNT_TOLERANCE)
    if not piece.fits(seconds):
        fast = seconds < piece.duration
        most = math.floor(piece.longest / script.count + COUNT_TOLERANCE) if math.isfinite(piece.longest) else 0
        advice = f"give it {least} counts or more at this tempo" if fast else f"give it at most {most} counts, or repeat it"
        raise place.error(
            f"{cue.motion!r} in {timed.counts:g} counts ({seconds:.2g} s) is too {'fast' if fast else 'slow'}", advice=advice
        )
    _require_steps(script, timed, seconds, options)
    way = math.dist(timed.origin[:2], timed.goal[:2])
    if way > options.walking_speed * seconds + COUNT_TOLERANCE:
        needed = math.ceil(way / options.walking_speed / script.count)
        raise cue.where.place_of("to").error(
            f"{way:.2g} m in {timed.counts:g} counts ({seconds:.2g} s) is faster than a puppet walks",
            advice=f"give it {needed} counts, or a nearer place",
        )
    turn = abs(timed.goal[2] - timed.origin[2])
    if turn > options.turning_speed * seconds + COUNT_TOLERANCE:
        raise cue.where.place_of("facing").error(
            f"{math.degrees(turn):.0f}° in {timed.counts:g} counts ({seconds:.2g} s) would tangle the strings",
            advice=f"give it {math.ceil(turn / options.turning_speed / script.count)} counts",
        )


def _require_steps(script: Script, timed: Timed, seconds: float, options: ScoreOptions) -> None:
    """Raises FileError where the feet would slide: steps that are too long, or that lead another way."""
    cue, piece = timed.cue, timed.piece
    if piece.way is None:
        return
    if not piece.turns and abs(timed.aside) > options.straight:
        to = math.degrees(timed.origin[2] + timed.aside)
        raise cue.where.place_of("to").error(
            f"{cue.motion!r} leads ahead, and this place is {math.degrees(timed.aside):.0f}° to the left of where "
            f"{timed.role.name} faces",
            advice=f"let it turn first: facing: {to:.0f} deg",
        )
    if timed.size > options.longest_step:
        loops = math.ceil((timed.way / options.longest_step - piece.led(1)) / (piece.led(2) - piece.led(1))) if piece.loop else 0
        enough = piece.natural(1 + max(loops, 0)) - 0.5 * piece.period  # the shortest time for which it takes so many rounds
        needed = math.floor(enough / script.count) + 1
        raise cue.where.place_of("facing" if piece.turns else "to").error(
            f"{cue.motion!r} in {timed.counts:g} counts ({seconds:.2g} s) leads by {abs(piece.led(timed.loops)):.2g} "
            f"{'rad' if piece.turns else 'm'} at its natural steps, not by {timed.way:.2g}",
            advice=f"give it {needed} counts" if loops > 0 else "give it less to go",
        )


def _overlap(a: Timed, b: Timed) -> FileError:
    shared = sorted(set(parts_of(a)) & set(parts_of(b)))
    return b.cue.where.error(
        f"{b.role.name} cannot begin {b.cue.motion!r} at count {b.begin[0]:g}: "
        f"{a.cue.motion!r} (line {a.cue.where.line}) needs {', '.join(shared)} until count {a.end[0]:g}",
        advice=f"begin it at count {a.end[0]:g} or later, or shorten the other",
    )
