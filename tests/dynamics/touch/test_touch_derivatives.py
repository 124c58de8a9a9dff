"""Derivatives of steps with touch against difference quotients, for pairs of shapes that stick, slide and roll."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics.quantities import momentum
from bunraku.dynamics.touch.touch_derivatives import touch_step_once
from bunraku.figure import Figure
from bunraku.figure.build import box, capsule, cylinder, figure, free, sphere
from bunraku.figure.shape import Box, Capsule, Sphere
from bunraku.figure.together import together
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]
PARTS = {
    "sphere": sphere(0.1, mass=1.0),
    "capsule": capsule(0.06, 0.3, mass=1.0),
    "box": box((0.2, 0.3, 0.16), mass=1.0),
    "cylinder": cylinder(0.08, 0.3, mass=1.0),
}
SOLIDS = {"floor": None, "ball": Sphere(0.1), "rod": Capsule(0.06, 0.5), "block": Box((0.5, 0.6, 0.2))}
DT = 0.005


def meeting(shape: str, solid: str) -> tuple[Figure, Scene, Array]:
    """A free body that is just about to touch, by one feature, and its velocity."""
    turn = {"sphere": (0.2, 0.1, 0.3), "capsule": (0.3, 0.4, 0.2), "box": (0.3, 0.4, 0.5), "cylinder": (0.3, 0.2, 1.1)}[shape]
    geometry = SOLIDS[solid]
    obstacles = () if geometry is None else (Obstacle("solid", geometry, (0.02, 0.03, 0.0), (0.93, 0.2, 0.24, 0.19)),)
    scene = Scene("around", obstacles, floor=0.0 if geometry is None else None)
    high = 1.0
    made = figure("body", free("body", PARTS[shape], start=(0.0, 0.0, high, *turn)))
    return made, scene, np.array([0.3, -0.2, -1.0, 0.5, -0.4, 0.3])


def first_touch(made: Figure, scene: Scene, v: Array, matter: Matter) -> tuple[Array, Array]:
    """q0 and p0 one step before an impact: found by lowering the body until a step touches."""
    low, high = 0.0, 1.0
    q = np.array(made.start)
    for _ in range(30):
        q[2] = 0.5 * (low + high)
        try:
            hit = bool(touch_step_once(made, q, momentum(made, q, v), scene=scene, touch=Touch(matter=matter), dt=DT).pairs)
        except Exception:  # noqa: BLE001 - in each other: too low
            low = q[2]
            continue
        low, high = (low, q[2]) if not hit else (q[2], high)
        if hit:
            break
    return q, momentum(made, q, v)


@pytest.mark.parametrize("friction", [0.0, 0.1, 5.0], ids=["smooth", "slides", "sticks"])
@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize("shape", PARTS)
def test_derivatives_are_difference_quotients(shape: str, solid: str, friction: float) -> None:
    made, scene, v = meeting(shape, solid)
    touch = Touch(matter=Matter(friction=friction))
    q, p = first_touch(made, scene, v, touch.matter)
    step = touch_step_once(made, q, p, scene=scene, touch=touch, dt=DT, derivatives=True)
    assert step.pairs
    assert step.q_dx is not None
    assert step.momentum_dx is not None
    D = np.concatenate([step.q_dx, step.momentum_dx])
    n, e = made.n_q, 1e-6
    x = np.concatenate([q, p])

    def after(x: Array) -> Array:
        out = touch_step_once(made, x[:n], x[n:], scene=scene, touch=touch, dt=DT)
        assert (out.states > 0).sum() == (step.states > 0).sum()
        return np.concatenate([out.q, out.momentum])

    rng = np.random.default_rng(5)
    for _ in range(2):
        d = e * rng.normal(size=2 * n)
        quotient = (8 * (after(x + d) - after(x - d)) - (after(x + 2 * d) - after(x - 2 * d))) / 12
        np.testing.assert_allclose(D @ d / e, quotient / e, atol=1e-7 * max(1.0, np.abs(D).max()))


def test_two_free_bodies() -> None:
    pair = together("pair", {"a": figure("a", free("a", PARTS["capsule"], start=(0, 0, 0, 0.1, 0.2, 0.3))),
                             "b": figure("b", free("b", PARTS["box"], start=(0.05, 0.02, 0.4, 0.4, 0.9, 0.2)))})  # fmt: skip
    pair = pair.replace(gravity=(0.0, 0.0, 0.0))
    q = np.array(pair.start)
    v = np.zeros(12)
    v[2], v[8] = 1.0, -1.0
    for z in np.arange(0.4, 0.1, -0.004):
        q[8] = z
        step = touch_step_once(pair, q, momentum(pair, q, v), touch=Touch(), dt=DT, derivatives=True)
        if step.pairs:
            break
    assert step.pairs
    assert step.q_dx is not None
    # all of it may be moved together: nothing changes but by that
    shift = np.zeros(24)
    shift[[0, 6]] = 1.0
    np.testing.assert_allclose((step.q_dx @ shift)[[0, 6]], 1.0, atol=1e-9)
    np.testing.assert_allclose(np.delete(step.q_dx @ shift, [0, 6]), 0.0, atol=1e-9)
