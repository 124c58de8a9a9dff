from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.stage import Posing, Pull, Release, Reset, Winch
from tests.stage.toys import puppet

places = st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3))


def test_a_hand_goes_where_it_is_dragged() -> None:
    live = Posing(puppet())
    f = live.figure
    to = pose(f, f.start + 0.2 * np.array([not v.kinematic for v in f.variables])).point("left_hand")
    live.apply(Pull(0, "body", "left_hand", tuple(to)))
    for _ in range(200):
        sample = live.step()
    np.testing.assert_allclose(pose(f, sample.q[0]).point("left_hand"), to, atol=1e-3)


@given(places, st.sampled_from(["left_hand", "right_hand", "left_elbow", "trunk", "nobody"]))
def test_no_place_breaks_it(to: tuple[float, float, float], name: str) -> None:
    live = Posing(puppet())
    lower, upper = live.figure.limits
    live.apply(Pull(0, "body", name, to, (0.01, 0.02, 0.03)))
    for _ in range(30):
        q = live.step().q[0]
        assert np.isfinite(q).all()
        assert (q >= lower).all()
        assert (q <= upper).all()


def test_it_stops_when_it_is_let_go() -> None:
    live = Posing(puppet())
    live.apply(Pull(0, "body", "left_hand", (1.0, 1.0, 1.0)))
    live.step()
    live.apply(Release(0, "body", "left_hand"))
    before = live.step().q[0]
    np.testing.assert_array_equal(live.step().q[0], before)


def test_spindles_and_winches() -> None:
    live = Posing(puppet())
    f = live.figure
    live.apply(Pull(0, "spindle", "left", (-0.3, 0.1, 1.8)))
    live.apply(Winch(0, "left", -0.1))
    live.apply(Winch(0, "right", -100.0))
    for _ in range(200):
        q = live.step().q[0]
    assert q[f.index("left_x")] == pytest.approx(-0.3, abs=1e-3)
    assert q[f.index("left_length")] == pytest.approx(f.start[f.index("left_length")] - 0.1)
    assert q[f.index("right_length")] == 0.0


def test_reset_brings_back_the_start_to_the_last_bit() -> None:
    live = Posing(puppet())
    first = live.reset()
    live.apply(Pull(0, "body", "left_hand", (1.0, 1.0, 1.0)))
    live.step()
    live.apply(Reset())
    assert live.reset().q[0].tobytes() == first.q[0].tobytes()


def test_a_limb_bends_before_the_figure_moves_and_the_trunk_takes_all_along() -> None:
    f = library.named("mannequin")
    hand, pelvis = f.bodies[-1].frame, next(j for j in f.groups if j.kind == "free").frames[-1]
    for name, most in ((hand, 0.03), (pelvis, 1.0)):
        live = Posing(f)
        start = pose(f, live.reset().q[0])
        x, y, z = start.point(name)
        live.apply(Pull(0, "body", name, (x + 0.1, y, z + 0.05)))
        for _ in range(60):
            q = live.step().q[0]
        now = pose(f, q)
        np.testing.assert_allclose(now.point(name), [x + 0.1, y, z + 0.05], atol=0.01)
        assert np.linalg.norm(now.point(pelvis) - start.point(pelvis)) < most
