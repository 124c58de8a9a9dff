"""Steps and rollouts as functions of JAX, with exact derivatives of first and second order: `jit`, `vmap`, `grad`, `jvp`, `vjp`,
`jacobian`, and products with Hessians, in any order of forward and reverse mode.

    import bunraku, bunraku.jax
    roll = bunraku.jax.rollout(figure, dt=0.01)
    X = roll(x0, U)                                    # (T + 1, n_x), from x0 (n_x,) with inputs U (T, n_u)
    jax.grad(lambda U: cost(roll(x0, U)))(U)

A state x holds the variables q and the momentum of the dynamic ones; an input u the kinematic variables after the step and the
forces. `StepMap` makes them: `roll.map.state(q, v)`, `roll.map.hold(q)`.
"""

from bunraku.dynamics.step_map import StepMap
from bunraku.jax.jax_steps import rollout, step

__all__ = ["StepMap", "rollout", "step"]
