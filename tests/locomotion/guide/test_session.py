"""Sessions: a command in the middle of a segment acts at once, and nothing is felt of the join."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.com_zmp import SAMPLE_COLUMNS
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.plan_requests import PlanBeside
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.wander import commands
from tests.locomotion.guide.sound import assert_sound

WALK, UP = Command("trunk", (1.0, 0.0, 0.0)), Command("left_hand", (0.4, 0.0, 0.8))


@pytest.fixture(scope="module")
def performer() -> Performer:
    return Performer(Guide(small_humanoid()))


def begun(move: Move) -> tuple[np.ndarray, ...]:
    """Velocities of feet, trunk and hands as a move begins: by differences forward, of fourth order."""
    h = 1e-4 / GUIDE_TICK
    ticks = h * np.arange(5.0)
    weights = np.array([-25.0, 48.0, -36.0, 16.0, -3.0]) / (12.0 * 1e-4)
    hands = np.tensordot(weights, move._hands(ticks), 1) + move.segment.samples[0, 3:6] * move._carried
    return np.tensordot(weights, move._feet(ticks), 1), np.tensordot(weights, move._trunk(ticks), 1), hands


def assert_joined(a: GuidedMove, b: GuidedMove) -> None:
    x, y = a.move.segment.samples[a.n], b.move.segment.samples[0]
    assert np.abs(x[:6] - y[:6]).max() < 1e-9, "centre of mass and its velocity"
    assert np.linalg.norm(x[SAMPLE_COLUMNS.zmp :] - y[SAMPLE_COLUMNS.zmp :]) <= 0.020, "ZMP"
    if a.left is None:
        return
    for one, other in ((a.move.feet, b.move.feet), (a.move.trunk, b.move.trunk), (a.move.hands, b.move.hands)):
        assert np.abs(one[a.n] - other[0]).max() < 1e-9
    here = a.move.at(a.n)
    for speed, rate in zip(begun(b.move), (here.rates.feet[0], here.rates.trunk[0], here.hand_speeds), strict=True):
        assert np.abs(speed - rate).max() < 2e-8, "what differences of 0.1 ms can tell"


@pytest.mark.parametrize("tick", [12, 45, 52, 60, 78])
def test_a_command_in_the_middle_acts_within_a_tenth_of_a_second(performer: Performer, tick: int) -> None:
    """On both feet before a step, while a foot swings, and after it stands: the hand is on its way."""
    session = Session(performer, prompt=True)
    session.obey(WALK)
    session.obey(WALK)
    session.command = WALK
    for _ in range(tick):
        session.tick()
    session.command = UP
    for _ in range(20):
        session.tick()
    done, _ = session.now
    assert done.move.goals.guided == "left_hand"
    assert session.performances[-2].left is not None
    assert_joined(*session.performances[-2:])
    while not session.idle:
        session.tick()
    assert_sound(session)


@pytest.mark.parametrize("move", [(1.0, 0.0), ("up", 0.0, 0.0), (np.nan, 0.0, 0.0)])
def test_nonsense_in_the_middle_is_told_and_ends_at_a_stand(performer: Performer, move: tuple[float, ...]) -> None:
    session = Session(performer, prompt=True)
    session.obey(WALK)
    session.command = WALK
    for _ in range(15):
        session.tick()
    session.command = Command("trunk", move)  # type: ignore[arg-type]
    notices = [session.tick().notice for _ in range(400)]
    assert any("the device sent" in notice for notice in notices)
    assert np.abs(session.motion().q[-1] - session.motion().q[-20]).max() < 1e-6
    assert_sound(session)


@pytest.mark.parametrize("tick", [10, 60])
def test_while_unsteady_no_step_begins(performer: Performer, tick: int) -> None:
    """A step whose foot still stands is given up, one whose foot is in the air is finished; then it stands until it is steady."""
    session = Session(performer, prompt=True)
    session.command = Command("trunk", (1.0, 0.0, 0.0))
    for _ in range(tick):
        session.tick()
    begun, _ = session.now
    session.unsteady = True
    for _ in range(600):
        session.tick()
    now, _ = session.now
    assert np.array_equal(now.move.feet[-1], begun.move.feet[-1 if begun.move.air[0] < tick else 0])
    assert session.times.acts == [0]  # what it does meanwhile obeys no command
    session.unsteady = False
    for _ in range(200):
        session.tick()
    assert not np.array_equal(session.now[0].move.feet[-1], now.move.feet[-1])


def test_without_it_a_segment_is_played_to_its_end(performer: Performer) -> None:
    session = Session(performer)
    session.command = WALK
    session.tick()
    session.command = UP
    while not session.idle:
        session.tick()
    assert len(session.performances) == 1


@pytest.mark.parametrize("seconds", [12.0, pytest.param(240.0, marks=pytest.mark.slow)])
def test_commands_at_any_time(performer: Performer, seconds: float) -> None:
    session, wishes, rng = Session(performer, prompt=True), commands(3), np.random.default_rng(3)
    changes, late, due, asked = 0, 0, 0, 0
    for k in range(round(seconds / GUIDE_TICK)):
        if k >= due:
            session.command, due, asked = next(wishes), k + int(rng.integers(30, 160)), k
            changes += 1
        session.tick()
        late += k == asked + 20 and session.waiting
    assert late <= 0.2 * changes, "most commands act within a tenth of a second"
    for a, b in pairwise(session.performances):
        assert_joined(a, b)
    while not session.idle:
        session.tick()
    assert assert_sound(session).realised >= 0.9


def play(session: Session, planning: PlanBeside, ticks: int, delay: int) -> list[np.ndarray]:
    """Ticks during which every plan takes so many ticks (`delay`); and a new wish now and then."""
    out, wishes, asked, since = [], commands(5), 0, 0
    for k in range(ticks):
        if k % 37 == 0:
            session.command = next(wishes)
        since = 0 if planning.count != asked else since + 1
        asked = planning.count
        if since >= delay:
            planning.tell(planning.count)
        out.append(session.tick().q)
    return out


@pytest.mark.parametrize("delay", [3, 40])
def test_beside_the_loop_plans_take_time_and_moves_still_join(performer: Performer, delay: int) -> None:
    """Short plans interrupt moves a few ticks ahead; long ones come too late for that, and the last sample is held meanwhile."""
    planning = PlanBeside(performer)
    session = Session(performer, prompt=True, planning=planning)
    Q = np.array(play(session, planning, 700, delay))
    for a, b in pairwise(session.performances):
        assert_joined(a, b)
    assert np.abs(np.diff(Q, n=2, axis=0)).max() < 0.03, "nothing jerks, also where it was held"
    assert np.array_equal(session.motion().q[1:701], Q)
    assert min(session.times.planned) >= delay
    assert any(done.left is not None for done in session.performances) == (delay < 20)
    assert len(session.times.acts) > 5


def test_a_plan_that_never_comes_leaves_it_standing(performer: Performer) -> None:
    session = Session(performer, prompt=True, planning=PlanBeside(performer))
    session.command = WALK
    first = session.tick().performance
    Q = np.array([session.tick().q for _ in range(first.move.n + 200)])
    assert session.times.held > 150
    assert (Q[-150:] == first.q[-1]).all()
    assert session.performances[0].held == session.times.held


def test_planning_that_fails_is_told(performer: Performer) -> None:
    class Broken(PlanBeside):
        def take(self) -> GuidedMove | None:
            super().take()
            raise BunrakuError("planning failed: no memory")

    planning = Broken(performer)
    session = Session(performer, prompt=True, planning=planning)
    session.command = WALK
    session.tick()
    planning.tell(planning.count)
    notices = []
    for _ in range(3):
        planning.tell(planning.count)
        notices.append(session.tick().notice)
    assert "planning failed: no memory; it stands still" in notices
