"""Devices: readings become commands, whatever the device does."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, trusted
from bunraku.teleop.devices import PAPER_JOYSTICK, STAGE_STICKS, Axis, Hat, Pilot, Reading


def test_the_papers_joystick() -> None:
    """Sub stick: horizontal; momentary switch: vertical; main stick: attitude; throttles: feet; toggle: the guided point."""
    pilot = Pilot(PAPER_JOYSTICK)
    command = pilot.command(Reading((0.3, -0.4, 0.5, 1.0, -1.0), (False, False, True, False), ((1, 1),)))
    assert command.guided == "trunk"
    assert command.move == (1.0, -1.0, 1.0)
    assert command.turn == (0.3, 0.4, -0.5)
    assert command.lift == (0.0, 1.0)


def test_a_throttle_that_was_not_moved_lifts_no_foot() -> None:
    """It is reported as 0, its middle, wherever it stands; once it moves, 0 is its middle."""
    pilot = Pilot(PAPER_JOYSTICK)
    assert pilot.command(Reading((0.0,) * 5)).lift == (0.0, 0.0)
    assert pilot.command(Reading((0.0, 0.0, 0.0, -0.5, 0.0))).lift == (0.75, 0.0)
    assert pilot.command(Reading((0.0,) * 5)).lift == (0.5, 0.0)


def test_a_push_of_the_switch_goes_on_once() -> None:
    pilot = Pilot(PAPER_JOYSTICK)
    down, up = Reading(buttons=(True, False)), Reading(buttons=(False, False))
    seen = [pilot.command(reading).guided for reading in (down, down, up, down, up)]
    assert seen == ["left_hand", "left_hand", "left_hand", "right_hand", "right_hand"]
    back = Pilot(PAPER_JOYSTICK)
    assert back.command(Reading(buttons=(False, True))).guided == "right_foot"


def test_remapped() -> None:
    pilot = Pilot({"forward": (Axis(7, -1.0),), "left": (Hat(0, 1),)})
    command = pilot.command(Reading((0.0,) * 7 + (-0.5,), (), ((0, -1),)))
    assert command.move == (0.5, -1.0, 0.0)
    with pytest.raises(BunrakuError, match="forward"):
        Pilot({"forwards": (Axis(0),)})


def test_up_lifts_the_guided_foot_where_there_is_no_throttle() -> None:
    pilot = Pilot(STAGE_STICKS, guided="left_foot", up_lifts=True)
    command = pilot.command(Reading((0.0, 0.0, 0.0, 0.7, 0.0, 0.0)))
    assert command.lift == (0.7, 0.0)
    assert command.move[2] == 0.0


@given(
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=9).map(tuple),
    st.lists(st.booleans(), max_size=20).map(tuple),
)
def test_anything_may_be_read(axes: tuple[float, ...], buttons: tuple[bool, ...]) -> None:
    for mapping in (PAPER_JOYSTICK, STAGE_STICKS):
        command, why = trusted(Pilot(mapping).command(Reading(axes, buttons)))
        assert command.guided in GUIDED_POINTS
        assert all(math.isfinite(x) and abs(x) <= 1.0 for x in (*command.move, *command.turn, *command.lift))
        if any(not math.isfinite(x) for x in axes[:3]):
            assert why or command.idle or any(math.isinf(x) for x in axes)


def test_keys_and_triggers_turn_a_hand() -> None:
    pilot = Pilot(STAGE_STICKS, guided="left_hand", up_lifts=True)
    keys = pilot.command(Reading((0.0, 0.0, 1.0, 0.0, 0.0, 0.5, -1.0)))
    assert keys.turn == (-1.0, 0.5, -1.0)
    assert not keys.idle
    triggers = pilot.command(Reading((0.0,) * 6, (False,) * 7 + (True,)))
    assert triggers.turn == (1.0, 0.0, 0.0)
