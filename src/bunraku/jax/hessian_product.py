"""The product of the Hessian of a step with a direction, as a primitive of JAX that can be transposed and batched."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from bunraku.dynamics.step_map import StepMap
from bunraku.errors import MissingExtra


def modules() -> tuple[Any, Any]:
    """JAX and its NumPy; raises MissingExtra if it is not installed."""
    try:
        return importlib.import_module("jax"), importlib.import_module("jax.numpy")
    except ImportError:
        raise MissingExtra("jax", "jax", "bunraku.jax") from None


def called(function: Callable[..., Any], size: tuple[int, ...], *given: Any) -> Any:
    """A `function` of arrays that returns one of this `size`, called by JAX from compiled code with the arrays `given`.

    Batches by `vmap` add dimensions in front of all arguments.
    """
    jax, _ = modules()
    shape = jax.ShapeDtypeStruct(size, np.float64)
    return jax.pure_callback(
        lambda *arrays: function(*(np.asarray(array) for array in arrays)), shape, *given, vmap_method="broadcast_all"
    )


@cache
def hessian_product() -> Any:
    """The primitive: bind(x, u, dz, own=StepMap, transposed=False) is ∂²x₁/∂z² · dz (…, n_x, n_z).

    Transposed, it takes matrices (…, n_x, n_z) in place of dz, and gives (…, n_z). The Hessian itself is never kept.
    """
    jax, jnp = modules()
    ad, batching, mlir = (importlib.import_module(f"jax.interpreters.{name}") for name in ("ad", "batching", "mlir"))
    primitive = importlib.import_module("jax.extend.core").Primitive("bunraku_hessian_product")

    def shape(x: Any, own: StepMap, transposed: bool) -> tuple[int, ...]:
        n_z = own.n_x + own.n_u
        return (*x.shape[:-1], n_z) if transposed else (*x.shape[:-1], own.n_x, n_z)

    def compute(x: Any, u: Any, along: Any, *, own: StepMap, transposed: bool) -> Any:
        return called(own.hessian_of if transposed else own.hessian_along, shape(x, own, transposed), x, u, along)

    def differentiate(primals: Any, tangents: Any, **words: Any) -> Any:
        x, u, along = primals
        if not all(isinstance(tangent, ad.Zero) for tangent in tangents[:2]):
            raise NotImplementedError("steps of bunraku have derivatives of first and second order, not of third")
        out = primitive.bind(x, u, along, **words)
        change = tangents[2]
        return out, ad.Zero.from_primal_value(out) if isinstance(change, ad.Zero) else primitive.bind(x, u, change, **words)

    def transpose(cotangent: Any, x: Any, u: Any, along: Any, *, own: StepMap, transposed: bool) -> Any:
        if isinstance(cotangent, ad.Zero):
            return None, None, None
        return None, None, primitive.bind(x, u, cotangent, own=own, transposed=not transposed)

    def batch(given: Any, axes: Any, **words: Any) -> Any:
        size = next(array.shape[axis] for array, axis in zip(given, axes, strict=True) if axis is not None)
        rows = [
            jnp.broadcast_to(array, (size, *array.shape)) if axis is None else jnp.moveaxis(array, axis, 0)
            for array, axis in zip(given, axes, strict=True)
        ]
        return primitive.bind(*rows, **words), 0

    primitive.def_impl(jax.jit(compute, static_argnames=("own", "transposed")))
    primitive.def_abstract_eval(lambda x, u, along, *, own, transposed: jax.core.ShapedArray(shape(x, own, transposed), x.dtype))
    mlir.register_lowering(primitive, mlir.lower_fun(compute, multiple_results=False))
    ad.primitive_jvps[primitive] = differentiate
    ad.primitive_transposes[primitive] = transpose
    batching.primitive_batchers[primitive] = batch
    return primitive
