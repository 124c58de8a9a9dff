"""Nodes of a YAML file: every value knows its place, and says what is wrong with it.

The helpers serve all files of ours: figures, scenes, scripts, paths, planning problems. Each returns a value, or raises
one `FileError` that points at the word and says what to write instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import BunrakuError, FigureError, FileError, MissingExtra, parts
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.source import Source, near

MOST = 1e12
"""No length, angle or mass in SI units comes near; it keeps squares and sums finite."""
LONGEST_NAME = 100

_NUMBER = re.compile(r"([-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)(?:\s*([^\W\d_°%]\S*|°\S*|%))?", re.ASCII)
_INFINITE = re.compile(r"([-+]?)\.?(inf|Inf|INF)")
_NAN = re.compile(r"\.?nan", re.IGNORECASE)
_NOTHING = ("", "~", "null", "Null", "NULL")
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
TAKES = {"simulate": "simulate", "optimize": "optimize", "show": "perform", "climb": "climb", "plan": "plan", "carry": "carry"}
BEGIN = {word: f"is for bunraku {verb}" for word, verb in (TAKES | {"humanoid": "guide"}).items()}
BEGIN |= {"figure": "holds a figure", "scene": "holds a scene"}
"""What files are for that begin with a word."""


@dataclass(frozen=True, eq=False)
class Node:
    """A scalar (its text), a list (of nodes) or a mapping (of words to nodes), and where it begins."""

    source: Source = field(repr=False)
    line: int
    column: int
    value: str | tuple[Node, ...] | dict[str, Node]
    plain: bool = True
    """A scalar without quotes: only such a one can be a number."""
    keys: Mapping[str, Node] = field(default_factory=dict, repr=False)
    """Where the words of a mapping stand."""

    # -- what is wrong -------------------------------------------------------------------------------------------

    def error(self, message: str, *, advice: str = "") -> FileError:
        return self.source.error(message, self.line, self.column, advice=advice)

    def unwanted(self, wanted: str, *, advice: str = "") -> FileError:
        return self.error(f"{wanted} is wanted here, not {self.described}", advice=advice)

    @property
    def described(self) -> str:
        if isinstance(self.value, dict):
            return "a mapping" if self.value else "an empty mapping"
        if isinstance(self.value, tuple):
            return "a list" if self.value else "an empty list"
        if self.is_nothing:
            return "nothing"
        return repr(self.value if len(self.value) <= 40 else self.value[:39] + "…")

    @property
    def is_nothing(self) -> bool:
        return self.plain and isinstance(self.value, str) and self.value in _NOTHING

    def place_of(self, word: str) -> Node:
        """The value of a word, or the whole where the word is not there."""
        return self.value.get(word, self) if isinstance(self.value, dict) else self

    @contextmanager
    def blamed(self, words: Mapping[str, str] | None = None) -> Iterator[None]:
        """What contradicts itself in the block was said here; `words` are those that set fields of another name."""
        try:
            yield
        except FigureError as error:
            place = self.place_of((words or {}).get(error.field, error.field))
            raise place.error(error.message, advice=error.advice or "correct this entry") from None
        except (FileError, MissingExtra):  # says itself where, or is nobody's fault here
            raise
        except BunrakuError as error:
            message, advice = parts(error)
            raise self.error(message, advice=advice or "correct this entry") from None

    # -- mappings ------------------------------------------------------------------------------------------------

    def words(self, allowed: Iterable[str], what: str) -> dict[str, Node]:
        """A mapping that has no other words than these."""
        if not isinstance(self.value, dict):
            allowed = list(allowed)
            raise self.unwanted(f"a mapping, {what},", advice=f"write {allowed[0]}: … with {', '.join(allowed[1:6])}")
        known = set(allowed)
        for word, key in self.keys.items():
            if word not in known:
                begins = BEGIN.get(word) if key.column == 1 and word == next(iter(self.keys)) else None
                advice = f"a file that begins with {word}: {begins}; it is not {what}" if begins else near(word, allowed)
                raise key.error(f"unknown word {word[:40]!r} in {what}", advice=advice)
        return self.value

    def need(self, word: str, what: str) -> Node:
        """The value of a word that must be there."""
        found = self.get(word)
        if found is None:
            raise self.error(f"{what} has no {word!r}", advice=f"add {word}: …")
        return found

    def get(self, word: str) -> Node | None:
        return self.value.get(word) if isinstance(self.value, dict) else None

    def given(self, **readers: Callable[[Node], Any]) -> dict[str, Any]:
        """The values of those words that are there, each read by its function."""
        return {word: read(found) for word, read in readers.items() if (found := self.get(word)) is not None}

    def head(self, kinds: Iterable[str], what: str) -> tuple[str, Node]:
        """The one word that says what a mapping describes, and its value."""
        kinds = list(kinds)
        if not isinstance(self.value, dict):
            raise self.unwanted(f"a mapping, {what},", advice=f"begin it with one of: {', '.join(kinds)}")
        found = [kind for kind in kinds if kind in self.value]
        if len(found) == 1:
            return found[0], self.value[found[0]]
        if found:
            second = max((self.keys[kind] for kind in found), key=lambda key: (key.line, key.column))
            raise second.error(f"{what} is one of {' and '.join(found)}, not both", advice="make it two entries")
        first = next(iter(self.keys.values()), self)
        raise first.error(f"{what} must say what it is", advice=near(str(first.value), kinds))

    # -- lists ---------------------------------------------------------------------------------------------------

    def items(self, what: str, count: int | None = None) -> tuple[Node, ...]:
        """The entries of a list."""
        if not isinstance(self.value, tuple):
            hint = "begin each entry with '- '" if isinstance(self.value, dict) else "write [ … ]"
            hint = "write some, or remove the word" if self.is_nothing else hint
            raise self.unwanted(f"a list of {what}", advice=hint)
        if count is not None and len(self.value) != count:
            only = self.value[0].value if len(self.value) == 1 else ""
            hint = "separate them by commas" if isinstance(only, str) and " " in only else f"give exactly {count}"
            raise self.error(f"{len(self.value)} {what} where {count} belong", advice=hint)
        return self.value

    def numbers(self, count: int | None = None, quantity: Quantity = Quantity.NUMBER) -> tuple[float, ...]:
        return tuple(item.number(quantity) for item in self.items("numbers", count))

    def lengths(self) -> tuple[float, float, float]:
        """A position or a size [m]."""
        return self.vector(Quantity.LENGTH)

    def vector(self, quantity: Quantity = Quantity.NUMBER) -> tuple[float, float, float]:
        x, y, z = self.numbers(3, quantity)
        return (x, y, z)

    # -- scalars -------------------------------------------------------------------------------------------------

    def scalar(self, wanted: str, *, advice: str = "") -> str:
        if not isinstance(self.value, str) or self.is_nothing:
            raise self.unwanted(wanted, advice=advice or f"write {wanted}")
        return self.value

    def number(self, quantity: Quantity = Quantity.NUMBER, *, infinite: bool = False) -> float:
        """A finite number, in SI units or followed by its unit; `infinite` allows .inf, where it means no limit."""
        wanted = "a number" if not quantity.unit else f"a number in {quantity.unit}"
        text = self.scalar(wanted)
        if not self.plain:
            raise self.unwanted(wanted, advice="remove the quotes" if _NUMBER.fullmatch(text) else f"write {wanted}")
        if bad := _INFINITE.fullmatch(text):
            if infinite:
                return -math.inf if bad[1] == "-" else math.inf
            raise self.error(f"{text} is not a finite number", advice=f"write {wanted}")
        if _NAN.fullmatch(text):
            raise self.error(f"{text} is not a number", advice=f"write {wanted}")
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise self.unwanted(wanted, advice=_comma(text) or f"write {wanted}, such as 0.25")
        value = float(found[1])
        if abs(value) > MOST:
            raise self.error(f"{text[:40]} is too large", advice=f"numbers are at most {MOST:g}, in SI units")
        return value if found[2] is None else value * self._factor(found[1], found[2], quantity)

    def positive(self, quantity: Quantity = Quantity.NUMBER) -> float:
        value = self.number(quantity)
        if not value > 0.0:
            raise self.error(f"{self.value} is not more than zero", advice="give a positive number")
        return value

    def whole(self, least: int, most: int) -> int:
        """A whole number."""
        value = self.number()
        if value != int(value) or not least <= value <= most:
            raise self.error(f"{value:g} is no whole number from {least} to {most}", advice="give one")
        return int(value)

    def _factor(self, digits: str, unit: str, quantity: Quantity) -> float:
        factor = quantity.factor(unit)
        if factor is not None:
            return factor
        plain = f"write {digits}" + (f"; {quantity} is in {quantity.unit}" if quantity.unit else " without a unit")
        for other in Quantity:
            if other.factor(unit) is not None:
                wanted = str(quantity) if quantity.unit else "a plain number"
                hint = _units(quantity) or plain
                raise self.error(f"{unit} measures {other}; {wanted} is wanted here", advice=hint)
        raise self.error(f"unknown unit {unit[:40]!r}", advice=_units(quantity) or plain)

    def length(self) -> float:
        return self.number(Quantity.LENGTH)

    def name(self, what: str = "something") -> str:
        """A name: any printable text that YAML does not take for something else."""
        text = self.scalar(f"the name of {what}")
        if self.plain and not is_text(text):
            raise self.unwanted(f"the name of {what}", advice="begin names with a letter, or put them in quotes")
        if not text.strip() or text != text.strip() or not text.isprintable():
            raise self.error(f"{text[:40]!r} is not a name", advice="use letters, digits, _ and -")
        if len(text) > LONGEST_NAME:
            raise self.error(f"the name is {len(text)} characters long", advice=f"use at most {LONGEST_NAME}")
        return text

    def flag(self) -> bool:
        text = self.scalar("true or false")
        if not self.plain or text not in _TRUTH:
            raise self.unwanted("true or false", advice="write true or false")
        return _TRUTH[text]

    def choice(self, options: Iterable[str], what: str) -> str:
        text = self.scalar(what)
        options = list(options)
        if text not in options:
            raise self.error(f"{what} {text[:40]!r} is not known", advice=near(text, options))
        return text


def is_text(plain: str) -> bool:
    """Whether a scalar without quotes reads as text, and not as a number, a truth or nothing."""
    number = _NUMBER.fullmatch(plain)
    special = (number and number[2] is None) or _INFINITE.fullmatch(plain) or _NAN.fullmatch(plain)
    return not special and plain not in _TRUTH and plain not in _NOTHING


def _comma(text: str) -> str:
    dotted = text.replace(",", ".")
    return f"the decimal point is a point: {dotted}" if "," in text and _NUMBER.fullmatch(dotted) else ""


def _units(quantity: Quantity) -> str:
    """What may be written where this quantity is wanted."""
    if not quantity.others:
        return ""
    listed = " or ".join(quantity.others)
    return f"write {quantity} in {quantity.unit} with no unit, or followed by {listed}"
