"""Flags that are raised once and that all workers see, to stop them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


class Flag(Protocol):
    """A signal to all workers: raised once, never lowered. It can be pickled."""

    def set(self) -> None:
        """Raises the flag."""

    def is_set(self) -> bool:
        """Whether the flag was raised."""


@dataclass(frozen=True)
class FileFlag:
    """A flag on this machine: raised when the file exists."""

    path: str

    def set(self) -> None:
        """Raises the flag."""
        Path(self.path).touch()

    def is_set(self) -> bool:
        """Whether the flag was raised."""
        return os.path.exists(self.path)  # noqa: PTH110 (asked thousands of times)


@dataclass(frozen=True)
class ClusterFlag:
    """A flag that the scheduler of a cluster keeps."""

    name: str

    def _event(self) -> Any:
        from distributed import Event

        return Event(self.name)

    def set(self) -> None:
        """Raises the flag."""
        self._event().set()

    def is_set(self) -> bool:
        """Whether the flag was raised."""
        return bool(self._event().is_set())
