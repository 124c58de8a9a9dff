"""Objection and Verdict: what every rechecker says of a motion that somebody calls solved."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bunraku.brief import brief


@dataclass(frozen=True)
class Objection:
    """One thing that is wrong with a motion."""

    what: str
    """The kind of fault, in a word: "collision", "limits", "dynamics"."""
    where: str
    """What is concerned, as a sentence: "hand is 3 mm deep in box"."""
    t: float
    """When it begins [s]."""
    amount: float
    """By how much, in the unit of what is measured [m, rad, N]; NaN where the fault has no size."""

    def __str__(self) -> str:
        return f"{self.t:.3g} s: {self.what}: {self.where}"


class Verdict:
    """The base of what recheckers return: the measured numbers are fields of the class that derives from it."""

    if TYPE_CHECKING:

        @property
        def objections(self) -> tuple[Objection, ...]:
            """What is wrong, the earliest first; a field of the derived dataclass."""

    @property
    def accepted(self) -> bool:
        """Whether there is nothing to object to."""
        return not self.objections

    @property
    def since(self) -> float:
        """When the earliest fault begins [s]; infinite where there is none."""
        return min((objection.t for objection in self.objections), default=math.inf)

    def numbers(self) -> str:
        """What was measured, in one line."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join([f"{'accepted' if self.accepted else 'refused'}: {self.numbers()}", *map(str, self.objections)])

    __repr__ = brief


def sorted_by_time(objections: Iterable[Objection]) -> tuple[Objection, ...]:
    """The `objections`, the earliest first; those of one time stay in their order."""
    return tuple(sorted(objections, key=lambda objection: objection.t))
