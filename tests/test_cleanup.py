"""What is put away when the program ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os
from bunraku import cleanup

def fail():
    raise OSError("this one fails")

cleanup.at_end(lambda: print("first", flush=True))
cleanup.at_end(lambda: print("withdrawn", flush=True))()
folder = cleanup.TemporaryFolder()
print(folder.name, flush=True)
cleanup.at_end(fail)
cleanup.at_end(lambda: print("last", flush=True))
{end}
"""


def said(end: str) -> list[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end)], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.split()


def test_the_last_comes_first_and_one_that_fails_does_no_harm() -> None:
    folder, *words = said("")
    assert words == ["last", "first"]
    assert not Path(folder).exists()


def test_by_hand_and_once() -> None:
    folder, *words = said("cleanup.clean_up(); cleanup.clean_up(); os._exit(0)")
    assert words == ["last", "first"]
    assert not Path(folder).exists()
