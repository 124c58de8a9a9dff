"""Copies of a process that has imported everything: fresh, on their own, and ended with it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from bunraku.errors import BunrakuError
from bunraku.stage import template
from bunraku.stage.template import Template
from tests.patience import until

seen: list[bytes] = []


def echo(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Answers what it is told, after what this process was told before; exits with a status, or waits, if it is told so."""
    print("what a library prints must not mix with the answer")
    told = orders.read()
    seen.append(told)
    answers.write(b" ".join(seen) + b" %d" % os.getpid())
    answers.flush()
    if told == b"wait":
        signal.pause()
    if told == b"die":
        os.kill(os.getpid(), signal.SIGXCPU)
    if told == b"fail":
        raise ValueError(told)


def said(copy: template.Copy, told: bytes) -> tuple[bytes, int]:
    copy.stdin.write(told)
    copy.stdin.close()
    word, number = copy.stdout.read1(1000).rsplit(b" ", 1)  # type: ignore[attr-defined]
    return word, int(number)


FORKS = pytest.mark.skipif(sys.platform != "linux", reason="copies are forks on Linux only")


@pytest.fixture
def made() -> Iterator[Template]:
    out = Template("tests.stage.test_template:echo", [])
    yield out
    out.close()


@pytest.mark.parametrize("forks", [pytest.param(True, marks=FORKS), False])
def test_each_copy_is_fresh(made: Template, forks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "FORKS", forks)
    copies = [made.start() for _ in range(3)]
    answers = [said(copy, b"%d" % k) for k, copy in enumerate(copies)]
    assert [word for word, _ in answers] == [b"0", b"1", b"2"]
    assert len({number for _, number in answers} | {os.getpid()}) == 4
    for copy in copies:
        copy.close()
        assert copy.stdin.closed
        assert copy.stdout.closed


@FORKS
def test_how_a_copy_ended(made: Template) -> None:
    for told, status in ((b"die", -signal.SIGXCPU), (b"fail", 1), (b"well", 0)):
        copy = made.start()
        said(copy, told)
        assert copy.stdout.read() == b""  # it has ended
        assert copy.end() == status
        assert copy.end() == status
        copy.close()
    copy = made.start()
    said(copy, b"wait")
    assert copy.end() == -signal.SIGKILL
    copy.close()


@FORKS
def test_copies_end_with_the_template(made: Template) -> None:
    copy = made.start()
    _, number = said(copy, b"wait")
    assert not _gone(number)
    made.close()
    until(lambda: _gone(number))
    copy.close()


@FORKS
def test_a_template_that_was_killed_is_started_again(made: Template) -> None:
    made.prepare()
    assert made._process is not None
    made._process.kill()
    made._process.wait()
    copy = made.start()
    assert said(copy, b"again")[0] == b"again"
    copy.close()


@FORKS
def test_what_cannot_be_imported_is_an_error() -> None:
    broken = Template("tests.stage.test_template:echo", ["tests.no_such_module"])
    with pytest.raises(BunrakuError, match="ended with status 1"):
        broken.start()
    broken.close()


def _gone(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().split()[2] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
