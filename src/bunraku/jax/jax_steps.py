"""step and rollout as functions of JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_map import StepMap
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.jax.hessian_product import called, hessian_product, modules


def step(figure: Figure, *, dt: float = 0.01, share: float = LEFT_SHARE) -> Callable[[Any, Any], Any]:
    """The function (x, u) ↦ x₁ of one step of a `figure`.

    dt: the time step [s]
    share: share of a force's impulse that acts at the start of the step

    Returns a function of JAX, whose attribute `map` is its StepMap. Raises MissingExtra if JAX is not installed, and BunrakuError
    unless it computes in 64 bits.
    """
    own = StepMap(figure, dt, share)
    return _named(_step_and_jacobian(own)[0], own)


def rollout(figure: Figure, *, dt: float = 0.01, share: float = LEFT_SHARE) -> Callable[[Any, Any], Any]:
    """The function (x₀, U) ↦ X of as many steps of a `figure` as U (T, n_u) has rows; X (T + 1, n_x) begins with x₀.

    dt: the time step [s]
    share: share of a force's impulse that acts at the start of a step

    Returns a function of JAX, whose attribute `map` is its StepMap. It computes all steps in one call, and derivatives by sweeps
    over the exact derivatives of the steps. Raises MissingExtra if JAX is not installed, and BunrakuError
    unless it computes in 64 bits.
    """
    own = StepMap(figure, dt, share)
    _, jacobian = _step_and_jacobian(own)
    jax, jnp = modules()

    @jax.custom_jvp
    def roll(x: Any, inputs: Any) -> Any:
        return called(own.roll, (inputs.shape[0] + 1, own.n_x), x, inputs)

    def differentiate(primals: Any, tangents: Any) -> Any:
        (x, inputs), (dx, du) = primals, tangents
        states = roll(x, inputs)
        D = jax.vmap(jacobian)(states[:-1], inputs)

        def ahead(along: Any, row: Any) -> Any:
            matrix, put = row
            after = matrix @ jnp.concatenate([along, put])
            return after, after

        _, after = jax.lax.scan(ahead, dx, (D, du))
        return states, jnp.concatenate([dx[None], after])

    roll.defjvp(differentiate)
    return _named(roll, own)


def _step_and_jacobian(own: StepMap) -> tuple[Any, Any]:
    """The step, and ∂x₁/∂(x, u), as functions of JAX that can be differentiated."""
    jax, jnp = modules()
    if not jax.config.read("jax_enable_x64"):
        raise BunrakuError('JAX computes in 32 bits\n  advice: jax.config.update("jax_enable_x64", True), before anything else')
    n_z, product = own.n_x + own.n_u, hessian_product()

    @jax.custom_jvp
    def jacobian(x: Any, u: Any) -> Any:
        return called(own.jacobian, (own.n_x, n_z), x, u)

    def bend(primals: Any, tangents: Any) -> Any:
        x, u = primals
        change = product.bind(x, u, jnp.concatenate(tangents), own=own, transposed=False)
        return jacobian(x, u), change

    jacobian.defjvp(bend)

    @jax.custom_jvp
    def ahead(x: Any, u: Any) -> Any:
        return called(own.step, (own.n_x,), x, u)

    def differentiate(primals: Any, tangents: Any) -> Any:
        return ahead(*primals), jacobian(*primals) @ jnp.concatenate(tangents)

    ahead.defjvp(differentiate)
    return ahead, jacobian


def _named(function: Any, own: StepMap) -> Callable[[Any, Any], Any]:
    """The function with its StepMap, which makes states and inputs."""
    function.map = own
    return function  # type: ignore[no-any-return]
