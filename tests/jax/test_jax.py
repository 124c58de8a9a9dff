"""Steps and rollouts in JAX: every kind of derivative against difference quotients."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.figure import library
from tests.step_maps import in_motion, quotient

jax = pytest.importorskip("jax", reason="JAX is not installed (400 MB): pip install 'bunraku[jax]'")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def _in_64_bits() -> Iterator[None]:
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def problem(name: str, steps: int = 4) -> tuple[Any, Any, Any, Any, Any, Any]:
    """A rollout, a cost of it, and a point and a direction."""
    import bunraku.jax

    own, x, u, dx, du = in_motion(name)
    roll = bunraku.jax.rollout(own.figure, dt=own.dt)
    inputs = np.tile(u, (steps, 1))
    changes = du * np.linspace(0.2, 1.0, steps)[:, None]
    weights = np.random.default_rng(5).normal(size=(steps + 1, own.n_x))

    def cost(x: Any, inputs: Any) -> Any:
        states = roll(x, inputs)
        return jnp.sum(weights * states) + jnp.sum(states**2)

    return roll, cost, x, inputs, dx, changes


def assert_close(found: Any, wanted: Any, within: float) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert np.max(np.abs(found - wanted)) <= within * max(1.0, float(np.max(np.abs(wanted))))


@pytest.mark.parametrize("name", ["arm2d", "marionette22"])
def test_first_derivatives(name: str) -> None:
    roll, cost, x, inputs, dx, du = problem(name)
    _, along = jax.jvp(roll, (x, inputs), (dx, du))
    assert_close(along, quotient(lambda h: np.asarray(roll(x + h * dx, inputs + h * du))), 1e-7)
    gx, gu = jax.jit(jax.grad(cost, argnums=(0, 1)))(x, inputs)
    change = quotient(lambda h: float(cost(x + h * dx, inputs + h * du)))
    assert_close(jnp.sum(gx * dx) + jnp.sum(gu * du), change, 1e-7)


@pytest.mark.parametrize("name", ["arm2d", "marionette22"])
def test_hessian_products_in_every_mode(name: str) -> None:
    _, cost, x, inputs, dx, du = problem(name)
    gradient = jax.grad(cost, argnums=(0, 1))
    _, product = jax.jvp(gradient, (x, inputs), (dx, du))  # forward over reverse
    for k in range(2):
        assert_close(product[k], quotient(lambda h, k=k: np.asarray(gradient(x + h * dx, inputs + h * du)[k])), 1e-6)

    def along(x: Any, inputs: Any) -> Any:
        gx, gu = gradient(x, inputs)
        return jnp.sum(gx * dx) + jnp.sum(gu * du)

    twice = jax.grad(along, argnums=(0, 1))(x, inputs)  # reverse over reverse
    for k in range(2):
        assert_close(twice[k], product[k], 1e-12)


def test_batches() -> None:
    import bunraku.jax

    roll, cost, x, inputs, _, du = problem("arm2d")
    many = np.stack([inputs, inputs + 0.1 * du, inputs - 0.2 * du])
    gradient = jax.grad(cost, argnums=1)
    together = jax.jit(jax.vmap(gradient, (None, 0)))(x, many)
    products = jax.vmap(lambda point: jax.jvp(lambda inputs: gradient(x, inputs), (point,), (du,))[1])(many)
    for k in range(3):
        assert_close(jax.vmap(roll, (None, 0))(x, many)[k], roll(x, many[k]), 1e-14)
        assert_close(together[k], gradient(x, many[k]), 1e-14)
        assert_close(products[k], jax.jvp(lambda inputs: gradient(x, inputs), (many[k],), (du,))[1], 1e-14)
    ahead = bunraku.jax.step(library.arm2d())
    assert_close(ahead(x, inputs[0]), roll(x, inputs)[1], 1e-14)
    assert_close(jax.jacobian(ahead)(x, inputs[0]), ahead.map.jacobian(x, inputs[0])[:, : ahead.map.n_x], 1e-14)


def test_conditions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import bunraku.jax

    jax.config.update("jax_enable_x64", False)
    with pytest.raises(BunrakuError, match="jax_enable_x64"):
        bunraku.jax.step(library.arm2d())
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingExtra, match=r"bunraku\[jax\]"):
        bunraku.jax.step(library.arm2d())
