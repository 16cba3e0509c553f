"""Does an answer depend on what else the machine does? The same questions again and again, alone and beside busy loops.

``python bench/determinism.py FILE... [--commands loops,bound,verify] [--runs 3] [--busy 8]`` asks each command of each
file, so often alone and so often beside so many processes that do nothing but work, and compares the answers: all of
the JSON but the fields that say how long something took. It prints a table, and every difference.

``--jobs`` asks several questions at once. ``--save FILE`` keeps the answers of a quiet machine, and ``--beside FILE``
compares those of this run with them: so a campaign can be the work beside, and ``--busy 0`` is none of its own.

Everything: ``python bench/determinism.py $BENCHMARKS/everyday/*.c --commands loops,bound`` and
``python bench/determinism.py --svcomp $BENCHMARKS/svcomp --most 40``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

TIMES = frozenset({"time_ms", "tried", "seconds"})
"""Fields that say how long something took."""
BUSY = "while True: pass"


@dataclass
class Row:
    """The answers to one command about one file, and how long they took by the wall."""

    command: str
    file: str
    alone: list[Any] = field(default_factory=list)
    beside: list[Any] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def answers(self) -> list[Any]:
        return [*self.alone, *self.beside]

    @property
    def is_same(self) -> bool:
        """Whether all answers are alike."""
        return all(answer == self.answers[0] for answer in self.answers)

    @property
    def says_the_same(self) -> bool:
        """Whether all answers are alike but for why there is none: which method was at work when a limit was met."""
        found = [place for other in self.answers[1:] for place in differences(self.answers[0], other)]
        return all(place.partition(":")[0] in (".reason", ".cut") for place in found)

    @property
    def is_cut(self) -> bool:
        """Whether a limit cut something."""
        return "cut by" in json.dumps(self.answers) or '"cut"' in json.dumps(self.answers)


def without_times(value: Any) -> Any:
    """An answer without what depends on the clock, whatever it is."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that work all the time."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def asked(command: str, file: Path, more: Sequence[str]) -> Any:
    """The answer in JSON, without times; what was said where there is none."""
    line = [sys.executable, "-m", "loopless", command, str(file), "--format", "json", *more]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    try:
        return without_times(json.loads(done.stdout))
    except ValueError:
        return {"status": done.returncode, "said": done.stderr}


def differences(one: Any, other: Any, at: str = "") -> Iterator[str]:
    """Where two answers differ, in words."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from differences(one.get(key), other.get(key), f"{at}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{at}[{index}]")
    elif one != other:
        yield f"{at or 'all'}: {json.dumps(one)[:200]} | {json.dumps(other)[:200]}"


def questions(options: argparse.Namespace) -> Iterator[tuple[str, Path, list[str]]]:
    """What is asked, of which file, with which options more."""
    for command in options.commands.split(","):
        for file in options.files:
            yield command, file, ["--timeout", str(options.timeout)] if command == "verify" else []
    if options.svcomp is not None:
        files = sorted(file for file in options.svcomp.rglob("*") if file.suffix in (".c", ".i"))
        for file in files[:: max(1, len(files) // options.most)][: options.most]:
            yield "verify", file, ["--timeout", str(options.timeout)]


def measured(options: argparse.Namespace) -> list[Row]:
    """All answers: those of before, those of a machine that does nothing else, and those beside busy loops."""
    begun = [Row(**row) for row in json.loads(options.beside.read_text())] if options.beside else []
    known = {(row.command, row.file): row for row in begun}
    asks = list(questions(options))
    rows = [known.get((command, str(file)), Row(command, str(file))) for command, file, _ in asks]

    def ask(number: int) -> tuple[int, Any, float]:
        started = time.perf_counter()
        return number, asked(*asks[number]), time.perf_counter() - started

    with ThreadPoolExecutor(options.jobs) as pool:
        for count in [options.busy] if options.beside else sorted({0, options.busy}):
            with busy(count):
                for number, answer, seconds in pool.map(ask, list(range(len(asks))) * options.runs):
                    row = rows[number]
                    (row.beside if count or options.beside else row.alone).append(answer)
                    row.seconds.append(seconds)
    if options.save:
        options.save.write_text(json.dumps([asdict(row) for row in rows]))
    return rows


def tell(rows: Sequence[Row]) -> None:
    """Say of each question whether its answers are the same, and where they differ."""
    for row in rows:
        word = "same" if row.is_same else "DIFFERENT"
        sys.stderr.write(f"{word:9} {row.command:9} {row.seconds[0]:6.1f} s, {max(row.seconds):6.1f} s  {row.file}\n")
        for other in {json.dumps(answer): answer for answer in row.answers[1:]}.values():
            for line in differences(row.answers[0], other):
                sys.stderr.write(f"    {line}\n")


def main() -> int:
    """Ask, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--commands", default="loops,bound,verify")
    parser.add_argument("--svcomp", type=Path, help="a folder of programs, of which --most are asked with verify")
    parser.add_argument("--most", type=int, default=40)
    parser.add_argument("--runs", type=int, default=3, help="so often alone, and so often beside others")
    parser.add_argument("--busy", type=int, default=8, help="processes that work beside")
    parser.add_argument("--timeout", type=float, default=60.0, help="of verify")
    parser.add_argument("--jobs", type=int, default=1, help="questions asked at once")
    parser.add_argument("--save", type=Path, help="write the answers to this file")
    parser.add_argument("--beside", type=Path, help="compare with the answers in this file")
    options = parser.parse_args()
    rows = measured(options)
    tell(rows)
    print("| command | questions | same | but for the words of a limit | different | cut by a limit | differ alone |")
    print("|---|---|---|---|---|---|---|")
    for command, count in Counter(row.command for row in rows).items():
        mine = [row for row in rows if row.command == command]
        same = sum(row.is_same for row in mine)
        alike = sum(row.says_the_same for row in mine) - same
        alone = sum(any(answer != row.alone[0] for answer in row.alone) for row in mine)
        cut = sum(row.is_cut for row in mine)
        print(f"| {command} | {count} | {same} | {alike} | {count - same - alike} | {cut} | {alone} |")
    return 0 if all(row.is_same for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
