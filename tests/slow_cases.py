"""Parametrised tests of which some cases take long."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest


def cases(values: Iterable[Any], *, slow: Collection[str], name: Callable[[Any], str] = str) -> list[Any]:
    """A case for each of the `values`, called by its name; those whose names are in `slow` are slow tests."""
    named = [(name(value), value) for value in values]
    assert set(slow) <= {called for called, _ in named}, set(slow) - {called for called, _ in named}
    return [pytest.param(value, id=called, marks=[pytest.mark.slow] if called in slow else []) for called, value in named]
