"""What is said while kernels compile is true, and is said to whoever listens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.kernels import announce, apart, folders
from bunraku.kernels.apart import Job
from bunraku.kernels.compile import inline, kernel
from bunraku.kernels.parts import expected
from bunraku.progress import Progress


def test_a_listener_hears_what_is_compiled_and_that_it_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(announce._Told, "said", False)
    heard: list[Progress] = []
    stop = announce.hear_compiling(heard.append)
    job = Job("bunraku.toys", "half", b"", expected=4)
    with announce.compiling(job):
        announce.tick(job)
        job.parts = 2
        announce.tick(job)
        job.parts = 9  # more than anybody counted
        announce.tick(job)
    stop()
    with announce.compiling(job):
        announce.tick(job)
    assert [one.stage for one in heard] == ["compile"] * 4
    assert [one.done for one in heard] == [0.0, 0.375, 0.75, 1.0]
    assert all("half" in one.text for one in heard[:3])
    assert "more for these" not in heard[0].text
    assert "more for these" in heard[1].text
    assert capsys.readouterr().err.count("compiling") == 1


@inline
def one(x: float) -> float:
    return x + 1.0


@inline
def two(x: float) -> float:
    return one(one(x))


@kernel
def four(x: float) -> float:
    return two(two(x))


def test_the_functions_that_are_still_to_be_compiled_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel and all that it calls, each once, but for those in the cache."""
    monkeypatch.setattr(folders._Given, "root", tmp_path)
    assert [expected(function) for function in (one, two, four)] == [1, 2, 3]
    assert four(0.0) == 4.0
    assert expected(four) == 0


def test_after_ctrl_c_nobody_waits_for_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that is on disk is still loaded."""
    monkeypatch.setattr(folders._Given, "root", tmp_path)
    monkeypatch.setattr(apart._Here, "interrupted", False)
    assert five(0.0) == 5.0
    apart.stop_waiting()
    assert five(1.0) == 6.0
    with pytest.raises(KeyboardInterrupt):
        five(np.zeros(1))


@kernel
def five(x: float) -> float:
    return x + 5.0
