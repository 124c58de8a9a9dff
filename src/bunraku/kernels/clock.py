"""The clock of budgets: processor time of this process, without what it takes to compile or load kernels.

So a first use finds as much as any other, and so does a busy machine.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class _Aside:
    seconds = 0.0
    since: float | None = None


def worked() -> float:
    """Seconds, of which only differences mean anything."""
    return time.process_time() - _Aside.seconds


@contextlib.contextmanager
def aside() -> Iterator[None]:
    """What happens here does not count; of several within each other, the outermost sees to it. For one thread at a time."""
    if _Aside.since is not None:
        yield
        return
    _Aside.since = time.process_time()
    try:
        yield
    finally:
        _Aside.seconds += time.process_time() - _Aside.since
        _Aside.since = None
