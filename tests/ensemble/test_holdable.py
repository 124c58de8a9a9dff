"""Holdable: reach alone does not say whether a hand can be held so."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision.way_curve import WayCurve
from bunraku.ensemble.agents import hold, porter
from bunraku.ensemble.holdable import Holdable
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape
from bunraku.kinematics.inverse.arm import closed_form


@pytest.fixture(scope="module")
def team():
    slab = Carried((Shape("world", Box((1.5, 0.8, 0.06)), name="slab"),), tilt=0.3, heights=(0.6, 1.6))
    palms = (("left_palm", 0.25), ("right_palm", -0.25))
    return Team((porter("person", *(hold(palm, (-0.72, y, -0.05), z=(-1, 0, 0), x=(0, 0, 1)) for palm, y in palms)),), slab)


def holding(team, away, z):
    return team.configuration({"person": (0.0, 0.0, 0.0)}, (away, 0.0, z, 0.0, 0.0, 0.0))


def test_a_hand_in_reach_may_not_be_held(team):
    good, bad = holding(team, 1.05, 1.05), holding(team, 1.02, 1.5)
    assert team.reaches(np.stack([good, bad])).all()
    arm = closed_form(team.agents[0].figure, "left_palm")
    X = team.agents[0].holds[0].X_OT.copy()
    X[:3, 3] += (1.02, 0.0, 1.5)
    assert not any(len(arm.solutions(X, swivel=float(s), within_limits=True)) for s in np.linspace(-np.pi, np.pi, 90))
    own = Holdable(team, good[None], np.ones(team.figure.n_q))
    assert own.along(WayCurve(np.stack([good, holding(team, 1.08, 1.1)])))
    assert not own.along(WayCurve(np.stack([good, bad])))


def test_who_cannot_hold_at_the_ends_is_left_to_the_animation(team):
    good, bad = holding(team, 1.05, 1.05), holding(team, 1.02, 1.5)
    own = Holdable(team, np.stack([good, bad]), np.ones(team.figure.n_q))
    assert own.along(WayCurve(np.stack([good, bad])))
