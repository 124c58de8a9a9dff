from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import FigureError
from bunraku.figure import library
from bunraku.figure.build import ball, figure, free
from bunraku.kinematics import pose
from bunraku.locomotion.walk.legs import legs_of
from bunraku.spatial import so3

PERSON = library.named("mannequin")


def test_lengths_are_the_mannequins():
    left, right = legs_of(PERSON)
    assert (left.thigh, left.shin, left.ankle) == pytest.approx((0.425, 0.425, 0.075))
    assert (left.heel, left.toe) == pytest.approx((-0.073, 0.185))
    assert left.hip == pytest.approx([0.0, 0.092, -0.02])
    assert right.hip == pytest.approx([0.0, -0.092, -0.02])
    assert left.distance(0.0) == pytest.approx(0.85)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1.0, 1.0), min_size=8, max_size=8), st.sampled_from([0, 1]))
def test_the_foot_arrives(u, foot):
    """By forward kinematics, for any pelvis and any foot within reach."""
    leg = legs_of(PERSON)[foot]
    R_WP = so3.rpy(0.2 * u[0], 0.2 * u[1], 3.0 * u[2])
    hip = R_WP @ leg.hip + [0.3, -0.2, 0.9]
    ankle = hip + np.array([0.3 * u[3], 0.2 * u[4], -0.65 + 0.1 * u[5]])
    R_WA = so3.rpy(0.1 * u[6], 0.3 * u[7], 3.0 * u[2])
    ahead = np.array([[np.cos(3.0 * u[2]), np.sin(3.0 * u[2]), 0.0]])
    angles = leg.solve(hip[None], R_WP[None], ankle[None], R_WA[None], ahead)[0]
    q = PERSON.configuration(pelvis_tx=0.3, pelvis_ty=-0.2, pelvis_tz=0.9)
    q[PERSON.indices(("pelvis_rz", "pelvis_ry", "pelvis_rx"))] = so3.angles_zyx(R_WP)
    q[PERSON.indices([f"{leg.side}_knee_{v}" for v in ("rz", "rx")])] = 0.0
    q[leg.columns] = angles
    X = pose(PERSON, q).X(f"{leg.side}_ankle")
    assert np.allclose(X[:3, 3], ankle, atol=1e-9)
    assert np.allclose(X[:3, :3], R_WA, atol=1e-9)
    assert angles[3] >= 0.0  # knees bend forward


def test_who_has_no_legs_is_told():
    with pytest.raises(FigureError, match="cannot walk: it has no left_hip_rz"):
        legs_of(figure("ghost", free("pelvis")))
    legs = [
        ball(f"{side}_hip", ball(f"{side}_knee", ball(f"{side}_ankle", at=(0, 0, -0.4)), at=(0.1, 0, -0.4)), at=(0, y, 0))
        for side, y in (("left", 0.1), ("right", -0.1))
    ]  # fmt: skip
    with pytest.raises(FigureError, match="does not hang straight down"):
        legs_of(figure("faun", free("pelvis", *legs)))
