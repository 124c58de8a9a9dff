"""Steps and rollouts as functions of PyTorch, with exact derivatives of first and second order, for batches.

    import bunraku, bunraku.torch
    roll = bunraku.torch.rollout(figure, dt=0.01)
    X = roll(x0, U)                                    # (…, T + 1, n_x), from x0 (…, n_x) with inputs U (…, T, n_u)
    cost(X).backward()

Gradients (`backward`), products with Jacobians in forward mode (`torch.func.jvp`, `torch.autograd.forward_ad`) and products with
Hessians (a second `torch.autograd.grad`) are exact. States and inputs are those of `bunraku.jax`; numbers have 64 bits.
"""

from bunraku.dynamics.step_map import StepMap
from bunraku.torch.torch_steps import rollout, step

__all__ = ["StepMap", "rollout", "step"]
