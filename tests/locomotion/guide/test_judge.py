"""The judge: what is wrong is said with the joint's name, and of stops that all do something wrong the least is taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from bunraku.kinematics.balance import zero_moment_point
from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import Fault, GuidedMove, Reason
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.judge import Judge
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session

STEP = Command("trunk", (1.0, 0.0, 0.0))


@pytest.fixture(scope="module")
def session() -> Session:
    session = Session(Performer(Guide(small_humanoid())))
    session.run([STEP, STEP])
    return session


def hasty(session: Session, joint: str, times: float) -> GuidedMove:
    """The last move with a joint that goes to and fro, as fast as its motor can and some times more."""
    done, figure = session.performances[-1], session.performer.guide.humanoid.figure
    Q, k = done.q.copy(), figure.index(joint)
    bump = 1.0 - np.cos(np.linspace(0.0, 2.0 * np.pi, 81))
    Q[20:, k] = Q[20, k]
    Q[20:101, k] += times * figure.variables[k].speed * GUIDE_TICK / np.diff(bump).max() * bump
    return replace(done, q=Q)


def test_what_is_too_fast_has_a_name_and_two_figures(session: Session) -> None:
    figure, judge = session.performer.guide.humanoid.figure, session.performer.judge
    limit = figure.variables[figure.index("left_elbow")].speed
    assert not judge.fault(session.performances[-1], session.look_back).said
    fault = judge.fault(hasty(session, "left_elbow", 1.5), session.look_back)
    assert fault.said == f"a joint would have to move too fast (left_elbow: {1.5 * limit:.3g} rad/s, at most {limit:.3g})"
    assert fault.excess == pytest.approx(0.5)
    again = judge.fault(hasty(session, "left_elbow", 1.7), session.look_back)
    assert again.hopeless(fault, 3.0), "the same fault, whatever the figures"


def test_a_weak_motor_has_a_name_and_two_figures(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    done, judge = session.performances[-1], session.performer.judge
    largest = np.abs(judge.efforts(done, session.look_back)).max(0)
    names = [session.performer.guide.humanoid.figure.names[k] for k in session.performer.body.motors]
    weak = np.array(judge.effort)
    weak[names.index("left_knee")] = 0.8 * largest[names.index("left_knee")]
    monkeypatch.setitem(judge.__dict__, "effort", weak)
    said = judge.fault(done, session.look_back).said
    assert said.startswith(f"a motor is not strong enough (left_knee: {largest[names.index('left_knee')]:.3g} N m, at most ")


def test_the_last_tick_before_is_judged_with_what_follows(session: Session) -> None:
    """As the whole motion has it: differences over where two moves join."""
    done, own, judge = session.performances[-1], session.performer.guide.humanoid, session.performer.judge
    motion, first = session.motion(), session.performances[0].n
    zmp = zero_moment_point(own.figure, motion.t, motion.q)
    shares = np.concatenate([session.performances[0].move.shares(zmp[: first + 1]), done.move.shares(zmp[first:])[1:]])
    base, motors = own.figure.indices(session.performer.body.base), session.performer.body.motors
    whole = shared(own.figure, motion.q, needed(own.figure, motion.q, GUIDE_TICK), base, own.feet, shares, 0.1 * own.height)[
        :, motors
    ]
    found = judge._all_efforts(done, session.look_back)
    assert found.shape == (done.n + 2, len(motors))
    assert np.abs(found[:-2] - whole[first - 1 : -2]).max() < 0.02 * np.abs(whole).max()


def test_the_least_evil_stop_is_taken(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them has a fault: one falls, one has the best ZMP but a joint at twice its speed, the third is a little too fast."""
    performer, before = session.performer, session.look_back
    falls = replace(session.performances[-1], margin=-0.001)
    fast, nearly = replace(hasty(session, "left_elbow", 2.0), margin=0.03), replace(hasty(session, "left_elbow", 1.1), margin=0.02)
    worth = [performer.judge.excess(done, before) for done in (nearly, fast, falls)]
    assert worth == sorted(worth)
    assert worth[0] == (0.0, pytest.approx(0.1, abs=1e-6))

    def candidates(*_: object, home: bool) -> Iterator[GuidedMove]:
        yield from (falls, fast, nearly) if home else (fast, falls)

    monkeypatch.setattr(Performer, "_quietly", candidates)
    monkeypatch.setattr(Performer, "_realise", lambda *_: (None, Fault(Reason.LEG)))
    stop = performer.next(session.performances[-1].move.start, STEP, before)
    assert np.array_equal(stop.q, nearly.q)
    assert stop.refused


def test_the_worth_of_what_is_right_is_nothing(session: Session) -> None:
    judge: Judge = session.performer.judge
    assert judge.excess(session.performances[-1], session.look_back) == (0.0, 0.0)
