"""What is said while kernels compile is true, and is said to whoever listens."""

from __future__ import annotations

import pytest

from bunraku.kernels import announce, parts
from bunraku.kernels.apart import Job
from bunraku.progress import Progress


def test_a_listener_hears_what_is_compiled_and_that_it_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "_counted", lambda: {"bunraku.toys.half": 4})
    monkeypatch.setattr(announce._Told, "said", False)
    heard: list[Progress] = []
    stop = announce.hear_compiling(heard.append)
    job = Job("bunraku.toys", "half", b"")
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
    assert "left" not in heard[0].text
    assert "left" in heard[1].text
    assert capsys.readouterr().err.count("compiling") == 1
