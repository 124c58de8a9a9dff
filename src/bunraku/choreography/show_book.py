"""ShowBook: the script of a performed show, as the stage lets visitors edit it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from bunraku.brief import brief
from bunraku.choreography import script_edits
from bunraku.choreography.perform import perform
from bunraku.choreography.score import Score, score
from bunraku.choreography.script import Cue, Script
from bunraku.choreography.script_file import script_of
from bunraku.choreography.show_result import Performance
from bunraku.errors import BunrakuError
from bunraku.io.shipped import FOLDER_OF_ORDERS
from bunraku.io.yaml import yaml_reader
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.stage import Recorded
from bunraku.stage.prompt_book import CueBar
from bunraku.writing import writing


@dataclass(frozen=True, eq=False)
class ShowBook:
    """A script and how it was played."""

    script: Script
    bars: tuple[CueBar, ...] = ()
    anew: int = 0
    folder: Path | None = None
    """Where rehearsals are cached; None for the user's cache folder."""

    __repr__ = brief

    @staticmethod
    def of(done: Performance, *, folder: Path | None = None) -> ShowBook | None:
        """The book of a performance (`done`); None if it was stopped before its cues had times.

        folder: where rehearsals are cached; the user's cache folder if None.
        """
        if done.score is None or not done.outcome.ok:
            return None
        begins = {timed.cue.name: float(timed.begin[0]) * done.script.count for timed in done.score.cues}
        return ShowBook(done.script, _bars(done.score, begins), done.rehearsed_anew, folder)

    @staticmethod
    def of_motion(script: Script, motion: Motion) -> ShowBook:
        """The book of a `script` whose performance is stored as a `motion`: its marks say when cues began."""
        made = score(script)
        times = {text: iter(sorted(m.t for m in motion.marks if m.text == text)) for text in {m.text for m in motion.marks}}
        order = sorted(made.cues, key=lambda timed: timed.begin[0])
        return ShowBook(script, _bars(made, {t.cue.name: next(times[f"{t.role.name}: {t.piece.name}"]) for t in order}))

    # -- what the stage shows ------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The script as written."""
        return self.script.cues[0].where.source.text

    @property
    def path(self) -> Path:
        """The file that it comes from."""
        return Path(self.script.cues[0].where.source.path)

    @property
    def file(self) -> str:
        """The name of that file."""
        return self.path.name

    @property
    def count(self) -> float:
        """Duration of one count [s]."""
        return self.script.count

    @cached_property
    def motions(self) -> Mapping[str, tuple[str, ...]]:
        """The motions that each puppet can play on the spot: others need a place or a direction."""
        return {role.name: tuple(name for name in role.repertoire.pieces if name != "turn") for role in self.script.roles}

    # -- edits ---------------------------------------------------------------------------------------------------

    def moved(self, cue: str, by: float) -> ShowBook:
        """The book in which a `cue` begins `by` counts later."""
        return self._with(script_edits.moved(self.script, cue, by))

    def stretched(self, cue: str, counts: float) -> ShowBook:
        """The book in which a `cue` lasts so many `counts`."""
        return self._with(script_edits.stretched(self.script, cue, counts))

    def added(self, track: str, motion: str, begin: float) -> ShowBook:
        """The book in which the puppet of a `track` also plays a `motion`, from count `begin` on."""
        return self._with(script_edits.added(self.script, track, motion, begin))

    def removed(self, cue: str) -> ShowBook:
        """The book without a `cue`."""
        return self._with(script_edits.removed(self.script, cue))

    def _with(self, text: str) -> ShowBook:
        """The book of another text, which is read as a file with that text would be."""
        return replace(self, script=script_of(yaml_reader.parse(text, str(self.path)), self.path.parent), bars=(), anew=0)

    def performed(self, *, progress: Listener | None = None) -> Recorded:
        """The show made anew, with its book; `progress` is called with how far it is. Raises BunrakuError if it is unplayable."""
        done = perform(self.script, folder=self.folder, progress=progress)
        if not done.outcome.ok:
            raise BunrakuError(str(done.outcome))
        return recorded(done, folder=self.folder)

    def save(self) -> str:
        """Writes the text to its file and returns where; "" if it comes with bunraku, or is not there any more."""
        if not self.path.is_file() or self.path.resolve().parent == FOLDER_OF_ORDERS.resolve():
            return ""
        with writing(self.path) as temporary:
            temporary.write_bytes(self.text.encode())
        return str(self.path)


def recorded(done: Performance, *, folder: Path | None = None) -> Recorded:
    """The performance `done` for the stage: in its theatre, with the reference as a ghost and the book of its cues.

    folder: where rehearsals are cached; the user's cache folder if None.
    """
    if done.motion is None:
        raise BunrakuError("nothing of the show was rehearsed")
    book = ShowBook.of(done, folder=folder)
    shown = Recorded(done.motion, reference=done.reference, book=book, sound=done.sound)
    return shown if done.scene is None else replace(shown, scene=done.scene)


def _bars(made: Score, begins: Mapping[str, float]) -> tuple[CueBar, ...]:
    """Bars of all cues that begin at these times [s]; a cue lasts as long as in the score, or until another one begins."""
    bars = []
    for timed in made.cues:
        cue, begin = timed.cue, begins[timed.cue.name]
        if cue.until:
            end = next(t for name, t in begins.items() if name == cue.until or name.startswith(f"{cue.until} ("))
        else:
            end = begin + timed.counts * made.script.count
        bars.append(CueBar(cue.name, timed.role.name, cue.motion, begin, end, _note(cue)))
    return tuple(bars)


def _note(cue: Cue) -> str:
    """How the time of a `cue` depends on others."""
    start = cue.start
    words = [f"{'after' if start.at_end else 'with'} {start.cue}" if start.cue else "by count"]
    words += [f"until {cue.until}"] * bool(cue.until) + [f"may shift by {cue.give:g}"] * (cue.give > 0.0)
    return ", ".join(words)
