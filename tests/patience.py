"""How long tests wait for what another thread, process or page does. A busy machine may take long; only what never comes fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 300.0  # [s]
T = TypeVar("T")


def until(condition: Callable[[], T]) -> T:
    """What a condition gives as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < deadline, "this never happened"
        time.sleep(0.01)
    return value
