"""The loops of ``bench/loops``: one C function each, its parameters the whole state, for any type of integers.

The header ``loop.h`` has the defaults; a program for a given type is the same text with other definitions. A counting
program keeps, in ``at1``, ``at2``, …, how often each mark was passed.
"""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.paths import LoopPaths, loop_paths
from loopless.source import load

FOLDER = Path(__file__).resolve().parent / "loops"
NAMES = tuple(sorted(file.stem for file in FOLDER.glob("*.c")))
SIGNED = {8: "signed char", 16: "short", 32: "int", 64: "long long"}
UNSIGNED = {width: f"unsigned {name.split()[-1] if width == 8 else name}" for width, name in SIGNED.items()}
_MARK = re.compile(r"AT\((\d+)\)")


def text(name: str) -> str:
    """The file of a loop."""
    return (FOLDER / f"{name}.c").read_text()


def program(source: str, ctype: str = "int", *, counting: bool = False) -> str:
    """``source`` for a type, as one text; line numbers stay."""
    marks = sorted({int(found) for found in _MARK.findall(source)})
    mark = "(void)at##k++" if counting else ""
    counters = "".join(f"unsigned long long at{k};" for k in marks) if counting else ""
    defined = f"#define T {ctype}\n#define AT(k) {mark}\n{counters}\n"
    first, rest = source.split('#include "loop.h"\n')
    return f"{defined}{first}#line {first.count(chr(10)) + 2}\n{rest}"


def mark_lines(source: str) -> dict[int, int]:
    """The line of each mark."""
    return {int(k): at for at, line in enumerate(source.splitlines(), 1) for k in _MARK.findall(line)}


def other_constants(source: str, seed: int) -> str:
    """``source`` with every constant of the loop replaced by a random one of the same sign; 0 stays."""
    rng = random.Random(f"constants:{seed}")
    head, body = source.split(") {\n", 1)

    def other(found: re.Match[str]) -> str:
        value = int(found[0])
        return str(rng.randint(1, 2 * value + 5)) if value else "0"

    lines = [
        line
        if "final_" in line
        else "".join(
            part if part.startswith("AT(") else re.sub(r"\b\d+\b", other, part)
            for part in re.split(r"(AT\(\d+\);)", line)
        )
        for line in body.splitlines()
    ]
    return head + ") {\n" + "\n".join(lines) + "\n"


def graph(program_text: str) -> Flowgraph:
    """The flowgraph of the function ``loop``."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "loop.c"
        file.write_text(program_text)
        module = load([file]).inlined
    return build(module.functions["loop"], module)


def paths(flowgraph: Flowgraph) -> LoopPaths:
    """The paths of its one loop."""
    (loop,) = flowgraph.loops
    found = loop_paths(flowgraph, loop)
    assert isinstance(found, LoopPaths), found
    return found
