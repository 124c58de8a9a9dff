from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.stage import Pull, Release, Reset, Sample, Sticks, Winch, live_run
from bunraku.stage.input_log import InputLog, read_log, replay
from bunraku.stage.live_run import LiveRun
from tests.patience import until
from tests.stage.toys import Failing, Swinging

STICKS = {"type": "sticks", "axes": [0.0, 0.0]}
PULL = Pull(0, "spindle", "left", (-0.35, 0.2, 1.8))


class Clock(threading.Event):
    """In place of the clock and of the event that stops a run: time passes only where the run waits, or where a step takes some."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.now, self.ticks = 0.0, 0
        monkeypatch.setattr(live_run, "time", self)

    def perf_counter(self) -> float:
        return self.now

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.now += timeout
        self.ticks -= 1
        if self.ticks == 0:
            self.set()
        return self.is_set()

    def run(self, run: LiveRun, ticks: int) -> None:
        """So many ticks of a run whose thread was not started."""
        run._stop, self.ticks = self, ticks
        self.clear()
        run._loop()


class Heard:
    def __init__(self) -> None:
        self.events: list[tuple[str, str]] = []
        self.taken: list[list[Sample]] = []

    def event(self, kind: str, text: str) -> None:
        self.events.append((kind, text))

    def notices(self) -> list[str]:
        return [text for kind, text in self.events if kind == "notice"]


def test_it_runs_in_real_time_and_publishes_at_its_own_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, frames = Clock(monkeypatch), list[float]()
    run = LiveRun(Swinging(), fps=50.0, on_sample=lambda: frames.append(clock.now))
    frames.clear()  # the start, before anything runs
    clock.run(run, 50)
    np.testing.assert_allclose(frames, np.arange(50) / 50.0)
    assert run._step == 100  # a second, in steps of 10 ms
    assert run.state().real_time == 1.0


def test_lost_time_is_not_made_up_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    class Slow(Swinging):
        def step(self) -> Sample:
            clock.now += 0.02  # twice what it simulates
            return super().step()

    run = LiveRun(Slow(), fps=50.0)
    clock.run(run, 50)
    assert run._step == 100
    assert clock.now == pytest.approx(2.0)
    assert run.state().real_time < 0.6


def test_a_command_acts_in_the_next_frame() -> None:
    live = Swinging()
    run = LiveRun(live)
    run.push(PULL)
    run._advance(1)
    k = live.figures[0].index("left_x")
    assert run.latest is not None
    assert np.frombuffer(run.latest.data, "<f4", 1, 16 + 4 * k) == np.float32(-0.35)


def test_of_many_drags_the_newest_wins_and_the_queue_stays_short() -> None:
    run = LiveRun(Swinging())
    for k in range(10_000):
        run.push(Pull(0, "spindle", "left", (k * 1e-5, 0.0, 0.0)))
        run.push(Sticks((k * 1e-5, 0.0)))
    assert len(run._queue) <= 1000
    run = LiveRun(Swinging())
    for k in range(100):
        run.push(Pull(0, "spindle", "left", (k * 1e-3, 0.0, 0.0)))
    assert [c.to[0] for c in run._queue if isinstance(c, Pull)] == [0.099]


def test_pausing_stepping_and_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, run = Clock(monkeypatch), LiveRun(Swinging(), fps=50.0)
    clock.run(run, 5)
    assert run._step == 10
    run.pause(True)
    clock.run(run, 5)
    assert run.state().paused
    assert run._step == 10
    run.single_step()
    clock.run(run, 5)
    assert run._step == 11
    run.pause(False)
    run.speed(1000.0)
    clock.run(run, 10)
    assert run.state().rate == 4.0
    assert run._step == 11 + 80
    run.speed(0.0001)
    clock.run(run, 10)
    assert run.state().rate == 0.1
    assert run._step == 11 + 80 + 2


@pytest.mark.parametrize("problem", [None, ZeroDivisionError("inside")])
def test_a_failing_figure_says_so_and_takes_nobody_with_it(problem: Exception | None) -> None:
    heard = Heard()
    live = Failing(problem)
    run = LiveRun(live, on_event=heard.event)
    run.start()
    run.push(PULL)
    until(heard.notices)
    if problem is None:  # no longer finite: back to the start, and on
        until(lambda: run._step > 3)
        assert "no longer finite" in heard.notices()[0]
    else:
        assert "ZeroDivisionError" in heard.notices()[0]
    run.stop()
    assert run.latest is not None
    assert np.isfinite(np.frombuffer(run.latest.data, "<f4", live.figures[0].n_q, 16)).all()


def test_a_pull_beyond_reach_stays_at_its_limit_and_says_so() -> None:
    heard = Heard()
    run = LiveRun(Swinging(), on_event=heard.event)
    run.push(Pull(0, "spindle", "left", (-50.0, 0.0, 9000.0)))
    for _ in range(5):
        run._advance(1)
    assert heard.notices() == ["string left cannot go farther"]
    assert run.latest is not None
    assert list(run.latest.data[-2:]) == [1, 0]


def test_who_leaves_lets_go() -> None:
    live = Swinging()
    run = LiveRun(live)
    run.push(PULL)
    run.push(Sticks((1.0, 0.0)))
    run._advance(1)
    assert live._held
    run.let_go()
    run._grant_wishes()
    run._advance(1)
    assert not live._held
    assert live._sticks == (0.0, 0.0)


# -- takes and logs ----------------------------------------------------------------------------------------------


def driven(run: LiveRun) -> None:
    """Some driving, with commands at odd steps."""
    for k in range(60):
        if k == 7:
            run.push(PULL)
        if k == 20:
            run.push(Winch(0, "right", -0.05))
            run.push(Sticks((0.3, -0.7), (True, False)))
        if k == 41:
            run.push(Release(0, "spindle", "left"))
        run._advance(1)


def test_a_log_replays_to_the_last_bit() -> None:
    run, takes = LiveRun(Swinging()), []
    run.record(takes.append)
    run._grant_wishes()
    driven(run)
    text = run.log.to_json()
    run.stop_recording()
    run._grant_wishes()
    (take,) = takes
    again = replay(read_log(text, Swinging()), Swinging(), len(take))
    for a, b in zip(take, again, strict=True):
        assert a.t == b.t
        assert a.q[0].tobytes() == b.q[0].tobytes()
        assert a.tension[0].tobytes() == b.tension[0].tobytes()
        assert a.series == b.series


def test_a_replay_in_the_run_gives_the_same_frames_and_the_same_log() -> None:
    run = LiveRun(Swinging())
    frames: list[bytes] = []
    run._on_sample = lambda: frames.append(run.latest.data[8:])  # type: ignore[union-attr]
    driven(run)
    first, text = frames[:], run.log.to_json()
    frames.clear()
    run.replay(run.log)
    run._grant_wishes()
    assert run.state().replaying
    for _ in range(60):
        if run.state().replaying:
            run.push(PULL)  # nobody drives during a replay
        run._advance(1)
    assert frames[1:] == first  # the first is the reset
    assert run.log.to_json() == text


def test_what_is_asked_in_order_is_done_in_order() -> None:
    run, takes = LiveRun(Swinging()), []
    run._advance(3)
    run.push(PULL)
    run.push(Reset())
    run.record(takes.append)
    run._grant_wishes()
    run._advance(2)
    run.stop_recording()
    run._grant_wishes()
    assert [round(s.t, 9) for s in takes[0]] == [0.01, 0.02]
    assert run.log.commands == []


def test_a_take_ends_at_a_reset() -> None:
    run, takes = LiveRun(Swinging()), []
    run.record(takes.append)
    run._grant_wishes()
    run._advance(5)
    run._reset()
    run._advance(5)
    (take,) = takes
    assert [round(s.t, 9) for s in take] == [0.01, 0.02, 0.03, 0.04, 0.05]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not an input log"), ("[1]", "not an input log"), ('{"figures": ["puppet"], "dt": 0.01}', "not an input log"),
        ('{"figures": ["other"], "dt": 0.01, "commands": []}', "drives"),
        ('{"figures": ["puppet"], "dt": 0.02, "commands": []}', "steps of 0.02"),
        ('{"figures": ["puppet"], "dt": 0.01, "commands": [[0, {"type": "fly"}]]}', "no command is called"),
        ('{"figures": ["puppet"], "dt": 0.01, "commands": [[-1, {"type": "sticks", "axes": []}]]}', "not an input log"),
        ('{"figures": ["puppet"], "dt": 0.01, "commands": [[0, {"type": "reset"}]]}', "not an input log"),
        (json.dumps({"figures": ["puppet"], "dt": 0.01, "commands": [[2, STICKS], [1, STICKS]]}), "out of order"),
    ],
)  # fmt: skip
def test_a_bad_log_is_refused(text: str, says: str) -> None:
    with pytest.raises(FileError, match=says):
        read_log(text, Swinging())


def test_a_log_is_readable_line_by_line() -> None:
    log = InputLog(Swinging(), [(0, PULL), (3, Release(0, "spindle", "left"))])
    assert len(log.to_json().splitlines()) == 4
    assert read_log(log.to_json(), Swinging()).commands == log.commands


def test_the_thread_ends() -> None:
    runs = [LiveRun(Swinging()) for _ in range(5)]
    for run in runs:
        run.start()
    for run in runs:
        run.stop()
    until(lambda: all(run._thread is not None and not run._thread.is_alive() for run in runs))
