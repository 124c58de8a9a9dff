"""The rechecker: what it accepts, and that it refuses each thing that can be wrong with a motion."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from bunraku.dynamics import settle, simulate
from bunraku.errors import MotionError
from bunraku.figure import Box, library
from bunraku.kinematics import pose
from bunraku.motion import Motion
from bunraku.planning.strings import Goal, HandLimits, recheck
from bunraku.planning.strings.recheck_plan import PlanRecheckOptions, PlanVerdict
from bunraku.scene import Obstacle, Scene

ARM = library.named("arm3d")
AIR = Scene("air", floor=None)


@functools.cache
def rest() -> np.ndarray:
    """Not when tests are collected: whoever runs one of them would wait until this is compiled."""
    return settle(ARM)


def wave(size: float = 0.1, seconds: float = 1.5, dt: float = 0.01) -> Motion:
    """The spindle goes aside and the string is wound in, smoothly."""

    def hands(t: float) -> np.ndarray:
        s = np.sin(np.pi * min(t / seconds, 1.0) / 2) ** 2
        return rest()[4:] + np.array([size, -0.3 * size, -2 * size]) * s

    return simulate(ARM, hands, duration=seconds, dt=dt, q=rest())


def complaint(verdict: PlanVerdict, word: str) -> bool:
    return any(f"{one.what}: {one.where}".startswith(word) for one in verdict.objections)


def test_accepts_what_was_simulated() -> None:
    motion = wave()
    goal = Goal.at_configuration(ARM, motion.q[-1], within=0.03)
    verdict = recheck(motion, AIR, limits=HandLimits.of(ARM, rest()), goal=goal)
    assert verdict.accepted, verdict
    assert verdict.repeat_error < 1e-9
    assert 0.0 < verdict.finer_error < 0.01
    assert verdict.gap < 1e-6
    assert verdict.tension >= 0.0
    assert len(verdict.fine) == 4 * (len(motion) - 1) + 1
    assert "accepted" in str(verdict)


def test_refuses_a_motion_that_physics_would_not_make() -> None:
    motion = wave()
    q = motion.q.copy()
    q[60:, 2] += 0.01 * np.linspace(0, 1, len(q) - 60)  # a lie that grows to 0.6°
    verdict = recheck(Motion.of(ARM, motion.t, q), AIR)
    assert complaint(verdict, "dynamics")
    assert verdict.repeat_error > 1e-3


def test_refuses_steps_too_long_to_be_true() -> None:
    swing = rest().copy()
    swing[2] += 1.0  # let go from the side, on a string that is slack at first
    motion = simulate(ARM, duration=2.4, dt=0.08, q=ARM.configuration(swing, hand_length=1.4))
    verdict = recheck(motion, AIR, options=PlanRecheckOptions(parts=16, finer_error=0.01))
    assert complaint(verdict, "dynamics: with a step of 5 ms")
    assert not complaint(verdict, "dynamics: the same")


def test_refuses_what_is_hit_between_two_samples() -> None:
    """A sheet of 0.2 mm that no sample of the motion touches."""
    motion = wave(0.2, 1.0, 0.04)
    tips = [pose(ARM, q).point("tip") for q in motion.q]
    k = 12
    middle = 0.5 * (tips[k] + tips[k + 1])
    sheet = Scene("sheet", (Obstacle("sheet", Box((0.0002, 0.2, 0.2)), tuple(middle + np.array([0.031, 0.0, 0.0]))),), floor=None)
    verdict = recheck(motion, sheet)
    assert complaint(verdict, "collision")


def test_refuses_a_string_through_an_obstacle() -> None:
    motion = wave()
    x, y, z = 0.5 * (pose(ARM, motion.q[-1]).point("tip") + pose(ARM, motion.q[-1]).point("hand_spindle"))
    verdict = recheck(motion, Scene("bead", (Obstacle("bead", Box((0.02, 0.02, 0.02)), (x, y, z)),), floor=None))
    assert any("the string hand passes through bead" in one.where for one in verdict.objections)
    assert recheck(motion, Scene("beside", (Obstacle("bead", Box((0.02, 0.02, 0.02)), (x + 0.4, y, z)),), floor=None)).accepted


@pytest.mark.parametrize(
    ("limits", "word"),
    [
        ({"speed": 0.05}, "too fast"),
        ({"acceleration": 0.1}, "too abrupt"),
        ({"boxes": {"hand_x": (-0.06, 0.0)}}, "above its limit"),
        ({"boxes": {"hand_length": (1.05, 2.0)}}, "below its limit"),
    ],
)
def test_refuses_hands_beyond_their_limits(limits: dict[str, Any], word: str) -> None:
    verdict = recheck(wave(), AIR, limits=HandLimits.of(ARM, rest(), **limits))
    assert any(word in one.where for one in verdict.objections if one.what == "limits")


def test_refuses_joints_beyond_their_stops() -> None:
    motion = wave()
    q = motion.q.copy()
    q[-1, ARM.index("elbow")] = 2.7
    assert complaint(recheck(Motion.of(ARM, motion.t, q), AIR), "limits: elbow")


def test_refuses_strings_that_are_too_short_or_push() -> None:
    motion = wave()
    q = motion.q.copy()
    q[1:, ARM.index("hand_length")] -= 0.02
    assert complaint(recheck(Motion.of(ARM, motion.t, q), AIR), "strings: one is")
    assert motion.tension is not None
    pushed = motion.tension.copy()
    pushed[5] = -1.0
    verdict = recheck(Motion.of(ARM, motion.t, motion.q, tension=pushed), AIR)
    assert complaint(verdict, "strings: one pushes")


def test_refuses_a_goal_that_is_not_reached() -> None:
    motion = wave()
    away = Goal.at_points(ARM, {"tip": (0.5, 0.0, 0.0)}, within=0.03)
    assert complaint(recheck(motion, AIR, goal=away), "goal")


def test_wants_evenly_spaced_samples() -> None:
    motion = wave()
    with pytest.raises(MotionError, match="evenly"):
        recheck(Motion.of(ARM, motion.t**1.1, motion.q), AIR)
    with pytest.raises(MotionError, match="one sample"):
        recheck(Motion.of(ARM, [0.0], motion.q[:1]), AIR)
