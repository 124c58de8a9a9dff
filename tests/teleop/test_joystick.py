"""SDL's virtual joystick in place of one of plastic."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.stage import Sample, Sticks
from bunraku.stage.input_log import read_log, replay
from bunraku.stage.live_run import LiveRun
from bunraku.teleop.devices import PAPER_JOYSTICK, Pilot
from bunraku.teleop.guided_figure import GuidedLive
from bunraku.verbs.guide.run import joysticks

pytest.importorskip("sdl2", exc_type=ImportError)

from bunraku.teleop.joystick import HatBit, Joystick
from tests.teleop.virtual_joystick import VirtualJoystick, commanded


@pytest.fixture
def plastic() -> Iterator[VirtualJoystick]:
    stick = VirtualJoystick()
    yield stick
    stick.unplug()


def test_it_is_read_without_a_window(plastic: VirtualJoystick) -> None:
    with Joystick(plastic.number) as stick:
        plastic.set(axes={0: 0.5, 1: -1.0}, buttons={2: True}, hat=HatBit.UP | HatBit.RIGHT)
        reading = stick.poll()
        assert reading is not None
        assert reading.axes[:2] == pytest.approx((0.5, -1.0), abs=1e-4)
        assert reading.buttons[2]
        assert reading.hats == ((1, 1),)


def test_it_walks_the_humanoid_until_it_is_unplugged() -> None:
    plastic = VirtualJoystick()
    session, pilot = Session(Performer(Guide(small_humanoid()))), Pilot(PAPER_JOYSTICK)
    with Joystick(plastic.number) as stick:
        plastic.set(axes={3: 1.0, 4: 1.0}, hat=HatBit.UP)  # throttles at rest, sub stick forward
        for _ in range(4):
            command, message = commanded(stick, pilot)
            assert message == ""
            session.obey(command)
        walked = session.points.com.p[0]
        assert walked > 0.1
        plastic.unplug()
        command, message = commanded(stick, pilot)
        assert "gone" in message
        session.obey(command)
        session.obey(command)
        assert command.idle
        assert abs(session.points.com.p[0] - walked) < 0.02
        assert session.points.aloft == -1


def test_it_guides_what_is_on_the_stage(plastic: VirtualJoystick) -> None:
    with Joystick(plastic.number) as stick:
        plastic.set(axes={3: 1.0, 4: 1.0}, hat=HatBit.UP)
        live = GuidedLive(Guide(small_humanoid()), joystick=stick)
        start, end = live.reset().q[0][0], stepped(live, 500).q[0][0]
        assert end - start > 0.05
        plastic.set(hat=0)
        live.apply(Sticks((0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))  # where the stick is let go, the page drives
        assert stepped(live, 500).q[0][0] < end - 0.03


def stepped(live: GuidedLive, steps: int) -> Sample:
    """As the stage does it: what the joystick says is applied before a step."""
    for _ in range(steps):
        for said in live.heard():
            live.apply(said)
        sample = live.step()
    return sample


def test_what_it_does_is_in_the_log_and_replays_to_the_last_bit() -> None:
    """Stick, mouse and sticks of the page mixed, the joystick unplugged at last; replayed where there is none."""
    plastic = VirtualJoystick()
    takes: list[list[Sample]] = []
    with Joystick(plastic.number) as stick:
        plastic.set(axes={3: 1.0, 4: 1.0}, hat=HatBit.UP)
        run = LiveRun(GuidedLive(Guide(small_humanoid()), joystick=stick), fps=200.0)
        run.record(takes.append)
        run.start()

        def wait(steps: int) -> None:
            while not run.over and run._step < steps:
                time.sleep(0.01)

        wait(150)
        plastic.set(axes={2: 0.503}, hat=HatBit.UP | HatBit.RIGHT)
        wait(300)
        plastic.set(axes={2: 0.0}, hat=0)
        run.push(Sticks((0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
        wait(450)
        plastic.unplug()
        wait(600)
        run.stop()
    log = run.log.to_json()
    assert '"hats": [[1, 1]]' in log
    assert '"axes": [], ' in log, "that it is gone is in the log too"
    assert any("unplugged" in notice for sample in takes[0] for notice in sample.notices)
    alone = GuidedLive(Guide(small_humanoid()))
    again = replay(read_log(log, alone), alone, len(takes[0]))
    assert all(np.array_equal(a.q[k], b.q[k]) for a, b in zip(takes[0], again, strict=True) for k in (0, 1))
    assert np.ptp([sample.q[0][0] for sample in again]) > 0.03


def test_they_are_listed(plastic: VirtualJoystick) -> None:
    listed = dict(joysticks())
    assert len(listed) > plastic.number
    assert f"joystick {plastic.number}" in listed


def test_none_there() -> None:
    with pytest.raises(BunrakuError, match="no joystick"):
        Joystick(99)
