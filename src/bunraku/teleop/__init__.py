"""Live figures moved by mouse, sticks or joystick, and the opening show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bunraku.teleop.opening import opening_show

if TYPE_CHECKING:
    from bunraku.teleop.simulated_figure import Simulated

__all__ = ["Simulated", "opening_show"]


def __getattr__(name: str) -> Any:
    """Imports `Simulated` on first use: physics takes half a second to import, and the list of a show does not need it."""
    if name != "Simulated":
        raise AttributeError(f"module 'bunraku.teleop' has no attribute {name!r}")
    from bunraku.teleop.simulated_figure import Simulated

    return Simulated
