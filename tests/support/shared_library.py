"""Functions in C as a shared library, to be called from tests."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path

from loopless.source.toolchain import environment, zig


def shared_library(text: str, *options: str) -> ctypes.CDLL:
    """The library of these functions, which call none of the C library; ``options`` are further ones of the compiler."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.c").write_text(text, encoding="utf-8")
        given = ("-O1", "-shared", "-fPIC", "-nostdlib", "-fno-sanitize=all", *options)
        command = [zig(), "cc", *given, "-o", "a.so", "a.c"]
        subprocess.run(command, cwd=folder, env=environment(Path(folder) / "cache"), check=True)
        return ctypes.CDLL(str(Path(folder) / "a.so"))
