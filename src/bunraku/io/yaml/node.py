"""Nodes of a YAML file: every value knows its place in the file.

All readers of YAML files use them: figures, scenes, and the orders of all verbs. Each method returns a checked value, or raises
one `FileError` that points at the word and says what to write instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bunraku.errors import BunrakuError, FigureError, FileError, MissingExtra, did_you_mean, parts
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.source import Source

_NUMBER = re.compile(r"([-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)(?:\s*([^\W\d_°%]\S*|°\S*|%))?", re.ASCII)
_NOT_FINITE = re.compile(r"([-+]?)\.?(?:(inf|Inf|INF)|[nN][aA][nN])")
_NOTHING = ("", "~", "null", "Null", "NULL")
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_FIRST_WORDS = {
    **{verb: f"is for bunraku {verb}" for verb in ("simulate", "optimize", "perform", "climb", "plan", "carry", "guide", "drive")},
    "show": "is for bunraku perform",
    "humanoid": "is for bunraku guide",
    "figure": "holds a figure",
    "scene": "holds a scene",
}
"""What a file that begins with this word is for; for advice where it was given to the wrong command."""


@dataclass(frozen=True, eq=False)
class Node:
    """A scalar (its text), a list (of nodes) or a mapping (of words to nodes), and where it begins."""

    source: Source = field(repr=False)
    line: int
    column: int
    value: str | tuple[Node, ...] | dict[str, Node]
    plain: bool = True
    """Whether a scalar is written without quotes; only then can it be a number."""
    keys: Mapping[str, Node] = field(default_factory=dict, repr=False)
    """The places of a mapping's words."""

    # -- errors --------------------------------------------------------------------------------------------------

    def error(self, message: str, *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points here."""
        return self.source.error(message, self.line, self.column, advice=advice)

    def unwanted(self, wanted: str, *, advice: str = "") -> FileError:
        """The error that says "expected `wanted`, got" what is here, with `advice`."""
        return self.error(f"expected {wanted}, got {self.described}", advice=advice)

    @property
    def described(self) -> str:
        """What is here, in a few words for a message."""
        if isinstance(self.value, dict):
            return "a mapping" if self.value else "an empty mapping"
        if isinstance(self.value, tuple):
            return "a list" if self.value else "an empty list"
        if self.is_nothing:
            return "nothing"
        return repr(self.value if len(self.value) <= 40 else self.value[:39] + "…")

    @property
    def is_nothing(self) -> bool:
        """Whether no value was written."""
        return self.plain and isinstance(self.value, str) and self.value in _NOTHING

    def as_data(self) -> Any:
        """Its value in plain Python: dictionaries, lists, numbers and texts."""
        if isinstance(self.value, dict):
            return {key: node.as_data() for key, node in self.value.items()}
        if isinstance(self.value, list | tuple):
            return [node.as_data() for node in self.value]
        if self.plain:
            try:
                return float(self.value)
            except ValueError:
                return self.value
        return self.value

    def place_of(self, word: str) -> Node:
        """The value of a `word`, or this node where the word is missing."""
        return self.value.get(word, self) if isinstance(self.value, dict) else self

    @contextmanager
    def blamed(self, words: Mapping[str, str] | None = None) -> Iterator[None]:
        """Errors about figures that are raised in the block become a FileError that points here.

        `words` maps a field of the figure to the word of the file that sets it, where they have different names.
        """
        try:
            yield
        except FigureError as error:
            place = self.place_of((words or {}).get(error.field, error.field))
            raise place.error(error.message, advice=error.advice or "correct this entry") from None
        except (FileError, MissingExtra):  # FileError already has its place; MissingExtra is not about this file
            raise
        except BunrakuError as error:
            message, advice = parts(error)
            raise self.error(message, advice=advice or "correct this entry") from None

    # -- mappings ------------------------------------------------------------------------------------------------

    def words(self, allowed: Iterable[str], what: str) -> dict[str, Node]:
        """This mapping, `what` in messages; raises FileError if it has words that are not `allowed`."""
        if not isinstance(self.value, dict):
            allowed = list(allowed)
            raise self.unwanted(f"a mapping ({what})", advice=f"write {allowed[0]}: … with {', '.join(allowed[1:6])}")
        known = set(allowed)
        for word, key in self.keys.items():
            if word not in known:
                begins = _FIRST_WORDS.get(word) if key.column == 1 and word == next(iter(self.keys)) else None
                advice = f"a file that begins with {word}: {begins}; it is not {what}" if begins else did_you_mean(word, allowed)
                raise key.error(f"unknown word {word[:40]!r} in {what}", advice=advice)
        return self.value

    def need(self, word: str, what: str) -> Node:
        """The value of a `word` that must be there; `what` is this mapping in messages. Raises FileError if it is missing."""
        found = self.get(word)
        if found is None:
            raise self.error(f"{what} has no {word!r}", advice=f"add {word}: …")
        return found

    def get(self, word: str) -> Node | None:
        """The value of a `word`, or None where it is missing or this is no mapping."""
        return self.value.get(word) if isinstance(self.value, dict) else None

    def given(self, **readers: Callable[[Node], Any]) -> dict[str, Any]:
        """The values of those words that are there. `readers` maps each word to the function that reads its node."""
        return {word: read(found) for word, read in readers.items() if (found := self.get(word)) is not None}

    def head(self, kinds: Iterable[str], what: str) -> tuple[str, Node]:
        """The one of the words `kinds` that this mapping has, and its value; `what` is the mapping in messages.

        Raises FileError if there is none or there are several.
        """
        kinds = list(kinds)
        if not isinstance(self.value, dict):
            raise self.unwanted(f"a mapping ({what})", advice=f"begin it with one of: {', '.join(kinds)}")
        found = [kind for kind in kinds if kind in self.value]
        if len(found) == 1:
            return found[0], self.value[found[0]]
        if found:
            second = max((self.keys[kind] for kind in found), key=lambda key: (key.line, key.column))
            raise second.error(f"{what} is {' or '.join(found)}, not both", advice="make it two entries")
        first = next(iter(self.keys.values()), self)
        raise first.error(f"{what} must say what it is", advice=did_you_mean(str(first.value), kinds))

    # -- lists ---------------------------------------------------------------------------------------------------

    def items(self, what: str, count: int | None = None) -> tuple[Node, ...]:
        """The entries of this list, `what` in messages; raises FileError if it is no list, or has not `count` entries."""
        if not isinstance(self.value, tuple):
            hint = "begin each entry with '- '" if isinstance(self.value, dict) else "write [ … ]"
            hint = "add entries, or remove the word" if self.is_nothing else hint
            raise self.unwanted(f"a list of {what}", advice=hint)
        if count is not None and len(self.value) != count:
            only = self.value[0].value if len(self.value) == 1 else ""
            hint = "separate them by commas" if isinstance(only, str) and " " in only else f"give exactly {count}"
            raise self.error(f"expected {count} {what}, got {len(self.value)}", advice=hint)
        return self.value

    def numbers(self, count: int | None = None, quantity: Quantity = Quantity.NUMBER) -> tuple[float, ...]:
        """A list of `count` numbers (any number of them where it is None) that measure a `quantity`, in SI units."""
        return tuple(item.number(quantity) for item in self.items("numbers", count))

    def lengths(self) -> tuple[float, float, float]:
        """A position or a size [m]."""
        return self.vector(Quantity.LENGTH)

    def vector(self, quantity: Quantity = Quantity.NUMBER) -> tuple[float, float, float]:
        """Three numbers that measure a `quantity`, in SI units."""
        x, y, z = self.numbers(3, quantity)
        return (x, y, z)

    # -- scalars -------------------------------------------------------------------------------------------------

    def scalar(self, wanted: str, *, advice: str = "") -> str:
        """The text of a scalar. `wanted` says in messages what it is, `advice` what to do if it is none."""
        if not isinstance(self.value, str) or self.is_nothing:
            raise self.unwanted(wanted, advice=advice or f"write {wanted}")
        return self.value

    def number(self, quantity: Quantity = Quantity.NUMBER, *, infinite: bool = False) -> float:
        """A number that measures a `quantity`, in SI units; in the file it may be followed by another unit.

        `infinite` allows .inf, for limits. Raises FileError if the number is not finite otherwise, or its unit does not fit.
        """
        wanted = "a number" if not quantity.unit else f"a number in {quantity.unit}"
        text = self.scalar(wanted)
        if not self.plain:
            raise self.unwanted(wanted, advice="remove the quotes" if _NUMBER.fullmatch(text) else f"write {wanted}")
        if special := _NOT_FINITE.fullmatch(text):
            if infinite and special[2]:
                return -math.inf if special[1] == "-" else math.inf
            raise self.error(f"{text} is not a {'finite ' if special[2] else ''}number", advice=f"write {wanted}")
        found = _NUMBER.fullmatch(text)
        if found is None:
            raise self.unwanted(wanted, advice=_comma(text) or f"write {wanted}, such as 0.25")
        value = float(found[1])
        if abs(value) > 1e12:  # no quantity in SI units comes near; squares and sums stay finite
            raise self.error(f"{text[:40]} is too large", advice="numbers are at most 1e+12, in SI units")
        return value if found[2] is None else value * self._factor(found[1], found[2], quantity)

    def positive(self, quantity: Quantity = Quantity.NUMBER) -> float:
        """A number above zero that measures a `quantity`, in SI units."""
        value = self.number(quantity)
        if not value > 0.0:
            raise self.error(f"{self.value} is not more than zero", advice="give a positive number")
        return value

    def whole(self, least: int, most: int) -> int:
        """A whole number from `least` to `most`."""
        value = self.number()
        if value != int(value) or not least <= value <= most:
            raise self.error(
                f"expected a whole number from {least} to {most}, got {value:g}", advice=f"write a whole number, such as {least}"
            )
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
                raise self.error(f"expected {wanted}, got {other} ({unit})", advice=hint)
        raise self.error(f"unknown unit {unit[:40]!r}", advice=_units(quantity) or plain)

    def length(self) -> float:
        """A length [m]."""
        return self.number(Quantity.LENGTH)

    def name(self, what: str = "something") -> str:
        """The name of `what`: printable text, at most 100 characters, that YAML does not read as a number or a truth value."""
        text = self.scalar(f"the name of {what}")
        if self.plain and not is_text(text):
            raise self.unwanted(f"the name of {what}", advice="begin names with a letter, or put them in quotes")
        if not text.strip() or text != text.strip() or not text.isprintable():
            raise self.error(f"{text[:40]!r} is not a name", advice="use letters, digits, _ and -")
        if len(text) > 100:
            raise self.error(f"the name is {len(text)} characters long", advice="use at most 100")
        return text

    def flag(self) -> bool:
        """True or false."""
        text = self.scalar("true or false")
        if not self.plain or text not in _TRUTH:
            raise self.unwanted("true or false", advice="write true or false")
        return _TRUTH[text]

    def choice(self, options: Iterable[str], what: str) -> str:
        """One of the words `options`; `what` says in messages what is chosen."""
        text = self.scalar(what)
        options = list(options)
        if text not in options:
            raise self.error(f"unknown {what.removeprefix('the ')} {text[:40]!r}", advice=did_you_mean(text, options))
        return text


def is_text(plain: str) -> bool:
    """Whether a scalar without quotes (`plain`) reads as text, and not as a number, a truth value or nothing."""
    number = _NUMBER.fullmatch(plain)
    special = (number and number[2] is None) or _NOT_FINITE.fullmatch(plain)
    return not special and plain not in _TRUTH and plain not in _NOTHING


def _comma(text: str) -> str:
    dotted = text.replace(",", ".")
    return f"use a decimal point: {dotted}" if "," in text and _NUMBER.fullmatch(dotted) else ""


def _units(quantity: Quantity) -> str:
    """Advice that lists the units of a quantity."""
    if not quantity.others:
        return ""
    listed = " or ".join(quantity.others)
    return f"write {quantity} in {quantity.unit} without a unit, or followed by {listed}"
