"""Turns the statements of compiled functions into LLVM code, with less of it than numba makes.

An element of an array takes numba some fifty LLVM instructions: it copies the array's description to memory, reads all its sizes
and strides from there twice, and wraps each index round if it is negative. LLVM removes nearly all of that later, which takes its
time. Here an element takes as many instructions as the array has dimensions, and a few.

Indices do not wrap round: an index that is not a constant must not be negative. `NUMBA_BOUNDSCHECK=1`, with an empty cache, turns
one that is, or is too large, into an IndexError.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils, lowering, types
from numba.np.arrayobj import load_item, store_item


class Lowering(lowering.Lower):
    """Numba's own, but for elements of arrays, and for variables that hold no references."""

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """The LLVM value of `value[index]`, for an `expr` of the numba type `resty` that is typed by a `signature`."""
        array = self.typeof(value.name)
        place = self._element(array, value, index)
        if place is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        item = load_item(self.context, self.builder, array, place)
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """The code of `target_var[index_var] = value_var`, typed by a `signature`."""
        array, kind = self.typeof(target_var.name), self.typeof(value_var.name)
        place = None if isinstance(kind, types.Array) else self._element(array, target_var, index_var)
        if place is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        item = self.context.cast(self.builder, self.loadvar(value_var.name), kind, array.dtype)
        return store_item(self.context, self.builder, array, item, place)

    def delvar(self, name: str) -> None:
        """Forgets the variable `name`. Numba fills its place with zeros, so that references are not given back twice."""
        if self._holds_references(name):
            super().delvar(name)
            return
        if name not in self._blk_local_varmap and not self._disable_sroa_like_opt:
            self._singly_assigned_vars.discard(name)
        self._alloca_var(name, self.typeof(name))

    def _holds_references(self, name: str) -> bool:
        model = self.context.data_model_manager[self.typeof(name)]
        return bool(self.context.enable_nrt and model.contains_nrt_meminfo())

    def _element(self, array: Any, variable: Any, index: Any) -> Any:
        """The address of the element of an `array` (a type) that an `index` denotes; None if it is anything but one element."""
        if not isinstance(array, types.Array):
            return None
        kind: Any = self.typeof(index.name)
        several = isinstance(kind, types.BaseTuple)
        kinds = kind.types if several else (kind,)
        if len(kinds) != array.ndim or not all(isinstance(one, types.Integer) for one in kinds):
            return None
        found = self.loadvar(index.name)
        numbers = cgutils.unpack_tuple(self.builder, found) if several else [found]
        whole = _Described(self.builder, self.context.data_model_manager[array], self.loadvar(variable.name))
        indices = [self._from_start(whole, axis, *pair) for axis, pair in enumerate(zip(kinds, numbers, strict=True))]
        return whole.address(indices, array.layout)

    def _from_start(self, whole: _Described, axis: int, kind: Any, index: Any) -> Any:
        """An index of a numba type as one that counts from the start of an `axis`."""
        wide = self.context.cast(self.builder, index, kind, types.intp if kind.signed else types.uintp)
        if isinstance(wide, ir.Constant) and isinstance(wide.constant, int) and wide.constant < 0:
            wide = self.builder.add(whole.number("shape", axis), wide)
        if self.context.enable_boundscheck:
            cgutils.do_boundscheck(self.context, self.builder, wide, whole.number("shape", axis), axis)
        return wide


@dataclass(frozen=True)
class _Described:
    """The LLVM value that describes an array."""

    builder: Any
    model: Any
    value: Any

    def number(self, field: str, axis: int) -> Any:
        """Its size (`shape`) or step in bytes (`strides`) along an `axis`."""
        return self.builder.extract_value(self.value, (self.model.get_field_position(field), axis))

    def address(self, indices: list[Any], layout: str) -> Any:
        """The address of an element."""
        add, mul = self.builder.add, self.builder.mul
        data = self.builder.extract_value(self.value, self.model.get_field_position("data"))
        axes = range(len(indices))
        if layout not in "CF":
            steps = (mul(self.number("strides", axis), indices[axis]) for axis in axes)
            return cgutils.pointer_add(self.builder, data, functools.reduce(add, steps))
        first, *others = axes if layout == "C" else reversed(axes)
        place = indices[first]
        for axis in others:  # Horner's scheme
            place = add(mul(place, self.number("shape", axis)), indices[axis])
        return self.builder.gep(data, [place])
