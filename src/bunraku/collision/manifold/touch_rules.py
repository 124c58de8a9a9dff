"""Touch: which bodies may touch, and how they rub, bounce, stick and roll."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from bunraku.errors import BunrakuError


@dataclass(frozen=True)
class Matter:
    """How two surfaces meet."""

    friction: float = 0.5
    """Largest ratio of the force along the surfaces to the force that presses them together."""
    restitution: float = 0.0
    """The speed with which they part, relative to that with which they met: 0 to 1."""
    adhesion: float = 0.0
    """The force that it takes to pull them apart [N]."""
    rolling: float = 0.0
    """Rolling resistance: the arm by which the force between them is shifted toward where one rolls [m]."""

    def __post_init__(self) -> None:
        for field, most in (("friction", math.inf), ("restitution", 1.0), ("adhesion", math.inf), ("rolling", math.inf)):
            value = getattr(self, field)
            if not (isinstance(value, int | float) and 0.0 <= value <= most and math.isfinite(value)):
                limit = f"from 0 to {most:g}" if field == "restitution" else "zero or positive"
                raise BunrakuError(f"touch: {field} is {value!r}\n  advice: give a number {limit}")


@dataclass(frozen=True)
class TouchPair:
    """Two names (of shapes, frames, figures, obstacles or the floor) that touch, with matter of their own or None."""

    a: str
    b: str
    matter: Matter | None = None


@dataclass(frozen=True)
class Touch:
    """Which bodies may touch. Neighbours in a figure never do.

    pairs: "all", or pairs of names; with "all", pairs below give some of them other matter
    matter: of pairs that have none of their own
    own: pairs with matter of their own
    except_for: pairs of names that do not touch
    strings: "all", or names of strings that lie on spheres and capsules instead of passing through them
    """

    pairs: Literal["all"] | tuple[TouchPair, ...] = "all"
    matter: Matter = Matter()
    own: tuple[TouchPair, ...] = ()
    except_for: tuple[tuple[str, str], ...] = ()
    strings: Literal["all"] | tuple[str, ...] = ()


def as_touch(given: object) -> Touch | None:
    """A Touch from `given`, which is what `simulate` and files accept: None, "all", pairs of names, a mapping, or a Touch.

    Raises BunrakuError for anything else.
    """
    match given:
        case None | Touch():
            return given
        case "all":
            return Touch()
        case Mapping():
            return _from_words(dict(given))
        case list() | tuple():
            return Touch(tuple(_pair(one, Matter()) for one in given))
        case _:
            raise _refused(given)


def _from_words(words: dict[str, Any]) -> Touch:
    fields = {name: words.pop(name) for name in ("friction", "restitution", "adhesion", "rolling") if name in words}
    matter = Matter(**fields)
    pairs, own, apart = words.pop("pairs", "all"), words.pop("own", ()), words.pop("except", ())
    strings = words.pop("strings", ())
    if words:
        raise BunrakuError(
            f"touch: {', '.join(map(str, words))} is no word of touch\n"
            "  advice: friction, restitution, adhesion, rolling, pairs, own, except, strings"
        )
    chosen = "all" if pairs == "all" else tuple(_pair(one, matter) for one in pairs)
    without = tuple((one.a, one.b) for one in (_pair(pair, matter) for pair in apart))
    laid: Any = strings if strings == "all" else tuple(strings)
    return Touch(chosen, matter, tuple(_pair(one, matter) for one in own), without, laid)  # type: ignore[arg-type]


def _pair(given: object, matter: Matter) -> TouchPair:
    match given:
        case TouchPair():
            return given
        case [str(a), str(b)]:
            return TouchPair(a, b)
        case [str(a), str(b), dict(fields)]:
            try:
                return TouchPair(a, b, replace(matter, **fields))
            except TypeError:
                raise BunrakuError(
                    f"touch: {a} and {b} have {', '.join(map(str, fields))}\n  advice: friction, restitution, adhesion, rolling"
                ) from None
        case _:
            raise _refused(given)


def _refused(given: object) -> BunrakuError:
    return BunrakuError(
        f"touch: expected `all` or pairs of names, got {given!r}\n"
        "  advice: touch: all, or touch: [[ball, floor], [hand, ball, {friction: 0.8}]]"
    )


def pairs_of(touch: Touch) -> Sequence[TouchPair]:
    """All pairs that `touch` names."""
    return (*(touch.pairs if touch.pairs != "all" else ()), *touch.own)
