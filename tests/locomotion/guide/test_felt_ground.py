"""What feet feel: ground that is met early, late or tilted, and legs that follow it."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.kinematics import pose
from bunraku.locomotion.guide.felt_ground import FeltGround
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of
from bunraku.locomotion.guide.leg_shift import LegShift
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Scene

OWN = small_humanoid()
WEIGHT = OWN.figure.mass * 9.81


@pytest.fixture(scope="module")
def step() -> GuidedMove:
    session = Session(Performer(guide_of(OWN, Scene("floor"))))
    session.command = Command("trunk", (1.0, 0.0, 0.0))
    session.tick()
    assert session.now[0].move.goals.lands
    return session.now[0]


def soles(done: GuidedMove, k: int, *touching: bool) -> np.ndarray:
    loads = WEIGHT * np.array([0.5, 0.5]) * touching
    return np.stack([loads, np.zeros(2), np.zeros(2)], 1)


def felt(done: GuidedMove, until: int, touches: int) -> FeltGround:
    """Plays a step up to tick `until`, in which the swinging foot meets the ground at tick `touches`."""
    ground, foot, (first, _) = FeltGround(OWN, GUIDE_TICK), done.move.goals.swings, done.move.air
    for k in range(until + 1):
        on = [True, True]
        on[foot] = k <= first or k >= touches
        q = done.q[min(k, touches)] if k < done.move.air[1] else done.q[k]
        ground.feel(done, k, pose(OWN.figure, q), soles(done, k, *on))
    return ground


def test_ground_that_is_met_early_ends_the_swing(step: GuidedMove) -> None:
    foot, (_, last) = step.move.goals.swings, step.move.air
    touches = last - 15
    assert not felt(step, touches - 1, touches).early(step, touches - 1).any()
    for k in (touches + 1, last - 1):
        ground = felt(step, k, touches)
        assert ground.early(step, k)[foot]
        commanded = step.move.feet[k, foot, 2] + ground.heights[foot] - ground.heights[1 - foot]
        at, before = step.move.feet[touches, foot, 2], step.move.feet[touches - 1, foot, 2]
        assert at < commanded < before + 1e-6  # the last command before it was felt, and then where it is


def test_a_touch_while_the_foot_rises_is_not_a_landing(step: GuidedMove) -> None:
    first, _ = step.move.air
    assert not felt(step, first + 8, first + 5).early(step, first + 8).any()


def test_missing_ground_is_reached_for(step: GuidedMove) -> None:
    foot, (_, last) = step.move.goals.swings, step.move.air
    n = min(12, step.move.n - last)
    ground = felt(step, last + n, 10_000)
    down = ground.heights[1 - foot] - ground.heights[foot]
    reached = ground.options.down * (n * GUIDE_TICK - ground.options.late)
    assert down == pytest.approx(min(reached, ground.options.deep) * OWN.height, rel=0.15)


def test_on_known_ground_nothing_changes(step: GuidedMove) -> None:
    ground = felt(step, step.move.n, step.move.air[1])
    assert np.abs(ground.heights).max() < 1e-4
    assert np.abs(ground.tilts).max() < 1e-4


@pytest.mark.parametrize(("leans", "yields"), [(0.0, True), (0.1, False)])
def test_a_sole_that_lands_on_its_toes_turns_until_it_lies_flat(step: GuidedMove, leans: float, yields: bool) -> None:
    """Not if the toes are down because the body leans: then the pressure there rights it."""
    foot, (_, last) = step.move.goals.swings, step.move.air
    ground, side = felt(step, last - 1, last), ("left", "right")[foot]
    q = step.q[last].copy()
    q[OWN.figure.index(f"{side}_ankle_pitch")] += leans
    for _ in range(10):
        pressed = soles(step, last, True, True)
        pressed[foot, 2] = -0.055 * pressed[foot, 0]
        ground.feel(step, last, pose(OWN.figure, q), pressed)
    if yields:
        assert -0.06 < ground.tilts[foot, 1] < -0.02
    else:
        assert abs(ground.tilts[foot, 1]) < 1e-3


@pytest.mark.parametrize(("pressed", "followed"), [(0.0, True), (0.06, False)])
def test_the_tilt_of_the_ground_is_that_of_a_sole_which_lies_flat(step: GuidedMove, pressed: float, followed: bool) -> None:
    """A sole that tips over its edge is not the slope of the ground."""
    ground, touch = FeltGround(OWN, GUIDE_TICK), soles(step, 0, True, True)
    for _ in range(20):
        ground.feel(step, 0, pose(OWN.figure, step.q[0]), touch)
    q = step.q[0].copy()
    q[OWN.figure.index("left_ankle_pitch")] += 0.1
    touch[0, 2] = -pressed * touch[0, 0]
    for _ in range(60):
        ground.feel(step, 0, pose(OWN.figure, q), touch)
    assert ground.tilts[0, 1] == pytest.approx(0.1 * (1.0 - np.exp(-1.0)) if followed else 0.0, rel=0.05, abs=1e-6)


def test_it_begins_with_the_ground_on_which_it_stands(step: GuidedMove) -> None:
    q = step.q[0].copy()
    for side in ("left", "right"):
        q[OWN.figure.index(f"{side}_ankle_pitch")] += 0.08
    ground = FeltGround(OWN, GUIDE_TICK)
    ground.feel(step, 0, pose(OWN.figure, q), soles(step, 0, True, True))
    assert ground.tilts[:, 1] == pytest.approx(0.08, abs=1e-3)
    assert ground.slope == pytest.approx(ground.tilts[0])


def test_what_noise_hides_is_forgotten() -> None:
    ground = FeltGround(OWN, GUIDE_TICK)
    ground.tilts[:], ground.heights[:] = 0.1, 0.01
    for _ in range(60):
        ground.forget()
    assert np.abs(ground.tilts - 0.1 / np.e).max() < 2e-3
    assert np.abs(ground.heights - 0.01 / np.e).max() < 2e-4


def test_legs_follow_and_the_body_stays() -> None:
    legs, heights, tilts = LegShift(OWN), np.array([0.006, -0.004]), np.array([[0.05, -0.08], [0.0, 0.1]])
    for _ in range(6):
        q = legs.shifted(OWN.home, heights, tilts)
    before, after = pose(OWN.figure, OWN.home), pose(OWN.figure, q)
    assert np.array_equal(before.X(OWN.trunk), after.X(OWN.trunk))
    for foot, height, tilt in zip(OWN.feet, heights, tilts, strict=True):
        X, Y = before.X(foot), after.X(foot)
        assert Y[:3, 3] - X[:3, 3] == pytest.approx([0.0, 0.0, height], abs=2e-4)
        assert (Y[:3, :3] @ X[:3, :3].T)[:2, 2] == pytest.approx([tilt[1], -tilt[0]], abs=5e-3)


def test_nothing_felt_changes_nothing() -> None:
    assert LegShift(OWN).shifted(OWN.home, np.zeros(2), np.zeros((2, 2))) is OWN.home
