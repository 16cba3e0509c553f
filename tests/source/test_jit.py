"""Machine code from IR; run here because these programs are ours."""

from __future__ import annotations

import ctypes

import pytest

from loopless.errors import SourceError
from loopless.source.jit import Jit, SourceOptions, compile_ir, emit_object

INT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)


def test_functions_variables_and_symbols():
    text = "extern int ask(int); int g = 7; int f(int x) { return ask(x) + g++; } int h(int x) { return f(f(x)); }"
    answer = INT(lambda x: 3 * x)
    Jit.add_symbol("ask", ctypes.cast(answer, ctypes.c_void_p).value)
    jit = Jit(compile_ir(text))
    assert INT(jit.address("h"))(5) == 3 * (15 + 7) + 8
    assert ctypes.c_int.from_address(jit.address("g")).value == 9
    assert jit.address("nothing") == 0


def test_several_modules():
    parts = [compile_ir("int g(int); int f(int x) { return g(x) + 1; }"), compile_ir("int g(int x) { return x * x; }")]
    assert INT(Jit(parts, opt=2).address("f"))(6) == 37
    assert emit_object(parts)[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe") or emit_object(parts)[:2] == b"\x64\x86"


def test_what_cannot_run():
    other = compile_ir("int x;", SourceOptions(data_model="ILP32"))
    with pytest.raises(SourceError, match="cannot run on this host"):
        Jit(other)
    with pytest.raises(SourceError, match="LLVM cannot read the IR to run"):
        Jit("define")
    with pytest.raises(SourceError, match="no IR"):
        emit_object([])
