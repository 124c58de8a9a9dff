"""Courses, footsteps and swings: geometry by hand, and the rules of the paper."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import FigureError
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight

H, STRIDE, SPREAD = 0.045, 0.06, 0.1


def course(*segments):
    return Course(segments, height=H, spread=SPREAD, stride=STRIDE)


def steps(*segments):
    return footsteps(course(*segments), front=0.04, rear=-0.18)


def test_the_start_is_an_isosceles_trapezoid_whose_bases_differ_by_a_stride():
    start = [X[:3, 3] for X in steps(Straight(0.3)).start]
    left, right = start[0][0] - start[2][0], start[1][0] - start[3][0]
    assert left - right == pytest.approx(STRIDE)
    assert start[0][0] + start[2][0] == pytest.approx(start[1][0] + start[3][0])
    assert start[0][1] == -start[1][1] == SPREAD


def test_on_the_flat_every_step_is_one_stride_ahead():
    plan = steps(Straight(0.3))
    assert len(plan.steps) == 20
    assert [s.foot for s in plan.steps[:4]] == [1, 2, 0, 3]
    for s in plan.steps:
        np.testing.assert_allclose(s.X_to[:3, 3] - s.X_from[:3, 3], [STRIDE, 0, 0], atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.12, 2.0), st.floats(0.3, 3.0), st.sampled_from([-1.0, 1.0]))
def test_on_a_curve_feet_stay_at_their_distance_from_the_centre(radius, angle, side):
    plan = steps(Arc(radius, side * angle))
    centre = np.array([0.0, side * radius, 0.0])
    for s in plan.steps:
        bends = plan.course.pieces[1].s + radius * angle
        if s.X_to[0, 3] < 0.0 or plan.course.along_surface(0.04 + STRIDE * (s.part / 4 + 1)) > bends:
            continue
        y = SPREAD if s.foot in (0, 2) else -SPREAD
        assert np.linalg.norm(s.X_to[:3, 3] - centre) == pytest.approx(abs(radius - side * y), abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.floats(-math.pi / 2, math.pi / 2))
def test_feet_stand_on_one_of_the_two_faces_of_a_slope_and_never_in_the_blank(angle):
    plan = steps(Straight(0.2), Slope(angle), Straight(0.3))
    corner = np.array([0.2 + (H * math.tan(angle / 2) if angle > 0 else 0.0), 0.0, 0.0])
    up = np.array([math.cos(angle), 0.0, math.sin(angle)])
    for s in plan.steps:
        x = s.X_to[:3, 3] - corner
        along = x @ up if len(s.faces) and s.faces[-1] == 1 else x[0]
        flat = x - along * (up if s.faces[-1] == 1 else np.array([1.0, 0.0, 0.0]))
        assert np.hypot(flat[0], flat[2]) < 1e-9
        if angle > 0:
            assert abs(along) >= H * math.tan(angle / 2) - 1e-9


def test_wall_to_ceiling_ends_upside_down():
    plan = steps(Straight(0.2), Slope(math.pi / 2), Straight(0.3), Slope(math.pi / 2), Straight(0.4))
    np.testing.assert_allclose(plan.steps[-1].X_to[:3, 2], [0, 0, -1], atol=1e-12)


def test_the_body_keeps_its_height_and_is_continuous():
    up, down = Slope(math.pi / 2), Slope(-math.pi / 2)
    c = course(Straight(0.3), up, Straight(0.3), down, Straight(0.3), Arc(0.15, 1.0), Straight(0.1))
    u = np.linspace(0.0, c.length, 2000)
    p, R = c.body(u)
    assert np.linalg.norm(np.diff(p, axis=0), axis=1).max() < 2.0 * (u[1] - u[0])
    np.testing.assert_allclose(np.swapaxes(R, 1, 2) @ R, np.broadcast_to(np.eye(3), R.shape), atol=1e-9)
    first, last = c.faces_between(u, 0.1, 0.1)
    for k in range(0, len(u), 50):
        assert c.over(p[k], range(first[k], last[k] + 1)) > H - 1e-3


@pytest.mark.parametrize("segments", [
    (Straight(0.2), Step(0.02), Straight(0.1), Step(-0.02), Straight(0.2)),
    (Straight(0.2), Slope(-math.pi / 2), Straight(0.3)),
    (Straight(0.2), Slope(math.pi / 2), Straight(0.3)),
])  # fmt: skip
def test_swings_start_and_end_at_rest_and_clear_the_surface(segments):
    plan = steps(*segments)
    feet = foot_paths(plan, centre=0.006)
    v = np.diff(feet.p, axis=0) / 0.005
    for s in plan.steps:
        first = 50 * s.part
        over = plan.course.over(feet.p[first : first + 51, s.foot], s.faces) - 0.006
        assert over.min() > -1e-9
        assert over[25] > 0.005
        assert np.abs(v[first, s.foot]).max() < 0.01
        others = [k for k in range(4) if k != s.foot]
        assert np.abs(v[first : first + 50, others]).max() < 1e-12


@pytest.mark.parametrize(("kind", "values"), [
    (Straight, (-1.0,)), (Straight, (math.nan,)), (Arc, (0.0, 1.0)), (Arc, (0.2, 0.0)), (Slope, (2.0,)), (Slope, (math.nan,)),
    (Step, (math.inf,)), (Step, (0.0,)),
])  # fmt: skip
def test_segments_that_mean_nothing_are_refused_with_advice(kind, values):
    with pytest.raises(FigureError, match="advice"):
        kind(*values)


def test_the_body_slows_down_in_tight_curves_only():
    straight, wide = course(Straight(0.6)), course(Straight(0.2), Arc(2.0, 0.2), Straight(0.2))
    for c in (straight, wide):
        np.testing.assert_allclose(c.pace.at([-1.0, 0.0, 2.5, 99.0]), STRIDE * np.array([-1.0, 0.0, 2.5, 99.0]))
    tight = course(Straight(0.4), Arc(0.15, math.pi / 2), Straight(0.4))
    u = np.linspace(-0.1, tight.length + 0.1, 50)
    np.testing.assert_allclose(tight.pace.at(tight.pace.cycles_to(u)), u, atol=1e-12)
    advance = np.diff(tight.pace.at(np.arange(40.0)))
    outer = (1.0 + SPREAD / 0.15) * advance.min()
    assert advance[0] == pytest.approx(STRIDE)
    assert outer == pytest.approx(tight.options.outer_stride, rel=1e-6)
    steps = footsteps(tight, front=0.1, rear=-0.1).steps
    longest = max(np.linalg.norm(step.X_to[:3, 3] - step.X_from[:3, 3]) for step in steps)
    assert longest < 1.02 * tight.options.outer_stride
