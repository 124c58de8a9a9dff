"""Brisk walking: steps follow each other without rest, and after each the robot can stop."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.locomotion.guide import com_zmp
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.plan_requests import PlanBeside
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.sway import SwayOptions, sway_of
from bunraku.scene import Scene
from tests.locomotion.guide.sound import assert_sound

WALK, BACK = Command("trunk", (1.0, 0.0, 0.0)), Command("trunk", (-1.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(guide_of(small_humanoid(), Scene("floor"), brisk=True))


def walked(performer: Performer, *parts: tuple[Command, int]) -> Session:
    session = Session(performer, prompt=True)
    for command, ticks in parts:
        session.command = command
        for _ in range(ticks):
            session.tick()
    return session


def test_it_walks_twice_as_fast_and_keeps_all_limits(performer: Performer) -> None:
    brisk = walked(performer, (WALK, 1000), (Command(), 400))
    slow = walked(Performer(guide_of(small_humanoid(), Scene("floor"))), (WALK, 1000))
    own = performer.guide.humanoid.figure
    ahead = [pose(own, session.motion().q[1000]).com[0] for session in (brisk, slow)]
    assert ahead[0] > 1.7 * ahead[1]
    assert_sound(brisk)
    ends = [done.move.segment.end.v for done in brisk.performances if done.stop is not None]
    assert len(ends) > 4
    assert min(v[0] for v in ends[1:]) > 0.1, "it does not rest between steps"
    assert np.abs(np.diff(brisk.motion().q[-20:], axis=0)).max() < 3e-4, "it has come to rest"


def test_moves_join_and_every_stop_ends_at_rest(performer: Performer) -> None:
    session = walked(performer, (WALK, 500), (BACK, 300), (Command("trunk", (0.7, 0.3, 0.0), (0.0, 0.0, 0.5)), 600))
    for a, b in pairwise(session.performances):
        x, y = a.move.segment.samples[a.n], b.move.segment.samples[0]
        assert np.abs(x[:6] - y[:6]).max() < 1e-9, "centre of mass and its velocity"
    assert_sound(session)
    stops = [done.stop for done in session.performances if done.stop is not None]
    assert stops
    for stop in stops:
        assert max(stop.move.segment.miss) <= 2.0 * performer.guide.planner.near
        assert stop.margin > 0.0


@pytest.mark.parametrize("told", [0, 2])
def test_a_plan_that_never_comes_plays_the_stop(performer: Performer, told: int) -> None:
    """Whether at the first step or in full motion, the robot ends at rest; the plan that was too late is not used."""
    planning = PlanBeside(performer)
    session = Session(performer, prompt=True, planning=planning)
    session.command = WALK
    session.tick()
    while told:
        planning.tell(planning.count)
        told -= session.tick().k == 1
    first = session.now[0]
    assert first.stop is not None
    assert np.array_equal(first.to_rest[first.move.n :], first.stop.q)
    for _ in range(first.move.n + first.stop.move.n - 1):
        session.tick()
    assert session.now == (first.stop, first.stop.move.n)
    assert_sound(session)
    assert np.abs(np.diff(session.motion().q[-10:], axis=0)).max() < 3e-4
    planning.tell(planning.count)
    session.tick()
    assert session.times.late == 1


def test_steps_repeat_themselves() -> None:
    """The pendulum, integrated by its closed form, passes above the next middle with the mirrored velocity, and above the one after
    that with the first one."""
    omega, first, swing, last = 4.1, 0.09, 0.4, 0.09
    stance, by = np.array([0.06, -0.11]), np.array([0.2, 0.02])
    ticks = np.cumsum([0, 90, 400, 90])
    x, v = np.zeros(2), np.zeros(2)
    com_zmp.gait_speeds(omega, first, swing, last, stance, by, v)
    begun = v.copy()
    for _ in range(2):
        knots = np.array([[0.0, 0.0, 1.0], [*stance, 1.0], [*stance, 1.0], [*by, 1.0]])
        out = np.empty((ticks[-1] + 1, 11))
        com_zmp.samples(omega, 0.001, ticks, knots, np.zeros(3), np.array([*x, 1.0]), np.array([*v, 0.0]), out)
        assert np.allclose(out[-1, :2], by, atol=1e-9)
        x, v, stance = np.zeros(2), out[-1, 3:5].copy(), by - stance
    assert np.allclose(v, begun, atol=1e-8)


def test_sway_is_as_large_as_weak_legs_need() -> None:
    own = small_humanoid()
    assert sway_of(own) == 0.0, "strong enough"
    sways = [sway_of(own, SwayOptions(strength=share)) for share in (0.4, 0.35, 0.3)]
    assert sways == sorted(sways)
    assert 0.0 < sways[-1] <= SwayOptions().most
    assert math.isclose(sway_of(own, SwayOptions(strength=1e-3)), SwayOptions().most)
