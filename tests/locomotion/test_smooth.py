"""The whole motion at once: smoother than the paper's gait, with standing feet exact and nothing touched."""

from __future__ import annotations

import math

import numpy as np

from bunraku.figure import library
from bunraku.locomotion.course import Course, Slope, Straight
from bunraku.locomotion.footsteps import footsteps
from bunraku.locomotion.gecko import Gains, Gecko, gait, stand, wish
from bunraku.locomotion.kernels import points_along
from bunraku.locomotion.smooth import smooth
from bunraku.locomotion.swing import foot_paths

GECKO = Gecko(library.named("gecko"))


def accelerations(Q):
    return np.abs(np.diff(Q[:, GECKO.active], 2, axis=0)) / 0.005**2


def test_accelerations_fall_and_standing_feet_stay():
    m = GECKO.measures
    course = Course((Straight(0.06), Slope(math.pi / 6), Straight(0.12)), height=m["height"], spread=m["spread"])
    feet = foot_paths(footsteps(course, front=m["front"], rear=m["rear"]), centre=m["sole"])
    papers = wish(GECKO, course, feet, quarter=0.25, paper=True)
    before, _ = gait(GECKO, stand(GECKO, course, feet, papers)[0], feet, papers)
    want = wish(GECKO, course, feet, quarter=0.25)
    guess, _ = gait(GECKO, stand(GECKO, course, feet, want)[0], feet, want, gains=Gains(0.05, 5.0, 0.05))
    costs = []
    Q = smooth(GECKO, course, guess, feet, want, heard=lambda _, cost: costs.append(cost))
    assert costs == sorted(costs, reverse=True)
    assert accelerations(Q).max() < 0.15 * accelerations(before).max()
    assert accelerations(Q).sum() < 0.7 * accelerations(before).sum()
    X = np.empty((len(Q), 7, 3))
    points_along(GECKO.body, Q, X, np.empty((len(Q), 21, 25)))
    off = np.linalg.norm(X[:, :4] - feet.p, axis=2)
    stands = feet.swings[:, None] != np.arange(4)
    assert off[stands].max() < 1e-9
    lower, upper = GECKO.limits()
    assert (Q[:, GECKO.active] >= lower).all()
    assert (Q[:, GECKO.active] <= upper).all()
