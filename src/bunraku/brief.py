"""`brief`: one line for a result at the prompt. Arrays are shown by their shapes, other objects by their names.

`__repr__ = brief` in a dataclass with arrays replaces the usual text, which would print every number.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sized
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np


def brief(thing: Any) -> str:
    """<Kind: text>, of at most 160 characters: the first line of `str(thing)`, or else the fields of `thing`."""
    kind: Any = type(thing)
    if kind.__str__ is not object.__str__:
        text = str(thing).partition("\n")[0]
    else:
        shown = [field.name for field in fields(thing) if field.repr and not field.name.startswith("_")]
        text = ", ".join(told for name in shown if (told := _told(name, getattr(thing, name))))
    text = text if len(text) <= 160 else text[:159] + "…"
    return f"<{kind.__name__}: {text}>"


def _told(name: str, value: Any) -> str:
    match value:
        case np.ndarray():
            return f"{name} {value.shape if value.ndim else value}"
        case None | "":
            return ""
        case bool() | int() | str() | Path():
            return f"{name} {value}"
        case float() | np.floating():
            return f"{name} {value:.4g}"
        case enum.Enum():
            return f"{name} {value.name.lower().replace('_', ' ')}"
        case tuple() | list() | set() | frozenset() | Mapping():
            return f"{len(value)} {name}" if len(value) else ""
    if isinstance(own := getattr(value, "name", None), str):
        return f"{name} {own}"
    return f"{name} {len(value)}" if isinstance(value, Sized) else ""
