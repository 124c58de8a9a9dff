"""Result: what every verb but `simulate` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from bunraku.brief import brief
from bunraku.outcome import Outcome
from bunraku.shown import Shown

if TYPE_CHECKING:
    from bunraku.motion import Motion
    from bunraku.scene import Scene


class Result(Shown):
    """The base of `Optimum`, `Plan`, `Carry`, `Climb`, `Performance` and `Guided`.

    Each of them is a frozen dataclass that has at least the members below, and says in `report` what happened, line by line.
    """

    if TYPE_CHECKING:  # subclasses define these as fields, or as properties that compute on demand

        @property
        def outcome(self) -> Outcome:
            """How the verb ended."""

        @property
        def motion(self) -> Motion | None:
            """The motion that was found; None where there is none."""

        @property
        def scene(self) -> Scene | None:
            """The obstacles and the floor, where the verb knows them."""

        @property
        def seconds(self) -> Mapping[str, float]:
            """Processor time of each stage [s]."""

        @property
        def seed(self) -> int | None:
            """The seed of the random numbers; None where none are drawn."""

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: what happened. The first pair is the outcome."""
        yield "outcome", str(self.outcome)

    def columns(self) -> dict[str, float]:
        """Numbers of this result by name, for the table of a sweep; what there is no number for is left out."""
        from bunraku.motion.motion_columns import motion_columns

        return {} if self.motion is None else motion_columns(self.motion)

    def __str__(self) -> str:
        return "\n".join(f"{title:<12}{text}" for title, text in self.report())

    __repr__ = brief
