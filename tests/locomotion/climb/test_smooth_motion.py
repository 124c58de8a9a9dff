"""The whole motion at once: smoother than the paper's gait, with standing feet exact and nothing touched."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.climb import ClimbOptions
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.gecko import Gecko, gait, stand, wish
from bunraku.locomotion.climb.gecko_kernels import points_along, retract_along
from bunraku.locomotion.climb.light_climb import LightOptions, lighter
from bunraku.locomotion.climb.path_segments import Slope, Straight
from bunraku.locomotion.climb.smooth_motion import SmoothOptions, WholeMotion, skin_clearance, smooth
from bunraku.progress import Progress

GECKO = Gecko(library.named("gecko"))


def accelerations(Q):
    return np.abs(np.diff(Q[:, GECKO.active], 2, axis=0)) / 0.005**2


def problem():
    m = GECKO.measures
    course = Course((Straight(0.06), Slope(math.pi / 6), Straight(0.12)), height=m["height"], spread=m["spread"])
    feet = foot_paths(footsteps(course, front=m["front"], rear=m["rear"]), centre=m["sole"], soft=True, soles=GECKO.soles)
    want = wish(GECKO, course, feet)
    guess, _ = gait(GECKO, stand(GECKO, course, feet, want)[0], feet, want, gains=ClimbOptions().guess)
    return course, feet, want, guess


def test_accelerations_fall_and_standing_feet_stay():
    course, feet, want, guess = problem()
    papers = wish(GECKO, course, feet, paper=True)
    before, _ = gait(GECKO, stand(GECKO, course, feet, papers)[0], feet, papers)
    heard = []
    found = smooth(GECKO, course, guess, feet, want, progress=lambda progress: heard.append(progress.done))
    Q = found.Q
    assert not found.stopped
    assert heard == sorted(heard)
    assert heard[-1] <= 1.0
    for stage in found.costs:
        assert list(stage) == sorted(stage, reverse=True)
    assert accelerations(Q).max() < 0.15 * accelerations(before).max()
    assert accelerations(Q).sum() < 0.6 * accelerations(before).sum()
    X = np.empty((len(Q), 7, 3))
    points_along(GECKO.body, Q, X, np.empty((len(Q), 21, 25)))
    off = np.linalg.norm(X[:, :4] - feet.p, axis=2)
    stands = ~feet.aloft
    assert off[stands].max() < 1e-9
    lower, upper = GECKO.limits()
    assert (Q[:, GECKO.active] >= lower).all()
    assert (Q[:, GECKO.active] <= upper).all()
    clear, lower_legs = skin_clearance(GECKO, course, Q, course.stride * feet.t), GECKO.skin[2]
    assert clear[:, ~lower_legs].min() >= 0.005
    assert clear[:, lower_legs].min() >= 0.001


def test_the_gradient_is_that_of_difference_quotients():
    """With legs that lean too far, and a body too near to the surface, so that all terms count."""
    course, feet, want, guess = problem()
    leaning = Gecko(GECKO.figure, replace(GECKO_ROLES, lean=0.5))
    few = feet.every(10, 201)
    light = lighter(GECKO, options=LightOptions(rate=12.0, enough=0.0))
    whole = WholeMotion(leaning, course, few, want.every(10, 201), options=SmoothOptions(margin=0.17), further=light)
    Q = np.ascontiguousarray(guess[:201:10])
    assert whole.restore(Q, 8)
    N, _, grad = whole.linearized(Q)
    rng = np.random.default_rng(3)
    scale = np.where(np.arange(25) < 3, GECKO.measures["leg"], 1.0)
    for t in (0, 3, 8, 14, 20):
        z = np.zeros(grad.shape)
        z[t] = rng.standard_normal(16)
        moved = []
        for h in (1e-6, -1e-6):
            trial = Q.copy()
            retract_along(GECKO.body, trial, h * np.einsum("tcm,tm->tc", N, z) * scale, 1.0)
            whole.restore(trial, 8)
            moved.append(whole.cost(trial))
        assert (moved[0] - moved[1]) / 2e-6 == pytest.approx(2.0 * float((grad * z).sum()), rel=1e-4, abs=1e-3 * np.abs(grad).max())


@pytest.mark.slow
def test_a_window_that_slides_gives_nearly_the_same_motion():
    course, feet, want, guess = problem()
    whole = smooth(GECKO, course, guess, feet, want).Q
    few = smooth(GECKO, course, guess, feet, want, options=SmoothOptions(window=2, overlap=1))
    assert len(few.costs) > 3
    assert accelerations(few.Q).max() < 1.25 * accelerations(whole).max()
    assert accelerations(few.Q).sum() < 1.02 * accelerations(whole).sum()
    at, stands = frames_along(GECKO.figure, few.Q), ~feet.aloft
    p = at[:, [GECKO.figure.frame_index[name] for name in GECKO.roles.feet], :3][..., 3]
    assert np.linalg.norm(p - feet.p, axis=2)[stands].max() < 1e-8


def test_ctrl_c_keeps_what_there_is():
    course, feet, want, guess = problem()

    def stop(progress: Progress) -> None:
        if progress.done > 0.1:
            raise KeyboardInterrupt

    found = smooth(GECKO, course, guess, feet, want, progress=stop)
    assert found.stopped
    assert len(found.Q) == len(feet.t)
    assert np.isfinite(found.Q).all()
    assert accelerations(found.Q).sum() < accelerations(guess).sum()
