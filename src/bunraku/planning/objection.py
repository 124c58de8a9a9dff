"""Objection and Verdict: what a rechecker reports about a motion that is claimed to be valid."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bunraku.brief import brief


@dataclass(frozen=True)
class Objection:
    """One fault of a motion."""

    what: str
    """The kind of fault in one word: "collision", "limits", "dynamics"."""
    where: str
    """The fault as a sentence: "hand is 3 mm deep in box"."""
    t: float
    """When it begins [s]."""
    amount: float
    """Size of the fault, in the unit of the measured quantity [m, rad, N]; NaN if it has no size."""

    def __str__(self) -> str:
        return f"{self.t:.3g} s: {self.what}: {self.where}"


class Verdict:
    """Base class of the results of recheckers. Derived classes add the measured numbers as fields."""

    if TYPE_CHECKING:

        @property
        def objections(self) -> tuple[Objection, ...]:
            """The faults, earliest first; a field of the derived dataclass."""

    @property
    def accepted(self) -> bool:
        """Whether there are no objections."""
        return not self.objections

    @property
    def since(self) -> float:
        """Time at which the earliest fault begins [s]; infinite if there is none."""
        return min((objection.t for objection in self.objections), default=math.inf)

    def numbers(self) -> str:
        """The measured numbers, in one line."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join([f"{'accepted' if self.accepted else 'refused'}: {self.numbers()}", *map(str, self.objections)])

    __repr__ = brief


def sorted_by_time(objections: Iterable[Objection]) -> tuple[Objection, ...]:
    """The `objections`, earliest first; those of equal time keep their order."""
    return tuple(sorted(objections, key=lambda objection: objection.t))
