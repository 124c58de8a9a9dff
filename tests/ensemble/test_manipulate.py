from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter
from bunraku.ensemble.lean import lean
from bunraku.ensemble.manipulate import hold as held_by
from bunraku.ensemble.manipulate import jump_of
from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.locomotion.walk import walk

PERSON = library.named("mannequin")
GRIP = hold("left_palm", (0.4, 0.25, 1.05), z=(-1, 0, 0), x=(0, 0, 1)).X_OT


def standing(samples, **values):
    return np.tile(PERSON.configuration(**values), (samples, 1))


def test_a_hand_stays_where_it_is_while_the_body_sways():
    t = np.linspace(0.0, 2.0 * np.pi, 200)
    Q = standing(len(t))
    Q[:, PERSON.index("chest_rz")], Q[:, PERSON.index("pelvis_tz")] = 0.2 * np.sin(t), 0.92 + 0.02 * np.cos(2.0 * t)
    arm = closed_form(PERSON, "left_palm")
    own = held_by(arm, np.tile(GRIP, (len(t), 1, 1)), Q)
    assert own.lost is None
    assert jump_of(own.angles) < 0.05
    Q[:, arm.indices] = own.angles
    assert np.allclose(frames_along(PERSON, Q)[:, PERSON.frame_index["left_palm"]], GRIP, atol=1e-9)
    lower, upper = arm.limits
    assert ((own.angles > lower) & (own.angles < upper)).all()


def test_elbows_swing_over_without_a_jump():
    """The hand goes round in a circle that no single swivel serves well."""
    t = np.linspace(0.0, 2.0 * np.pi, 268)
    X = np.tile(GRIP, (len(t), 1, 1))
    X[:, 0, 3] += 0.08 * np.cos(t) - 0.04
    X[:, 1, 3] += 0.12 * np.sin(t)
    X[:, 2, 3] += 0.1 * np.sin(t)
    arm = closed_form(PERSON, "left_palm")
    own = held_by(arm, X, standing(len(t)))
    assert own.lost is None
    assert jump_of(own.angles) < 0.1
    again = held_by(arm, X, standing(len(t)))
    assert np.array_equal(own.angles, again.angles)


def test_elbows_hang_outward():
    arm = {side: closed_form(PERSON, f"{side}_palm") for side in ("left", "right")}
    for side, out in (("left", 1.0), ("right", -1.0)):
        X = hold(f"{side}_palm", (0.4, out * 0.25, 1.05), z=(-1, 0, 0), x=(0, 0, 1)).X_OT
        own = held_by(arm[side], np.tile(X, (5, 1, 1)), standing(5))
        q = standing(1)[0]
        q[arm[side].indices] = own.angles[0]
        here = pose(PERSON, q)
        shoulder, elbow, wrist = (here.X(f"{side}_{part}")[:3, 3] for part in ("shoulder", "elbow", "wrist"))
        assert out * (elbow - 0.5 * (shoulder + wrist))[1] > 0.0
        assert elbow[2] < shoulder[2]


def test_the_first_sample_out_of_reach_is_told():
    X = np.tile(GRIP, (100, 1, 1))
    X[:, 0, 3] += np.linspace(0.0, 1.0, 100)
    own = held_by(closed_form(PERSON, "left_palm"), X, standing(100))
    assert own.lost is not None
    assert 5 < own.lost < 40


@pytest.mark.parametrize("away", [0.06, 0.12])
def test_a_spine_leans_after_what_hands_hold(away):
    """Hands are farther off than arms reach from an upright walk."""
    t = np.linspace(0.0, 6.0, 150)
    base = np.stack([0.5 * t, 0.0 * t, 0.0 * t], 1)
    grips = [hold(f"{side}_palm", (0.0, s * 0.25, 0.0), z=(-1, 0, 0), x=(0, 0, 1)) for side, s in (("left", 1), ("right", -1))]
    agent = porter("ann", *grips)
    X_WO = np.tile(np.eye(4), (len(t), 1, 1))
    X_WO[:, 0, 3], X_WO[:, 2, 3] = base[:, 0] + 0.5 + away, 1.05
    Q = walk(PERSON, t, base, sway=0.4).Q.copy()
    arm = closed_form(PERSON, "left_palm")
    assert held_by(arm, X_WO @ grips[0].X_OT, Q).lost is not None
    lean(agent, X_WO, Q, 0.075)
    own = held_by(arm, X_WO @ grips[0].X_OT, Q)
    assert own.lost is None
    assert Q[:, PERSON.index("waist_ry")].mean() > 0.02
    assert jump_of(Q[:, 6:12]) < 0.1
    lower, upper = PERSON.limits
    assert ((Q[:, 6:12] >= lower[6:12]) & (Q[:, 6:12] <= upper[6:12])).all()
