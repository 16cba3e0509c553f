"""``reach --hang`` on random loops over two bytes, compared with all 65,536 calls of each.

    python bench/hang_random.py --programs 200 --seconds 8 --keep FOLDER [--first 0]

Loops go from one state of a byte or two to the next, so each call ends or comes to a state again: that is found out
natively for all inputs. Of half of the programs a signed counter is beside it; a third reads a buffer of two bytes.
``--rounds N`` is asked for every third program. The script ends with status 1 where an answer is wrong.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopless.queries.call_values.reached import Inputs, Reached
from loopless.queries.reach.hang import hang
from loopless.queries.settings import Settings

CALLS: Final = 1 << 16
ENDLESS: Final = (1 << 32) - 1
"""How many rounds a call takes that never ends."""

HARNESS: Final = """
#include <stdio.h>
#include <string.h>
#define STOP return 1
#define NEXT return 0
static int step(unsigned char *px, unsigned char *py, const unsigned char *b) {
  unsigned char x = *px, y = *py; (void)b;
  #define KEEP (*px = x, *py = y)
  if (!(CONDITION)) return 1;
  int left = 0;
  do { BODY } while (0);
  KEEP;
  return left;
}
int main(void) {
  static unsigned char seen[65536];
  static unsigned marks[65536];
  unsigned mark = 0;
  for (unsigned first = 0; first < 256; first++) for (unsigned second = 0; second < 256; second++) {
    unsigned char b[2] = {first, second}, x = START_X, y = START_Y;
    unsigned rounds = 0;
    mark++;
    for (;;) {
      unsigned state = x << 8 | y;
      if (marks[state] == mark) { rounds = 4294967295u; break; }
      marks[state] = mark;
      if (step(&x, &y, b)) break;
      rounds++;
    }
    fwrite(&rounds, 4, 1, stdout);
  }
  return 0;
}
"""


@dataclass(frozen=True, slots=True)
class RandomLoop:
    """A loop: its ``condition`` and ``body`` in C; it ``reads`` a buffer, or begins with two bytes; ``counts``: beside
    it a signed counter.
    """

    condition: str
    body: str
    reads: bool
    counts: bool

    @property
    def function(self) -> str:
        """The function ``f``."""
        count = "n++; " if self.counts else ""
        body = self.body.replace("STOP", "return n").replace("NEXT", "continue")
        if self.reads:
            head = "int f(const unsigned char *b, unsigned char y) {\n    unsigned char x = 0;"
            head = head.replace(", unsigned char y", "").replace("x = 0;", "x = 0, y = b[1];")
        else:
            head = "int f(unsigned char x, unsigned char y) {"
        return f"{head}\n    int n = 0;\n    while ({self.condition}) {{ {count}{body} }}\n    return n;\n}}\n"

    @property
    def harness(self) -> str:
        """A program that writes how many rounds each call takes."""
        body = self.body.replace("STOP", "{ left = 1; break; }").replace("NEXT", "break")
        begin = ("0", "second") if self.reads else ("first", "second")
        text = HARNESS.replace("CONDITION", self.condition).replace("BODY", body)
        return text.replace("START_X", begin[0]).replace("START_Y", begin[1])


class Writer:
    """Random loops, of which some end and some do not."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.reads = self.random.random() < 0.34
        self.atoms = ["x", "y", *(["b[0]", "b[1]", "b[x & 1]"] if self.reads else [])]

    def loop(self) -> RandomLoop:
        """One loop."""
        body = " ".join(self._statement(2) for _ in range(self.random.randint(1, 3)))
        return RandomLoop(self._condition(), body, self.reads, self.random.random() < 0.5)

    def _term(self) -> str:
        draw = self.random
        if draw.random() < 0.3:
            return str(draw.choice((0, 1, 2, 3, 4, 7, 16, 128, 255, draw.randint(0, 255))))
        return draw.choice(self.atoms)

    def _value(self) -> str:
        draw = self.random
        kind = draw.random()
        if kind < 0.7:
            return f"{draw.choice(self.atoms)} {draw.choice('+-+-&^|')} {self._term()}"
        return f"{draw.choice(self.atoms)} {draw.choice(('>> 1', '/ 2', '% 7', '* 2', '* 3 + 1', '/ 3'))}"

    def _condition(self) -> str:
        draw = self.random
        one = f"{draw.choice(self.atoms)} {draw.choice(('<', '>', '!=', '!=', '<=', '=='))} {self._term()}"
        if draw.random() < 0.25:
            return f"{one} {draw.choice(('&&', '||'))} {self._condition()}"
        return one

    def _statement(self, depth: int) -> str:
        draw = self.random
        kind = draw.random()
        if depth and kind < 0.4:
            other = f" else {{ {self._statement(depth - 1)} }}" if draw.random() < 0.5 else ""
            return f"if ({self._condition()}) {{ {self._statement(depth - 1)} }}{other}"
        if kind < 0.48:
            return f"if ({self._condition()}) STOP;"
        if kind < 0.55:
            return f"if ({self._condition()}) NEXT;"
        return f"{draw.choice('xxy')} = {self._value()};"


def truth(loop: RandomLoop, folder: Path) -> list[int]:
    """How many rounds each call takes, by its two bytes."""
    (folder / "all.c").write_text(loop.harness, encoding="utf-8")
    subprocess.run(["cc", "-O1", "-w", "-fwrapv", "all.c", "-o", "all"], cwd=folder, check=True)
    shown = subprocess.run([folder / "all"], capture_output=True, check=True).stdout
    return [int.from_bytes(shown[4 * n : 4 * n + 4], "little") for n in range(CALLS)]


def given(inputs: Inputs, *, reads: bool) -> int:
    """The two bytes of a call, as the number of it."""
    if reads:
        elements = [value & 255 for value in inputs.arguments[0].listed or []]
        first, second = (*elements, 0, 0)[:2]
    else:
        first, second = (int(one.value or 0) & 255 for one in inputs.arguments)
    return first << 8 | second


def judged(found: Reached, rounds: int | None, told: list[int], *, reads: bool) -> str:
    """How an answer compares with the truth."""
    least = ENDLESS if rounds is None else rounds + 1
    there = any(count >= least for count in told)
    match found.verdict:
        case "reached":
            assert found.inputs is not None
            return "right" if told[given(found.inputs, reads=reads)] >= least else "WRONG"
        case "unreachable":
            return "WRONG" if there else "right"
        case _:
            return "there is one" if there else "there is none"


def main() -> int:
    """Print the table; status 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=8.0, help="for one question")
    parser.add_argument("--keep", type=Path, default=Path("hang-wrong"))
    options = parser.parse_args()
    counts: Counter[tuple[str, str, str, str]] = Counter()
    started = time.monotonic()
    for number in range(options.first, options.first + options.programs):
        loop = Writer(number).loop()
        asked = None if number % 3 else random.Random(number).choice((0, 1, 5, 40, 255))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "f.c"
            file.write_text(loop.function, encoding="utf-8")
            told = truth(loop, Path(folder))
            found = hang([file], "f", Settings(), rounds=asked, seconds=options.seconds)
        how = judged(found, asked, told, reads=loop.reads)
        question = "hang" if asked is None else "rounds"
        counts[question, found.verdict, how, found.method] += 1
        if how == "WRONG" or found.trouble:
            options.keep.mkdir(parents=True, exist_ok=True)
            kept = f"/* {how}: {found.verdict}, {found.inputs}, rounds {asked}\n{found.trouble} */\n{loop.function}"
            (options.keep / f"{number}.c").write_text(kept, encoding="utf-8")
        print(number, question, found.verdict, how, found.method, flush=True)
    print(f"\n{sum(counts.values())} programs, {time.monotonic() - started:.0f} s\n")
    print("| question | verdict | in truth | by | programs |\n|---|---|---|---|---|")
    for (question, verdict, how, method), count in sorted(counts.items()):
        print(f"| {question} | {verdict} | {how} | {method} | {count} |")
    return 1 if any(how == "WRONG" for _, _, how, _ in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
