"""Show files as orders: `bunraku.choreography.script_file` explains their keys; two more are for the command line.

perform: The meeting
…
seed: 0                    # seed of the pushes that test the feedback
output: the_meeting.npz    # or a list of files; `bunraku perform -o` overrides it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bunraku.choreography import Performance, perform, show_book
from bunraku.choreography.script import Script
from bunraku.choreography.script_file import SHOW_WORDS, script_of
from bunraku.io.outputs import outputs_of, require_outputs
from bunraku.io.yaml.node import Node
from bunraku.progress import Listener
from bunraku.render import plots
from bunraku.stage import Recorded
from bunraku.verbs.order import Order, motion_of


@dataclass(frozen=True, eq=False, repr=False)
class PerformOrder(Order):
    """A show: puppets, places, counts and cues."""

    verb: ClassVar[str] = "perform"
    random: ClassVar[bool] = True
    words: ClassVar[tuple[str, ...]] = SHOW_WORDS

    script: Script
    folder: Path | None = None
    """Where rehearsals are cached; None for the user's cache folder."""
    again: bool = False
    """Whether everything is rehearsed again, ignoring the cache."""
    threads: int | None = None
    """Number of stretches (motions from rest to rest) rehearsed in parallel; by default the number of processors, at most 4."""
    seed: int = 0
    output: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """The title of the show."""
        return self.script.title

    def __str__(self) -> str:
        roles, cues = ", ".join(role.name for role in self.script.roles), len(self.script.cues)
        text = f"show {self.title}: {cues} cue{'s' if cues != 1 else ''} at {self.script.tempo:.5g} counts per minute, for {roles}"
        return text if self.script.music is None else f"{text}, to {self.script.music.path.name}"

    def notes(self) -> Iterator[str]:
        """What was found in the music, and how to count it otherwise."""
        music = self.script.music
        if music is None:
            return
        yield f"music: {music}"
        if music.beats is not None:
            half, double = 0.5 * music.beats.tempo, 2.0 * music.beats.tempo
            yield f"to count half or twice as fast, write beats: found and tempo: {half:.4g} or {double:.4g}"

    @classmethod
    def read(cls, root: Node, folder: Path) -> PerformOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        script = script_of(root, folder)
        seed = root.given(seed=lambda node: node.whole(0, 2**32 - 1)).get("seed", 0)
        return cls(script, seed=seed, output=outputs_of(root.get("output"), folder))

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Performance:
        """The performance; `seed` overrides that of the order, `progress` is called with its progress."""
        return perform(
            self.script, folder=self.folder, again=self.again, threads=self.threads, seed=self.seed if seed is None else seed,
            progress=progress,
        )  # fmt: skip

    def require(self, output: Sequence[Path]) -> None:
        """Raises FileError, before any work is done, if the format of a file in `output` cannot hold this number of figures."""
        require_outputs(output, figures=len(self.script.roles))

    def plot(self, done: Performance, path: Path) -> None:
        """Draws the tensions of the performance `done` over time into the file `path`."""
        plots.plot(motion_of(done), path, ("tension",), title=f"{self.title}: tensions", width=14.0)

    def recorded(self, done: Performance) -> Recorded:
        """The performance `done` in its theatre, with the reference as a ghost, and cues that can be edited."""
        return show_book.recorded(done, folder=self.folder)
