"""Stand-in for ``loopless.source`` until it exists."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def compile_c(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.c"
        path.write_text(text)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "ziglang",
                "cc",
                "-target",
                "x86_64-linux-musl",
                "-O0",
                "-g",
                "-S",
                "-emit-llvm",
                "-fno-discard-value-names",
                "-Xclang",
                "-disable-O0-optnone",
                "-fno-sanitize=all",
                "-fsanitize=signed-integer-overflow,shift-exponent,integer-divide-by-zero,unreachable",
                "-fsanitize-trap=all",
                "-w",
                "-Wno-error=implicit-function-declaration",
                "-Wno-error=implicit-int",
                "-Wno-error=int-conversion",
                "-x",
                "c",
                str(path),
                "-o",
                str(Path(folder) / "out.ll"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            from loopless.errors import SourceError

            raise SourceError(done.stderr)
        return (Path(folder) / "out.ll").read_text()


class Jit:
    def __init__(self, ir_text: str) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(ir_text)
        module.triple = llvm.get_process_triple()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        return int(self._engine.get_global_value_address(name)) or int(self._engine.get_function_address(name))

    @staticmethod
    def add_symbol(name: str, address: int) -> None:
        import llvmlite.binding as llvm

        llvm.add_symbol(name, address)
