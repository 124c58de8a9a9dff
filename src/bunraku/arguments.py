"""Checks of a verb's arguments, before any work: one clear error says what was expected."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from typing import Any

from bunraku.errors import BunrakuError


def require_kind(name: str, given: Any, kinds: type | tuple[type, ...], *, expected: str, advice: str) -> None:
    """Raises BunrakuError if an argument is not of one of the `kinds`.

    name: the name of the argument.
    given: its value.
    expected: what it should be, in words ("a Figure").
    advice: how to get one.
    """
    if not isinstance(given, kinds):
        raise _refused(name, given, expected, advice)


def require_number(name: str, given: Any, *, unit: str = "", zero: bool = False, finite: bool = True) -> None:
    """Raises BunrakuError if an argument is not a number above zero.

    name: the name of the argument.
    given: its value.
    unit: the unit of the number, for the message.
    zero: whether it may be zero.
    finite: whether it must be finite.
    """
    more = "of zero or more" if zero else "above zero"
    expected = f"a number {more}" + (f" [{unit}]" if unit else "")
    try:
        number = math.nan if given is None or isinstance(given, str | bytes | bool) else float(given)
    except (TypeError, ValueError):
        number = math.nan
    if not (number > 0.0 or (zero and number == 0.0)) or (finite and number == math.inf):
        raise _refused(name, given, expected, f"give {name} as a number, such as {name}=0.01")


def require_list(name: str, given: Any, kinds: tuple[type, ...] = (object,), *, expected: str, advice: str) -> None:
    """Raises BunrakuError if an argument is not a list whose members are of one of the `kinds`.

    name: the name of the argument.
    given: its value.
    kinds: the types that its members may have.
    expected, advice: as in `require_kind`.
    """
    if isinstance(given, str | bytes | os.PathLike) or not isinstance(given, Iterable):
        raise _refused(name, given, expected, advice)
    for one in given if isinstance(given, list | tuple) else ():
        if not isinstance(one, kinds):
            raise _refused(f"a member of {name}", one, expected, advice)


def require_common(seed: Any, progress: Any) -> None:
    """Raises BunrakuError if a `seed` is neither None nor a whole number of zero or more, or if `progress` cannot be called."""
    whole = hasattr(seed, "__index__") and not isinstance(seed, bool) and int(seed) >= 0
    if seed is not None and not whole:
        raise _refused("seed", seed, "a whole number of zero or more", "give seed=0, or leave it out")
    if progress is not None and not callable(progress):
        raise _refused(
            "progress",
            progress,
            "a function that takes a Progress",
            "give progress=print or a function of your own, or leave it out",
        )


def _refused(name: str, given: Any, expected: str, advice: str) -> BunrakuError:
    shown = repr(given)
    got = shown if len(shown) <= 60 else f"a {type(given).__name__}"
    return BunrakuError(f"{name}: expected {expected}, got {got}\n  advice: {advice}")
