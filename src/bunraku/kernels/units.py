"""A `unit` is compiled on its own, once for all kernels that call it, and only when it is first called.

Whatever a kernel links is optimised again in each kernel. Ten of them take steps of figures, and most figures have neither
pulleys nor friction nor springs; so these are units. A kernel calls a unit through a *slot*: a pointer that leads, at first, into
Python (`_first_call`), which compiles or loads the unit, and leads to its machine code from then on. The arguments lie in memory,
and a call hands over their address.

If a user interrupts a first call, the kernel goes on with zeros, compiles nothing more, and KeyboardInterrupt is raised as soon as
it returns.
"""

from __future__ import annotations

import _thread
import ctypes
import functools
import hashlib
import importlib
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bunraku.kernels.by_address import ByAddress, loaded, stored


@dataclass(frozen=True)
class Slot:
    """The pointer through which kernels call a unit with arguments of given types. Calling it makes it known to the linker; numba
    does so for each kernel that it loads from disk."""

    module: str
    name: str
    signature: tuple[Any, ...]
    symbol: str

    # The addresses of the arguments and of the result.
    function: ClassVar[Any] = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)

    def __call__(self) -> None:
        with _lock:
            if self.symbol not in _slots:
                if not _slots:
                    _hear_failed_calls()
                entry = self.function(functools.partial(_first_call, self))
                pointer = ctypes.c_void_p(ctypes.cast(entry, ctypes.c_void_p).value)
                _slots[self.symbol], _known[self.symbol] = (pointer, entry), self
                llvm.add_symbol(self.symbol, ctypes.addressof(pointer))


_lock = threading.Lock()
_slots: dict[str, tuple[ctypes.c_void_p, Any]] = {}
_known: dict[str, Slot] = {}
_given_up = threading.Event()  # an interrupt of the main thread is on its way


def slot(module: str, name: str, signature: tuple[Any, ...]) -> Slot:
    """The slot of the unit `name` of a `module` for a `signature`, registered."""
    key = hashlib.sha256(repr((module, name, signature)).encode()).hexdigest()[:16]
    made = Slot(module, name, signature, f"bunraku_unit_{name}_{key}")
    made()
    return made


def compile_all() -> None:
    """Compiles every unit that the kernels in memory may call, and what these may call: for a wheel."""
    done: set[str] = set()
    while missing := [made for made in list(_known.values()) if made.symbol not in done]:
        for made in missing:
            machine_code(made)
            done.add(made.symbol)


def machine_code(made: Slot) -> int:
    """The address of the machine code of the unit that a slot was `made` for, compiled or loaded if need be."""
    entry = getattr(importlib.import_module(made.module), made.name).unit
    entry.compile(made.signature)
    compiled = entry.overloads[made.signature]
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name))


def _first_call(made: Slot, arguments: int, result: int) -> None:
    """Compiles or loads a unit, lets its slot lead to the machine code, and calls that; does nothing in a kernel that is given up:
    numba does not always recover from being interrupted, so it is not begun where an interrupt is on its way."""
    if _given_up.is_set() and threading.current_thread() is threading.main_thread():
        return
    address = machine_code(made)
    _slots[made.symbol][0].value = address
    made.function(address)(arguments, result)


def _hear_failed_calls() -> None:
    """An exception inside a first call cannot pass the kernel, which goes on with zeros: the main thread is interrupted as soon as
    the kernel has returned. Python reports such an exception to `sys.unraisablehook`."""
    others = sys.unraisablehook

    def hook(ignored: Any) -> None:
        # Python 3.13 names the function in the message only.
        if getattr(ignored.object, "func", None) is not _first_call and _first_call.__name__ not in (ignored.err_msg or ""):
            others(ignored)
            return
        if not isinstance(ignored.exc_value, KeyboardInterrupt):
            others(ignored)
        _given_up.set()
        _thread.start_new_thread(_interrupt_main, ())  # a Timer waits until it has begun, and might be interrupted there

    sys.unraisablehook = hook


def _interrupt_main() -> None:
    time.sleep(0.05)
    if hasattr(signal, "pthread_kill"):  # wakes it, too, where it waits
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
    _given_up.clear()  # from now on, whatever the main thread begins in Python raises KeyboardInterrupt at once


def caller(module: str, name: str, result_type: Callable[[Any], Any]) -> Any:
    """What a kernel calls instead of the unit `name` of a `module`, with a tuple of all arguments; `result_type` makes the type of
    the result of theirs."""

    @intrinsic
    def call(_context: Any, arguments: Any) -> Any:
        returns = result_type(arguments)

        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            made = slot(module, name, (types.CPointer(arguments), types.CPointer(returns)))
            context.active_code_library._reload_init.add(made)
            packed, empty = stored(context, builder, arguments, values[0]), ir.Constant(context.get_value_type(returns), None)
            result = cgutils.alloca_once_value(builder, empty)
            anything = ByAddress.llvm_type
            try:
                pointer = builder.module.get_global(made.symbol)
            except KeyError:
                pointer = ir.GlobalVariable(builder.module, anything, name=made.symbol)
                pointer.linkage = "external"
            function = ir.FunctionType(ir.VoidType(), [anything, anything]).as_pointer()
            address = builder.bitcast(builder.load(pointer), function)
            builder.call(address, [packed, builder.bitcast(result, anything)])
            return builder.load(result)

        return returns(arguments), code

    return call


@intrinsic
def unpacked(_context: Any, packed: Any) -> Any:
    """The arguments that a caller left `packed` in memory, uncounted."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = builder.bitcast(values[0], context.get_value_type(packed.dtype).as_pointer())
        return loaded(context, builder, packed.dtype, pointer)

    return packed.dtype(packed), code


@intrinsic
def give(_context: Any, result: Any, value: Any) -> Any:
    """Leaves the `value` of a unit where its caller looks for the `result`."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        number = context.cast(builder, values[1], value, result.dtype)
        builder.store(number, builder.bitcast(values[0], number.type.as_pointer()))
        return context.get_dummy_value()

    return types.none(result, value), code


def entry_of(function: Any, compiled: Any) -> Any:
    """The Python function that the machine code of a unit is made of: reads the arguments, calls the `function`, as it is
    `compiled` for kernels, leaves the result."""
    space: dict[str, Any] = {"unpacked": unpacked, "give": give, "function": compiled}
    exec("def entry(packed, result):\n    give(result, function(*unpacked(packed)))\n", space)
    return _named(space["entry"], function)


def stub_of(function: Any, returns: str) -> Any:
    """The Python function that kernels call: all arguments in one tuple. See `compile.unit` for what it `returns`."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    def result_type(arguments: Any) -> Any:
        if returns in names:
            return arguments[names.index(returns)].dtype
        kinds = [getattr(types, name.strip()) for name in returns.split(",")]
        return kinds[0] if len(kinds) == 1 else types.Tuple(kinds)

    space: dict[str, Any] = {"call": caller(function.__module__, function.__name__, result_type)}
    exec(f"def stub({', '.join(names)}):\n    return call(({', '.join(names)},))\n", space)
    return _named(space["stub"], function)


def _named(made: Any, function: Any) -> Any:
    made.__module__, made.__qualname__, made.__name__ = function.__module__, function.__qualname__, function.__name__
    made.__doc__ = function.__doc__
    return made
