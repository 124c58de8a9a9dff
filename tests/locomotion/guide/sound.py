"""What every sample of a performed session must keep, whatever was asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.kinematics.balance import zero_moment_point
from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session


@dataclass(frozen=True)
class Kept:
    """Found by differences over the whole motion, joins included: nothing is taken from the performer's own figures."""

    margin: float
    """Least distance of the multibody ZMP inside the unshrunk polygons [m]."""
    speed: float
    """Largest speed of a joint, in those that its motor can."""
    effort: float
    """Largest effort, in those that the motor can."""
    realised: float
    """Share of commands that were obeyed, in whole or in part."""


def kept(session: Session) -> Kept:
    performer, motion = session.performer, session.motion()
    own, motors, Q = performer.guide.humanoid, performer.body.motors, motion.q
    zmp = zero_moment_point(motion.figure, motion.t, Q)
    first, margins, shares = 0, [], np.empty((len(Q), 2))
    for done in session.performances:
        here = slice(first, first + done.n + 1)
        margins.append(float(done.move.segment.margin_of(zmp[here]).min()))
        shares[here] = done.move.shares(zmp[here])
        shares[first + done.n : first + len(done.played) + 1] = shares[first + done.n]  # held ticks
        first += len(done.played)
    base = own.figure.indices(performer.body.base)
    efforts = shared(own.figure, Q, needed(own.figure, Q, GUIDE_TICK), base, own.feet, shares, 0.1 * own.height)[:, motors]
    speed, effort = (np.array([getattr(v, word) for v in own.figure.variables])[motors] for word in ("speed", "effort"))
    return Kept(
        min(margins), float((np.abs(np.diff(Q[:, motors], axis=0)) / GUIDE_TICK / speed).max()),
        float((np.abs(efforts) / effort).max()),
        float(np.mean([not done.refused for done in session.performances])),
    )  # fmt: skip


def assert_sound(session: Session) -> Kept:
    found = kept(session)
    assert found.margin > 0.0
    assert found.speed <= 1.0
    assert found.effort <= 1.0
    Q = session.motion().q
    assert np.array_equal(np.clip(Q, *session.performer.guide.humanoid.figure.limits), Q)
    return found
