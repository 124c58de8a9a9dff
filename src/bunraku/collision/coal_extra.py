"""coal, an optional collision library, imported when a pair first needs it: it takes 300 MB and has no wheels for Windows."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from bunraku.errors import MissingExtra


def has_coal() -> bool:
    """Whether coal is installed."""
    if "coal" in sys.modules:
        return sys.modules["coal"] is not None
    return importlib.util.find_spec("coal") is not None


class _Coal:
    """Stands for the module `coal`; every attribute raises MissingExtra where coal is not installed."""

    def __getattr__(self, name: str) -> Any:
        try:
            import coal as module
        except ImportError:
            raise MissingExtra("coal", "coal", "the distance between boxes, cylinders and meshes") from None
        value = getattr(module, name)
        setattr(self, name, value)
        return value


coal: Any = _Coal()
