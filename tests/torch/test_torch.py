"""Steps and rollouts in PyTorch: every kind of derivative against difference quotients."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from bunraku.errors import MissingExtra
from bunraku.figure import library
from tests.step_maps import in_motion, quotient

torch = pytest.importorskip("torch", reason="PyTorch is not installed (700 MB): pip install 'bunraku[torch]'")
pytestmark = pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # by torch


def problem(name: str, steps: int = 4) -> tuple[Any, Any, Any, Any, Any, Any]:
    """A rollout, a cost of it, and a point and a direction."""
    import bunraku.torch

    own, x, u, dx, du = in_motion(name)
    roll = bunraku.torch.rollout(own.figure, dt=own.dt)
    inputs = np.tile(u, (steps, 1))
    changes = du * np.linspace(0.2, 1.0, steps)[:, None]
    weights = torch.from_numpy(np.random.default_rng(5).normal(size=(steps + 1, own.n_x)))

    def cost(x: Any, inputs: Any) -> Any:
        states = roll(x, inputs)
        return (weights * states).sum() + (states**2).sum()

    return roll, cost, *(torch.from_numpy(np.array(one)) for one in (x, inputs, dx, changes))


def assert_close(found: Any, wanted: Any, within: float) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert np.max(np.abs(found - wanted)) <= within * max(1.0, float(np.max(np.abs(wanted))))


def gradient(cost: Any, x: Any, inputs: Any, *, again: bool = False) -> Any:
    x, inputs = x.detach().requires_grad_(), inputs.detach().requires_grad_()
    return (x, inputs), torch.autograd.grad(cost(x, inputs), (x, inputs), create_graph=again)


@pytest.mark.parametrize("name", ["arm2d", "marionette22"])
def test_first_derivatives(name: str) -> None:
    roll, cost, x, inputs, dx, du = problem(name)
    with torch.autograd.forward_ad.dual_level():
        dual = [torch.autograd.forward_ad.make_dual(p, d) for p, d in ((x, dx), (inputs, du))]
        along = torch.autograd.forward_ad.unpack_dual(roll(*dual)).tangent
    assert_close(along, quotient(lambda h: roll(x + h * dx, inputs + h * du)), 1e-7)
    _, (gx, gu) = gradient(cost, x, inputs)
    change = quotient(lambda h: float(cost(x + h * dx, inputs + h * du)))
    assert_close((gx * dx).sum() + (gu * du).sum(), change, 1e-7)


@pytest.mark.parametrize("name", ["arm2d", "marionette22"])
def test_hessian_products(name: str) -> None:
    _, cost, x, inputs, dx, du = problem(name)
    at, (gx, gu) = gradient(cost, x, inputs, again=True)
    product = torch.autograd.grad((gx * dx).sum() + (gu * du).sum(), at)
    for k in range(2):
        assert_close(product[k], quotient(lambda h, k=k: gradient(cost, x + h * dx, inputs + h * du)[1][k]), 1e-6)


def test_gradcheck_of_torch_itself() -> None:
    import bunraku.torch

    own, x, u, _, _ = in_motion("arm2d")
    ahead = bunraku.torch.step(own.figure)
    given = tuple(torch.from_numpy(one).requires_grad_() for one in (x, u))
    assert torch.autograd.gradcheck(ahead, given, eps=1e-6, atol=1e-6, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(ahead, given, eps=1e-6, atol=1e-5)


def test_batches() -> None:
    roll, _, x, inputs, _, du = problem("arm2d")
    many = torch.stack([inputs, inputs + 0.1 * du, inputs - 0.2 * du]).requires_grad_()
    states = roll(x, many)
    assert states.shape[:2] == (3, inputs.shape[0] + 1)
    (found,) = torch.autograd.grad((states**2).sum(), many)
    for k in range(3):
        one = many[k].detach().requires_grad_()
        assert_close(states[k].detach(), roll(x, one).detach(), 1e-14)
        assert_close(found[k], torch.autograd.grad((roll(x, one) ** 2).sum(), one)[0], 1e-12)


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import bunraku.torch
    from bunraku.torch.torch_steps import _functions

    _functions.cache_clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"bunraku\[torch\]"):
        bunraku.torch.step(library.arm2d())
