"""Orders that come with bunraku: every command takes their names where it takes a file."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from bunraku.io.tables.npz_file import load_npz
from bunraku.motion import Motion

FOLDER_OF_ORDERS = Path(__file__).parents[1] / "orders"


@cache
def shipped_orders() -> tuple[str, ...]:
    """Names of the orders that come with bunraku."""
    return tuple(sorted(path.stem for path in FOLDER_OF_ORDERS.glob("*.yaml")))


def found(name: str | Path) -> Path:
    """The file that `name` stands for: the shipped order of that name, unless a file of that name exists."""
    path = Path(name)
    return FOLDER_OF_ORDERS / f"{name}.yaml" if str(name) in shipped_orders() and not path.exists() else path


def shipped_motion(name: str) -> Motion:
    """The motion that the shipped order `name` produces, stored beside it since it takes long to compute."""
    return load_npz(FOLDER_OF_ORDERS / f"{name}.npz")
