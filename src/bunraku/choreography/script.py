"""Script: who plays, what they do, and when, as written in the file.

A cue begins when another one begins or ends, or at a count. It lasts some counts, or until another one begins. Times are computed
later, in `score`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from bunraku.brief import brief
from bunraku.choreography.repertoire import Repertoire
from bunraku.figure import Figure
from bunraku.io.yaml.node import Node
from bunraku.sound.beats import Beats
from bunraku.sound.soundtrack import Soundtrack


@dataclass(frozen=True, eq=False)
class Role:
    """A puppet of the show, and its initial position."""

    name: str
    figure: Figure
    repertoire: Repertoire
    place: tuple[float, float]
    """x, y [m]."""
    facing: float
    """Initial direction: turn about the vertical from +y [rad]."""
    where: Node = field(repr=False)
    """Its place in the file, for messages."""


@dataclass(frozen=True)
class Start:
    """When a cue begins: `counts` after the beginning or the end of another cue, or after the start of the show."""

    cue: str = ""
    """Name of the other cue; empty for the show itself."""
    at_end: bool = False
    """Whether it refers to the end of the other cue, not to its beginning."""
    counts: float = 0.0


@dataclass(frozen=True, eq=False)
class Cue:
    """One entry of the script."""

    name: str
    role: str
    motion: str
    start: Start
    counts: float | None = None
    """Duration [counts]; None for the motion's natural duration."""
    until: str = ""
    """Name of the cue at whose beginning it ends; empty for none."""
    give: float = 0.0
    """How much earlier or later it may come [counts]."""
    to: tuple[float, float] | None = None
    """Target position of the puppet: x, y [m]."""
    facing: float | None = None
    """Target direction of the puppet: turn about the vertical from +y [rad]."""
    size: float = 1.0
    """Factor on the motion's deviation from rest."""
    mirrored: bool = False
    """Whether left and right are exchanged."""
    where: Node = field(repr=False, kw_only=True)
    """Its place in the file, for messages."""


@dataclass(frozen=True, eq=False)
class Music:
    """A recording that is played to a show."""

    path: Path
    begin: float
    """Where count 0 is in the recording [s]."""
    sound: Soundtrack
    """The recording from count 0 on."""
    beats: Beats | None
    """The beats that were found in it, which are the counts; None if counts go by a given tempo."""
    where: Node | None = field(default=None, repr=False)
    """Its place in the file, for messages."""

    __repr__ = brief

    def at(self, where: Node) -> Music:
        """The same music, at another place in a file (`where`)."""
        return replace(self, where=where)

    def __str__(self) -> str:
        text = f"{self.path.name} from {self.begin:.3f} s"
        if self.beats is None:
            return text
        tempo, worst = self.beats.tempo, 1000.0 * float(abs(self.beats.deviations).max())
        within = f"nine of ten within {1000.0 * self.beats.spread:.0f} ms of a steady tempo, all within {worst:.0f} ms"
        return f"{text}, {len(self.beats.times)} beats, {tempo:.2f} a minute, {within}"


@dataclass(frozen=True, eq=False)
class Script:
    """A show as written in the file."""

    title: str
    tempo: float
    """Counts per minute."""
    size: tuple[float, float]
    """Size of the stage along x and y [m]."""
    roles: tuple[Role, ...]
    cues: tuple[Cue, ...]
    props: Mapping[str, Figure] = field(default_factory=dict)
    """Free bodies on the stage, by name, where they begin."""
    music: Music | None = None
    """What is played to it."""

    @property
    def count(self) -> float:
        """Duration of one count [s]."""
        return 60.0 / self.tempo

    def role(self, name: str) -> Role:
        """The role called `name`."""
        return next(role for role in self.roles if role.name == name)

    def cue(self, name: str) -> Cue:
        """The cue called `name`."""
        return next(cue for cue in self.cues if cue.name == name)
