"""The gait of the gecko: feet where they belong, for as long as one likes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.gecko import GaitGains, Gecko, gait, stand, wish, with_feet
from bunraku.locomotion.climb.gecko_kernels import points_along, retract_along
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight

GECKO = Gecko(library.named("gecko"))
WALL = (Straight(0.2), Slope(math.pi / 2), Straight(0.3))


def walked(segments, *, paper=True, cycles=None, gains=GaitGains(), correct=1):
    m = GECKO.measures
    course = Course(segments, height=m["height"], spread=m["spread"])
    plan = footsteps(course, front=m["front"], rear=m["rear"], cycles=cycles)
    feet = foot_paths(plan, centre=m["sole"])
    want = wish(GECKO, course, feet, paper=paper)
    q, error = stand(GECKO, course, feet, want)
    assert error < 1e-9
    Q, errors = gait(GECKO, q, feet, want, gains=gains, correct=correct)
    return course, feet, Q, errors


def test_jacobians_against_difference_quotients():
    rng = np.random.default_rng(1)
    q = GECKO.start + 0.1 * rng.standard_normal(GECKO.figure.n_q)
    X, J = np.empty((1, 7, 3)), np.empty((1, 21, 25))
    points_along(GECKO.body, q[None], X, J)
    for c in range(25):
        moved = []
        for h in (1e-6, -1e-6):
            Q, D = q[None].copy(), np.zeros((1, 25))
            D[0, c] = h
            retract_along(GECKO.body, Q, D, 1.0)
            Y = np.empty((1, 7, 3))
            points_along(GECKO.body, Q, Y, np.empty((1, 21, 25)))
            moved.append(Y[0].ravel())
        np.testing.assert_allclose((moved[0] - moved[1]) / 2e-6, J[0, :, c], atol=1e-8)


@pytest.mark.parametrize("segments", [
    (Straight(0.3),), (Arc(0.15, 1.5),), (Straight(0.2), Slope(math.pi / 4), Straight(0.3)), WALL,
    (Straight(0.2), Slope(-math.pi / 4), Straight(0.3)), (Straight(0.2), Slope(-math.pi / 2), Straight(0.3)),
    (*WALL, Slope(math.pi / 2), Straight(0.3)), (Straight(0.2), Step(0.02), Straight(0.1), Step(-0.02), Straight(0.2)),
], ids=["flat", "curve", "incline45", "incline90", "decline45", "decline90", "ceiling", "obstacle"])  # fmt: skip
def test_feet_are_where_they_belong(segments):
    _, feet, Q, errors = walked(segments)
    assert len(Q) == len(feet.t)
    assert errors.max() <= 1e-5  # 0.01 mm
    full = with_feet(GECKO, Q, feet)
    for k in (0, len(Q) // 3, len(Q) - 1):  # by the ordinary kinematics
        there = pose(GECKO.figure, full[k])
        for i, leg in enumerate(("front_left", "front_right", "rear_left", "rear_right")):
            np.testing.assert_allclose(there.X(f"{leg}_foot")[:3, 3], feet.p[k, i], atol=1e-5)
            np.testing.assert_allclose(there.X(f"{leg}_foot")[:3, :3], feet.R[k, i], atol=1e-9)


def test_a_second_corrector_pass_puts_right_what_the_first_misses():
    """The first iteration alone leaves what the linearisation misses; the second puts it right."""
    _, _, _, once = walked((Straight(0.3),), correct=0)
    _, _, _, twice = walked((Straight(0.3),), correct=1)
    assert once.max() < 1e-3
    assert twice.max() < 0.1 * once.max()
