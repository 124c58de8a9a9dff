from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.recheck_team import TeamRecheckOptions, recheck
from bunraku.errors import BunrakuError, MotionError, UnknownName
from bunraku.figure import Box
from bunraku.motion import Motion
from bunraku.scene import Obstacle, Scene
from tests.ensemble.waiters import HIGH, altered, gliding, lifting, moved, waiters

HALL = Scene("hall")


def objections(motion, scene=HALL, **words):
    return [f"{objection.what}: {objection.where}" for objection in recheck(waiters(), motion, scene, **words).objections]


def test_what_is_right_is_accepted():
    verdict = recheck(waiters(), lifting(), HALL)
    assert verdict.accepted, str(verdict)
    assert verdict.closure < 1e-9
    assert 0.0 < verdict.closure_between < 1e-3
    assert verdict.slide < 1e-9
    assert verdict.samples > 40
    assert str(verdict).startswith("accepted")


def test_a_hit_between_two_samples():
    z = np.r_[np.full(5, HIGH - 0.05), np.full(5, HIGH + 0.06)]
    motion = moved(np.zeros(10), z)
    plate = Obstacle("plate", Box((0.1, 0.1, 0.004)), (0.1, 0.0, HIGH + 0.005))
    scene = Scene("plate", (plate,))
    assert not any("plate" in text for text in objections(motion, scene, options=TeamRecheckOptions(spacing=10.0))), (
        "samples alone do not see it"
    )
    verdict = recheck(waiters(), motion, scene)
    assert any("object.tray" in o.where and "plate" in o.where and o.sample == 4 for o in verdict.objections)
    assert verdict.clearance < 0.0
    assert "object.tray – plate" in verdict.parts


def test_a_margin():
    beam = Obstacle("beam", Box((0.2, 2.0, 0.2)), (0.0, 0.0, HIGH + 0.08 + 0.02 + 0.1 + 0.012))
    scene = Scene("beam", (beam,))
    verdict = recheck(waiters(), lifting(41), scene, margin=0.01)
    assert verdict.accepted
    assert abs(verdict.clearance - 0.012) < 1e-3
    assert any("as near as" in text for text in objections(lifting(41), scene, margin=0.02))


def test_an_open_hand():
    motion = altered(lifting(), "person", "left_wrist_rx", lambda q: q + 2e-6, samples=[17])
    (text,) = objections(motion)
    assert "closure" in text


def test_a_foot_that_slides():
    x = np.linspace(0.0, 0.02, 40)
    assert any("feet" in text for text in objections(moved(x)))
    assert not any("feet" in text for text in objections(moved(0.2 * x)))


def test_a_foot_in_the_air_may_move():
    motion = altered(gliding(), "person", "pelvis_tz", lambda q: q + 0.1)
    assert recheck(waiters(), motion, HALL).slide == 0.0


def test_feet_stand_on_any_ground():
    motion = altered(gliding(), "person", "pelvis_tz", lambda q: q + 0.1)
    assert recheck(waiters(), motion, HALL, heights=lambda points: np.full(len(points), 0.1)).slide > 3.9


def test_nobody_sinks_or_floats():
    for by, word in ((0.03, "floats 0.0"), (-0.02, "sinks 0.02")):
        texts = objections(altered(lifting(), "person", "pelvis_tz", lambda q, by=by: q + by))
        assert any(f"footing: person {word}" in text for text in texts), texts
    for height, who in ((-0.1, "floats"), (0.1, "sinks")):
        texts = objections(lifting(), heights=lambda points, height=height: np.full(len(points), height))
        assert any(f"footing: robot {who}" in text for text in texts), texts


def test_a_joint_that_jumps():
    motion = altered(lifting(), "person", "neck_rz", lambda q: q + 0.25, samples=slice(20, None))
    verdict = recheck(waiters(), motion, HALL)
    assert not any(o.what == "speed" for o in verdict.objections), "a joint may turn by 0.25 rad in 0.2 s"
    hasty = recheck(waiters(), motion.replace(t=0.1 * motion.t), HALL)
    assert [o.sample for o in hasty.objections if o.where.startswith("person's neck_rz")][:1] == [19]


def test_a_limb_in_a_limb():
    motion = altered(lifting(), "person", "left_hip_rx", lambda q: q - 0.35)
    assert any("collision: person.left" in text and "in person.right" in text for text in objections(motion))


def test_one_agent_in_the_other():
    motion = altered(lifting(), "robot", "base_x", lambda q: q - 1.2)
    assert any("collision: person" in text and "in robot" in text for text in objections(motion))


def test_limits_of_joints_and_of_the_object():
    assert any("person's neck_ry" in text for text in objections(altered(lifting(), "person", "neck_ry", lambda q: q + 1.0)))
    assert any("tilted" in text for text in objections(altered(lifting(), "object", "object_rx", lambda q: q + 0.4)))
    assert any("heights" in text for text in objections(altered(lifting(), "object", "object_tz", lambda q: q + 0.5)))


def test_bad_questions():
    with pytest.raises(BunrakuError, match="spacing"):
        recheck(waiters(), lifting(), HALL, options=TeamRecheckOptions(spacing=0.0))
    motion = lifting()
    with pytest.raises(UnknownName, match="robot"):
        recheck(waiters(), Motion(motion.t, motion.tracks[:1]), HALL)
    person = motion.track("person")
    wrong = Motion.of(person.figure, motion.t, person.q, name="robot").tracks
    with pytest.raises(MotionError, match="of another figure"):
        recheck(waiters(), Motion(motion.t, (person, *wrong, motion.track("object"))), HALL)
