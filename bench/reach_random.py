"""``reach`` on random programs with a random target: what is ``unreachable`` is run with many inputs drawn at random.

    python bench/reach_random.py --programs 1000 --seconds 10 --runs 100000 --keep FOLDER [--first 0] [--tests]

The target is a line with code, of half of the programs under a condition on a parameter. ``reached`` was replayed by the
answer itself; with ``--tests`` the test in C is built too, without the checks for undefined behaviour, and must get
there (where the target has no condition). What is wrong is kept in the folder.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from native_runs import many

from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.errors import LooplessError, SourceError, UsageError
from loopless.queries.call_values.reached import Reached
from loopless.queries.call_values.surroundings import surroundings
from loopless.queries.reach.answering import reach
from loopless.queries.settings import Settings
from loopless.report.reach_tests import c_test
from loopless.source import load
from loopless.source.compile import SourceOptions
from loopless.source.targets import SourceTarget
from loopless_fuzz.generator.generate import FUNCTION, generate, inputs_of, nondet_stream, print_program
from loopless_fuzz.generator.profile import PROFILES

BATCH: Final = 2000
"""So many native runs are asked for at once."""
ATTEMPTS: Final = 8
"""So many targets are drawn where no statement begins at the first one."""
RUN_S: Final = 0.005
"""Seconds for each of them."""


def main() -> int:
    """Print the table; status 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=10.0, help="for one target")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--most", type=float, default=120.0, help="seconds for the native runs of one target")
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--keep", type=Path, default=Path("reach-wrong"))
    options = parser.parse_args()
    counts: Counter[tuple[str, str, str]] = Counter()
    started = time.monotonic()
    with NativeHost() as host, tempfile.TemporaryDirectory() as scratch:
        for seed in range(options.first, options.first + options.programs):
            if options.minutes is not None and time.monotonic() - started > 60 * options.minutes:
                break
            file = Path(scratch) / f"p{seed}.c"
            try:
                verdict, how, method = one(seed, file, options, host)
            except LooplessError as error:
                verdict, how, method = "error", "given up", str(error).splitlines()[0][:50]
            counts[verdict, how, method] += 1
            if how == "WRONG" or verdict == "crash":
                options.keep.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, options.keep)
                print(f"p{seed}.c: {how}: {verdict} by {method}", flush=True)
            if sum(counts.values()) % 20 == 0:
                table(counts, started)
            file.unlink(missing_ok=True)
    table(counts, started)
    return 1 if any(how == "WRONG" for _, how, _ in counts) else 0


def one(seed: int, file: Path, options: argparse.Namespace, host: NativeHost) -> tuple[str, str, str]:
    """The verdict on the program of a seed, how it compares, and who gave it."""
    rng = random.Random(f"reach:{seed}")
    profile = PROFILES[rng.choice(sorted(PROFILES))]
    file.write_text(print_program(generate(seed, profile)), encoding="utf-8")
    for attempt in range(ATTEMPTS):
        target = drawn(file, rng)
        try:
            found = asked(file, target, options.seconds)
            break
        except (UsageError, SourceError):  # no statement begins there, or only a declaration stands there
            if attempt == ATTEMPTS - 1:
                raise
    note = f"/* {target}: {found.verdict} by {found.method} {found.inputs} {found.reason} */\n"
    if found.trouble:
        file.write_text(file.read_text() + note + f"/* {found.trouble} */\n")
        return "crash", "unknown", found.reason[:50]
    how = found.verdict
    if found.verdict == "unreachable":
        how = met(file, target, profile, seed, options, host)
    elif found.verdict == "reached" and options.tests and not target.when:
        how = built(file, target, found)
    if how == "WRONG":
        file.write_text(file.read_text() + note)
    return found.verdict, how, found.method or re.sub(r"[\w./]*p\d+\.c[:\d]*|\d+", "…", found.reason)[:50]


def drawn(file: Path, rng: random.Random) -> SourceTarget:
    """A line of the function with code, sometimes with a condition on a parameter."""
    code = load([file]).module.functions[FUNCTION]
    lines = sorted({i.loc.line for i in code.instructions() if i.loc is not None and i.loc.line})
    line = rng.choice(lines)
    integers = [p.debug.name for p in code.params if p.debug is not None and p.debug.type.signed is not None]
    if not integers or rng.random() < 0.5:
        return SourceTarget(str(file), line)
    value = rng.choice((0, 1, 2, 3, 5, 7, 10, 17, 30, 100))
    when = f"{rng.choice(integers)} {rng.choice(('==', '==', '<', '>', '!='))} {value}"
    return SourceTarget(str(file), line, when=when)


def asked(file: Path, target: SourceTarget, seconds: float) -> Reached:
    """The answer of ``reach``."""
    return reach([file], target, FUNCTION, Settings(), seconds=seconds)


def met(
    file: Path, target: SourceTarget, profile: object, seed: int, options: argparse.Namespace, host: NativeHost
) -> str:
    """Whether native runs stay away from the target; what a fast run has met is asked again of the judge."""
    with NativeOracle(
        file, options=SourceOptions(target=target), limits=NativeLimits(seconds=RUN_S), host=host
    ) as oracle:
        signature = oracle.signature(FUNCTION)
        inputs = inputs_of(profile, signature, seed * 1000, options.runs)
        fast = many(file, target, signature, inputs, options.most)
        if fast is not None and fast.hit is None:
            return "never met" if 2 * fast.over >= options.runs else "never met, most runs broken off"
        until, done = time.monotonic() + options.most, 0
        while done < options.runs and time.monotonic() < until:
            drawn_ = inputs[done : done + BATCH]
            runs = [
                NativeRun(args, nondet_stream(seed * 100_000 + done + n, 40), repeat=True)
                for n, args in enumerate(drawn_)
            ]
            if any(out.status == "error-reached" and out.detail == "target" for out in oracle.run_many(FUNCTION, runs)):
                return "WRONG"
            done += BATCH
    return "never met" if done >= options.runs else "not met in the time"


def built(file: Path, target: SourceTarget, found: Reached) -> str:
    """Whether the test in C gets to the target."""
    folder = file.parent / "tests"
    folder.mkdir(exist_ok=True)
    assert found.inputs is not None
    try:
        text = c_test(found.inputs, f"Leads to {target}.", surroundings([file], FUNCTION, SourceOptions()), folder)
    except UsageError as error:
        return str(error).partition(":")[2][:40]
    (folder / "test.c").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["cc", "-O0", "-g", "--coverage", "test.c", "-o", "test"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        print(done.stderr)
        return "WRONG"
    try:
        subprocess.run(["./test"], cwd=folder, capture_output=True, check=False, timeout=10)
    except subprocess.TimeoutExpired:
        return "the test does not end"
    counted = [data.name for data in folder.glob("*.gcda")]
    shown = subprocess.run(["gcov", "-t", *counted], cwd=folder, capture_output=True, text=True, check=False).stdout
    for data in folder.iterdir():
        data.unlink()
    inside = shown.partition(f"Source:../{file.name}")[2]
    counts = re.findall(rf"^ *([\d#=*-]+): *{target.line}:", inside, re.MULTILINE)
    if any(count[0].isdigit() for count in counts):
        return "the test gets there"
    return "the test does not get there" if any(count[0] == "#" for count in counts) else "no count by gcov"


def table(counts: Counter[tuple[str, str, str]], started: float) -> None:
    """The answers, how they compare, and who gave them."""
    total = sum(counts.values())
    print(
        f"\n{total} programs, {time.monotonic() - started:.0f} s\n\n| verdict | compared | by, or why | programs |\n|---|---|---|---|"
    )
    for (verdict, how, method), count in sorted(counts.items()):
        print(f"| {verdict} | {how} | {method} | {count} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
