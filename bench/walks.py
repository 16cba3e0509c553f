"""How a reader comes from a command to the method that answers it: visits of modules and returns, as a Markdown table.

    python bench/walks.py [--source src/loopless]

The package below ``--source`` answers three questions in this process, and the calls of its functions are followed until
the first method is called. Two counts, each of visits and of returns to a module that was visited before:

- the chain: the functions that are being called at that moment, from the command down to the method, in any package;
- the reading: each function of ``cli`` and ``queries`` and of the portfolios is read once, when it is called first, and
  behind it the reader goes back to its caller.

Functions of one module that follow one another are one visit. Child processes are left out: jobs run in this process.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

READ = ("loopless.cli", "loopless.queries", "loopless.portfolio")
"""What is read. Other portfolios are, too; all else a reader takes by its name."""
LOOP = "int f(int i, int n) { while (i < n) i += 2; return i; }\n"
MEMORY = "int f(int *p, int n) { int s = 0; while (n > 0) { if (p[n & 3]) n--; else n -= 2; s++; } return s; }\n"
RIGHT = "void reach_error(void); int main(void) { unsigned x = 0; while (x < 10) x++; if (x != 10) reach_error(); }\n"
QUESTIONS = (
    ("summarize", LOOP, "loopless.summary.methods."),
    ("bound", MEMORY, "loopless.bounds.methods."),
    ("verify", RIGHT, "loopless.verification.proofs.Search.trivially"),
)
"""The command, a program, and how the names of its methods begin."""


class Walk:
    """The calls from a command to its first method, by the places of the reader."""

    def __init__(self, method: str) -> None:
        self.method = method
        self.chain: list[str] = []
        self.reading: list[str] = []
        self._known: set[CodeType] = set()
        self._read: list[tuple[FrameType, str]] = []
        self._importing = 0

    def follow(self, frame: FrameType, event: str, _: Any) -> None:
        """Hear of a call or a return."""
        module = frame.f_globals.get("__name__", "")
        if self.chain or event not in ("call", "return") or not module.startswith("loopless"):
            return
        code = frame.f_code
        if not code.co_flags & inspect.CO_OPTIMIZED:  # the body of a module or a class
            self._importing += 1 if event == "call" else -1
        elif not self._importing and not code.co_filename.startswith("<"):
            self._enter(frame, code, module) if event == "call" else self._leave(frame)

    def _enter(self, frame: FrameType, code: CodeType, module: str) -> None:
        if f"{module}.{code.co_qualname}".startswith(self.method):
            self.chain = [*_modules(frame)]
            self.reading.append(module)
        elif code not in self._known and (module.startswith(READ) or module.endswith(".portfolio")):
            self._known.add(code)
            self._read.append((frame, module))
            self.reading.append(module)

    def _leave(self, frame: FrameType) -> None:
        if self._read and self._read[-1][0] is frame:
            self._read.pop()
            self.reading.append(self._read[-1][1] if self._read else "")


def _modules(frame: FrameType | None) -> Sequence[str]:
    """The modules of the functions of the package that are being called, the first one first."""
    found = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("loopless") and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            found.append(module)
        frame = frame.f_back
    return found[::-1]


def visits(places: Sequence[str]) -> list[str]:
    """The places, those in one module that follow one another as one."""
    return [place for at, place in enumerate(places) if at == 0 or places[at - 1] != place]


def returns(visited: Sequence[str]) -> int:
    """How often a module was visited before."""
    return len(visited) - len(set(visited))


def without_children(settings_of: Callable[..., Any]) -> Callable[..., Any]:
    """The settings of a command, but jobs run in this process."""

    def settings(*given: Any) -> Any:
        return replace(settings_of(*given), sandboxed=False)

    return settings


def walk(command: str, program: str, method: str) -> Walk:
    """What a command comes by."""
    from loopless import cli

    found = Walk(method)
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        file = Path(folder) / "program.c"
        file.write_text(program, encoding="utf-8")
        sys.setprofile(found.follow)
        try:
            cli.main([command, str(file)])
        finally:
            sys.setprofile(None)
    return found


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path("src/loopless"))
    parser.add_argument("--show", action="store_true", help="print the modules, too")
    options = parser.parse_args()
    sys.path.insert(0, str(options.source.resolve().parent))
    from loopless.cli import options as of_commands

    of_commands.settings_of = without_children(of_commands.settings_of)
    print("| command | chain: visits | returns | reading: visits | returns |\n|---|---|---|---|---|")
    for command, program, method in QUESTIONS:
        found = walk(command, program, method)
        chain, reading = visits(found.chain), visits(found.reading)
        print(f"| {command} | {len(chain)} | {returns(chain)} | {len(reading)} | {returns(reading)} |")
        if options.show:
            print("\n".join(("", *chain, "", *reading, "")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
