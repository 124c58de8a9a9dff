"""Collects what a file contains but a figure cannot hold (or the reverse), and lists it in one warning."""

from __future__ import annotations

import warnings

from bunraku.errors import BunrakuWarning


class Leftovers:
    """What was left out of the file at `path`, by reason, with the names of the parts concerned."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.names: dict[str, dict[str, None]] = {}

    def add(self, trouble: str, name: str) -> None:
        """Notes a `trouble` (a phrase in the plural: "meshes not found") with the part called `name`."""
        self.names.setdefault(trouble, {})[name] = None

    def __str__(self) -> str:
        lines = [f"{self.path or '<input>'}: not everything could be kept"]
        for trouble, names in self.names.items():
            listed = list(names)
            more = f" and {len(listed) - 6} more" if len(listed) > 6 else ""
            lines.append(f"  {trouble}: {', '.join(listed[:6])}{more}")
        return "\n".join(lines)

    def warn(self, *, stacklevel: int) -> None:
        """Issues one BunrakuWarning with everything, if there is any; `stacklevel` is counted from the caller."""
        if self.names:
            warnings.warn(BunrakuWarning(str(self)), stacklevel=stacklevel + 1)
