"""Which compiler is used where nobody names one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from loopless.errors import SourceError
from loopless.source.compile import compile_ir
from loopless.source.toolchain import OLDEST, system_clang, zig


@pytest.fixture(autouse=True)
def _asked_anew():
    zig.cache_clear()
    system_clang.cache_clear()
    yield
    zig.cache_clear()
    system_clang.cache_clear()


def pretend(folder: Path, name: str, version: str) -> str:
    """A compiler of this name that calls itself so, and otherwise is that of the wheel."""
    file = folder / name
    file.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}" && exit\nexec {zig()} cc "$@"\n', encoding="utf-8"
    )
    file.chmod(0o755)
    return str(file)


def test_the_wheel_goes_first(tmp_path, monkeypatch):
    pretend(tmp_path, "clang-19", "clang version 19.1.7")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert system_clang() is None


def test_without_the_wheel_the_newest_clang_that_will_do_compiles(tmp_path, monkeypatch):
    pretend(tmp_path, "clang", "Apple clang version 17.0.0")
    pretend(tmp_path, "clang-20", f"clang version {OLDEST - 1}.0.6")
    pretend(tmp_path, "clang-16", "Debian clang version 16.0.6")
    newest = pretend(tmp_path, "clang-19", "Debian clang version 19.1.7 (3~deb12u1)")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setitem(sys.modules, "ziglang", None)
    assert system_clang() == newest
    assert "define" in compile_ir("int f(void) { return 1; }\n")


def test_without_any_compiler_it_is_said_what_to_install(tmp_path, monkeypatch):
    pretend(tmp_path, "clang", "Apple clang version 17.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ziglang", None)
    zig.cache_clear()
    with pytest.raises(SourceError, match=r"no C compiler: .*'loopless\[zig\]'.* a clang of version 16 to 22"):
        compile_ir("int f(void) { return 1; }\n")
