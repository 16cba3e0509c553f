"""``reach --hang`` on ten small parsers, each with a hang and without it.

    python bench/parsers.py [--only tlv csv] [--seconds 40] [--inputs 300]

The programs are in ``bench/reach/parsers``. Comments name the function to ask about, and the input that it hangs with;
``-DFIXED`` compiles the one that always ends. The test that ``--write-test`` writes of a hang has to run until its
alarm. Random inputs are run natively, too: none may hang the program that always ends. The script ends with status 1
where an answer is not the one that is right.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

PROGRAMS: Final = Path(__file__).parent / "reach" / "parsers"
STILL_S: Final = 1.0
"""A native run of an input of some bytes that takes longer is taken for one that never ends."""
MOST_BYTES: Final = 12


@dataclass(frozen=True, slots=True)
class Parser:
    """One program, with its hang or ``fixed``, and the function that is asked about."""

    file: Path
    function: str
    fixed: bool

    @property
    def flags(self) -> list[str]:
        """How it is compiled."""
        return ["-DFIXED"] if self.fixed else []


@dataclass(frozen=True, slots=True)
class Row:
    """One answer, and of how many random inputs the native run hangs."""

    parser: Parser
    verdict: str
    by: str
    given: str
    seconds: float
    right: bool
    hanging: int


def parsers(only: list[str]) -> list[Parser]:
    """The programs with these names, or all."""
    found = []
    for file in sorted(PROGRAMS.glob("*.c")):
        named = re.search(r"function: (\w+)", file.read_text(encoding="utf-8"))
        assert named is not None, file
        if not only or file.stem in only:
            found += [Parser(file, named[1], fixed) for fixed in (False, True)]
    return found


def asked(parser: Parser, seconds: float, folder: Path) -> dict[str, Any]:
    """The answer to ``reach --hang``, whose test is written into the folder."""
    command = [sys.executable, "-m", "loopless", "reach", str(parser.file), "--hang", "--function", parser.function]
    options = ["--timeout", f"{seconds:g}", "--format", "json", "--unknown-ok", "--write-test", str(folder)]
    done = subprocess.run([*command, *options, "--", *parser.flags], capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def hangs(folder: Path) -> bool:
    """Whether the test that was written runs until its alarm."""
    subprocess.run(["cc", "-w", "test.c", "-o", "run"], cwd=folder, check=True)
    given = folder / "stdin.bin"
    data = given.read_bytes() if given.exists() else b""
    return subprocess.run([folder / "run"], input=data, capture_output=True, check=False).returncode == -signal.SIGALRM


def hanging(parser: Parser, count: int, folder: Path) -> int:
    """How many of so many random inputs make the native run hang."""
    text = f'#include "{parser.file.resolve()}"\n'
    if parser.function != "main":
        text += "#include <stdio.h>\nint main(void) { static char b[64]; size_t n = fread(b, 1, 64, stdin);\n"
        text += f"return (int){parser.function}((void *)b, n) & 1; }}\n"
    (folder / "native.c").write_text(text, encoding="utf-8")
    subprocess.run(["cc", "-w", "-O1", *parser.flags, "native.c", "-o", "native"], cwd=folder, check=True)
    letters = sorted({ord(letter) for letter in parser.file.read_text(encoding="utf-8") if ord(letter) < 128})
    draw = random.Random(1)
    found = 0
    for _ in range(count):
        data = bytes(draw.choice((*letters, 0, 255, draw.randrange(256))) for _ in range(draw.randint(0, MOST_BYTES)))
        try:
            subprocess.run([folder / "native"], input=data, capture_output=True, check=False, timeout=STILL_S)
        except subprocess.TimeoutExpired:
            found += 1
    return found


def row(parser: Parser, seconds: float, inputs: int) -> Row:
    """The answer about one program, judged."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = asked(parser, seconds, folder)
        native = hanging(parser, inputs, folder)
        if parser.fixed:
            right = found["verdict"] == "unreachable" and not native
        else:
            right = found["verdict"] == "reached" and hangs(folder)
        given = (folder / "stdin.bin").read_bytes() if (folder / "stdin.bin").exists() else None
        shown = "" if given is None else repr(given).removeprefix("b")
        by = found.get("method") or found.get("reason") or ""
        return Row(parser, found["verdict"], by, shown, found["time_ms"] / 1000, right, native)


def main() -> None:
    """All answers, as a table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--seconds", type=float, default=40.0)
    options.add_argument("--inputs", type=int, default=300)
    chosen = options.parse_args()
    print("| parser | asked about | answer | by | standard input | s | random inputs that hang |")
    print("|---|---|---|---|---|--:|--:|")
    wrong = 0
    for parser in parsers(chosen.only):
        one = row(parser, chosen.seconds, chosen.inputs)
        name = parser.file.stem + (", fixed" if parser.fixed else "")
        verdict = one.verdict if one.right else f"**{one.verdict}**"
        cells = [name, f"`{parser.function}`", verdict, one.by, f"`{one.given}`" if one.given else ""]
        print(f"| {' | '.join(cells)} | {one.seconds:.1f} | {one.hanging} of {chosen.inputs} |", flush=True)
        wrong += not one.right
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
