"""Stands in for confined processes, which take seconds to start: for tests of what is done with a file, and not of where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.stage.confined import require_size
from bunraku.stage.plain_answer import packed, unpacked


class Here:
    """Does in this process what a confined one does."""

    def run(
        self, function: Callable[..., Any], *args: Any, largest: int, check: Callable[[Any], object] = bool, **_: object
    ) -> Any:  # fmt: skip
        try:
            data = packed(function(*args))
        except BunrakuError as error:
            raise BunrakuError(str(error)) from None  # its words alone come back from another process
        require_size(len(data), largest)
        return unpacked(data, check)

    def close(self) -> None:
        pass
