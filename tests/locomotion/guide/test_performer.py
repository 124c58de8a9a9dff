"""Whole bodies: what is planned for a point mass is kept by all the bodies."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.kinematics.balance import zero_moment_point
from bunraku.locomotion.guide.command import Command
from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import DT
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands

WALK = [Command("trunk", (1.0, 0.0, 0.0))] * 5 + [Command("trunk", turn=(0.0, 0.0, 1.0))] * 3
REACH = [Command("left_hand", (0.6, 0.2, 0.6))] * 3
FEET = [
    Command("right_foot", (0.5, -0.3, 0.0), lift=(0.0, 0.8)),
    Command("left_hand", (1.0, 0.0, 0.0)), Command("left_foot", (0.4, 0.2, 0.0)),
]  # fmt: skip


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(Guide(small_humanoid()))


def least_margin(session: Session) -> float:
    """Of the multibody ZMP, found by differences over the whole motion, in the unshrunk polygons; every sample counts."""
    motion = session.motion()
    zmp = zero_moment_point(motion.figure, motion.t, motion.q)
    first, least = 0, np.inf
    for done in session.performances:
        segment = done.move.segment
        least = min(least, float(segment.margin_of(zmp[first : first + segment.n + 1]).min()))
        first += segment.n
    return least


def assert_sound(session: Session) -> None:
    figure, Q = session.performer.guide.humanoid.figure, session.motion().q
    assert least_margin(session) > 0.0
    assert (np.abs(np.diff(Q, axis=0)) / DT <= [v.speed for v in figure.variables]).all()
    lower, upper = figure.limits
    assert np.array_equal(np.clip(Q, lower, upper), Q)
    assert np.abs(np.diff(Q, n=2, axis=0)).max() < 0.03, "no joint jerks"


def test_walking_turning_reaching(performer: Performer) -> None:
    session = Session(performer)
    for command in WALK + REACH + FEET:
        done = session.obey(command)
        assert done.realised, done.notice
    assert_sound(session)
    effort = np.array([v.effort for v in performer.guide.humanoid.figure.variables])[performer.body.motors]
    before = np.tile(session.motion().q[0], (4, 1))
    for done in session.performances:
        assert (np.abs(performer.efforts(done, before, every=3)) <= effort).all()
        before = done.q[-4:]


@pytest.mark.parametrize("seed", [1, 5])
def test_random_input_is_performed(performer: Performer, seed: int) -> None:
    session = Session(performer)
    done = [session.obey(command) for command in islice(commands(seed), 25)]
    assert np.mean([one.realised for one in done]) >= 0.9
    assert_sound(session)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_minutes_of_random_input_are_performed(performer: Performer, seed: int) -> None:
    session = Session(performer)
    done = [session.obey(command) for command in islice(commands(100 + seed), 250)]
    assert np.mean([one.realised for one in done]) >= 0.9
    assert_sound(session)


def test_the_body_follows_the_plan(performer: Performer) -> None:
    session = Session(performer)
    for command in (Command("trunk", (1.0, 0.3, 0.0)), Command("left_hand", (0.5, 0.0, 0.5))):
        done = session.obey(command)
        move, figure = done.move, performer.guide.humanoid.figure
        for k in range(0, move.n, 20):
            here = pose(figure, done.q[k])
            assert np.linalg.norm(here.com - move.segment.samples[k, :3]) < 1e-4
            for foot, frame in enumerate(performer.guide.humanoid.feet):
                assert np.linalg.norm(here.point(frame) - move.feet[k, foot, :3]) < 1e-4
        assert np.linalg.norm(pose(figure, done.q[-1]).point("left_hand") - move.hands[-1, 0]) < 2e-3


def test_motors_and_floor_hold_the_weight(performer: Performer) -> None:
    """At rest on two feet, what the floor and the motors give holds the weight."""
    own, body = performer.guide.humanoid, performer.body
    q = body.posed(performer.guide.start())
    wanted = needed(own.figure, np.tile(q, (5, 1)), DT)[2]
    base = own.figure.indices(body.base)
    assert wanted[base[2]] == pytest.approx(own.figure.mass * 9.81)
    effort = shared(own.figure, q, wanted, base, own.feet, np.array([0.5, 0.5]))
    assert effort[base] == pytest.approx(0.0)
    # The knees bear half the weight each, at the lever of the bent leg.
    knee, foot = pose(own.figure, q).point("left_knee"), pose(own.figure, q).point("left_ankle_pitch")
    lever = abs(knee[0] - foot[0])
    index = own.figure.index("left_knee")
    assert abs(effort[index]) == pytest.approx(0.5 * own.figure.mass * 9.81 * lever, rel=0.35)


def test_the_filter_is_needed_and_works() -> None:
    """Long fast steps: the ZMP of the bodies leaves what the point mass keeps; one pass brings it back."""
    performer = Performer(Guide(small_humanoid()))
    session = Session(performer)
    for command in [Command("trunk", (1.0, 0.0, 0.0))] * 6:
        session.obey(command)
    assert least_margin(session) > 0.0
    assert max(done.passes for done in session.performances) >= 1
