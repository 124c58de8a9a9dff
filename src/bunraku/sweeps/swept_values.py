"""Values of a swept path: `0.5,1,2` lists them, `1:5:9` is nine numbers from 1 to 5, `1:5` is a range for random samples.

`:log` at the end spaces or draws the numbers evenly in their logarithm. Numbers may have units: `10cm:30cm:5`, `5:20 ms:4`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.node import Node
from bunraku.sweeps.value_paths import node_of

NUMBER_AND_UNIT = re.compile(r"\s*([-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?)\s*([^\d\s]\S*)?\s*")
_FORM = "write 0.5,1,2 or 1:5:9 (nine numbers from 1 to 5), or 1:5 with random samples; :log for even ratios"


@dataclass(frozen=True)
class RandomRange:
    """Numbers from `low` to `high` with a `unit` ("" for none), drawn evenly, or evenly in their logarithm (`log`)."""

    low: float
    high: float
    unit: str = ""
    log: bool = False

    def at(self, share: float) -> float:
        """The number at a `share` of the range, from 0 to 1."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)


Axis = tuple[Node, ...] | RandomRange
"""The values of one path."""


def axis_of(path: str, given: Any) -> Axis:
    """The values of a `path`: a text as on the command line, one value, or several values (`given`).

    Raises BunrakuError if the text cannot be understood, or if there are no values.
    """
    told = f"--over {path}"
    if isinstance(given, RandomRange):
        return given
    if isinstance(given, str):
        return _parsed(path, given)
    if isinstance(given, Iterable) and not isinstance(given, dict):
        values = tuple(node_of(value, told) for value in given)
        if not values:
            raise BunrakuError(f"{path}: no values\n  advice: give one or more")
        return values
    return (node_of(given, told),)


def _parsed(path: str, text: str) -> Axis:
    pieces = [piece.strip() for piece in _split(text)]
    if not text.strip() or "" in pieces:
        raise BunrakuError(f"{path}={text}: a value is missing\n  advice: {_FORM}")
    if len(pieces) == 1 and ":" in text and not text.lstrip().startswith(("{", "[", '"', "'")):
        return _range(path, text)
    return tuple(yaml_reader.parse(piece, f"--over {path}") for piece in pieces)


def _split(text: str) -> Sequence[str]:
    """The parts of a `text` between commas that are not inside brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        depth += (c in "[{") - (c in "]}") if not quote else 0
        if c == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _range(path: str, text: str) -> Axis:
    words = [word.strip() for word in text.split(":")]
    log = words[-1] == "log"
    words = words[:-1] if log else words
    ends = [NUMBER_AND_UNIT.fullmatch(word) for word in words[:2]]
    counted = len(words) == 3 and words[2].isdecimal() and 1 <= int(words[2]) <= 1_000_000
    if len(ends) < 2 or None in ends or not (len(words) == 2 or counted):
        raise BunrakuError(f"{path}={text}: not a range\n  advice: {_FORM}")
    (low, high), units = ([float(end[1]) for end in ends if end], [end[2] or "" for end in ends if end])
    unit = units[1] or units[0]
    if units[0] not in ("", unit):
        raise BunrakuError(f"{path}={text}: one end is in {units[0]}, the other in {unit}\n  advice: use one unit for both")
    if log and not low * high > 0.0:
        raise BunrakuError(f"{path}={text}: a logarithm needs two ends of one sign, not zero\n  advice: leave out :log")
    drawn = RandomRange(low, high, unit, log)
    if len(words) == 2:
        return drawn
    shares = np.linspace(0.0, 1.0, int(words[2])).tolist()
    return tuple(number_node(drawn, share, path) for share in shares)


def number_node(drawn: RandomRange, share: float, path: str) -> Node:
    """The number at a `share` of the range `drawn`, with its unit, as the value of a `path`."""
    value = drawn.low if share == 0.0 else drawn.high if share == 1.0 else drawn.at(share)
    return node_of(f"{value!r} {drawn.unit}".strip(), f"--over {path}")
