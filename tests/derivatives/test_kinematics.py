"""Every derivative of a pose against difference quotients: all figures of the library, and what the library has not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.figure import Figure, build, library
from bunraku.kinematics import Pose, pose
from tests.differences import difference_quotient, relative_error

Array = NDArray[np.float64]
NAMES = (*library.names(), "chain12", "odd")
TOLERANCE = 1e-9


@cache
def named(name: str) -> Figure:
    return odd() if name == "odd" else library.named(name)


def odd() -> Figure:
    """Screws of both hands, skew axes, constant frames between, branches, and a kinematic variable in the middle."""
    b = build
    return b.figure(
        "odd",
        b.screw("z", 0.2, "drill", b.sphere(0.1, mass=1.0),
            b.fixed("bend", b.rotate((1, 2, -2), "skew", b.box((0.1, 0.2, 0.3), mass=0.7, at=(0.1, 0, 0.2)),
                b.translate((0, -3, 4), "draw", b.screw((1, 1, 0), -0.3, "bolt", b.sphere(0.1, at=(0, 0.3, 0.1), mass=0.4)),
                    at=(0.2, 0.1, 0), kinematic=True),
                b.ball("socket", b.capsule(0.05, to=(0.3, 0.1, 0.2), mass=0.5), at=(0, 0.4, 0)),
                at=(0.3, 0, 0.1)), at=(0, 0.2, 0.5), rpy=(0.3, -0.4, 0.5))),
        b.free("loose", b.sphere(0.2, mass=2.0)),
    )  # fmt: skip


def configurations(figure: Figure) -> list[Array]:
    rng = np.random.default_rng(figure.n_q)
    return [rng.uniform(-1.5, 1.5, figure.n_q) for _ in range(2)]


def ends(figure: Figure) -> list[str]:
    """Frames that carry no other, at most five, and one in the middle."""
    parents = {frame.parent for frame in figure.frames}
    leaves = [frame.name for frame in figure.frames if frame.name not in parents]
    middle = figure.frames[len(figure.frames) // 2].name
    return list(dict.fromkeys([*leaves[:: max(1, len(leaves) // 5)][:5], middle]))


def check(figure: Figure, q: Array, exact: Array, function: Callable[[Pose], Array]) -> None:
    quotient = difference_quotient(lambda x: function(pose(figure, x)), q)
    assert relative_error(exact, quotient) < TOLERANCE


POINT = (0.11, -0.07, 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_first_derivative_of_points(name: str) -> None:
    figure = named(name)
    for q in configurations(figure):
        for frame in ends(figure):
            check(figure, q, pose(figure, q).point_jacobian(frame, POINT), lambda p, f=frame: p.point(f, POINT))


@pytest.mark.parametrize("name", NAMES)
def test_second_derivative_of_points(name: str) -> None:
    figure = named(name)
    for q in configurations(figure):
        for frame in ends(figure):
            exact = pose(figure, q).point_dqdq(frame, POINT)
            np.testing.assert_array_equal(exact, exact.transpose(0, 2, 1))
            check(figure, q, exact, lambda p, f=frame: p.point_jacobian(f, POINT))


@pytest.mark.parametrize("name", NAMES)
def test_third_derivative_of_points(name: str) -> None:
    figure = named(name)
    q = configurations(figure)[0]
    for frame in ends(figure)[-2:]:
        exact = pose(figure, q).point_dqdqdq(frame, POINT)
        for axes in ((0, 1, 3, 2), (0, 2, 1, 3), (0, 3, 2, 1)):
            np.testing.assert_array_equal(exact, exact.transpose(axes))
        check(figure, q, exact, lambda p, f=frame: p.point_dqdq(f, POINT))


@pytest.mark.parametrize("name", NAMES)
def test_jacobians_of_frames(name: str) -> None:
    """(dR/dq) Rᵀ is the cross product with the angular rows."""
    figure = named(name)
    for q in configurations(figure):
        here = pose(figure, q)
        for frame in ends(figure):
            J = here.jacobian(frame)
            check(figure, q, J[:3], lambda p, f=frame: p.point(f))
            R = here.X(frame)[:3, :3]
            R_dq = difference_quotient(lambda x, f=frame: pose(figure, x).X(f)[:3, :3], q)
            spin = np.einsum("ijk,lj->ilk", R_dq, R)
            assert relative_error(J[3:], spin[[2, 0, 1], [1, 2, 0]]) < TOLERANCE
            assert relative_error(-J[3:], spin[[1, 2, 0], [2, 0, 1]]) < TOLERANCE


@pytest.mark.parametrize("name", NAMES)
def test_jacobian_of_the_centre_of_mass(name: str) -> None:
    figure = named(name)
    for q in configurations(figure):
        check(figure, q, pose(figure, q).com_jacobian, lambda p: p.com)


def test_the_helper_finds_a_wrong_derivative() -> None:
    """The check itself can fail: one part in a million is enough."""
    figure = named("double_pendulum")
    q = configurations(figure)[0]
    J = pose(figure, q).com_jacobian
    with pytest.raises(AssertionError):
        check(figure, q, J * (1.0 + 1e-6), lambda p: p.com)
