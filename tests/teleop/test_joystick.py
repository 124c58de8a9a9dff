"""SDL's virtual joystick in place of one of plastic."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.stage import Sticks
from bunraku.teleop.devices import PAPER, Pilot
from bunraku.teleop.guided import GuidedLive
from bunraku.verbs.guide import joysticks

pytest.importorskip("sdl2", exc_type=ImportError)

from bunraku.teleop.joystick import RIGHT, UP, Joystick, VirtualJoystick, commanded


@pytest.fixture
def plastic() -> Iterator[VirtualJoystick]:
    stick = VirtualJoystick()
    yield stick
    stick.unplug()


def test_it_is_read_without_a_window(plastic: VirtualJoystick) -> None:
    with Joystick(plastic.number) as stick:
        plastic.set(axes={0: 0.5, 1: -1.0}, buttons={2: True}, hat=UP | RIGHT)
        reading = stick.poll()
        assert reading is not None
        assert reading.axes[:2] == pytest.approx((0.5, -1.0), abs=1e-4)
        assert reading.buttons[2]
        assert reading.hats == ((1, 1),)


def test_it_walks_the_humanoid_until_it_is_unplugged() -> None:
    plastic = VirtualJoystick()
    session, pilot = Session(Performer(Guide(small_humanoid()))), Pilot(PAPER)
    with Joystick(plastic.number) as stick:
        plastic.set(axes={3: 1.0, 4: 1.0}, hat=UP)  # throttles at rest, sub stick forward
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
        plastic.set(axes={3: 1.0, 4: 1.0}, hat=UP)
        live = GuidedLive(Guide(small_humanoid()), joystick=stick)
        start, end = live.reset().q[0][0], [live.step() for _ in range(500)][-1].q[0][0]
        assert end - start > 0.05
        plastic.set(hat=0)
        live.apply(Sticks((0.0, -1.0, 0.0, 0.0, 0.0, 0.0)))  # where the stick is let go, the page drives
        assert [live.step() for _ in range(500)][-1].q[0][0] < end - 0.03


def test_they_are_listed(plastic: VirtualJoystick) -> None:
    listed = dict(joysticks())
    assert len(listed) > plastic.number
    assert f"joystick {plastic.number}" in listed


def test_none_there() -> None:
    with pytest.raises(BunrakuError, match="no joystick"):
        Joystick(99)
