"""Climbers by their roles: any size, any number of legs, ankles or none."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_outcomes import BODY_TOUCHES
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES
from bunraku.locomotion.climb.footsteps import swing_order
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Slope, Straight
from tests.locomotion.climb.climbers import HEXAPOD_ROLES, ROBOTS, STIFF_ROLES, hexapod, robot, scaled, stiff
from tests.locomotion.climb.judge import above, boxes_of, ends_of, frames_of, judge


def test_a_tenth_of_the_gecko_climbs_a_tenth_of_the_path_in_the_same_way():
    """With times in proportion to the square root of lengths, forces are the same shares of the weight."""
    found = []
    for s in (1.0, 0.1):
        done = climb([Straight(0.04 * s), Slope(math.pi / 4), Straight(0.06 * s)], figure=scaled(library.named("gecko"), s))
        assert done.outcome.ok, str(done)
        assert done.cycle == pytest.approx(math.sqrt(s))
        units = {("joints", "peak"): 1 / s, ("joints", "sum"): s**-0.5, ("ankles", "peak"): 1 / s, ("ankles", "sum"): s**-0.5}
        units |= {("trunk", "peak"): 1.0, ("trunk", "sum"): math.sqrt(s)}
        rows = [np.array([a, b]) / units[name, what] for name, what, a, b, _ in done.ours.against(done.paper)]
        held = [done.adhesion.adhesion.max(), done.moving.adhesion.max()]
        found.append([*np.ravel(rows), done.clearance.min() / s, *held, len(done.motion)])
    np.testing.assert_allclose(found[1], found[0], rtol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("size", [0.05, 0.3, 5.0])
def test_geckos_of_other_sizes_land_at_rest_and_touch_nothing(size):
    path = [Straight(0.06 * size), Slope(math.pi / 2), Straight(0.2 * size)]
    done = climb(path, figure=scaled(library.named("gecko"), size))
    assert done.outcome.ok, str(done)
    verdict = judge(done, size=size)
    assert verdict.landing <= math.sqrt(size)  # mm/s: speeds grow as the root of lengths
    assert verdict.inside == 0
    assert verdict.selves > 0.0
    assert done.moving.adhesion.max() == pytest.approx(0.4646, abs=0.003)  # weights: what the gecko needs


def test_six_legs_with_balls_for_feet_climb_from_the_floor_to_the_wall():
    figure = hexapod()
    done = climb([Straight(0.08), Slope(math.pi / 2), Straight(0.12)], figure=figure, roles=HEXAPOD_ROLES)
    assert done.outcome.ok, str(done)
    frames, boxes = frames_of(figure, done.motion.q), boxes_of(done.scene)
    heights = [above(*ends_of(shape, frames), boxes).min() for shape in figure.shapes]
    assert 0.0 <= min(heights) < 2e-5  # the standing feet
    for foot, name in enumerate(HEXAPOD_ROLES.feet):
        stands = ~done.feet.aloft[: len(done.motion), foot]
        assert np.linalg.norm(frames[name][1] - done.feet.p[: len(done.motion), foot], axis=1)[stands].max() < 1e-8
    assert done.ours.joints.max() < done.paper.joints.max()
    assert done.ours.trunk.max() < done.paper.trunk.max()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bunraku.errors.BunrakuWarning")  # what the readers of their descriptions leave out
@pytest.mark.parametrize("name", list(ROBOTS))
def test_quadrupeds_of_the_field_walk_up_a_slope(name):
    feet, half = ROBOTS[name]
    figure, roles = robot(name, feet, half)
    done = climb([Straight(0.8 * half), Slope(math.pi / 6), Straight(5.0 * half)], figure=figure, roles=roles)
    assert done.outcome.ok, str(done)
    frames, boxes = frames_of(figure, done.motion.q), boxes_of(done.scene)
    heights = [above(*ends_of(shape, frames), boxes, within=0.05).min() for shape in figure.shapes if shape.frame in roles.feet]
    assert 0.0 <= min(heights) < 1e-4  # m
    assert done.clearance.min() > 0.02
    assert done.ours.joints.max() < done.paper.joints.max()
    assert done.ours.trunk.max() < done.paper.trunk.max()


def test_a_stiff_waist_does_not_get_from_the_floor_to_the_wall():
    path = [Straight(0.1), Slope(math.pi / 2), Straight(0.2)]
    done = climb(path, figure=stiff(library.named("gecko")), roles=STIFF_ROLES)
    assert done.outcome.kind == BODY_TOUCHES.kind
    assert "slope" in str(done.outcome) or "straight" in str(done.outcome)


def test_feet_swing_in_turn_and_each_half_cycle_mirrors_the_other():
    assert swing_order(4) == (1, 2, 0, 3)
    for feet in (4, 6, 8):
        order = swing_order(feet)
        assert sorted(order) == list(range(feet))
        assert [foot ^ 1 for foot in order[: feet // 2]] == list(order[feet // 2 :])


@pytest.mark.parametrize(("changes", "said"), [
    ({"feet": ("front_left_foot", "front_right_foot", "rear_left_foot")}, "3 feet"),
    ({"feet": ("front_left_foot", "front_right_foot", "rear_left_foot", "tail_foot")}, "tail_foot"),
    ({"trunk": ()}, "no trunk"),
    ({"tail": ("tale",)}, "tale"),
    ({"feet": ("front_left_foot", "front_right_foot", "rear_left_elbow", "rear_right_elbow")}, "turn freely"),
])  # fmt: skip
def test_roles_that_do_not_fit_are_refused(changes, said):
    with pytest.raises(FigureError, match=said):
        _ = Gecko(library.named("gecko"), replace(GECKO_ROLES, **changes)).active


def test_a_figure_that_is_fixed_to_the_world_does_not_climb():
    with pytest.raises(FigureError, match="advice"):
        climb([Straight(0.1)], figure=library.named("arm3d"))
