"""Climbs before a judge that shares no code with them: contact, clearance, and accelerations against the paper's gait."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.path_segments import Slope, Straight
from tests.locomotion.climb.judge import above, between, frames_of, judge
from tests.locomotion.climb.paths import PATHS, paper_of

SHORT = (Straight(0.06), Slope(math.pi / 3), Straight(0.12))


def test_the_judge_puts_frames_where_they_are():
    figure = library.named("gecko")
    q = np.asarray(figure.start) + 0.2 * np.random.default_rng(7).standard_normal(figure.n_q)
    there, here = pose(figure, q), frames_of(figure, q[None])
    for frame in figure.frames:
        np.testing.assert_allclose(here[frame.name][0][0], there.X(frame.name)[:3, :3], atol=1e-12)
        np.testing.assert_allclose(here[frame.name][1][0], there.X(frame.name)[:3, 3], atol=1e-12)


def test_the_judge_measures_distances_by_hand():
    box = [(np.eye(3), np.zeros(3), np.array([1.0, 1.0, 0.1]))]
    a = np.array([[0.0, 0, 0.5], [2.0, 0, 0.0], [0.0, 0, 0.05], [0.5, 0.0, 1.0]])
    b = np.array([[0.0, 0, 0.8], [2.0, 3, 0.0], [0.3, 0, 0.05], [-0.5, 0.0, 0.12]])
    np.testing.assert_allclose(above(a, b, 0.02, box, within=9.0), [0.38, 0.98, -0.07, 0.0], atol=1e-6)
    one, two = np.array([[0.0, 0, 0]]), np.array([[1.0, 0, 0]])
    assert between(one, two, np.array([[0.5, 1.0, -1.0]]), np.array([[0.5, 1.0, 1.0]]))[0] == pytest.approx(1.0, abs=1e-6)


def honest(done, verdict):
    """What must hold on every path."""
    assert done.outcome.ok, str(done)
    assert verdict.landing <= 1.0  # mm/s
    assert verdict.slip <= 0.01  # mm
    assert 0.0 <= verdict.hover[0] <= verdict.hover[1] <= 0.02  # mm
    assert verdict.inside == 0
    assert verdict.selves > 0.0
    assert verdict.angles == 0.0
    assert verdict.lean <= 80.0  # degrees
    assert verdict.lean == pytest.approx(np.degrees(done.leans.max()), abs=0.1)
    others = [v for k, v in verdict.clearance.items() if k not in ("feet", "lower_leg", "ankle", "elbow")]
    assert 1e3 * done.clearance.min() == pytest.approx(min(12.0, *others), abs=0.1)
    for name, what, ours, papers, _ in done.ours.against(done.paper):
        k = ("peak", "sum").index(what)
        assert ours == pytest.approx(getattr(verdict.ours, name)[k], rel=1e-3)
        assert papers == pytest.approx(getattr(verdict.paper, name)[k], rel=1e-3)
        assert (ours <= papers) or f"{what} of the accelerations of the {name}" in done.outcome.why


def test_a_short_climb_is_what_it_says():
    done = climb(SHORT)
    verdict = judge(done, paper=paper_of(done), parts=3)
    honest(done, verdict)
    assert verdict.ours.joints[0] < 0.2 * verdict.paper.joints[0]
    assert verdict.ours.trunk[0] < verdict.paper.trunk[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PATHS))
def test_paths_of_every_kind(name):
    done = climb(PATHS[name])
    verdict = judge(done, paper=paper_of(done))
    honest(done, verdict)
    assert verdict.ours.joints[0] < verdict.paper.joints[0]
    assert verdict.ours.trunk[0] < verdict.paper.trunk[0]
