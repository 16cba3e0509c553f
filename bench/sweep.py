"""What do other values of a limit change? One command over the C files of a folder, once for each value.

``python bench/sweep.py FOLDER --limit bounds.MAX_WAYS --values 2,4,8,16 [--command bound|summarize|classify|verify]``
runs the command on each file in a fresh process for each value, by ``LOOPLESS_LIMITS``, and once with all limits at
their defaults. ``--limit`` and ``--values`` may come again: each limit is varied by itself. ``--jobs`` runs several files
at once, and ``--verbose`` lists the answers that differ.

An answer is exact where it is complete and exact (of ``verify``: a verdict), bounded where it is an upper bound, an
over-approximation or a part, and refused else. Seconds are those of the processor, children included. An answer that
met a limit of time may differ without any change.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from determinism import differences, without_times

VARIABLE = "LOOPLESS_LIMITS"
"""The environment variable that holds values of limits."""
COMMANDS = ("bound", "summarize", "classify", "verify")
HEAD = "| limit | value | exact | bounded | refused | differ | seconds | ratio |\n|---|---|---|---|---|---|---|---|"


@dataclass
class Row:
    """The answers for one value: ``kinds`` counts them, ``answers`` holds them by file and name."""

    limit: str
    value: str
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    answers: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, command: str, file: Path, said: Any, seconds: float) -> None:
        """Count the answers about one file."""
        self.seconds += seconds
        for name, answer in answers_of(command, said):
            self.answers[f"{file.name}: {name}"] = answer
            if name.startswith("function "):  # the sum over its loops, which are counted
                continue
            kind, code = judged(command, answer)
            self.kinds[kind] += 1
            if kind == "refused":
                self.codes[code] += 1

    def differing(self, other: Row) -> Iterator[tuple[str, list[str]]]:
        """The answers that are not those of ``other``, with the differences."""
        for name in dict.fromkeys((*other.answers, *self.answers)):
            found = list(differences(other.answers.get(name), self.answers.get(name)))
            if found:
                yield name, found


def answers_of(command: str, said: Any) -> Iterator[tuple[str, Any]]:
    """The answers in the JSON of one file, by name; the file alone where it was not read."""
    if said is None or (command == "verify") != ("loops" not in said):
        yield "not read", None
    elif command == "verify":
        yield "verdict", said
    else:
        yield from ((f"loop {at} in line {one['line']}", one) for at, one in enumerate(said["loops"], 1))
        yield from ((f"function {one['name']}", one) for one in said.get("functions", ()))


def judged(command: str, answer: Any) -> tuple[str, str]:
    """Whether an answer is exact, bounded or refused, and the code of a refusal."""
    if answer is None:
        return "refused", "not read"
    if command == "verify":
        return ("refused", "unknown") if answer["verdict"] == "unknown" else ("exact", "")
    code = (answer["refused"] or {}).get("code", "none")
    if command == "bound":
        return ("exact", "") if answer["exact"] else ("refused", code) if answer["upper"] is None else ("bounded", "")
    if answer["status"] == "refused":
        return "refused", code
    return ("exact" if answer["status"] == "exact" and answer["complete"] is not False else "bounded"), ""


def asked(command: str, file: Path, assignment: str, more: Sequence[str]) -> tuple[Any, float]:
    """The JSON of a fresh process without times, None where there is none; and its seconds of the processor."""
    line = [sys.executable, "-m", "loopless", command, str(file), "--format", "json", *more]
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    environment |= {VARIABLE: assignment} if assignment else {}
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(line, env=environment, stdout=out, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        try:
            said = without_times(json.loads(out.read()))
        except ValueError:
            said = None
    return said, used.ru_utime + used.ru_stime


def swept(files: Sequence[Path], limits: Mapping[str, Sequence[str]], options: argparse.Namespace) -> list[Row]:
    """The rows: the defaults, and each value of each limit that is not its default."""
    rows = [Row("all", "default")]
    rows += [Row(limit, value) for limit, values in limits.items() for value in values]
    more = ["--timeout", str(options.timeout)] if options.command == "verify" else []

    def ask(job: tuple[Row, Path]) -> tuple[Any, float]:
        row, file = job
        return asked(options.command, file, "" if row is rows[0] else f"{row.limit}={row.value}", more)

    jobs = [(row, file) for row in rows for file in files]
    with ThreadPoolExecutor(options.jobs) as pool:
        for (row, file), (said, seconds) in zip(jobs, pool.map(ask, jobs), strict=True):
            row.add(options.command, file, said, seconds)
    return rows


def table(rows: Sequence[Row]) -> str:
    """A line for each value."""
    lines = [HEAD]
    for row in rows:
        codes = ", ".join(f"{code} {count}" for code, count in sorted(row.codes.items()))
        refused = f"{row.kinds['refused']} ({codes})" if codes else "0"
        differ = sum(1 for _ in row.differing(rows[0]))
        ratio = row.seconds / (rows[0].seconds or 1.0)
        lines.append(
            f"| {row.limit} | {row.value} | {row.kinds['exact']} | {row.kinds['bounded']} | {refused} | {differ} "
            f"| {row.seconds:.0f} | {ratio:.2f} |"
        )
    return "\n".join(lines)


def listed(rows: Sequence[Row]) -> Iterator[str]:
    """The answers that differ from those of the defaults."""
    for row in rows[1:]:
        for name, found in row.differing(rows[0]):
            yield f"{row.limit}={row.value}: {name}"
            yield from (f"    {line}" for line in found)


def default_of(limit: str) -> int | float | None:
    """The value of a limit, None where there is no such limit."""
    module, _, name = limit.partition(".")
    try:
        loaded = importlib.import_module(f"loopless.limits.{module}")
    except ModuleNotFoundError:
        return None
    return getattr(loaded, name) if name in loaded.__annotations__ else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Sweep, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", action="append", required=True, help="as bounds.MAX_WAYS; may come again")
    parser.add_argument("--values", action="append", required=True, help="of the limit before, with commas")
    parser.add_argument("--command", choices=COMMANDS, default="bound")
    parser.add_argument("--timeout", type=float, default=60.0, help="of verify")
    parser.add_argument("--jobs", type=int, default=1, help="files at once")
    parser.add_argument("--verbose", action="store_true", help="list the answers that differ")
    options = parser.parse_args(arguments)
    os.environ.pop(VARIABLE, None)  # else it would change the defaults here
    if len(options.limit) != len(options.values):
        parser.error("each --limit needs --values")
    limits: dict[str, list[str]] = {}
    for limit, text in zip(options.limit, options.values, strict=True):
        default = default_of(limit)
        if default is None:
            parser.error(f"there is no limit {limit}; src/loopless/limits has them")
        limits[limit] = [value for value in text.split(",") if type(default)(value) != default]
    rows = swept(sorted(options.folder.rglob("*.c")), limits, options)
    print(table(rows))
    if options.verbose:
        print("\n".join(listed(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
