"""How an `inline` is compiled: to code that its callers take in, never to machine code of its own.

Numba optimises each function together with all that it calls, and makes machine code of it, before the caller does the same
again. Ten calls deep, nearly half of the time went into machine code that nothing ever ran. Here only what Python calls, a
kernel, is optimised and made into machine code, with everything beneath it, once.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from numba.core import codegen, compiler, environment, typed_passes
from numba.core.compiler_machinery import register_pass

from bunraku.kernels.cache import KernelCache, KernelFiles


class Linked(codegen.JITCodeLibrary):
    """Code of an `inline`, for callers to link. The engine that makes machine code does not hear of it."""

    @property
    def codegen(self) -> Linked:
        """Numba asks it to `set_env`."""
        return self

    def set_env(self, _name: str, _environment: Any) -> None:
        """Nothing lies in memory yet: see `_LowerKernel`."""

    def get_pointer_to_function(self, _name: str) -> int:
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        """The kernel does, when all is in one place."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def serialize_using_object_code(self) -> tuple[str, bytes]:
        return self.name, self._get_module_for_linking().as_bitcode()


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerInline(typed_passes.NativeLowering):
    _name = "bunraku_lower_inline"

    def run_pass(self, state: Any) -> bool:
        state.library = Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerKernel(typed_passes.NativeLowering):
    _name = "bunraku_lower_kernel"

    def run_pass(self, state: Any) -> bool:
        done = super().run_pass(state)
        # What numba does for each function as it makes machine code of it: here, for those that were taken in.
        for variable in state.library._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv") and (own := environment.lookup_environment(variable.name)) is not None:
                state.library.codegen.set_env(variable.name, own)
        return bool(done)


def _with(lowering: type, state: Any) -> list[Any]:
    """Numba's own passes but for the last."""
    passes = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
    passes.passes = [(lowering if kind is typed_passes.NativeLowering else kind, about) for kind, about in passes.passes]
    passes.finalize()
    return [passes]


class InlineCompiler(compiler.CompilerBase):
    """Ends with code to be linked."""

    def define_pipelines(self) -> list[Any]:
        return _with(_LowerInline, self.state)


class KernelCompiler(compiler.CompilerBase):
    """Ends with machine code."""

    def define_pipelines(self) -> list[Any]:
        return _with(_LowerKernel, self.state)


class _InlineFiles(KernelFiles):
    """How an `inline` comes back from the disk."""

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, bitcode), fndesc, own, signature, objectmode, lifted, annotation, reload_init, referenced = payload
        library = Linked(target_context.codegen(), name)
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
    _suffix = ".nbi"  # a wheel has no use for them
