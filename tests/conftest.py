"""Settings that every test shares."""

from __future__ import annotations

import gc
import os
import signal
from types import ModuleType

import hypothesis
import pytest

os.environ["MPLBACKEND"] = "Agg"  # no window, no display

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as where a script runs them in the background: some press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Three thousand tests, and numba at work, leave many objects that stay: to look through them as often as usual took a fifth of the
# time of collecting tests and a fifteenth of compiling.
gc.set_threshold(100_000, 20, 50)

# The first call of a kernel compiles it, so time says nothing about an example. Where others must be able to
# repeat a failure, the examples are always the same.
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def pinocchio() -> ModuleType:
    """An independent answer. Skips where it cannot be imported, and says why."""
    return pytest.importorskip("pinocchio", exc_type=ImportError)  # type: ignore[no-any-return]
