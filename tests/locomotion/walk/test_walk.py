from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicSpline

from bunraku.collision import World
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk import load_cycles, walk
from bunraku.locomotion.walk.legs import legs_of
from bunraku.scene import Scene

PERSON = library.named("mannequin")
BASE = PERSON.indices(("pelvis_tx", "pelvis_ty", "pelvis_rz"))
KINDS = ("straight", "backward", "sideways", "curve", "on the spot", "askew")


def along(length, seconds, samples):
    """From rest to rest, with a speed that rises and falls over an eighth of the time."""
    t = np.linspace(0.0, seconds, samples)
    speed = np.minimum(1.0, 8.0 * np.minimum(t, seconds - t) / seconds)
    s = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))])
    return t, length * s / s[-1]


def way(kind, length=6.0, seconds=12.0, samples=268):
    t, s = along(length, seconds, samples)
    zero = 0.0 * s
    return t, {
        "straight": np.stack([s, zero, zero], 1),
        "backward": np.stack([-s, zero, zero], 1),
        "sideways": np.stack([zero, 0.5 * s, zero], 1),
        "curve": np.stack([1.5 * np.sin(s / 1.5), 1.5 * (1.0 - np.cos(s / 1.5)), s / 1.5], 1),
        "on the spot": np.stack([zero, zero, -s], 1),
        "askew": np.stack([0.6 * s, -0.4 * s, 0.4 * np.sin(s)], 1),
    }[kind]  # fmt: skip


def corners(walked):
    """Ends of both soles over time, by forward kinematics: (foot, end, sample, 3)."""
    frames = frames_along(walked.figure, walked.Q)
    out = []
    for leg in legs_of(walked.figure):
        X = frames[:, walked.figure.frame_index[f"{leg.side}_ankle"]]
        out.append([X[:, :3, :3] @ [x, 0.0, -leg.ankle] + X[:, :3, 3] for x in (leg.heel, leg.toe)])
    return np.array(out)


def apart(walked):
    """How far the left ankle is to the left of the right one, as the pelvis sees it."""
    frames, heading = frames_along(walked.figure, walked.Q), walked.Q[:, BASE[2]]
    left, right = (frames[:, walked.figure.frame_index[f"{side}_ankle"], :2, 3] for side in ("left", "right"))
    return ((left - right) * np.stack([-np.sin(heading), np.cos(heading)], 1)).sum(1)


def assert_walks(walked, base, *, jump=0.2):
    lower, upper = walked.figure.limits
    assert np.array_equal(walked.Q[:, BASE], base)
    assert walked.slide < 1e-6
    assert np.maximum(lower - walked.Q, walked.Q - upper).max() <= 0.0
    assert walked.jump < jump
    assert apart(walked).min() > 0.03


@pytest.mark.parametrize("kind", KINDS)
def test_base_is_followed_and_soles_do_not_slide(kind):
    t, base = way(kind)
    assert_walks(walk(PERSON, t, base, gentle=0.19), base)


def test_as_gentle_where_samples_are_rare():
    t, base = way("curve", length=4.5, seconds=10.0, samples=78)
    assert_walks(walk(PERSON, t, base, gentle=0.19), base)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_any_way_is_walked(seed):
    knots = CubicSpline(np.linspace(0.0, 1.0, 6), np.random.default_rng(seed).normal(size=(6, 3)), bc_type="natural")
    u = np.linspace(0.0, 1.0, 400)
    speed = np.abs(knots(u, 1))
    cost = np.maximum(np.hypot(speed[:, 0], speed[:, 1]) / 0.7, speed[:, 2] / 0.8)  # [s] for the whole of it
    s = np.concatenate([[0.0], np.cumsum(0.5 * (cost[1:] + cost[:-1]) * np.diff(u))])
    t, share = along(s[-1], max(s[-1] / 0.875, 2.0), 268)
    base = knots(np.interp(share, s, u))
    dense = walk(PERSON, t, base, gentle=3.8 * (t[1] - t[0]))  # [rad/s], as in 12 s of 268 samples
    assert_walks(dense, base, jump=4.2 * (t[1] - t[0]))
    ends = corners(dense)
    assert ends[..., 2].min() > -0.01
    assert ends[..., 2].min((0, 1)).max() < 1e-6  # nobody jumps


@pytest.mark.parametrize("kind", KINDS)
def test_feet_stay_above_the_ground_and_one_is_always_on_it(kind):
    t, base = way(kind)
    ends = corners(walk(PERSON, t, base))
    assert ends[..., 2].min() > -1e-6
    assert ends[..., 2].min((0, 1)).max() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_the_body_does_not_touch_itself(kind):
    t, base = way(kind)
    world = World(PERSON, Scene("nowhere", floor=None))
    assert world.check(walk(PERSON, t, base).Q[::3]).clearance.min() > 0.0


def test_steps_are_as_long_as_peoples():
    """At 1.2 m/s people take 100 to 120 steps a minute of 0.6 m to 0.75 m, and stand on a foot for 62 % of a stride."""
    t, base = way("straight", length=12.6, seconds=12.0, samples=600)
    steady = [fall for fall in walk(PERSON, t, base).footfalls if 3.0 < fall.touch < 8.0]
    steps = np.diff([fall.place[0] for fall in steady])
    pace = np.diff([fall.touch for fall in steady])
    assert [fall.foot for fall in steady[:4]] in (["left", "right"] * 2, ["right", "left"] * 2)
    assert ((steps > 0.6) & (steps < 0.75)).all()
    assert ((pace > 0.5) & (pace < 0.6)).all()
    stance = np.mean([fall.leave - fall.touch for fall in steady[:4]]) / (2.0 * pace.mean())
    assert stance == pytest.approx(0.62, abs=0.02)


@pytest.mark.parametrize(("name", "speed"), [("slow", 0.4), ("comfortable", 1.2), ("fast", 1.6)])
def test_legs_move_as_was_measured(name, speed):
    """Hip and knee over a stride follow the published curves, though feet are bound to the ground and hips to the way."""
    t, base = way("straight", length=speed * 10.5, seconds=12.0, samples=900)
    walked = walk(PERSON, t, base)
    falls = [fall for fall in walked.footfalls if fall.foot == "left" and 3.0 < fall.touch < 9.0]
    first, second = falls[:2]
    phase = np.linspace(0.0, 1.0, 100, endpoint=False)
    times = np.interp(phase, [0.0, 0.6, 1.0], [first.touch, first.leave, second.touch])
    for joint, alike, off in (("hip_ry", 0.93, 0.12), ("knee_ry", 0.93, 0.13)):
        ours = np.interp(times, t, walked.Q[:, PERSON.index(f"left_{joint}")])
        published = load_cycles()[name].at(phase, f"left_{joint}")
        assert np.corrcoef(ours, published)[0, 1] > alike
        assert np.sqrt(np.mean((ours - published) ** 2)) < off


@pytest.mark.parametrize("speed", [0.5, 0.7, 1.0, 1.4])
def test_legs_move_so_at_speeds_between(speed):
    """Within 8° (root mean square) of the published curves, blended, and swinging knees bend as far."""
    t, base = way("straight", length=speed * 10.5, seconds=12.0, samples=900)
    walked = walk(PERSON, t, base)
    first, second = [fall for fall in walked.footfalls if fall.foot == "left" and 3.0 < fall.touch < 9.5][:2]
    phase = np.linspace(0.0, 1.0, 100, endpoint=False)
    times = np.interp(phase, [0.0, 0.6, 1.0], [first.touch, first.leave, second.touch])
    weights = np.repeat(load_cycles().weights(np.array([[speed, 0.0, 0.0]])), 100, 0)
    for joint in ("hip_ry", "knee_ry"):
        ours = np.interp(times, t, walked.Q[:, PERSON.index(f"left_{joint}")])
        published = load_cycles().blend(weights, phase, (f"left_{joint}",))[:, 0]
        assert np.sqrt(np.mean((ours - published) ** 2)) < np.radians(8.0)
    assert abs(ours.max() - published.max()) < np.radians(8.0)


def test_who_stands_does_not_move():
    t = np.linspace(0.0, 3.0, 50)
    walked = walk(PERSON, t, np.tile([1.0, 2.0, 0.5], (50, 1)))
    assert np.ptp(walked.Q, axis=0).max() < 1e-3
    assert len(walked.footfalls) == 2


def test_walks_begin_and_end_side_by_side():
    t, base = way("curve")
    walked = walk(PERSON, t, base)
    for sample, heading in ((0, base[0, 2]), (-1, base[-1, 2])):
        ankles = corners(walked)[:, 0, sample, :2]
        ahead = (ankles[0] - ankles[1]) @ [np.cos(heading), np.sin(heading)]
        assert abs(ahead) < 0.02


def test_a_pause_is_stood_through():
    t = np.linspace(0.0, 8.0, 300)
    x = np.interp(t, [0.0, 3.0, 5.0, 8.0], [0.0, 1.5, 1.5, 3.0])
    walked = walk(PERSON, t, np.stack([x, 0.0 * x, 0.0 * x], 1))
    rest = (t > 3.5) & (t < 4.5)
    assert np.ptp(walked.Q[rest], axis=0).max() < 0.01
    assert walked.slide < 1e-6


def test_the_head_looks_into_a_turn():
    t, base = way("curve")
    neck = walk(PERSON, t, base).Q[:, PERSON.index("neck_rz")]
    assert neck[100:160].mean() > 0.1


def test_without_sway_the_trunk_is_as_in_standing():
    t, base = way("curve")
    trunk = PERSON.indices([f"{part}_{v}" for part in ("waist", "chest") for v in ("rz", "ry", "rx")])
    assert np.ptp(walk(PERSON, t, base, sway=0.0).Q[:, trunk], axis=0).max() < 1e-9
    assert np.ptp(walk(PERSON, t, base).Q[:, trunk], axis=0).max() > 0.02


def test_the_same_way_gives_the_same_walk():
    t, base = way("askew")
    assert np.array_equal(walk(PERSON, t, base, gentle=0.19).Q, walk(PERSON, t, base, gentle=0.19).Q)


def test_a_heading_may_go_round():
    t, s = along(8.0, 12.0, 268)
    heading = np.remainder(s, 2.0 * np.pi)
    walked = walk(PERSON, t, np.stack([np.sin(s), -np.cos(s), heading], 1))
    assert np.abs(np.diff(walked.Q[:, BASE[2]])).max() < 0.2
    assert np.allclose(np.cos(walked.Q[:, BASE[2]]), np.cos(heading))


def test_what_no_legs_can_follow_is_said():
    """Ten metres in a moment: the base is followed all the same, and the slide tells."""
    t = np.linspace(0.0, 4.0, 100)
    x = np.where(t > 2.0, 10.0, 0.0)
    walked = walk(PERSON, t, np.stack([x, 0.0 * x, 0.0 * x], 1))
    assert np.isfinite(walked.Q).all()
    assert np.array_equal(walked.Q[:, BASE[0]], x)
    assert walked.slide > 1.0


# -- ground ----------------------------------------------------------------------------------------------------------


def stairs(points):
    return 0.16 * np.clip(np.floor((points[:, 0] - 2.0) / 0.32) + 1.0, 0.0, 5.0)


def down(points):
    return 0.8 - stairs(points)


def ramp(points):
    return np.clip(0.18 * (points[:, 0] - 2.0), 0.0, 0.6)


@pytest.mark.parametrize("heights", [stairs, down, ramp])
def test_feet_go_up_and_down(heights):
    t, base = way("straight")
    walked = walk(PERSON, t, base, heights=heights)
    lower, upper = PERSON.limits
    assert np.array_equal(walked.Q[:, BASE], base)
    assert walked.slide < 1e-6
    assert np.maximum(lower - walked.Q, walked.Q - upper).max() <= 0.0
    ends = corners(walked).reshape(-1, 3)
    assert (ends[:, 2] - heights(ends[:, :2])).min() > -0.01
    places = np.array([fall.place for fall in walked.footfalls])
    assert np.allclose(places[:, 2], heights(places[:, :2]), atol=0.01)
    assert np.abs(np.diff(places[:, 2])).max() < 0.17  # a step at a time
    assert walked.Q[-1, 2] - walked.Q[0, 2] == pytest.approx(float(np.diff(heights(base[[0, -1], :2]))[0]), abs=0.02)


@pytest.mark.parametrize("heights", [stairs, down, ramp])
def test_stairs_are_taken_gently_too(heights):
    t, base = way("straight", samples=500)
    assert walk(PERSON, t, base, heights=heights, gentle=0.19).jump < 0.2


def test_feet_tilt_with_a_slope():
    t, base = way("straight")
    slope = lambda points: 0.15 * points[:, 0]  # noqa: E731
    walked = walk(PERSON, t, base, heights=slope)
    heel, toe = corners(walked)[0, :, -1]
    assert (toe - heel)[2] == pytest.approx(0.15 * (toe - heel)[0], abs=1e-6)


# -- bad input -------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused():
    t, base = way("straight")
    with pytest.raises(BunrakuError, match="do not increase"):
        walk(PERSON, t[::-1], base)
    with pytest.raises(BunrakuError, match=r"base \(T, 3\)"):
        walk(PERSON, t, base[:-1])
    with pytest.raises(BunrakuError, match="not finite"):
        walk(PERSON, t, np.where(np.arange(3) == 1, np.nan, base))
    with pytest.raises(BunrakuError, match="cannot walk: it has no pelvis_tx"):
        walk(library.named("mobile_manipulator"), t, base)
    with pytest.raises(BunrakuError, match="heights gave"):
        walk(PERSON, t, base, heights=lambda points: points)
    with pytest.raises(BunrakuError, match="no height at"):
        walk(PERSON, t, base, heights=lambda points: np.full(len(points), np.nan))
