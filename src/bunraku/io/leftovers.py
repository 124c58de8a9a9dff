"""What a file says and a figure cannot: gathered while reading, named in one warning."""

from __future__ import annotations

import warnings

from bunraku.errors import BunrakuWarning

_SHOWN = 6


class Leftovers:
    """Kinds of trouble, each with the names that it befell, in the order met."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.names: dict[str, dict[str, None]] = {}

    def add(self, trouble: str, name: str) -> None:
        self.names.setdefault(trouble, {})[name] = None

    def __str__(self) -> str:
        lines = [f"{self.path or '<input>'}: not everything could be kept"]
        for trouble, names in self.names.items():
            listed = list(names)
            more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
            lines.append(f"  {trouble}: {', '.join(listed[:_SHOWN])}{more}")
        return "\n".join(lines)

    def warn(self, *, stacklevel: int) -> None:
        """Says everything at once, if there is anything to say."""
        if self.names:
            warnings.warn(BunrakuWarning(str(self)), stacklevel=stacklevel + 1)
