from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuWarning, MotionError
from bunraku.figure import Figure, library
from bunraku.figure.build import ball, capsule, figure, fixed, free, rx, ry
from bunraku.kinematics import frames_along
from bunraku.kinematics.anatomy import BodyPart, anatomy
from bunraku.kinematics.rest_stance import Stance
from bunraku.kinematics.retarget import match, retarget
from bunraku.motion import Mark, Motion

LIMBS = [BodyPart(side, name) for side in ("left", "right") for name in ("upper_arm", "forearm", "thigh", "shin")]


def dancer(size: float = 1.0) -> Figure:
    """A captured person: names as in many files, arms out to the sides at rest, looking along −y."""

    def arm(side: str, x: float) -> Any:
        hand = ball(f"{side}Hand", fixed(f"{side}Hand_end", at=(x / 3, 0, 0)), at=(x, 0, 0))
        return ball(f"{side}Shoulder", ball(f"{side}Arm", ball(f"{side}ForeArm", hand, at=(x, 0, 0)), at=(x / 2, 0, 0)))

    def leg(side: str, x: float) -> Any:
        toes = ball(f"{side}ToeBase", fixed(f"{side}ToeBase_end", at=(0, -0.05 * size, 0)), at=(0, -0.12 * size, -0.05 * size))
        shin = ball(f"{side}Leg", ball(f"{side}Foot", toes, at=(0.1 * x, 0, -0.43 * size)), at=(0.3 * x, 0, -0.42 * size))
        return ball(f"{side}UpLeg", shin, at=(x, 0, 0))

    chest = ball(
        "Spine1",
        ball("Neck", ball("Head", fixed("Head_end", at=(0, 0, 0.2 * size)), at=(0, 0, 0.1 * size)), at=(0, 0, 0.2 * size)),
        arm("Left", 0.25 * size),
        arm("Right", -0.25 * size),
        at=(0, 0, 0.2 * size),
    )
    spine = ball("Spine", chest, at=(0, 0, 0.1 * size))
    return figure("dancer", free("Hips", spine, leg("Left", 0.1 * size), leg("Right", -0.1 * size), capsule(0.1, 0.1)))


def dance(of: Figure, samples: int = 40, seed: int = 0) -> Motion:
    """Joints swing gently; the hips go ahead at the height of the legs."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 2, samples)
    phase, pace = rng.uniform(0, 6, of.n_q), rng.uniform(1, 4, of.n_q)
    q = 0.25 * np.sin(t[:, None] * pace + phase)
    for side, x in (("Left", 1.0), ("Right", -1.0)):  # arms hang, elbows and knees are bent the way they bend
        q[:, of.index(f"{side}Arm_ry")] += 1.2 * x
        q[:, of.index(f"{side}ForeArm_rz")] -= 0.8 * x
        q[:, of.index(f"{side}Leg_rx")] -= 0.8
    q[:, of.index("Hips_ty")] = -1.3 * t
    q[:, of.index("Hips_tz")] = 0.9
    return Motion.of(of, t, q, marks=(Mark(1.0, "turn"),))


def directions(motion: Motion, part: BodyPart) -> Any:
    parts = anatomy(motion.figure)
    X = frames_along(motion.figure, motion.q)
    index = motion.figure.frame_index
    a, b = (X[:, index[parts.places[p]], :3, 3] for p in (part, part.below))
    return (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)


def unlimited(figure: Figure) -> Figure:
    from dataclasses import replace

    frames = (
        f if f.variable is None else replace(f, variable=replace(f.variable, lower=-np.inf, upper=np.inf)) for f in figure.frames
    )
    return figure.replace(frames=tuple(frames))


# -- names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "part", "carrier"),
    [
        ("mannequin", BodyPart("left", "upper_arm"), "left_shoulder"),
        ("mannequin", BodyPart("", "hips"), "pelvis"),
        ("mannequin", BodyPart("right", "clavicle"), "right_clavicle"),
        ("marionette22", BodyPart("left", "shin"), "lknee_rx"),
        ("marionette22", BodyPart("right", "thigh"), "rhip"),
        ("humanoid", BodyPart("left", "thigh"), "left_hip_pitch"),
        ("humanoid", BodyPart("", "hips"), "trunk"),
    ],
)
def test_parts_of_the_library(name: str, part: BodyPart, carrier: str) -> None:
    assert anatomy(library.named(name)).carrier(part) == carrier


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (["mixamorig:LeftUpLeg", "mixamorig:LeftLeg"], BodyPart("left", "shin")),
        (["LHipJoint", "LeftUpLeg"], BodyPart("left", "thigh")),
        (["LeftShoulder", "LeftArm"], BodyPart("left", "upper_arm")),
        (["RightCollar", "RightShoulder"], BodyPart("right", "upper_arm")),
        (["thigh.L", "shin.L"], BodyPart("left", "shin")),
        (["r_upper_leg", "r_lower_leg"], BodyPart("right", "shin")),
        (["RightHip", "RightKnee"], BodyPart("right", "shin")),
        (["lUpperArm", "lForeArm"], BodyPart("left", "forearm")),
    ],
)
def test_parts_by_many_names(names: list[str], part: BodyPart) -> None:
    upper, lower = names
    doll = figure("doll", free("body", ball(upper, ball(lower, at=(0, 0, -0.3)), at=(0.1, 0, 0))))
    assert anatomy(doll).carrier(part) == lower


def test_fingers_and_spindles_are_no_limbs() -> None:
    assert not any("spindle" in f for fs in anatomy(library.named("marionette22")).joints.values() for f in fs)
    glove = figure("glove", free("body", ball("LeftHand", ball("LeftHandIndex1"), ball("LeftHandThumb1"))))
    assert [str(part) for part in anatomy(glove).joints] == ["hips", "left hand"]


def test_match_reports_what_is_left() -> None:
    found = match(dancer(), library.named("marionette22"))
    assert found.pairs["lelbow_rx"] == "LeftForeArm"
    assert found.pairs["torso"] == "Hips"
    assert found.target_only == ()
    assert "LeftToeBase" in found.source_only
    back = match(library.named("marionette22"), dancer())
    assert "Spine" in back.target_only


def test_given_names_overrule() -> None:
    found = match(dancer(), library.named("marionette22"), {"RightForeArm": "lelbow_rx"})
    assert found.pairs["lelbow_rx"] == "RightForeArm"


# -- motions ---------------------------------------------------------------------------------------------------


def test_onto_itself_changes_nothing() -> None:
    motion = dance(dancer())
    again = retarget(motion, motion.figure)
    assert np.allclose(again.q, motion.q, atol=1e-9)
    assert again.marks == motion.marks


@pytest.mark.parametrize("name", ["marionette22", "marionette25", "mannequin", "humanoid"])
def test_bones_point_the_same_way(name: str) -> None:
    motion = dance(dancer())
    target = unlimited(library.named(name))
    moved = retarget(motion, target)
    turn = Stance(anatomy(target)).axes @ Stance(anatomy(motion.figure)).axes.T
    for part in LIMBS:
        want, got = directions(motion, part) @ turn.T, directions(moved, part)
        angle = np.degrees(np.arccos(np.clip(np.sum(want * got, 1), -1, 1)))
        assert np.median(angle) < 0.1, (part, angle)
        assert np.max(angle) < 8.0, (part, angle)


def test_faces_and_walks_its_own_way_in_its_own_size() -> None:
    motion = dance(dancer())
    for name, ahead in (("marionette22", [0, 1, 0]), ("mannequin", [1, 0, 0]), ("humanoid", [1, 0, 0])):
        target = library.named(name)
        stance, source = Stance(anatomy(target)), Stance(anatomy(motion.figure))
        assert np.allclose(stance.axes[:, 1], ahead)
        assert np.allclose(source.axes[:, 1], [0, -1, 0])
        moved = retarget(motion, target)
        hips = stance.hips(frames_along(target, moved.q))
        theirs = source.hips(frames_along(motion.figure, motion.q))
        assert hips is not None
        assert theirs is not None
        assert stance.leg is not None
        assert source.leg is not None
        scale = stance.leg / source.leg
        turn = stance.axes @ source.axes.T
        assert np.allclose(hips, scale * theirs @ turn.T, atol=1e-9)
        assert (hips[-1] - hips[0]) @ ahead == pytest.approx(2.6 * scale, rel=0.05)


def test_a_child_follows_in_small_steps() -> None:
    motion, child = dance(dancer()), dancer(0.5)
    moved = retarget(motion, child)
    for name in ("LeftHand", "RightFoot"):  # same bones, half as long: everything is half as far
        a, b = (frames_along(m.figure, m.q)[:, m.figure.frame_index[name], :3, 3] for m in (motion, moved))
        assert np.allclose(b, 0.5 * a, atol=1e-9)


def test_stays_within_limits() -> None:
    target = library.named("humanoid")
    moved = retarget(dance(dancer(), seed=3), target)
    lower, upper = target.limits
    assert np.all(moved.q >= lower)
    assert np.all(moved.q <= upper)
    assert np.any((moved.q == lower) | (moved.q == upper))  # some were needed


def test_strings_stay_taut_and_spindles_walk_along() -> None:
    target = library.named("marionette22")
    motion = dance(dancer())
    moved = retarget(motion, target)
    X = frames_along(target, moved.q)
    for string in target.strings:
        points = []
        for at in string.path:
            F = X[:, target.frame_index[at.frame]]
            points.append(F[:, :3, :3] @ at.position + F[:, :3, 3])
        reach = np.linalg.norm(points[1] - points[0], axis=1)
        assert string.variable is not None
        assert np.allclose(moved.column(string.variable), reach)
        assert np.ptp((points[1] - points[0])[:, :2], axis=0).max() < 1e-9


def test_no_names_in_common() -> None:
    motion = Motion.of(library.named("pendulum"), [0.0], [[0.3]])
    with pytest.raises(MotionError, match="share no names"):
        retarget(motion, library.named("gecko"))


def test_pairs_by_hand() -> None:
    a = figure("a", rx("swing", capsule(0.1, to=(0, 0, -1), mass=1.0)))
    b = figure("b", rx("sway", ry("nod", capsule(0.1, to=(0, 0, -2), mass=1.0))))
    with pytest.warns(BunrakuWarning, match="nothing in a moves nod"):
        moved = retarget(Motion.of(a, [0.0, 1.0], [[0.3], [0.5]]), b, {"swing": "sway"})
    assert np.allclose(moved.column("sway"), [0.3, 0.5])
    assert np.allclose(moved.column("nod"), 0.0)
    with pytest.raises(Exception, match="did you mean"):
        match(a, b, {"swing": "swey"})
