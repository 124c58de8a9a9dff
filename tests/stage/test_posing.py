from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.stage import Posing, Pull, Release, Reset, Sample, Winch
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


FEET = ("left_ankle", "right_ankle")


def dragged(live: Posing, name: str, by: tuple[float, float, float], *, steps: int = 60) -> Sample:
    """The sample after a frame was dragged from where it is."""
    at = pose(live.figure, live._q).point(name)
    x, y, z = (float(a + b) for a, b in zip(at, by, strict=True))
    live.apply(Pull(0, "body", name, (x, y, z)))
    for _ in range(steps):
        sample = live.step()
    return sample


def test_a_foot_is_lifted_alone_and_not_pushed_into_the_floor() -> None:
    live = Posing(f := library.named("mannequin"))
    start = pose(f, live.reset().q[0])
    now = pose(f, dragged(live, "right_toe", (0.1, 0.0, 0.05)).q[0])
    np.testing.assert_allclose(now.point("right_toe"), np.add(start.point("right_toe"), (0.1, 0.0, 0.05)), atol=0.01)
    np.testing.assert_allclose(now.X("left_ankle"), start.X("left_ankle"), atol=1e-3)
    assert np.linalg.norm(now.point("pelvis") - start.point("pelvis")) < 0.03
    live.apply(Release(0, "body", "right_toe"))
    low = pose(f, dragged(live, "right_toe", (0.0, 0.0, -0.5), steps=120).q[0])
    assert all(points[:, 2].min() > -live.touching for points in live._feet().values()), low


def test_feet_stay_when_the_pelvis_is_pulled() -> None:
    live = Posing(f := library.named("mannequin"))
    start = pose(f, live.reset().q[0])
    for by in ((0.0, 0.0, -0.2), (0.0, 0.0, 2.0), (1.0, 0.0, 0.0)):
        now = pose(f, dragged(live, "pelvis", by, steps=90).q[0])
        for foot in FEET:
            np.testing.assert_allclose(now.X(foot), start.X(foot), atol=2e-3)
        live.apply(Release(0, "body", "pelvis"))


def test_losing_balance_is_told_once() -> None:
    live = Posing(library.named("mannequin"))
    assert live.reset().series[0] > 20.0  # mm inside the feet
    told: list[str] = []
    for _ in range(2):
        dragged(live, "pelvis", (0.4, 0.0, 0.0), steps=1)
        for _ in range(90):
            sample = live.step()
            told += sample.notices
    assert sample.series[0] < 0.0
    assert len(told) == 1
    assert told[0].startswith("off balance")


def test_a_pin_holds_a_point_until_it_is_taken_out() -> None:
    live = Posing(f := library.named("mannequin"))
    hand = pose(f, live.reset().q[0]).point("left_palm")
    x, y, z = (float(v) for v in hand)
    live.apply(Pull(0, "pin", "left_palm", (x, y, z)))
    still = live.step().q[0]
    np.testing.assert_array_equal(still, live.step().q[0])
    now = pose(f, dragged(live, "chest", (0.05, 0.0, -0.1)).q[0])
    np.testing.assert_allclose(now.point("left_palm"), hand, atol=3e-3)
    live.apply(Release(0, "pin", "left_palm"))
    now = pose(f, dragged(live, "chest", (0.05, 0.0, -0.1)).q[0])
    assert np.linalg.norm(now.point("left_palm") - hand) > 0.03


def test_what_rolls_or_hangs_has_no_feet() -> None:
    for name in ("mobile_manipulator", "arm3d", "crane"):
        assert Posing(library.named(name)).series == ()
