"""Several figures as one."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.dynamics import simulate
from bunraku.errors import FigureError
from bunraku.figure import build as b
from bunraku.figure import library
from bunraku.figure.together import together


def test_apart_they_move_as_alone() -> None:
    arm = library.named("arm3d")
    pair = together("pair", {"left": arm, "right": arm.replace(name="other")})
    alone = simulate(arm, {"hand_length": lambda t: arm.start[arm.index("hand_length")] - 0.1 * t}, duration=0.5)
    both = simulate(pair, {"left.hand_length": lambda t: arm.start[arm.index("hand_length")] - 0.1 * t}, duration=0.5)
    left = both.q[:, pair.indices(f"left.{name}" for name in arm.names)]
    assert np.abs(left - alone.q).max() < 1e-9
    assert pair.mass == pytest.approx(2 * arm.mass)


def test_a_string_between_two_figures_is_felt_by_both() -> None:
    weight = b.figure("weight", b.tz("z", b.sphere(0.05, mass=1.0)))
    pair = together("pair", {"a": weight, "b": weight}, strings=[b.string("rope", "a.z", "b.z", 0.5)])
    motion = simulate(pair, duration=0.5, v=[1.0, -1.0], q=[0.3, 0.0])
    # Pulled apart in free fall: the rope catches, and only their common momentum is left, falling.
    speed = (motion.q[-1] - motion.q[-2]) / 0.01
    assert speed[0] == pytest.approx(speed[1], abs=1e-9)
    assert motion.q[-1, 0] - motion.q[-1, 1] == pytest.approx(0.5, abs=1e-12)


def test_several_hang_on_one_handle() -> None:
    """A crossbar of six kinematic variables carries all spindles."""
    bar = b.free("bar", b.box((0.4, 0.02, 0.02)), b.fixed("west", at=(-0.2, 0, 0)), b.fixed("east", at=(0.2, 0, 0)), kinematic=True)
    rod = b.free("rod", b.capsule(0.02, start=(-0.2, 0, 0), to=(0.2, 0, 0), mass=0.5), start=(0, 0, -0.5, 0, 0, 0))
    ropes = [b.string("w", ("rod", (-0.2, 0, 0)), "west", 0.5), b.string("e", ("rod", (0.2, 0, 0)), "east", 0.5)]
    figure = b.figure("swing", bar, rod, strings=ropes)
    motion = simulate(figure, {"bar_tz": lambda t: 0.3 * t * t, "bar_rx": lambda t: t}, duration=0.5)
    assert motion.tension is not None
    assert motion.tension.min() >= 0.0
    assert motion.tension[-1].sum() == pytest.approx(0.5 * (9.81 + 0.6), rel=0.05)


def test_what_does_not_fit_is_refused() -> None:
    arm = library.named("arm3d")
    with pytest.raises(FigureError, match="gravity"):
        together("pair", {"a": arm, "b": arm.replace(gravity=(0.0, 0.0, 0.0))})
    with pytest.raises(FigureError, match="no figure"):
        together("nothing", {})
