"""The clock for time budgets: processor time of this process, without the time to compile or load kernels.

So a search with a budget gets as far on its first run, or on a busy machine, as on any other.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class _Aside:
    seconds = 0.0
    since: float | None = None


def worked() -> float:
    """Processor time [s]; only differences are meaningful."""
    return time.process_time() - _Aside.seconds


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """Time spent in this block does not count in `worked`. Blocks may be nested. For one thread at a time."""
    if _Aside.since is not None:
        yield
        return
    _Aside.since = time.process_time()
    try:
        yield
    finally:
        _Aside.seconds += time.process_time() - _Aside.since
        _Aside.since = None
