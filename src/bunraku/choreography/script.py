"""Script: who plays, what they do, and when, as a person wrote it.

A cue begins when another one begins or ends, or at a count, and lasts some counts, or until another one begins. `Place`
and `Role` are where and who. Nothing is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bunraku.choreography.repertoire import Repertoire
from bunraku.figure import Figure
from bunraku.io.yaml.node import Node


@dataclass(frozen=True, eq=False)
class Role:
    """A puppet of the show, and where it hangs when the curtain rises."""

    name: str
    figure: Figure
    repertoire: Repertoire
    place: tuple[float, float]
    facing: float
    where: Node = field(repr=False)


@dataclass(frozen=True)
class Start:
    """When a cue begins: `counts` after the start, or the end, of another cue, or of the show."""

    cue: str = ""
    """Empty: the show itself."""
    at_end: bool = False
    counts: float = 0.0


@dataclass(frozen=True, eq=False)
class Cue:
    """One entry of the script."""

    name: str
    role: str
    motion: str
    start: Start
    counts: float | None = None
    """How long; without it, as long as the motion likes."""
    until: str = ""
    """It lasts until this cue begins."""
    give: float = 0.0
    """By how many counts it may come earlier or later."""
    to: tuple[float, float] | None = None
    facing: float | None = None
    size: float = 1.0
    mirrored: bool = False
    where: Node = field(repr=False, kw_only=True)


@dataclass(frozen=True, eq=False)
class Script:
    """A show as it was written."""

    title: str
    tempo: float
    """Counts a minute."""
    size: tuple[float, float]
    """Of the stage, along x and y [m]."""
    roles: tuple[Role, ...]
    cues: tuple[Cue, ...]

    @property
    def count(self) -> float:
        """One count [s]."""
        return 60.0 / self.tempo

    def role(self, name: str) -> Role:
        return next(role for role in self.roles if role.name == name)

    def cue(self, name: str) -> Cue:
        return next(cue for cue in self.cues if cue.name == name)
