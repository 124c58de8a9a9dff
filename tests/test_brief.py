from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from bunraku.brief import brief
from bunraku.figure import library
from bunraku.planning.strings import Goal


class Ending(enum.Enum):
    NOT_FOUND = 1


@dataclass(frozen=True, eq=False)
class Found:
    q: np.ndarray
    ending: Ending = Ending.NOT_FOUND
    why: str = ""
    seconds: float = 1.23456
    parts: tuple[str, ...] = ("a", "b")
    hidden: int = field(default=3, repr=False)

    __repr__ = brief


@dataclass(frozen=True, eq=False)
class Speaks(Found):
    __repr__ = brief

    def __str__(self) -> str:
        return "a word\nand more"


def test_arrays_by_their_shapes():
    assert repr(Found(np.zeros((530, 22)))) == "<Found: q (530, 22), ending not found, seconds 1.235, 2 parts>"
    assert repr(Found(np.array(2.5), why="late", parts=())) == "<Found: q 2.5, ending not found, why late, seconds 1.235>"


def test_what_speaks_for_itself_is_heard():
    assert repr(Speaks(np.zeros(3))) == "<Speaks: a word>"


def test_never_long():
    text = repr(Found(np.zeros(3), why="x" * 1000))
    assert len(text) < 160 + 20
    assert text.endswith("…>")


def test_results_at_the_prompt():
    figure = library.named("arm3d")
    goal = Goal.at_configuration(figure, figure.start, within=0.03)
    assert repr(goal) == "<Goal: 3 points, targets (3, 3), within 0.03, speed inf, kinematic (3,)>"
