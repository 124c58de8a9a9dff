"""Rate and remaining time."""

from __future__ import annotations

import pytest

from bunraku.sweeps.run_rate import Pace, duration


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_steady_runs() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    assert pace.rate == 0.0
    assert pace.left(10) == "unknown"
    clock.now += 60.0  # the start of the workers
    for k in range(1, 101):
        pace.note(k)
        clock.now += 0.5
    assert pace.rate == pytest.approx(2.0, rel=0.05)
    assert pace.left(120) == "1 min 1 s"


def test_the_rate_follows_a_change() -> None:
    clock = Clock()
    pace = Pace(window=10.0, runs=5, clock=clock)
    for k in range(100):
        pace.note(k)
        clock.now += 0.1
    for k in range(100, 130):
        pace.note(k)
        clock.now += 2.0
    assert pace.rate == pytest.approx(0.5, rel=0.25)


def test_durations() -> None:
    told = {
        0.2: "0 s",
        59.4: "59 s",
        60: "1 min 0 s",
        3599: "59 min 59 s",
        3600: "1 h 0 min",
        90_000: "25 h 0 min",
        400_000: "4.6 days",
    }
    assert {seconds: duration(seconds) for seconds in told} == told
