"""Runs of programs under gcc's sanitizers, where the machine has them: a witness that shares no code with the judge.

AddressSanitizer sees uses of what does not live any more, also on the stack, and UndefinedBehaviorSanitizer the rest.
Each run is in a process of its own, so that one that ends badly ends no other.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

COMPILERS: Final[Mapping[str, str]] = {"c": "gcc", "c++": "g++"}
_FLAGS: Final = ("-w", "-O0", "-Dalways_inline=unused", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
"""gcc refuses functions that must be inlined and call themselves; whether they are inlined makes no run unclean."""
_STANDARDS: Final[Mapping[str, str]] = {"c": "-std=gnu17", "c++": "-std=c++17"}
_OPTIONS: Final = "detect_stack_use_after_return=1:detect_leaks=0"
_SECONDS: Final = 120.0
_WITH_ROOM: Final = ("sh", "-c", 'ulimit -S -v "$(ulimit -H -v)"; exec "$0"')
"""AddressSanitizer reserves terabytes of addresses, which the limits of our workers do not allow."""
_SYSTEM: Final = (
    "int fork(void);\nint waitpid(int, int *, int);\nvoid _exit(int);\nunsigned alarm(unsigned);\n"
    "int dprintf(int, const char *, ...);\n"
)
_MAIN: Final = """int main(void) {
    static const struct { int (*f)(int, int); int a, b; } runs[] = { RUNS };
    for (unsigned k = 0; k < sizeof runs / sizeof *runs; k++) {
        int status = 0, child = fork();
        if (child == 0) {
            alarm(2);
            dprintf(1, "%u %d\\n", k, runs[k].f(runs[k].a, runs[k].b));
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    }
    return 0;
}
"""
Call = tuple[str, int, int]
"""A function ``int (int, int)`` and its arguments."""


@functools.cache
def has_sanitizers(language: str) -> bool:
    """Whether the machine has a gcc whose sanitizers work."""
    with tempfile.TemporaryDirectory(prefix="loopless-") as folder:
        text = "int one(int a, int b) { int x[2] = {a, b}; return x[a & 3]; }\n"
        return sanitized(text, language, [("one", 1, 7), ("one", 3, 7)], Path(folder)) == [7, None]


def sanitized(text: str, language: str, calls: Sequence[Call], folder: Path) -> list[int | None] | None:
    """What calls of functions of a program return, None for those that are not clean; None in all where the compiler
    is not there, or does not take the program.
    """
    compiler = shutil.which(COMPILERS[language])
    if compiler is None:
        return None
    source, binary = folder / f"sanitized{'.c' if language == 'c' else '.cpp'}", folder / "sanitized"
    runs = ", ".join(f"{{{function}, {a}, {b}}}" for function, a, b in calls)
    system = _SYSTEM if language == "c" else f'extern "C" {{\n{_SYSTEM}}}\n'
    source.write_text(f"{text}\n{system}{_MAIN.replace('RUNS', runs)}", encoding="utf-8")
    try:
        command = [compiler, *_FLAGS, _STANDARDS[language], str(source), "-o", str(binary)]
        built = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS)
        if built.returncode != 0:
            return None
        environment = {**os.environ, "ASAN_OPTIONS": _OPTIONS, "UBSAN_OPTIONS": "print_stacktrace=0"}
        command = [*_WITH_ROOM, str(binary)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, env=environment)
    except (OSError, subprocess.SubprocessError):
        return None
    found: dict[int, int] = {}
    for line in done.stdout.decode("ascii", "replace").splitlines():
        number, _, value = line.partition(" ")
        found[int(number)] = int(value)
    return [found.get(number) for number in range(len(calls))]
