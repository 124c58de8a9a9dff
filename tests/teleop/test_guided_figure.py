"""A humanoid guided live: what the stage sends, what it shows, and that a log replays exactly."""

from __future__ import annotations

from pathlib import Path
from time import sleep

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.humanoid_file import planner_of
from bunraku.scene import Scene
from bunraku.stage import Pull, Release, Sample, Sticks
from bunraku.stage.input_log import InputLog, read_log, replay
from bunraku.stage.stage import Stage
from bunraku.teleop.guided_figure import GuidedInPhysics, GuidedLive
from bunraku.verbs.guide.run import entry, guide
from tests.locomotion.guide.robots import written
from tests.slow_cases import cases

FORWARD, MIDDLE = Sticks((0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)), Sticks((0.0,) * 7)


def run(live: GuidedLive, steps: int) -> list[Sample]:
    return [live.step() for _ in range(steps)]


@pytest.fixture(scope="module")
def live() -> GuidedLive:
    return GuidedLive(Guide(small_humanoid()))


def com(live: GuidedLive, sample: Sample) -> np.ndarray:
    return pose(live.figures[0], sample.q[0]).com


def test_a_stick_walks_it_and_letting_go_stops_it(live: GuidedLive) -> None:
    first = live.reset()
    live.apply(FORWARD)
    walked = run(live, 700)[-1]
    assert com(live, walked)[0] - com(live, first)[0] > 0.1
    live.apply(MIDDLE)
    rest = run(live, 400)
    assert np.abs(rest[-1].q[0] - rest[-100].q[0]).max() < 1e-3
    assert min(sample.series[0] for sample in rest) > 0.0, "the ZMP stays inside"


def test_no_sample_jumps(live: GuidedLive) -> None:
    live.reset()
    out = []
    for k in range(900):
        if k % 130 == 0:
            live.apply(Sticks((0.0, 1.0, 0.3, 0.0, float(k % 260 == 0), 0.0)))
        out.append(live.step().q[0])
    Q = np.array(out)
    assert np.abs(np.diff(Q, axis=0)).max() < 0.05
    assert np.abs(np.diff(Q, n=2, axis=0)).max() < 0.03


def test_switching_is_told(live: GuidedLive) -> None:
    live.reset()
    live.apply(Sticks((0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)))
    assert live.guided == "left_hand"
    assert live.step().notices == ("guiding the left hand",)


@pytest.mark.parametrize("robot", cases(("talos", "g1", "icub"), slow=("talos", "icub")))
def test_a_real_robot_on_the_stage(robot: str, tmp_path: Path) -> None:
    """Described to the page, and then walked, turned and made to reach by sticks."""
    plain, _ = Stage([entry(str(written(robot, tmp_path)), None)]).described("e0")
    assert [figure["name"] for figure in plain["figures"]] == [robot, "markers"]
    live = entry(str(written(robot, tmp_path)), None).open()
    assert isinstance(live, GuidedLive)
    heights = [v["start"] for v in plain["figures"][0]["variables"][:3]]
    assert np.allclose(heights, live.figures[0].start[:3], atol=1e-6), "it is framed where it stands"
    start = live.reset()
    live.apply(FORWARD)
    walked = run(live, 700)[-1]
    assert com(live, walked)[0] - com(live, start)[0] > 0.1
    live.apply(Sticks((0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)))
    turned = run(live, 600)[-1]
    assert turned.q[0][3] < walked.q[0][3] - 0.1
    live.apply(Sticks((0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)))
    live.apply(Sticks((0.0, 0.2, 0.0, 1.0, 0.0, 0.0, 0.0)))
    before, reached = hand_height(live, turned), hand_height(live, run(live, 600)[-1])
    assert reached > before + 0.05


def hand_height(live: GuidedLive, sample: Sample) -> float:
    hand = next(name for name in ("gripper_left_base_link", "left_wrist_yaw_link", "l_hand") if name in live.figures[0].frame_index)
    return float(pose(live.figures[0], sample.q[0]).point(hand)[2])


def test_a_dragged_hand_goes_to_the_mouse(live: GuidedLive) -> None:
    start = live.reset()
    hand = pose(live.figures[0], start.q[0]).point("left_hand")
    goal = hand + np.array([0.06, 0.03, 0.05])
    live.apply(Pull(0, "body", "left_elbow", (goal[0], goal[1], goal[2])))
    assert live.guided == "left_hand"
    end = run(live, 500)[-1]
    assert np.linalg.norm(pose(live.figures[0], end.q[0]).point("left_hand") - goal) < 0.01
    live.apply(Release(0, "body", "left_elbow"))


def test_a_log_replays_to_the_last_bit(live: GuidedLive) -> None:
    live.reset()
    log, seen = InputLog(live), []
    switch, reach = Sticks((0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0)), Sticks((0.4, 0.7, 0.0, 0.5, 0.0, 0.0, 0.4))
    inputs = {40: FORWARD, 330: switch, 345: reach, 600: MIDDLE}
    for step in range(700):
        if step in inputs:
            live.apply(inputs[step])
            log.add(step, inputs[step])
        seen.append(live.step())
    again = replay(read_log(log.to_json(), live), live, 700)
    assert all(np.array_equal(a.q[k], b.q[k]) for a, b in zip(seen, again, strict=True) for k in (0, 1))


def test_a_device_that_floods_or_sends_nonsense(live: GuidedLive) -> None:
    live.reset()
    rng = np.random.default_rng(0)
    for _ in range(300):
        for _ in range(50):
            live.apply(Sticks(tuple(rng.uniform(-1.0, 1.0, 6).tolist())))
        live.step()
    live.apply(Sticks((float("nan"),) * 6))
    out = run(live, 600)
    assert any("not a number" in notice for sample in out for notice in sample.notices)
    assert np.isfinite([sample.q[0] for sample in out]).all()
    assert np.abs(out[-1].q[0] - out[-50].q[0]).max() < 1e-3, "it stands"
    live.apply(Sticks((1.0,)))  # of another size: not for us
    live.step()


def test_a_pin_stays_in_what_is_guided(live: GuidedLive) -> None:
    live.reset()
    own = live.figures[0]
    humanoid = live._performer.guide.humanoid
    at = lambda sample: pose(live.figures[1], sample.q[1]).X("guided_point_spindle")[:3, 3]  # noqa: E731
    body = lambda sample, frame: pose(own, sample.q[0]).X(frame)[:3, 3]  # noqa: E731
    sample = live.step()
    assert np.linalg.norm(at(sample) - pose(own, sample.q[0]).com) < 0.02  # the trunk at first
    hand = humanoid.hands[0]
    live.apply(Pull(0, "body", hand, tuple(body(sample, hand) + np.array([0.05, 0.0, 0.05]))))
    for _ in range(30):
        sample = live.step()
        np.testing.assert_allclose(at(sample), body(sample, hand), atol=1e-9)
    live.apply(Release(0, "body", hand))
    for _ in range(200):  # and after the hand has let go
        sample = live.step()
    np.testing.assert_allclose(at(sample), body(sample, hand), atol=1e-9)
    live.apply(Pull(0, "body", humanoid.feet[1], tuple(body(sample, humanoid.feet[1]))))
    sample = live.step()
    np.testing.assert_allclose(at(sample), body(sample, humanoid.feet[1]), atol=1e-9)


def test_markers_show_where_things_are(live: GuidedLive) -> None:
    live.reset()
    live.apply(FORWARD)
    sample = run(live, 60)[-1]
    shown = pose(live.figures[1], sample.q[1])
    here = com(live, sample)
    assert np.linalg.norm(shown.point("com_spindle")[:2] - here[:2]) < 1e-3
    corners = np.array([shown.point(f"corner{k}_spindle") for k in range(8)])
    zmp = shown.point("zmp_spindle")
    assert (corners.min(0) - 1e-9 <= zmp).all()
    assert (zmp <= corners.max(0) + 1e-9).all()


def test_in_physics_it_walks_and_does_not_fall() -> None:
    pytest.importorskip("mujoco")
    live = GuidedInPhysics(Guide(small_humanoid()))
    live.apply(FORWARD)
    out = run(live, 900)
    assert com(live, out[-1])[0] > 0.1
    assert not any("fell" in notice for sample in out for notice in sample.notices)


def test_planned_in_another_process_and_replayed_to_the_last_bit() -> None:
    """The steps at which plans came are in the log: the replay, which plans at once, takes them at the same steps."""
    pytest.importorskip("mujoco")
    own = small_humanoid()
    live = GuidedInPhysics(Guide(own, Scene("floor"), planner_of(own)), beside=True)
    live.reset()
    log, seen = InputLog(live), []
    inputs = {3: FORWARD, 150: MIDDLE, 230: Sticks((1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))}
    for step in range(350):
        while step % 9 == 8 and live.awaiting:  # however long the other process takes to start
            sleep(0.005)
        for command in (*([inputs[step]] if step in inputs else []), *live.heard()):
            log.add(step, command)
            live.apply(command)
        seen.append(live.step().q[0])
    done = guide(own, log, scene=Scene("floor"), physics=True, seconds=0.0)
    again = done.motion.q[1:]
    assert len(again) > 100
    assert np.array_equal(again, seen[: len(again)])
    assert done.times is not None
    assert len(done.times.acts) == 3
