"""Numbers that tune changes of holds."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.ensemble.free_moves import FreeMoveOptions
from bunraku.ensemble.resting import RestingOptions


@dataclass(frozen=True)
class ChangeHoldsOptions:
    """Numbers that tune how changes of holds are planned."""

    changes: int = 2
    """Largest number of changes."""
    attempts: int = 4
    """How many times everything is planned again with other places, if the rechecker refuses the motion."""
    stops: int = 4
    """Number of places that are tried for one change."""
    batches: int = 60
    """Number of batches of random configurations among which such a place is searched for."""
    batch: int = 512
    choice: int = 12
    """Number of such places of which those with most room are taken."""
    body: tuple[float, float] = (0.3, 1.3)
    """Heights between which an agent passes, for the map of the floor [m]."""
    beyond: float = 0.5
    """How far agents may be outside of the area, on that map [m]."""
    hover: float = 0.04
    """The object is lowered from, and lifted to, this height above where it rests [m]."""
    lowering: float = 1.2
    """Time that this takes at least [s]."""
    detours: int = 2
    """For a carried part, as many other paths are searched for."""
    share: float = 0.2
    """Share of the budget that one carried part may take."""
    free: FreeMoveOptions = FreeMoveOptions()
    resting: RestingOptions = RestingOptions()
