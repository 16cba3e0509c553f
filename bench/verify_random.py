"""``verify`` against the exhausted inputs of random programs: right, unknown and wrong answers by property.

    python bench/verify_random.py --programs 200 --seconds 4 --keep FOLDER

Each program has a ``main`` that reads few inputs of small ranges, so that native runs with all of them decide what is
right. Its assertion is drawn from what these runs have shown: one that holds, or one that is off by one. What is wrong
is kept in a folder.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from verify_programs import Writer, watching, with_assertion

from loopless.check.certificates.document import judged_document
from loopless.check.certificates.property import Property
from loopless.check.oracle.native import NativeHost, NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.errors import LooplessError
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification import answering as verification
from loopless.queries.verification.replays import is_overflow

MOST_RUNS: Final = 3000
"""Programs with more ways to choose the inputs are given up."""
MOST_LATE: Final = 3


# -- what is right ----------------------------------------------------------------------------------------------------


def exhausted(
    oracle: NativeOracle, domain: Sequence[int], seconds: float = 10.0
) -> list[tuple[tuple[int, ...], Outcome]] | None:
    """All runs of ``main`` whose inputs are of the domain, each with the inputs; None where there are too many. Where
    many do not end, some of them only.
    """
    front: list[tuple[int, ...]] = [()]
    found: list[tuple[tuple[int, ...], Outcome]] = []
    until, late = time.monotonic() + seconds, 0
    while front:
        longer: list[tuple[int, ...]] = []
        for at in range(0, len(front), 50):
            if time.monotonic() > until:
                return None
            part = front[at : at + 50]
            for inputs, outcome in zip(part, oracle.run_many("main", [NativeRun(nondet=i) for i in part]), strict=True):
                if outcome.status == "unknown" and "exhausted" in outcome.detail:
                    longer += [(*inputs, value) for value in domain]
                else:
                    found.append((inputs, outcome))
                    late += outcome.status == "timeout"
            if late > MOST_LATE:
                return found
        if len(found) + len(longer) > MOST_RUNS:
            return None
        front = longer
    return found


def expected(property_: Property, outcomes: Sequence[Outcome]) -> str:
    """What the runs say: "true", "false", "true?" or "false?" where runs took too long, or cannot be carried out."""
    odd = any(o.status in ("timeout", "unknown", "crashed") for o in outcomes)
    if property_ is Property.TERMINATION:
        return "false?" if odd else "true"
    if property_ is Property.UNREACH_CALL:
        violated = any(o.status == "error-reached" for o in outcomes)
    else:
        violated = any(o.status == "undefined" and is_overflow(o.detail) for o in outcomes)
    return "false" if violated else "true?" if odd else "true"


def judged_here(document: Mapping[str, Any], seconds: float, _waiting: object = None) -> dict[str, Any]:
    """The judge in this process, which saves its start."""
    try:
        return judged_document(document, seconds)
    except (OSError, ValueError, KeyError, TypeError, LooplessError) as error:
        return {"accepted": False, "failed": [str(error)], "undefined": []}


def compared(verdict: str, right: str) -> str:
    """How an answer compares."""
    if verdict == "unknown":
        return "unknown"
    if verdict == right:
        return "right"
    if right.endswith("?"):
        return "agrees with what was seen" if verdict == right[:-1] else "doubtful"
    return "WRONG"


# -- the campaign -----------------------------------------------------------------------------------------------------


def drawn(seed: int, host: NativeHost) -> tuple[str, list[tuple[tuple[int, ...], Outcome]]] | None:
    """The program of a seed, and all its runs."""
    draft = Writer(seed).program()
    limits = NativeLimits(seconds=0.3)
    try:
        with NativeOracle(watching(draft), limits=limits, host=host) as oracle:
            seen = exhausted(oracle, draft.domain, 4.0)
        if seen is None:
            return None
        text = with_assertion(draft, [outcome for _, outcome in seen], random.Random(f"assert:{seed}"))
        if text is None:
            return None
        with NativeOracle(text, limits=limits, host=host) as oracle:
            runs = exhausted(oracle, draft.domain)
    except LooplessError as error:
        sys.stderr.write(f"seed {seed}: {str(error).splitlines()[0][:200]}\n")
        return None
    return None if runs is None else (text, runs)


def main() -> int:
    """Print the table; status 1 where an answer was wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="for one property of one program")
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--no-run", action="store_true", help="leave all to proofs: what is false must not be proved")
    parser.add_argument("--keep", type=Path, default=Path("verify-wrong"))
    parser.add_argument("--proved", type=Path, default=None, help="keep programs with accepted certificates here")
    options = parser.parse_args()
    verification.judge_apart = judged_here
    host, counts, assertions = NativeHost(), Counter[tuple[str, str, str]](), Counter[str]()
    folder = options.proved or options.keep
    folder.mkdir(parents=True, exist_ok=True)
    started, programs = time.monotonic(), 0
    for seed in range(options.first, options.first + options.programs):
        if options.minutes is not None and time.monotonic() - started > 60 * options.minutes:
            break
        made = drawn(seed, host)
        if made is None:
            assertions["given up"] += 1
            continue
        text, runs = made
        programs += 1
        file = folder / f"p{seed}.c"
        file.write_text(text, encoding="utf-8")
        kept = options.proved is not None and file.parent == options.proved
        for property_ in Property:
            right = expected(property_, [outcome for _, outcome in runs])
            answer = asked(file, property_, options.seconds, run=not options.no_run)
            how = compared(answer.verdict, right)
            counts[property_.value, right, how] += 1
            if answer.trouble or how in ("WRONG", "doubtful"):
                kept = True
                options.keep.mkdir(parents=True, exist_ok=True)
                witness = next((i for i, o in runs if o.status in ("error-reached", "undefined", "timeout")), None)
                note = f"{how}: {property_.value} is {right}, said: {answer.verdict} by {answer.method}; {witness}"
                (options.keep / f"p{seed}.{property_.value}.txt").write_text(
                    f"{note}\n{answer.trouble}", encoding="utf-8"
                )
                (options.keep / f"p{seed}.c").write_text(text, encoding="utf-8")
                sys.stdout.write(f"p{seed}.c: {note} {answer.trouble[-300:]}\n")
                sys.stdout.flush()
        if programs % 10 == 0:
            _table(programs, assertions["given up"], started, counts)
        if not kept:
            file.unlink()
    host.close()
    _table(programs, assertions["given up"], started, counts)
    return 1 if any(how == "WRONG" for _, _, how in counts) else 0


def _table(programs: int, given_up: int, started: float, counts: Counter[tuple[str, str, str]]) -> None:
    print(f"\n{programs} programs, {given_up} given up, {time.monotonic() - started:.0f} s\n")
    print("| property | by exhausting the inputs | answer | programs |\n|---|---|---|---|")
    for (name, right, how), count in sorted(counts.items()):
        print(f"| {name} | {right} | {how} | {count} |", flush=True)


def asked(file: Path, property_: Property, seconds: float, *, run: bool = True) -> verification.Verdict:
    """The verdict of ``verify``."""
    settings = replace(Settings(), run=run, apart=False)
    program = load([file], settings)
    return verification.verify(program, property_, settings, seconds=seconds)


if __name__ == "__main__":
    sys.exit(main())
