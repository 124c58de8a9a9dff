"""step and rollout as functions of PyTorch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.dynamics.step_map import StepMap
from bunraku.errors import MissingExtra
from bunraku.figure import Figure


def step(figure: Figure, *, dt: float = 0.01, share: float = LEFT_SHARE) -> Callable[[Any, Any], Any]:
    """The function (x, u) ↦ x₁ of one step of a `figure`, for x (…, n_x) and u (…, n_u).

    dt: the time step [s]
    share: share of a force's impulse that acts at the start of the step

    Returns a function of PyTorch, whose attribute `map` is its StepMap. Raises MissingExtra if PyTorch is not installed.
    """
    own, functions = StepMap(figure, dt, share), _functions()

    def ahead(x: Any, u: Any) -> Any:
        return functions.step(own, x, u)

    ahead.map = own  # type: ignore[attr-defined]
    return ahead


def rollout(figure: Figure, *, dt: float = 0.01, share: float = LEFT_SHARE) -> Callable[[Any, Any], Any]:
    """The function (x₀, U) ↦ X of as many steps of a `figure` as U (…, T, n_u) has rows; X (…, T + 1, n_x) begins with x₀.

    dt: the time step [s]
    share: share of a force's impulse that acts at the start of a step

    Returns a function of PyTorch, whose attribute `map` is its StepMap. Raises MissingExtra if PyTorch is not installed.
    """
    ahead = step(figure, dt=dt, share=share)

    def roll(x: Any, inputs: Any) -> Any:
        torch = importlib.import_module("torch")
        states = [x]
        for k in range(inputs.shape[-2]):
            states.append(ahead(states[-1], inputs[..., k, :]))
        return torch.stack(torch.broadcast_tensors(*states), -2)

    roll.map = ahead.map  # type: ignore[attr-defined]
    return roll


@cache
def _functions() -> Any:
    """The functions that autograd differentiates; made when PyTorch is first needed."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        raise MissingExtra("torch", "torch", "bunraku.torch") from None

    def tensor(values: Any, like: Any) -> Any:
        return torch.from_numpy(values).to(like)

    def plain(*tensors: Any) -> list[Any]:
        return [one.detach().double().cpu().numpy() for one in tensors]

    def spread(x: Any, u: Any) -> tuple[Any, Any]:
        batch = torch.broadcast_shapes(x.shape[:-1], u.shape[:-1])
        return x.expand(*batch, x.shape[-1]), u.expand(*batch, u.shape[-1])

    class Step(torch.autograd.Function):  # type: ignore[misc]
        """z ↦ x₁."""

        @staticmethod
        def forward(own: StepMap, x: Any, u: Any) -> Any:
            return tensor(own.step(*plain(x, u)), x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.own = inputs[0]
            ctx.save_for_backward(*inputs[1:])
            ctx.save_for_forward(*inputs[1:])

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            x, u = ctx.saved_tensors
            pulled = Pulled.apply(ctx.own, x, u, cotangents[0])
            return None, pulled[..., : ctx.own.n_x], pulled[..., ctx.own.n_x :]

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            x, u = ctx.saved_tensors
            _, dx, du = tangents
            along = torch.cat([torch.zeros_like(x) if dx is None else dx, torch.zeros_like(u) if du is None else du], -1)
            return (tensor(ctx.own.jacobian(*plain(x, u)), x) @ along[..., None])[..., 0]

    class Pulled(torch.autograd.Function):  # type: ignore[misc]
        """(z, w) ↦ Dᵀ w: a product with the transposed Jacobian. Its own derivative needs the Hessian weighted with w only."""

        @staticmethod
        def forward(own: StepMap, x: Any, u: Any, weights: Any) -> Any:
            D = tensor(own.jacobian(*plain(x, u)), x)
            return (D.transpose(-1, -2) @ weights[..., None])[..., 0]

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.own = inputs[0]
            ctx.save_for_backward(*inputs[1:])
            ctx.save_for_forward(*inputs[1:])

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *cotangents: Any) -> Any:
            x, u, weights = ctx.saved_tensors
            (along,) = cotangents
            H = tensor(ctx.own.weighted_hessian(*plain(x, u, weights)), x)
            D = tensor(ctx.own.jacobian(*plain(x, u)), x)
            bent = (H @ along[..., None])[..., 0]
            return None, bent[..., : ctx.own.n_x], bent[..., ctx.own.n_x :], (D @ along[..., None])[..., 0]

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            x, u, weights = ctx.saved_tensors
            _, dx, du, dw = tangents
            along = torch.cat([torch.zeros_like(x) if dx is None else dx, torch.zeros_like(u) if du is None else du], -1)
            H = tensor(ctx.own.weighted_hessian(*plain(x, u, weights)), x)
            out = (H @ along[..., None])[..., 0]
            if dw is not None:
                D = tensor(ctx.own.jacobian(*plain(x, u)), x)
                out = out + (D.transpose(-1, -2) @ dw[..., None])[..., 0]
            return out

    class Functions:
        """What `step` calls."""

        @staticmethod
        def step(own: StepMap, x: Any, u: Any) -> Any:
            """The states after a step from `x` with inputs `u`; `own` computes it."""
            return Step.apply(own, *spread(x, u))

    return Functions
