"""Settings that every test shares."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import hypothesis
import pytest
from typer import testing

from tests.stage import browser as browsers

os.environ["MPLBACKEND"] = "Agg"  # no window, no display

# Before numpy is imported. Matrices here are small, and threads of a BLAS that wait for each other keep the processors of other
# workers busy: derivatives of the continuous model took 16 s of processor time instead of 5.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as where a script runs them in the background: some press Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Three thousand tests, and numba at work, leave many objects that stay: to look through them as often as usual took a fifth of the
# time of collecting tests and a fifteenth of compiling.
gc.set_threshold(100_000, 20, 50)

# Typer makes its parser anew, from signatures, whenever a test runs a command: that took longer than most of these commands.
testing._get_command = cache(testing._get_command)


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how many examples property tests try, unless one says so itself: more where slow tests are run, too.

    The first call of a kernel compiles it, so time says nothing about an example. Where others must be able to repeat a failure,
    the examples are always the same.
    """
    few = "not slow" in config.option.markexpr
    settings = hypothesis.settings(deadline=None, max_examples=40 if few else 100)
    hypothesis.settings.register_profile("here", settings)
    hypothesis.settings.register_profile("ci", settings, derandomize=True, print_blob=True)
    hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browsers.Browser]:
    """One for all tests of a process: to start it takes a second or two."""
    if reason := browsers.missing():
        pytest.skip(reason)
    started = browsers.Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def browser(chromium: browsers.Browser) -> Iterator[browsers.Browser]:
    """A browser as if just started. Afterwards it leaves its page, which would keep the processor busy."""
    chromium.renew()
    yield chromium
    chromium.leave()


@pytest.fixture(scope="session")
def pinocchio() -> ModuleType:
    """An independent answer. Skips where it cannot be imported, and says why."""
    return pytest.importorskip("pinocchio", exc_type=ImportError)  # type: ignore[no-any-return]
