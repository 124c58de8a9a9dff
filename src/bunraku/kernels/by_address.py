"""Tuples of arrays that functions hand on by their address.

Numba passes a tuple of forty arrays as some three hundred numbers, at each call, and each of them costs the compiler time, too. A
`borrow`ed tuple is stored once, and only its address is passed; `w.R` loads what is needed of it. Its arrays are *uncounted*: they
have no reference count, and nothing keeps their memory alive.

The stored tuple never changes, and LLVM is told so (`invariant.load`). An empty piece of assembler between storing and the first
load keeps LLVM from moving a load before the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models, registry
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import lower_getattr_generic


class ByAddress(types.Type):
    """The address of a named tuple whose arrays are uncounted."""

    llvm_type = ir.IntType(8).as_pointer()

    def __init__(self, of: Any) -> None:
        self.of = of
        super().__init__(name=f"ByAddress({of})")


@registry.register_default(ByAddress)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ByAddress.llvm_type)


@infer_getattr
class _Members(AttributeTemplate):
    key = ByAddress

    def generic_resolve(self, kind: Any, name: str) -> Any:  # type: ignore[override]
        return kind.of.types[kind.of.fields.index(name)] if name in kind.of.fields else None


@lower_getattr_generic(ByAddress)
def _member(context: Any, builder: Any, kind: Any, address: Any, name: str) -> Any:
    i = kind.of.fields.index(name)
    pointer = builder.bitcast(address, context.get_value_type(kind.of).as_pointer())
    return loaded(context, builder, kind.of.types[i], _place(builder, pointer, (i,)), constant=True)


def stored(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Stores a `value` of a numba type `kind` in the frame of the function that `builder` builds, for a target `context`.
    Returns its address."""
    with builder.goto_entry_block():
        pointer = builder.alloca(context.get_value_type(kind))
    for path in _leaves(context, kind, value.type):
        builder.store(builder.extract_value(value, path) if path else value, _place(builder, pointer, path))
    return builder.bitcast(pointer, ByAddress.llvm_type)


def laundered(builder: Any, address: Any) -> Any:
    """The same `address`; nothing that `builder`'s function loads from it is loaded before this."""
    return builder.asm(ir.FunctionType(address.type, [address.type]), "", "=r,0,~{memory}", [address], True)


def loaded(context: Any, builder: Any, kind: Any, pointer: Any, *, constant: bool = False) -> Any:
    """The value of a type at an address, with all its arrays uncounted.

    context: the target
    builder: of the function that loads it
    kind: its numba type
    pointer: where it is
    constant: whether nothing changes it as long as it is there
    """
    out = ir.Constant(pointer.type.pointee, None)
    for path in _leaves(context, kind, pointer.type.pointee):
        number = builder.load(_place(builder, pointer, path))
        if constant:
            number.set_metadata("invariant.load", builder.module.add_metadata([]))
        out = builder.insert_value(out, number, path) if path else number
    return out


def _place(builder: Any, pointer: Any, path: tuple[int, ...]) -> Any:
    return builder.gep(pointer, [ir.IntType(32)(i) for i in (0, *path)], inbounds=True)


def _leaves(context: Any, kind: Any, llvm_type: Any) -> Iterator[tuple[int, ...]]:
    """Where the numbers and pointers of a type are in it, but for what counts references."""
    if isinstance(kind, types.BaseTuple):
        for i, member in enumerate(kind.types):  # type: ignore[attr-defined]
            yield from ((i, *path) for path in _leaves(context, member, llvm_type.elements[i]))
        return
    skipped = _counts(context, kind) if isinstance(kind, types.Array) else ()
    yield from (path for path in _numbers(llvm_type) if path[:1] not in skipped)


def _counts(context: Any, kind: Any) -> tuple[tuple[int], ...]:
    model = context.data_model_manager[kind]
    return tuple((model.get_field_position(name),) for name in ("meminfo", "parent"))


def _numbers(llvm_type: Any) -> Iterator[tuple[int, ...]]:
    if isinstance(llvm_type, ir.LiteralStructType | ir.IdentifiedStructType):
        for i, member in enumerate(llvm_type.elements):
            yield from ((i, *path) for path in _numbers(member))
    elif isinstance(llvm_type, ir.ArrayType):
        for i in range(llvm_type.count):
            yield from ((i, *path) for path in _numbers(llvm_type.element))
    else:
        yield ()
