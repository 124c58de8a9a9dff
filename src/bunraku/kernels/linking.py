"""Compiles an `inline` to LLVM code that its callers link, never to machine code of its own.

Numba optimises each function together with all functions that it calls and makes machine code of it; then its caller does the
same again. Ten calls deep, nearly half of the time went into machine code that was never run. Here only a kernel, which
Python calls, is optimised and made into machine code, once, together with everything that it calls.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, environment, typed_passes
from numba.core.compiler_machinery import register_pass

from bunraku.kernels.cache import KernelCache, KernelFiles
from bunraku.kernels.lowering import Lowering


class _Library(codegen.JITCodeLibrary):
    """LLVM code of one function, which is simplified a little: that is enough for what is linked and optimised as a whole later."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:  # four of five are, and numba sets up LLVM's passes for each
                passes, builder = self._codegen._function_pass_manager(opt=1)
                passes.run(function, builder)


class Linked(_Library):
    """LLVM code of an `inline`, for callers to link. It is not given to the engine that makes machine code."""

    @property
    def codegen(self) -> Linked:
        """Itself, since numba calls `codegen.set_env`."""
        return self

    def set_env(self, _name: str, _environment: Any) -> None:
        """Does nothing: there is no machine code yet (see `_LowerKernel`)."""

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """Does nothing: the kernel is optimised as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        return self.name, self._get_module_for_linking().as_bitcode()


class Whole(_Library):
    """Machine code of a kernel or a unit, with all that it calls."""

    level = 1

    def _optimize_final_module(self) -> None:
        # Numba's first, cheap passes bring the counting of references together, so that the others can remove it.
        for options in ({"opt": 0, "loop_vectorize": False, "slp_vectorize": False, "cost": "cheap"}, {"opt": self.level}):
            passes, builder = self._codegen._module_pass_manager(**options)
            passes.run(self._final_module, builder)


class HotWhole(Whole):
    """The same, with all of LLVM's optimisations."""

    level = 3


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerInline(typed_passes.NativeLowering):
    _name = "bunraku_lower_inline"
    lowering_class = Lowering

    def run_pass(self, state: Any) -> bool:
        state.library = Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerKernel(typed_passes.NativeLowering):
    _name = "bunraku_lower_kernel"
    lowering_class = Lowering
    library = Whole

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        done = super().run_pass(state)
        # Numba does this for each function that it makes machine code of; here it is done for the functions that were linked.
        for variable in state.library._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv") and (own := environment.lookup_environment(variable.name)) is not None:
                state.library.codegen.set_env(variable.name, own)
        return bool(done)


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerHotKernel(_LowerKernel):
    _name = "bunraku_lower_hot_kernel"
    library = HotWhole


def _with(lowering: type, state: Any) -> list[Any]:
    """Numba's own passes, with `lowering` in place of its last one."""
    passes = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
    passes.passes = [(lowering if kind is typed_passes.NativeLowering else kind, about) for kind, about in passes.passes]
    passes.finalize()
    return [passes]


class InlineCompiler(compiler.CompilerBase):
    """Compiles to LLVM code for callers to link."""

    def define_pipelines(self) -> list[Any]:
        return _with(_LowerInline, self.state)


class KernelCompiler(compiler.CompilerBase):
    """Compiles to machine code."""

    def define_pipelines(self) -> list[Any]:
        return _with(_LowerKernel, self.state)


class HotKernelCompiler(compiler.CompilerBase):
    """Compiles to machine code with all of LLVM's optimisations, which takes twice as long."""

    def define_pipelines(self) -> list[Any]:
        return _with(_LowerHotKernel, self.state)


class _InlineFiles(KernelFiles):
    """Loads an `inline` from disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, bitcode), fndesc, own, signature, objectmode, lifted, annotation, reload_init, referenced = payload
        for make_known in reload_init:  # slots of units
            make_known()
        library = Linked(target_context.codegen(), name)
        library._reload_init.update(reload_init)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._finalize_final_module()
        return compiler.compile_result(
            target_context=target_context, typing_context=target_context.typing_context, library=library, environment=own,
            entry_point=target_context.get_executable(library, fndesc, own), fndesc=fndesc, type_annotation=annotation,
            signature=signature, objectmode=objectmode, lifted=lifted, reload_init=reload_init, referenced_envs=referenced,
        )  # fmt: skip


class InlineCache(KernelCache):
    """The files of one `inline`."""

    _impl_class = _InlineFiles
    _suffix = ".nbi"  # wheels do not contain these
