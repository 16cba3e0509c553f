"""Turns IR into machine code in this process. Only a bounded child process may do that, never the one users talk to.

The code runs with all rights of its process, and LLVM may abort it. Nothing else in Loopless executes user code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from loopless.errors import SourceError
from loopless.source.compile import SourceOptions, compile_ir

__all__ = ["Jit", "SourceOptions", "compile_ir", "emit_object"]

_STATE: Final[dict[str, Any]] = {}


def _llvm() -> Any:
    """The binding, its native target initialized (once; importing it takes time that readers need not spend)."""
    if "llvm" not in _STATE:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _STATE["llvm"] = llvm
    return _STATE["llvm"]


def _module(ir_texts: str | Sequence[str]) -> Any:
    """One verified module of all texts."""
    llvm = _llvm()
    context = llvm.create_context()
    whole = None
    for text in [ir_texts] if isinstance(ir_texts, str) else ir_texts:
        try:
            module = llvm.parse_assembly(text, context)
            module.verify()
            if whole is None:
                whole = module
            else:
                whole.link_in(module)
        except RuntimeError as e:
            raise SourceError(f"LLVM cannot read the IR to run: {str(e).splitlines()[0]}") from None
    if whole is None:
        raise SourceError("no IR to run")
    return whole


def _machine(module: Any, opt: int) -> Any:
    """The target machine for the module's own triple; code for another pointer width cannot run here."""
    llvm = _llvm()
    triple = module.triple or llvm.get_process_triple()
    here = llvm.get_process_triple()
    if triple.partition("-")[0] != here.partition("-")[0]:
        raise SourceError(f"code for {triple} cannot run on this host ({here}); leave --data-model out or use --no-run")
    return llvm.Target.from_triple(triple).create_target_machine(opt=opt, jit=True)


def emit_object(ir_texts: str | Sequence[str], opt: int = 0) -> bytes:
    """The object file of one module or of several linked, compiled at level ``opt`` (0 to 3).

    Raises:
        SourceError: the IR is not valid, the modules do not link, or they are for another processor.
    """
    module = _module(ir_texts)
    return bytes(_machine(module, opt).emit_object(module))


class Jit:
    """Machine code of one module, or of several linked, in this process's memory.

    Name external symbols with :meth:`add_symbol` before the first :meth:`address`; those of the C library are found by
    themselves.
    """

    def __init__(self, ir_texts: str | Sequence[str], opt: int = 0) -> None:
        """Raises ``SourceError`` as :func:`emit_object` does."""
        module = _module(ir_texts)
        self._engine = _llvm().create_mcjit_compiler(module, _machine(module, opt))
        self._final = False

    def address(self, name: str) -> int:
        """The address of a defined function or variable; 0 if there is none of that name."""
        if not self._final:
            self._engine.finalize_object()
            self._engine.run_static_constructors()
            self._final = True
        return int(self._engine.get_function_address(name)) or int(self._engine.get_global_value_address(name))

    @staticmethod
    def add_symbol(name: str, address: int) -> None:
        """Make the external symbol ``name`` stand for ``address``, in this whole process."""
        _llvm().add_symbol(name, address)
