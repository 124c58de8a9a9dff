from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import MotionError, NotFinite, UnknownName
from bunraku.figure import Figure, library, plain_kinematics
from bunraku.figure.build import ball, capsule, contact, figure, fixed, free, rx, ry, rz, spindle, string
from bunraku.motion import Mark, Motion, Track, together
from bunraku.motion.orientation import turns
from bunraku.motion.symmetry import partner
from bunraku.spatial import so3


def doll() -> Figure:
    """Symmetric across x, with a free joint, balls, hinges, spindles and strings on both sides."""

    def side(l: str, x: float) -> Any:
        return ball(
            f"{l}hip",
            capsule(0.03, to=(0, 0, -0.4), mass=1.0),
            rx(
                f"{l}knee",
                fixed(f"{l}foot", capsule(0.03, 0.1, mass=1.0), at=(0, 0.1, -0.4)),
                at=(0, 0, -0.4),
            ),
            at=(x, 0, 0),
        )

    return figure(
        "doll",
        free("torso", capsule(0.1, to=(0, 0, 0.5), mass=3.0), side("l", -0.1), side("r", 0.1)),
        spindle("left_leg", at=(-0.2, 0, 2.0)),
        spindle("right_leg", at=(0.2, 0, 2.0)),
        strings=[
            string("left_leg", "lknee", "left_leg_spindle"),
            string("right_leg", "rknee", "right_leg_spindle"),
        ],
        contacts=[contact("lsole", "lfoot"), contact("rsole", "rfoot")],
    )


DOLL = doll()
PENDULUM = figure("pendulum", rx("swing", capsule(0.05, to=(0, 0, -1), mass=1.0)))


def random_motion(seed: int, samples: int = 7, *, spread: float = 1.0, marks: bool = True) -> Motion:
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.01, 0.2, samples))
    q = DOLL.start + spread * rng.normal(size=(samples, DOLL.n_q))
    v = rng.normal(size=q.shape)
    tension, push = rng.uniform(0, 9, (samples, 2)), rng.uniform(0, 9, (samples, 2))
    cues = (Mark(float(t[1]), "cue"), Mark(float(t[-1]), "end", "cue")) if marks else ()
    return Motion.of(DOLL, t, q, v=v, tension=tension, contact=push, marks=cues)


seeds = st.integers(0, 2**32 - 1)


# -- what a motion is ---------------------------------------------------------------------------------------


def test_holds_what_it_was_given() -> None:
    motion = random_motion(1)
    assert motion.figure is DOLL
    assert motion.names == ("doll",)
    assert len(motion) == 7
    assert motion.duration == motion.t[-1] - motion.t[0]
    assert np.array_equal(motion.column("lknee"), motion.q[:, DOLL.index("lknee")])
    assert motion.track("doll") is motion.only
    assert [mark.text for mark in motion.marks] == ["cue", "end"]
    assert "doll" in repr(motion)
    assert "tension" in repr(motion.only)


def test_is_frozen_and_copies() -> None:
    q = np.zeros((2, 1))
    motion = Motion.of(PENDULUM, [0.0, 1.0], q)
    q[0] = 5.0
    assert motion.q[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        motion.q[0, 0] = 1.0


def test_equality_is_by_content() -> None:
    a, b = random_motion(3), random_motion(3)
    assert a == b
    assert hash(a) == hash(b)
    assert a != random_motion(4)
    assert a != a.replace(marks=())
    assert a != Motion.of(DOLL, a.t, a.q, v=a.v, tension=a.tension, marks=a.marks)
    assert a != Motion.of(DOLL, a.t, a.q, v=a.v, tension=a.tension, contact=a.contact, marks=a.marks, name="twin")


@pytest.mark.parametrize(
    ("t", "q", "error", "message"),
    [
        ([0, 1], [[0]], MotionError, "1 samples, t has 2"),
        ([0, 1], [[0, 1], [0, 1]], MotionError, r"\(2, 2\), expected \(samples, 1\)"),
        ([0, 1], [0, 1], MotionError, "expected"),
        ([0, 1], [[0], [np.nan]], NotFinite, r"q\[1, 0\] is nan"),
        ([0, np.inf], [[0], [0]], NotFinite, r"t\[1\] is inf"),
        ([0, 0], [[0], [0]], MotionError, r"t\[0\] = 0 is followed by 0"),
        ([1, 0], [[0], [0]], MotionError, "does not increase"),
        ([], np.zeros((0, 1)), MotionError, "shape"),
        ([[0, 1]], [[0], [0]], MotionError, "shape"),
        ([0, 1], "junk", MotionError, "not an array of numbers"),
    ],
)
def test_bad_arrays(t: Any, q: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Motion.of(PENDULUM, t, q)


def test_bad_tracks_and_marks() -> None:
    track = Track(PENDULUM, np.zeros((2, 1)))
    with pytest.raises(MotionError, match="has no track"):
        Motion(np.array([0.0, 1.0]), ())
    with pytest.raises(MotionError, match="share a name"):
        Motion(np.array([0.0, 1.0]), (track, track))
    with pytest.raises(MotionError, match=r"v has shape \(3, 1\), expected \(2, 1\)"):
        Track(PENDULUM, np.zeros((2, 1)), np.zeros((3, 1)))
    with pytest.raises(MotionError, match="tension has shape"):
        Track(PENDULUM, np.zeros((2, 1)), tension=np.zeros((2, 1)))
    with pytest.raises(NotFinite):
        Mark(float("nan"), "never")


def test_several_figures() -> None:
    t = np.array([0.0, 1.0])
    twins = tuple(Track(PENDULUM, np.full((2, 1), x), name=name) for x, name in ((1.0, "left"), (2.0, "right")))
    motion = Motion(t, twins)
    assert motion.track("right").q[0, 0] == 2.0
    with pytest.raises(MotionError, match="2 tracks"):
        _ = motion.q
    with pytest.raises(UnknownName, match="right"):
        motion.track("rigth")


def test_together_shares_the_times_of_the_first() -> None:
    a = Motion.of(PENDULUM, [0.0, 1.0, 2.0], [[0], [1], [2]], name="a")
    b = Motion.of(PENDULUM, [0.5, 2.5], [[0], [4]], name="b")
    both = together(a, b)
    assert both.t.tolist() == [1.0, 2.0]
    assert both.track("b").q[:, 0].tolist() == [1.0, 3.0]
    with pytest.raises(MotionError, match="share no time"):
        together(a, b.shift(10.0))


# -- orientation --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["zyx", "zxy", "xyz", "xzy", "yxz", "yzx"])
def test_three_rotations_are_an_orientation(order: str) -> None:
    make = {"x": rx, "y": ry, "z": rz}
    node: Any = make[order[2]]("c", capsule(0.1, 0.2, mass=1.0))
    node = make[order[0]]("a", make[order[1]]("b", node))
    gimbal = figure("gimbal", node)
    (turn,) = turns(gimbal)
    rng = np.random.default_rng(0)
    for q in rng.uniform(-7, 7, (50, 3)):
        R = plain_kinematics.poses(gimbal.frames, dict(zip(gimbal.names, q, strict=True)))["c"][:3, :3]
        assert np.allclose(so3.matrix(turn.quaternion(q)), R, atol=1e-12)
        assert np.allclose(turn.angles(R, q), q, atol=1e-9)  # the branch that it came from
    path = np.cumsum(rng.normal(scale=0.2, size=(400, 3)), 0)
    assert np.ptp(path[:, 1]) > np.pi  # over the singularity and back
    assert np.allclose(turn.along(so3.matrix(turn.quaternion(path)), path[0]), path, atol=1e-7)


def test_orientation_at_the_singularity() -> None:
    (turn,) = turns(figure("b", ball("j", capsule(0.1, 0.2, mass=1.0))))
    for y in (np.pi / 2, -np.pi / 2):
        near = np.array([0.3, y, 0.4])
        R = so3.matrix(turn.quaternion(near))
        assert np.allclose(turn.angles(R, near), near, atol=1e-7)


def test_free_joints_and_balls_have_orientations() -> None:
    assert {turn.name for turn in turns(DOLL)} == {"torso", "lhip", "rhip"}
    motion = random_motion(5, 200, spread=0.3)
    q = motion.orientation("torso")
    assert q.shape == (200, 4)
    assert np.all(np.sum(q[1:] * q[:-1], -1) >= 0.0)
    with pytest.raises(UnknownName, match="torso"):
        motion.orientation("trso")


@given(seeds, st.floats(0.0, 1.0))
def test_sampling_goes_the_shortest_way(seed: int, s: float) -> None:
    motion = random_motion(seed, 2)
    t = float(motion.t[0] + s * motion.duration)
    middle = motion.sample(t)
    for turn in turns(DOLL):
        a, b = (turn.quaternion(motion.q[k]) for k in (0, 1))
        s_t = (t - motion.t[0]) / motion.duration
        got = turn.quaternion(middle)
        assert abs(abs(got @ so3.slerp(a, b, s_t)) - 1.0) < 1e-9
    a, b = motion.column("lknee")
    assert middle[DOLL.index("lknee")] == pytest.approx(a + (t - motion.t[0]) / motion.duration * (b - a))


@given(seeds)
def test_sampling_at_the_samples_is_exact(seed: int) -> None:
    motion = random_motion(seed, spread=3.0)
    assert np.array_equal(motion.sample(motion.t), motion.q)
    assert np.array_equal(motion.sample(float(motion.t[2])), motion.q[2])


def test_holds_still_outside() -> None:
    motion = random_motion(8)
    assert np.array_equal(motion.sample(-10.0), motion.q[0])
    assert np.array_equal(motion.sample([10.0, 11.0]), motion.q[[-1, -1]])


def test_sampling_refuses_nan() -> None:
    with pytest.raises(NotFinite):
        random_motion(8).sample(float("nan"))


def test_unwrap_removes_jumps_and_keeps_every_orientation() -> None:
    rng = np.random.default_rng(2)
    q = np.cumsum(rng.normal(scale=0.2, size=(500, DOLL.n_q)), 0)
    wrapped = np.where([v.motion == "rotate" for v in DOLL.variables], (q + np.pi) % (2 * np.pi) - np.pi, q)
    motion = Motion.of(DOLL, np.arange(500.0), wrapped).unwrap()
    assert np.max(np.abs(np.diff(motion.q, axis=0))) < 1.5
    for turn in turns(DOLL):
        dots = np.sum(turn.quaternion(motion.q) * turn.quaternion(q), -1)
        assert np.allclose(np.abs(dots), 1.0, atol=1e-12)


# -- changes ------------------------------------------------------------------------------------------------


@given(seeds, st.floats(0, 1), st.floats(0, 1))
def test_slice_has_a_sample_at_each_end(seed: int, a: float, b: float) -> None:
    motion = random_motion(seed)
    start, end = (min(float(motion.t[0] + x * motion.duration), float(motion.t[-1])) for x in sorted((a, b)))
    part = motion.slice(start, end)
    assert part.t[0] == start
    assert part.t[-1] == end
    assert np.allclose(part.sample(part.t), motion.sample(part.t))
    assert set(part.marks) == {mark for mark in motion.marks if start <= mark.t <= end}


@given(seeds, st.integers(1, 5))
def test_slices_join_to_the_whole(seed: int, k: int) -> None:
    motion = random_motion(seed, marks=False)
    seam = float(motion.t[k])
    whole = motion.slice(end=seam).join(motion.slice(start=seam))
    assert whole == motion


@given(seeds, seeds, seeds)
def test_join_is_associative(a: int, b: int, c: int) -> None:
    x, y, z = (random_motion(seed, 3) for seed in (a, b, c))
    left, right = x.join(y).join(z), x.join(y.join(z))
    assert np.allclose(left.t, right.t, rtol=0, atol=1e-12)
    assert left.tracks == right.tracks
    assert [m.text for m in left.marks] == [m.text for m in right.marks]


@given(seeds, st.floats(0.01, 1.0))
def test_blend_fades_from_one_into_the_other(seed: int, part: float) -> None:
    a, b = random_motion(seed, 20, spread=0.2), random_motion(seed + 1, 20, spread=0.2)
    blend = part * min(a.duration, b.duration)
    joined = a.join(b, blend=blend)
    assert joined.duration == pytest.approx(a.duration + b.duration - blend)
    start = a.t[-1] - blend
    before = joined.t <= start
    assert np.allclose(joined.q[before], a.sample(joined.t[before]))
    after = joined.t >= a.t[-1]
    assert np.allclose(joined.q[after], b.sample(joined.t[after] - start + b.t[0]))
    assert joined.tension is None
    assert joined.v is not None


def test_blended_rates_are_the_rates_of_the_blend() -> None:
    t = np.linspace(0, 2, 2001)
    swing = Motion.of(PENDULUM, t, np.sin(3 * t)[:, None], v=3 * np.cos(3 * t)[:, None])
    fall = Motion.of(PENDULUM, t, (t**2)[:, None], v=(2 * t)[:, None])
    joined = swing.join(fall, blend=1.0)
    assert joined.v is not None
    error = np.abs(np.gradient(joined.q[:, 0], joined.t, edge_order=2) - joined.v[:, 0])
    seams = np.isin(np.round(joined.t, 3), (1.0, 2.0))  # the acceleration jumps there
    assert seams.sum() == 2
    assert np.max(error[~seams]) < 1e-4


def test_join_needs_the_same_figures_and_a_blend_that_fits() -> None:
    motion = random_motion(1)
    with pytest.raises(MotionError, match="cannot join"):
        motion.join(Motion.of(PENDULUM, [0.0], [[0.0]]))
    with pytest.raises(MotionError, match="blend over 99"):
        motion.join(motion, blend=99.0)
    with pytest.raises(MotionError, match="blend over nan"):
        motion.join(motion, blend=float("nan"))


@given(seeds, st.floats(0.003, 3.0))
def test_resample_every_dt(seed: int, dt: float) -> None:
    motion = random_motion(seed)
    even = motion.resample(dt)
    assert even.t[0] == motion.t[0]
    assert np.allclose(np.diff(even.t), dt)
    assert motion.t[-1] - dt * (1 + 1e-6) < even.t[-1] <= motion.t[-1] + 1e-9
    assert np.allclose(even.q, motion.sample(even.t))
    assert even.marks == motion.marks


@given(seeds)
def test_resample_there_and_back(seed: int) -> None:
    motion = random_motion(seed)
    finer = np.union1d(motion.t, np.linspace(motion.t[0], motion.t[-1], 50))
    assert motion.resample(times=finer).resample(times=motion.t) == motion


def test_resample_keeps_the_last_sample_of_even_times() -> None:
    motion = Motion.of(PENDULUM, np.linspace(0, 1, 11), np.zeros((11, 1)))
    assert len(motion.resample(0.05)) == 21
    assert len(motion.resample(0.1)) == 11


@pytest.mark.parametrize("wrong", [{}, {"dt": 0.1, "times": [0.0]}, {"dt": 0.0}, {"dt": -1.0}, {"dt": 1e-300}])
def test_resample_refuses(wrong: Any) -> None:
    with pytest.raises(MotionError):
        random_motion(1).resample(**wrong)


@given(seeds, st.floats(0.1, 10.0))
def test_retime_scales_rates_and_marks(seed: int, speed: float) -> None:
    motion = random_motion(seed)
    fast = motion.retime(speed)
    assert fast.duration == pytest.approx(motion.duration / speed)
    assert np.array_equal(fast.q, motion.q)
    assert motion.v is not None
    assert fast.v is not None
    assert np.allclose(fast.v, motion.v * speed)
    assert fast.tension is None
    assert fast.contact is None
    assert fast.marks[0].t == pytest.approx(fast.t[1])
    back = fast.retime(1 / speed)
    assert np.allclose(back.t, motion.t)


def test_retime_by_a_map() -> None:
    t = np.linspace(0, 1, 1001)
    motion = Motion.of(PENDULUM, t, np.sin(t)[:, None], v=np.cos(t)[:, None])
    slow = motion.retime(lambda t: t + 0.3 * t**2)
    assert slow.v is not None
    assert np.allclose(np.gradient(slow.q[:, 0], slow.t, edge_order=2), slow.v[:, 0], atol=1e-3)
    with pytest.raises(MotionError, match="do not increase"):
        motion.retime(lambda t: -t)
    with pytest.raises(MotionError, match="factor of 0"):
        motion.retime(0.0)
    with pytest.raises(NotFinite):
        motion.retime(lambda t: t * np.nan)


# -- left and right -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("lhip", "rhip"),
        ("LeftArm", "RightArm"),
        ("left_arm", "right_arm"),
        ("rig:LeftHand", "rig:RightHand"),
        ("foot_l", "foot_r"),
        ("Foot.L", "Foot.R"),
        ("fl_hip", "fr_hip"),
        ("LHipJoint", "RHipJoint"),
        ("upper_left_leg", "upper_right_leg"),
        ("LEFT", "RIGHT"),
        ("l_rail", "r_rail"),
    ],
)
def test_partners(name: str, other: str) -> None:
    known = {name, other, "lower_back", "Neck", "collar"}
    assert partner(name, known) == other
    assert partner(other, known) == name
    assert partner("lower_back", known) == "lower_back"
    assert partner("collar", known) == "collar"


@given(seeds)
@settings(max_examples=30)
def test_mirror_is_the_mirror_image(seed: int) -> None:
    motion = random_motion(seed, 2)
    mirrored = motion.mirror()
    S = np.diag([-1.0, 1.0, 1.0, 1.0])
    for q, q_mirrored in zip(motion.q, mirrored.q, strict=True):
        X = plain_kinematics.poses(DOLL.frames, dict(zip(DOLL.names, q, strict=True)))
        Y = plain_kinematics.poses(DOLL.frames, dict(zip(DOLL.names, q_mirrored, strict=True)))
        for frame in ("torso", "lhip", "lknee", "lfoot", "rfoot", "left_leg_spindle"):
            assert np.allclose(S @ X[frame] @ S, Y[partner(frame, Y)], atol=1e-12)
    assert motion.tension is not None
    assert mirrored.tension is not None
    assert np.array_equal(mirrored.tension, motion.tension[:, ::-1])


@pytest.mark.parametrize("name", ["marionette22", "marionette25", "mannequin", "humanoid", "gecko"])
def test_the_library_has_two_sides(name: str) -> None:
    figure = library.named(name)
    q = figure.start + 0.2 * np.random.default_rng(0).normal(size=(2, figure.n_q))
    motion = Motion.of(figure, [0.0, 1.0], q)
    mirrored = motion.mirror()
    assert mirrored.mirror() == motion
    assert mirrored != motion
    axis = 0 if name.startswith("marionette") else 1
    S = np.diag([-1.0 if k == axis else 1.0 for k in range(4)])
    X, Y = (plain_kinematics.poses(figure.frames, dict(zip(figure.names, m.q[1], strict=True))) for m in (motion, mirrored))
    for shape in figure.shapes:
        other = partner(shape.frame, X)
        if "torso_spindle" not in shape.frame and "torso_y" not in shape.frame:
            assert np.allclose((S @ X[shape.frame])[:3, 3], Y[other][:3, 3], atol=1e-6), shape.frame
    for rope in figure.strings:  # which may be paired by where they run, not by name
        reach = {s.name: plain_kinematics.path_length(Y, s) for s in figure.strings}
        assert any(abs(plain_kinematics.path_length(X, rope) - length) < 1e-6 for length in reach.values())


@settings(max_examples=25)
@given(seeds)
def test_mirror_twice_is_nothing(seed: int) -> None:
    motion = random_motion(seed)
    assert motion.mirror().mirror() == motion
    assert motion.mirror("x") == motion.mirror()


def test_mirror_needs_two_sides() -> None:
    motion = random_motion(1)
    with pytest.raises(MotionError, match="across y"):
        motion.mirror("y")
    lame = figure("lame", free("torso", rx("lhip", at=(-0.1, 0, 0)), rx("rhip", at=(0.1, 0, 0.01))))
    step = Motion.of(lame, [0.0], [lame.configuration(lhip=0.5)])
    with pytest.raises(MotionError, match="not the mirror image"):
        step.mirror()
    assert step.mirror(tolerance=0.02).column("rhip") == pytest.approx(0.5)
