"""Stands in for confined processes, which take seconds to start: for tests of what is done with a file, and not of where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bunraku.errors import BunrakuError


class Here:
    """Does in this process what a confined one does."""

    def run(self, function: Callable[..., Any], *args: Any, **_: object) -> Any:
        try:
            return function(*args)
        except BunrakuError as error:
            raise BunrakuError(str(error)) from None  # its words alone come back from another process

    def close(self) -> None:
        pass
