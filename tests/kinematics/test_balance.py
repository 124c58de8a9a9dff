"""Balance: hulls and margins against obvious answers, and zero-moment points against known physics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError

from bunraku import build
from bunraku.errors import BunrakuError, NotFinite
from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.kinematics.balance import Balance, edges, margin, momentum_along, static_margin, support_polygon, zero_moment_point
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import CentreOfMass, FramePose, PointPosition, Posture

SQUARE = [(0, 0), (2, 0), (2, 1), (0, 1)]
coordinate = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


@settings(max_examples=100)
@given(st.lists(st.tuples(coordinate, coordinate), min_size=3, max_size=30))
def test_hull_agrees_with_qhull(points: list[tuple[float, float]]) -> None:
    ours = support_polygon(points)
    assert (margin(ours, points) <= 1e-9).all() or len(ours) >= 3
    try:
        theirs = ConvexHull(points)
    except QhullError:  # all in a line
        assert len(ours) <= 2
        return
    if len(ours) >= 3:
        area = 0.5 * np.sum(ours[:, 0] * np.roll(ours[:, 1], -1) - ours[:, 1] * np.roll(ours[:, 0], -1))
        assert area > 0  # counter-clockwise
        assert area == pytest.approx(theirs.volume, rel=1e-9, abs=1e-9)
        normals, offsets = edges(ours)
        assert (np.asarray(points) @ normals.T - offsets >= -1e-9).all()


def test_margins_of_a_square() -> None:
    points = [(1, 0.5), (1, 0.9), (2, 0.5), (3, 0.5), (3, 2), (-0.3, -0.4, 7.0)]
    assert [float(margin(SQUARE, p)) for p in points] == pytest.approx([0.5, 0.1, 0.0, -1.0, -np.sqrt(2), -0.5])
    assert margin(SQUARE, [[1, 0.5], [3, 0.5]]) == pytest.approx([0.5, -1.0])
    assert float(margin([(0, 0), (2, 0)], (1, 0.3))) == pytest.approx(-0.3)
    assert float(margin([(1, 1)], (1, 3))) == pytest.approx(-2.0)


def test_bad_points_are_refused() -> None:
    with pytest.raises(BunrakuError, match="not in a line"):
        edges(support_polygon([(0, 0), (1, 1), (2, 2)]))
    with pytest.raises(BunrakuError, match=r"\(n, 2\)"):
        support_polygon([])
    with pytest.raises(NotFinite):
        support_polygon([(0, 0), (np.nan, 1), (2, 2)])


def soles(figure, q) -> np.ndarray:  # type: ignore[no-untyped-def]
    here = pose(figure, q)
    corners = [(x, y, 0.0) for x in (-0.09, 0.09) for y in (-0.035, 0.035)]
    return support_polygon([here.point(foot, c) for foot in ("left_sole", "right_sole") for c in corners])


def test_balance_holds_a_reaching_figure_up() -> None:
    figure = library.mannequin()
    polygon = soles(figure, figure.start)
    feet = [FramePose("left_sole"), FramePose("right_sole")]
    far = PointPosition("left_palm", pose(figure).point("left_palm") + np.array([0.6, 0.1, 0.1]), priority=1)
    falls = Inverse(figure, [*feet, far, Posture()]).solve()
    assert static_margin(figure, falls.q, polygon) < 0.0
    balance = Balance(polygon, 0.02)
    stands = Inverse(figure, [*feet, balance, far, Posture()]).solve(options=InverseOptions(iterations=300))
    assert static_margin(figure, stands.q, polygon) > 0.02 - 1e-4
    assert max(stands.errors[foot] for foot in ("left_sole", "right_sole")) < 1e-4
    assert stands.errors["left_palm"] < 0.3


def test_momentum_is_mass_times_velocity_of_the_centre() -> None:
    figure = library.mannequin()
    random = np.random.default_rng(1)
    q, v = figure.start + random.uniform(-0.3, 0.3, figure.n_q), random.uniform(-1, 1, figure.n_q)
    here = pose(figure, q)
    momentum, com = momentum_along(figure, q[None], v[None])
    assert np.allclose(com[0], here.com, atol=1e-12)
    assert np.allclose(momentum[0, :3], figure.mass * here.com_jacobian @ v, atol=1e-9)
    # Angular: twice the kinetic energy is momentum·velocity for a rigid turn of everything.
    turn = np.zeros(figure.n_q)
    turn[figure.index("pelvis_rz")] = 1.0
    spun, _ = momentum_along(figure, q[None], turn[None])
    total = 0.0
    for body in figure.bodies:
        J, W = here.point_jacobian(body.frame, body.com) @ turn, here.X(body.frame)[:3, :3].T @ here.jacobian(body.frame)[3:] @ turn
        xx, yy, zz, xy, xz, yz = body.inertia
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        total += body.mass * J @ J + W @ I @ W
    axis = np.array([0, 0, 1.0])
    pivot = here.point("pelvis")
    about = spun[0, 3:] - np.cross(pivot, spun[0, :3])
    assert axis @ about == pytest.approx(total, rel=1e-9)


def test_zero_moment_point_of_a_still_figure_is_below_its_centre() -> None:
    figure = library.mannequin()
    Q = np.tile(figure.start, (5, 1))
    assert np.allclose(zero_moment_point(figure, np.arange(5) * 0.1, Q), pose(figure).com[:2], atol=1e-12)


def test_zero_moment_point_of_a_cart_on_a_table() -> None:
    """x_zmp = x − z ẍ / g for a mass that slides at constant height (Kajita)."""
    cart = build.figure("cart", build.tx("x", build.ty("y", build.sphere(0.1, mass=3.0, at=(0, 0, 0.8)))))
    t = np.linspace(0, 2, 2001)
    Q = np.stack([0.2 * np.sin(3 * t), 0.1 * np.cos(2 * t)], 1)
    want = np.stack([Q[:, 0] * (1 + 9 * 0.8 / 9.81), Q[:, 1] * (1 + 4 * 0.8 / 9.81)], 1)
    assert np.allclose(zero_moment_point(cart, t, Q)[3:-3], want[3:-3], atol=1e-5)
    assert np.allclose(
        zero_moment_point(cart, t, Q, height=0.8)[3:-3], Q[3:-3], atol=1e-5
    )  # at the height of the mass it is below it
    falling = build.figure("stone", build.tz("z", build.sphere(0.1, mass=1.0)))
    assert np.isnan(zero_moment_point(falling, t, -0.5 * 9.81 * t[:, None] ** 2)).all()


def test_centre_of_mass_can_be_led_over_one_foot() -> None:
    figure = library.mannequin()
    sole = pose(figure).point("left_sole")
    ik = Inverse(figure, [FramePose("left_sole"), FramePose("right_sole"), CentreOfMass(sole, axes="xy", priority=1), Posture()])
    solution = ik.solve()
    corners = [pose(figure, solution.q).point("left_sole", (x, y, 0)) for x in (-0.05, 0.05) for y in (-0.03, 0.03)]
    assert static_margin(figure, solution.q, support_polygon(corners)) == pytest.approx(0.03, abs=1e-4)
