"""Speeds numba up, in a process that only compiles (see `compile_worker`)."""

from __future__ import annotations

import gc
from typing import Any

import llvmlite.binding as llvm
from numba.core import ir, transforms
from numba.core.annotations.type_annotations import TypeAnnotation
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.types.functions import BaseFunction
from numba.np import linalg


def hurry() -> None:
    """Makes garbage collection rare, and remembers what numba would find out again and again."""
    gc.set_threshold(200_000, 20, 50)
    _compare_flags_by_value()
    _remember_signatures()
    _lock_without_events()
    _refresh_what_is_new()
    _list_variables_by_type()
    _find_lifetimes_once()
    _annotate_nothing()
    _trust_in_blas()


def _compare_flags_by_value() -> None:
    """Numba looks up each call in a table whose keys contain the flags of a function. Its hash covers only the names of all flags,
    and its comparison reads all values one by one through properties."""
    hashing, comparing = TargetConfig.__hash__, TargetConfig.__eq__
    hashes: dict[type, int] = {}

    def quick_hash(self: Any) -> int:
        if type(self) not in hashes:
            hashes[type(self)] = hashing(self)
        return hashes[type(self)]

    def quick_equal(self: Any, other: Any) -> Any:
        return self is other or (type(self) is type(other) and self._values == other._values) or comparing(self, other)

    config: Any = TargetConfig
    config.__hash__, config.__eq__ = quick_hash, quick_equal


def _remember_signatures() -> None:
    """Numba tries all implementations of an operator at each place where it stands: forty for a sum, one after the other."""
    kept: dict[Any, Any] = {}
    resolve = BaseFunction.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        set_flags = () if flags is None else tuple(sorted((name, str(value)) for name, value in flags._values.items()))
        key = (self, tuple(args), tuple(kws.items()), set_flags)
        try:
            found = kept.get(key)
        except TypeError:  # a type that has no hash
            return resolve(self, context, args, kws)
        if found is None:
            found = kept[key] = resolve(self, context, args, kws)
        return found

    base: Any = BaseFunction
    base.get_call_type = get_call_type


def _lock_without_events() -> None:
    """Numba announces each of a hundred thousand calls of LLVM to a timer of every function that is being compiled."""
    lock = llvm.ffi.lib._lock
    for entering, leaving in list(lock._cblist):
        lock.unregister(entering, leaving)


def _refresh_what_is_new() -> None:
    """At each function that numba compiles or looks up, it goes through all registries for what modules have added to them."""
    refresh = BaseContext.refresh
    seen: dict[int, int] = {}

    def registered(context: Any) -> int:
        """How much there is in the registries, which only grow."""
        both = (*context._registries.items(), *context.typing_context._registries.items())
        return sum(len(getattr(registry, name)) for registry, loader in both for name in loader.registry_items)

    def refresh_if_new(self: Any) -> None:
        if seen.get(id(self)) != registered(self):
            refresh(self)
            seen[id(self)] = registered(self)

    context: Any = BaseContext
    context.refresh = refresh_if_new


def _list_variables_by_type() -> None:
    """Numba asks for the variables of a statement ten times, and tests the class of each member four times."""
    list_of = ir.Inst._rec_list_vars
    none = {str, int, float, bool, type(None), ir.Loc}

    def quick_list(self: Any, value: Any) -> list[Any]:
        kind = type(value)
        if kind in none:
            return []
        if kind is ir.Var:
            return [value]
        if kind is not list and kind is not tuple and kind is not dict:
            return list_of(self, value)  # type: ignore[no-any-return]
        found: list[Any] = []
        for one in value.values() if kind is dict else value:
            kind = type(one)
            if kind is ir.Var:
                found.append(one)
            elif kind not in none:
                found += quick_list(self, one)
        return found

    inst: Any = ir.Inst
    inst._rec_list_vars = quick_list


def _find_lifetimes_once() -> None:
    """Numba finds out after each of its passes which variables are alive at the start of each block; only generators and Python's
    objects need that. Lifetimes are found where they are asked for: before the machine code of a function is made."""
    run = PostProcessor.run

    def quick_run(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        code = self.func_ir
        if emit_dels or code.is_generator:
            run(self, emit_dels, extend_lifetimes)
            return
        code.blocks = transforms.canonicalize_cfg(code.blocks)
        code.variable_lifetime, code.generator_info = VariableLifetime(code.blocks), None

    processor: Any = PostProcessor
    processor.run = quick_run


def _annotate_nothing() -> None:
    """Numba keeps a text with the type of each variable in the cache, for `inspect_types`."""
    annotation: Any = TypeAnnotation
    annotation.__str__ = lambda _: ""


def _trust_in_blas() -> None:
    """Numba loads scipy to see whether it is installed, which takes longer than compiling two functions."""
    linalg.ensure_blas = lambda: None
