"""Whole bodies: what is planned for a point mass is kept by all the bodies."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import Fault, Reason
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands
from tests.locomotion.guide.sound import assert_sound, kept

WALK = [Command("trunk", (1.0, 0.0, 0.0))] * 5 + [Command("trunk", turn=(0.0, 0.0, 1.0))] * 3
REACH = [Command("left_hand", (0.6, 0.2, 0.6))] * 3
FEET = [
    Command("right_foot", (0.5, -0.3, 0.0), lift=(0.0, 0.8)),
    Command("left_hand", (1.0, 0.0, 0.0)), Command("left_foot", (0.4, 0.2, 0.0)),
]  # fmt: skip


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(Guide(small_humanoid()))


def assert_smooth(session: Session) -> None:
    assert_sound(session)
    assert np.abs(np.diff(session.motion().q, n=2, axis=0)).max() < 0.03, "no joint jerks"


def test_walking_turning_reaching(performer: Performer) -> None:
    session = Session(performer)
    for command in WALK + REACH + FEET:
        done = session.obey(command)
        assert not done.refused, done.notice
    assert_smooth(session)


def test_random_input_is_performed(performer: Performer) -> None:
    session = Session(performer)
    for command in islice(commands(5), 25):
        session.obey(command)
    assert_smooth(session)
    assert kept(session).realised >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_minutes_of_random_input_are_performed(performer: Performer, seed: int) -> None:
    session = Session(performer)
    for command in islice(commands(100 + seed), 500):
        session.obey(command)
    assert assert_sound(session).realised >= 0.9


def test_what_cannot_be_done_ends_in_a_stand(performer: Performer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is asked for and refused, from wherever: the stop itself keeps every limit, and the next command is obeyed."""
    session = Session(performer)
    for command in [*WALK[:2], *REACH, FEET[0]]:
        session.obey(command)
        with monkeypatch.context() as refusing:
            refusing.setattr(Performer, "_realise", lambda *_: (None, Fault(Reason.LEG)))
            for _ in range(2):
                assert "cannot be done" in session.obey(command).notice
        assert not session.obey(command).refused
    assert_smooth(session)


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


def test_an_arm_of_four_joints_turns_its_hand_as_far_as_it_can(performer: Performer) -> None:
    """The place goes first, the message says so, and what comes after is as smooth as ever."""
    session = Session(performer)
    session.obey(Command("left_hand", (0.6, 0.3, 0.8)))
    at, before = (pose(performer.guide.humanoid.figure, session.before[-1]).X("left_hand")[:3, k] for k in (3, 2))
    done = session.obey(Command("left_hand", turn=(1.0, 0.0, 0.0)))
    X_WH = pose(performer.guide.humanoid.figure, done.q[-1]).X("left_hand")
    assert not done.refused
    assert "wrist" in done.notice
    assert np.linalg.norm(X_WH[:3, 3] - at) < 0.004
    assert np.arccos(np.clip(X_WH[:3, 2] @ before, -1.0, 1.0)) > 0.02
    session.run([Command("left_hand", (0.0, 0.2, 0.0)), Command("trunk", (1.0, 0.0, 0.0)), Command("trunk")])
    assert_smooth(session)


def test_what_is_judged_is_what_is_played(performer: Performer) -> None:
    """A wrist that could not turn so far is let go: what its hand was off by is made up for within the limits, not before the
    first tick that anybody looks at."""
    session = Session(performer)
    for command in (Command("left_hand", (0.6, 0.3, 0.8)), Command("left_hand", turn=(1.0, 0.0, 0.0)), *WALK[:2], Command("trunk")):
        before = session.before[-1]
        assert np.array_equal(session.obey(command).q[0], before)
    assert_smooth(session)


def test_motors_and_floor_hold_the_weight(performer: Performer) -> None:
    """At rest on two feet, what the floor and the motors give holds the weight."""
    own, body = performer.guide.humanoid, performer.body
    q = body.posed(performer.guide.start())
    Q = np.tile(q, (5, 1))
    wanted = needed(own.figure, Q, GUIDE_TICK)
    base = own.figure.indices(body.base)
    assert wanted[2, base[2]] == pytest.approx(own.figure.mass * 9.81)
    effort = shared(own.figure, Q, wanted, base, own.feet, np.full((5, 2), 0.5), 0.03)[2]
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
    assert kept(session).margin > 0.0
    assert max(done.passes for done in session.performances) >= 1
