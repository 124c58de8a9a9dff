"""A deviation that is measured with noise: how soon it is followed, and how much noise is left."""

from __future__ import annotations

import numpy as np

from bunraku.locomotion.guide.error_filter import ErrorFilter

DT = 0.005


def test_without_noise_it_follows_within_its_lag() -> None:
    followed = ErrorFilter(DT, 0.015, 0.01)
    t = DT * np.arange(100)
    found = [followed.followed(np.array([0.3 * max(x - 0.2, 0.0), 0.0])) for x in t]  # pushed at 0.2 s to 0.3 m/s
    assert followed.noise < 1e-4
    assert followed.bandwidth == 1.0 / 0.015
    assert abs(found[53][1][0] - 0.3) < 0.3 * 0.15  # 65 ms later


def test_noise_is_measured_and_not_passed_on() -> None:
    rng = np.random.default_rng(5)
    followed = ErrorFilter(DT, 0.015, 0.01)
    found = [followed.followed(0.004 * rng.standard_normal(2)) for _ in range(4000)]
    assert abs(followed.noise - 0.004) < 0.001
    assert 0.005 < np.std([velocity for _, velocity in found[100:]]) < 0.015
    assert np.std([position for position, _ in found[100:]]) < 0.0015


def test_noise_does_not_hide_a_push() -> None:
    rng = np.random.default_rng(6)
    followed = ErrorFilter(DT, 0.015, 0.01)
    t = DT * np.arange(400)
    found = [followed.followed(np.array([0.3 * max(x - 1.0, 0.0), 0.0]) + 0.004 * rng.standard_normal(2)) for x in t]
    assert abs(found[260][1][0] - 0.3) < 0.06  # 0.3 s later
