"""Random input in physics: it stays on its feet."""

from __future__ import annotations

import pytest

from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from tests.teleop.endurance import endure

pytest.importorskip("mujoco")


def test_some_seconds() -> None:
    endured = endure(Guide(small_humanoid()), seconds=12.0, seed=1)
    assert not endured.fell
    assert endured.seconds >= 12.0


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_an_hour() -> None:
    assert not endure(Guide(small_humanoid()), seconds=3600.0, seed=11).fell
