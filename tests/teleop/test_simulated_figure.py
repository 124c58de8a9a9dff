from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.figure.build import capsule, closure, figure, rx, string
from bunraku.kinematics import pose
from bunraku.stage import Posing, Pull, Release, Sample, Sticks, Winch
from bunraku.stage.input_log import InputLog, replay
from bunraku.teleop import Simulated
from bunraku.teleop.rubber_bands import BandOptions
from bunraku.teleop.simulated_figure import placed
from tests.kinematics.inverse.test_drag import on_a_drum

FIGURE = library.named("marionette25")
NAMES = [s.name for s in FIGURE.strings]


def run(live: Simulated, steps: int) -> Sample:
    for _ in range(steps):
        sample = live.step()
    return sample


def test_left_alone_it_hangs_still() -> None:
    sample = run(Simulated(FIGURE), 200)
    np.testing.assert_allclose(sample.q[0], FIGURE.start, atol=0.02)
    assert sample.tension[0].sum() == pytest.approx(FIGURE.mass * 9.81, rel=0.05)
    assert sample.at_limit == ()


def test_a_spindle_goes_where_it_is_dragged_and_the_limb_follows() -> None:
    live = Simulated(FIGURE)
    before = run(live, 20)
    start = pose(FIGURE, before.q[0])
    string = next(s for s in FIGURE.strings if s.name == "right_arm")
    at = start.point(string.spindle.frame, string.spindle.position)
    live.apply(Pull(0, "spindle", "right_arm", (at[0] + 0.05, at[1] + 0.08, at[2])))
    samples = [live.step() for _ in range(200)]
    now = pose(FIGURE, samples[-1].q[0])
    moved = now.point(string.spindle.frame, string.spindle.position) - at
    np.testing.assert_allclose(moved, [0.05, 0.08, 0.0], atol=2e-3)
    hand = [p.point(string.hook.frame, string.hook.position) for p in (start, now)]
    assert np.linalg.norm(hand[1] - hand[0]) > 0.005
    k = NAMES.index("right_arm")
    assert np.ptp([s.tension[0][k] for s in samples]) > 0.05 * before.tension[0][k]


def test_winding_lifts_the_hand() -> None:
    live = Simulated(FIGURE)
    hook = next(s for s in FIGURE.strings if s.name == "left_arm").hook
    low = pose(FIGURE, live.reset().q[0]).point(hook.frame, hook.position)[2]
    live.apply(Winch(0, "left_arm", -0.08))
    assert pose(FIGURE, run(live, 300).q[0]).point(hook.frame, hook.position)[2] > low + 0.04


def test_a_hand_that_rises_winds_the_string_of_a_spindle_that_cannot() -> None:
    live = Simulated(FIGURE)
    string = next(s for s in FIGURE.strings if s.name == "left_arm")
    k = FIGURE.index(string.variable or "")
    x, y, z = (float(v) for v in pose(FIGURE, live.reset().q[0]).point(string.spindle.frame, string.spindle.position))
    for height in (0.02, 0.05, 0.08):
        live.apply(Pull(0, "spindle", "left_arm", (x, y, z + height)))
    assert run(live, 200).q[0][k] == pytest.approx(FIGURE.start[k] - 0.08, abs=2e-3)
    live.apply(Pull(0, "spindle", "left_arm", (x, y, z)))
    assert run(live, 200).q[0][k] == pytest.approx(FIGURE.start[k], abs=2e-3)


def test_the_ends_of_strings_are_told() -> None:
    live = Simulated(FIGURE)
    live.apply(Winch(0, "left_arm", -3.0))
    assert live.step().notices == ("the string left arm is wound in as far as it goes",)
    live.apply(Winch(0, "left_arm", -3.0))
    assert live.step().notices == ()  # not again at once


def test_ball_joints_have_stops() -> None:
    """Limbs pulled to every corner: the first two angles stay exactly within limits, and the last does not wind round."""
    lower, upper = (limit[: FIGURE.n_dynamic] for limit in FIGURE.limits)
    live, worst = Simulated(FIGURE, dt=0.01), np.zeros(FIGURE.n_dynamic)
    rng = np.random.default_rng(26)
    for frame in ("lknee_rx", "rknee_rx", "lelbow_rx", "relbow_rx", "neck"):
        for to in rng.uniform(-2.0, 2.0, (3, 3)):
            live.reset()
            live.apply(Pull(0, "body", frame, (to[0], to[1], to[2]), (0.0, 0.0, -0.08)))
            for _ in range(150):
                q = live.step().q[0][: FIGURE.n_dynamic]
                worst = np.maximum(worst, np.maximum(q - upper, lower - q))
    for name, beyond in zip(FIGURE.dynamic, worst, strict=True):
        joint = name.rpartition("_")[0]
        last = name.endswith("_rx") and joint + "_rz" in FIGURE.dynamic
        assert beyond < ((1.8 if "shoulder" in joint else 0.3) if last else 1e-6), (name, beyond)


def test_a_pin_holds_a_limb_without_a_hand() -> None:
    live = Simulated(FIGURE)
    at = pose(FIGURE, live.reset().q[0]).point("relbow_rx", (0.0, 0.0, -0.08))
    x, y, z = (float(v) for v in at)
    live.apply(Pull(0, "pin", "relbow_rx", (x, y + 0.1, z + 0.1), (0.0, 0.0, -0.08)))
    held = pose(FIGURE, run(live, 300).q[0]).point("relbow_rx", (0.0, 0.0, -0.08))
    assert held[2] > z + 0.05
    live.apply(Release(0, "pin", "relbow_rx"))
    assert len(live._puppets[0].bands) == 0


def test_a_hook_is_drawn_toward_the_hand() -> None:
    live = Simulated(FIGURE)
    hook = next(s for s in FIGURE.strings if s.name == "left_leg").hook
    at = pose(FIGURE, live.reset().q[0]).point(hook.frame, hook.position)
    live.apply(Pull(0, "hook", "left_leg", (at[0], at[1] + 0.15, at[2] + 0.05)))
    drawn = pose(FIGURE, run(live, 200).q[0]).point(hook.frame, hook.position)
    assert drawn[1] > at[1] + 0.05
    live.apply(Release(0, "hook", "left_leg"))
    assert len(live._puppets[0].bands) == 0


def test_any_limb_is_drawn_toward_the_hand_and_swings_back() -> None:
    """A point of the lower leg, where no string is hooked."""
    live = Simulated(FIGURE)
    before = run(live, 50)
    frame, at = "lknee_rx", (0.0, 0.0, -0.06)
    place = pose(FIGURE, before.q[0]).point(frame, at)
    live.apply(Pull(0, "body", frame, (place[0], place[1] + 0.12, place[2] + 0.04), at))
    drawn = pose(FIGURE, run(live, 200).q[0]).point(frame, at)
    assert drawn[1] > place[1] + 0.05
    live.apply(Release(0, "body", frame))
    np.testing.assert_allclose(pose(FIGURE, run(live, 1600).q[0]).point(frame, at), place, atol=0.02)


def test_a_band_is_a_force_like_any_other() -> None:
    """Held by a band alone, a pendulum hangs where its weight and the stretch of the band balance."""
    figure = library.pendulum(length=0.5, mass=2.0, damping=0.4, start=0.0)
    live = Simulated(figure)
    weight = 2.0 * 9.81
    live.apply(Pull(0, "body", "tip", (0.3, 0.0, -0.4)))
    end = pose(figure, run(live, 2000).q[0]).point("tip")
    force = BandOptions().stiffness * weight * (np.array([0.3, 0.0, -0.4]) - end) - np.array([0.0, 0.0, weight])
    along = end / np.linalg.norm(end)
    np.testing.assert_allclose(force - (force @ along) * along, 0.0, atol=1e-3 * weight)


def test_without_hands_a_grasp_leaves_nothing_behind() -> None:
    """The same steps to the last bit as if nobody had ever come, once a hand has let go before the first of them."""
    alone, other = Simulated(FIGURE), Simulated(FIGURE)
    other.apply(Pull(0, "body", "lknee_rx", (5.0, 5.0, 5.0)))
    other.apply(Release(0, "body", "lknee_rx"))
    assert run(alone, 50).q[0].tobytes() == run(other, 50).q[0].tobytes()


def test_the_carriage_of_a_spindle_goes_with_the_hand() -> None:
    live = Simulated(FIGURE)
    string = next(s for s in FIGURE.strings if s.name == "right_arm")
    at = pose(FIGURE).point(string.spindle.frame)
    live.apply(Pull(0, "body", string.spindle.frame, (at[0] + 0.05, at[1], at[2])))
    moved = pose(FIGURE, run(live, 200).q[0]).point(string.spindle.frame) - at
    np.testing.assert_allclose(moved, [0.05, 0.0, 0.0], atol=2e-3)


def test_sticks_move_the_whole_controller() -> None:
    live = Simulated(FIGURE)
    com = pose(FIGURE, live.reset().q[0]).com
    live.apply(Sticks((0.5, 0.0, 0.0, 0.0)))
    assert pose(FIGURE, run(live, 200).q[0]).com[0] > com[0] + 0.1


places = st.tuples(st.floats(-20, 20), st.floats(-20, 20), st.floats(-20, 20))
commands = st.one_of(
    st.builds(Pull, st.just(0), st.sampled_from(["spindle", "hook"]), st.sampled_from([*NAMES, "nobody"]), places),
    st.builds(Pull, st.just(0), st.just("body"), st.sampled_from([*FIGURE.frame_index, "nowhere"]), places, places),
    st.builds(Winch, st.just(0), st.sampled_from(NAMES), st.floats(-3, 3)),
    st.builds(Release, st.just(0), st.sampled_from(["spindle", "hook"]), st.sampled_from(NAMES)),
    st.builds(Sticks, st.tuples(*[st.floats(-1, 1)] * 4)),
    st.builds(Pull, st.just(7), st.just("spindle"), st.just("head"), places),
)


@settings(max_examples=15)
@given(st.lists(commands, min_size=1, max_size=6))
def test_no_pull_breaks_it(wild: list[object]) -> None:
    """Whatever is asked for: numbers stay finite, strings stay whole, and it goes on living."""
    live = Simulated(FIGURE, dt=0.01)
    for command in wild:
        live.apply(command)  # type: ignore[arg-type]
        for _ in range(25):
            sample = live.step()
            assert np.isfinite(sample.q[0]).all()
            assert np.isfinite(sample.tension[0]).all()
            assert sample.series[3] < 0.1  # mm that a string is too short
    assert sample.t == pytest.approx(0.25 * len(wild))


def test_beyond_reach_it_is_held_and_says_so_and_comes_back() -> None:
    live = Simulated(FIGURE)
    live.apply(Pull(0, "spindle", "head", (5.0, 5.0, 1.3)))
    held, told = set(), []
    for _ in range(400):
        sample = live.step()
        held |= {name for _, name in sample.at_limit}
        told += sample.notices
    assert "head" in held
    assert any("head holds the hand back" in text for text in told)
    assert len(told) < 12
    live.apply(Release(0, "spindle", "head"))
    assert run(live, 400).at_limit == ()


def test_reset_and_replay_are_exact() -> None:
    live = Simulated(FIGURE)
    drag = Pull(0, "spindle", "head", (0.1, 0.1, 1.5))
    log = InputLog(live, [(3, drag), (40, Winch(0, "left_leg", -0.1)), (60, Sticks((0.2, 0.0, 1.0, 0.0)))])
    first = replay(log, live, 120)
    again = replay(log, live, 120)
    other = replay(log, Simulated(FIGURE), 120)
    for a, b, c in zip(first, again, other, strict=True):
        assert a.q[0].tobytes() == b.q[0].tobytes() == c.q[0].tobytes()
        assert a.tension[0].tobytes() == b.tension[0].tobytes()


def test_placed_elsewhere_it_is_the_same() -> None:
    there = placed(FIGURE, (1.0, 2.0, 0.5), name="other")
    q = FIGURE.start + 0.01
    np.testing.assert_allclose(pose(there, q).com, np.add(pose(FIGURE, q).com, (1.0, 2.0, 0.5)), atol=1e-12)
    np.testing.assert_allclose(pose(there, q).gaps, pose(FIGURE, q).gaps, atol=1e-12)


def test_a_troupe_is_moved_together_and_pulled_apart() -> None:
    live = Simulated(FIGURE, placed(FIGURE, (1.0, 0.0, 0.0), name="second"), dt=0.01)
    live.apply(Winch(1, "left_arm", -0.05))
    sample = run(live, 50)
    np.testing.assert_allclose(sample.q[0], FIGURE.start, atol=0.02)
    assert np.abs(sample.q[1] - FIGURE.start).max() > 0.04


def test_what_is_out_of_joint_at_the_start_begins_at_rest() -> None:
    """A mechanism whose loop is drawn open, as files have them; what no pose satisfies is told."""
    parts = (
        rx("crank", capsule(0.02, to=(0, 0, -0.2), mass=0.3), start=0.7),
        rx("rocker", capsule(0.02, to=(0, 0, -0.3), mass=0.4), at=(0, 0.3, 0)),
    )
    loop = figure("loop", *parts, closures=[closure("pin", ("crank", (0, 0.3, -0.2)), ("rocker", (0, 0, -0.3)), kind="plane")])
    live = Simulated(loop)
    first = live.step()
    sample = run(live, 50)
    np.testing.assert_allclose(sample.q[0], first.q[0], atol=1e-6)
    torn = figure("torn", parts[0], strings=[string("s", ("crank", (0, 0, -0.2)), ("world", (0, 0, 3)), 1.0)])
    with pytest.raises(BunrakuError, match="strings do not reach"):
        Simulated(torn)


@pytest.mark.parametrize("live", [Posing, Simulated])
def test_a_winch_means_metres_of_string_on_a_drum_too(live: type[Posing] | type[Simulated]) -> None:
    """Ten centimetres on a drum of 2 cm are five radians, posed or simulated."""
    f = on_a_drum(0.02)
    stage = live(f)
    stage.apply(Winch(0, "rope", -0.1))
    for _ in range(1200):
        q = stage.step().q[0]
    assert q[f.index("drum")] == pytest.approx(-5.0, abs=1e-3)
