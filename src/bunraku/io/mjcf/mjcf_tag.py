"""Elements and attributes of an MJCF document."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

import numpy as np


def text(value: object) -> str:
    """A `value` as MJCF writes it; floats read back the same."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Iterable):
        return " ".join(text(item) for item in value)
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)


def tag(parent: Element, kind: str, /, **attributes: object) -> Element:
    """A new child of `parent` with the tag `kind`; `attributes` that are None are left out."""
    return SubElement(parent, kind, {name: text(value) for name, value in attributes.items() if value is not None})
