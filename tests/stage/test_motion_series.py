from __future__ import annotations

import numpy as np

from bunraku.figure import library
from bunraku.figure.build import figure, sphere, spindle, string, tz
from bunraku.kinematics import pose
from bunraku.motion import Motion
from bunraku.stage import motion_series as series
from tests.stage.toys import puppet, waving


def values(motion: Motion) -> dict[str, np.ndarray]:
    return {s.name: s.values for s in series.of(motion)}


def test_a_falling_ball_keeps_its_energy() -> None:
    ball = figure("ball", tz("height", sphere(0.1, mass=2.0), start=5.0))
    t = np.linspace(0.0, 1.0, 201)
    found = values(Motion.of(ball, t, (5.0 - 9.81 / 2 * t**2)[:, None]))
    np.testing.assert_allclose(found["kinetic energy"][1:-1], (9.81 * t[1:-1]) ** 2, rtol=1e-9)
    np.testing.assert_allclose(found["potential energy"], 2 * 9.81 * (5.0 - 9.81 / 2 * t**2), rtol=1e-12)
    np.testing.assert_allclose(found["total energy"][1:-1], 2 * 9.81 * 5.0, rtol=1e-9)
    assert "constraint error" not in found


def test_a_turning_pendulum_has_the_energy_of_its_inertia() -> None:
    f = library.pendulum()
    t = np.linspace(0.0, 1.0, 2001)
    q = 0.7 * np.sin(3.0 * t)
    found = values(Motion.of(f, t, q[:, None]))["kinetic energy"]
    body = f.bodies[0]
    v = 0.7 * 3.0 * np.cos(3.0 * t)
    arm = np.linalg.norm(pose(f, [0.0]).point(body.frame, body.com)[[0, 2]] - pose(f, [0.0]).X(body.frame)[[0, 2], 3])
    expected = 0.5 * (body.mass * arm**2 + body.inertia[1]) * v**2
    np.testing.assert_allclose(found[1:-1], expected[1:-1], atol=2e-5)


def test_a_short_string_is_an_error_and_a_long_one_is_not() -> None:
    f = figure(
        "bob", tz("height", sphere(0.1, mass=1.0)), spindle("s", at=(0, 0, 2), moves=""),
        strings=[string("a", "height", "s_spindle", 1.5)],
    )  # fmt: skip
    found = values(Motion.of(f, [0.0, 1.0, 2.0], [[0.0], [0.5], [1.0]]))
    np.testing.assert_allclose(found["constraint error"], [500.0, 0.0, 0.0], atol=1e-9)


def test_chunks_do_not_show() -> None:
    motion = waving(puppet(), seconds=1.0)
    for whole, pieces in zip(series.of(motion), series.of(motion, chunk=7), strict=True):
        assert whole.name == pieces.name
        np.testing.assert_allclose(pieces.values, whole.values, rtol=1e-12, atol=1e-12)
