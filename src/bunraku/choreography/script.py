"""Script: who plays, what they do, and when, as a person wrote it.

A cue begins when another one begins or ends, or at a count. It lasts some counts, or until another one begins. Nothing is
computed here.
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
    """x, y [m]."""
    facing: float
    """Turn about the vertical from +y [rad]."""
    where: Node = field(repr=False)
    """Where the file names it, for messages."""


@dataclass(frozen=True)
class Start:
    """When a cue begins: `counts` after the start, or the end, of another cue, or of the show."""

    cue: str = ""
    """Name of the other cue; empty for the show itself."""
    at_end: bool = False
    """Whether it waits for the end of the other cue rather than for its start."""
    counts: float = 0.0


@dataclass(frozen=True, eq=False)
class Cue:
    """One entry of the script."""

    name: str
    role: str
    motion: str
    start: Start
    counts: float | None = None
    """How long it lasts [counts]; None for the motion's own duration."""
    until: str = ""
    """Name of the cue at whose begin it ends; empty for none."""
    give: float = 0.0
    """By how many counts it may come earlier or later."""
    to: tuple[float, float] | None = None
    """Where it takes the puppet: x, y [m]."""
    facing: float | None = None
    """Where it turns the puppet: from +y about the vertical [rad]."""
    size: float = 1.0
    """Factor on the motion's deviation from rest."""
    mirrored: bool = False
    """Whether left and right are exchanged."""
    where: Node = field(repr=False, kw_only=True)
    """Where the file has it, for messages."""


@dataclass(frozen=True, eq=False)
class Script:
    """A show as a person wrote it."""

    title: str
    tempo: float
    """Counts a minute."""
    size: tuple[float, float]
    """Size of the stage along x and y [m]."""
    roles: tuple[Role, ...]
    cues: tuple[Cue, ...]

    @property
    def count(self) -> float:
        """One count [s]."""
        return 60.0 / self.tempo

    def role(self, name: str) -> Role:
        """The role called `name`."""
        return next(role for role in self.roles if role.name == name)

    def cue(self, name: str) -> Cue:
        """The cue called `name`."""
        return next(cue for cue in self.cues if cue.name == name)
