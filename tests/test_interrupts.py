"""Ctrl-C at random moments: the command ends with 130, and leaves nothing behind. A failure names the moment."""

from __future__ import annotations

import random
import signal
import subprocess
import sys

import pytest

from bunraku.kernels.folders import user_cache
from tests.interrupts import COMMANDS, Command, Ending, many
from tests.patience import PATIENCE
from tests.slow_cases import cases

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc")


def soon(longest: float) -> float:
    return random.uniform(0.0, longest)


def right(ending: Ending) -> None:
    assert not ending.wrong, f"{ending}\n{ending.said}"


@pytest.mark.parametrize("name", ["simulate", "play"])
def test_while_kernels_compile(name: str) -> None:
    with Command(name) as command:
        right(command.interrupted(soon(8.0), group=True))


# Of two commands that begin in the same way, the one with more processes is the fast test.
@pytest.mark.parametrize("name", cases((name for name in COMMANDS if name != "play"), slow=("optimize", "plan", "carry", "guide")))
def test_warm(name: str) -> None:
    with Command(name, user_cache().parent) as command:
        right(command.interrupted(soon(4.0), group=random.random() < 0.5))


@pytest.mark.parametrize(("name", "by"), [("film", "SIGTERM"), ("play", "SIGTERM"), ("film", "SIGHUP")])
def test_terminated(name: str, by: str) -> None:
    with Command(name, user_cache().parent) as command:
        right(command.interrupted(soon(4.0), by=signal.Signals[by]))


@pytest.mark.slow
def test_often() -> None:
    for ending in many(22, None, dict.fromkeys(COMMANDS, 40.0), seed=random.randrange(10**6)):
        right(ending)


IN_A_DESTRUCTOR = """
import _thread, os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import command

start = _thread.start_new_thread
def stalled(*args):
    start(*args)
    if {stalled}:
        _thread.start_new_thread = start
        time.sleep(0.2)
_thread.start_new_thread = stalled

class Thing:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

def app():
    Thing()
    time.sleep(600)

command.app = app
command.main()
"""


@pytest.mark.parametrize("stalled", [False, True])
def test_in_a_destructor(stalled: bool) -> None:
    """Python drops exceptions there; the interrupt must not be lost, even if the machine stalls while it is sent again."""
    program = IN_A_DESTRUCTOR.format(stalled=stalled)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


SWALLOWED = """
import ctypes, os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import command

class Thing:
    @property
    def part(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))

has = ctypes.pythonapi.PyObject_HasAttrString
has.argtypes = (ctypes.py_object, ctypes.c_char_p)

def app():
    assert not has(Thing(), b"part")  # an exception means that it has none
    time.sleep(600)

command.app = app
command.main()
"""


def test_where_compiled_code_drops_exceptions() -> None:
    done = subprocess.run([sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


CAUGHT = """
import os, signal, time
__name__ = "bunraku.search"
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import command

def search():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))
    except KeyboardInterrupt:
        return "best so far"

def app():
    found = search()
    time.sleep(0.3)
    print(found)
    raise SystemExit(130)

command.app = app
command.main()
"""


def test_one_that_was_caught_does_not_come_again() -> None:
    """Who has caught it writes the best so far, undisturbed."""
    done = subprocess.run([sys.executable, "-c", CAUGHT], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "best so far\n", "")


IN_A_CONSTRUCTOR = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import command

class Thing:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))
        self.held = 1

    def __del__(self):
        del self.held

command.app = Thing
command.main()
"""


def test_in_a_constructor() -> None:
    """The destructor of half an object fails, and nobody wants to hear of it."""
    done = subprocess.run([sys.executable, "-c", IN_A_CONSTRUCTOR], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


WHILE_IMPORTING = """
import os, signal, sys, types
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import command

def app():
    sys.modules["bunraku.kernels.apart"] = types.ModuleType("bunraku.kernels.apart")  # nothing of it has been defined yet
    try:
        os.kill(os.getpid(), signal.SIGINT)
        sum(range(1000))
    except KeyboardInterrupt:
        if {replaced}:
            raise ImportError("numba._devicearray failed to import")  # as some compiled modules do
        raise

command.app = app
command.main()
"""


@pytest.mark.parametrize("replaced", [False, True])
def test_while_modules_are_imported(replaced: bool) -> None:
    program = WHILE_IMPORTING.format(replaced=replaced)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
