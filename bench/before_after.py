"""Two versions of the code on the same suites, loop by loop: what was lost, what was gained, and how long each took.

    python bench/before_after.py --before CHECKOUT --after CHECKOUT --keep DIR QUESTION:FOLDER...
    python bench/before_after.py --keep DIR --report [--every]

A question is ``summaries``, ``functions``, ``bounds`` or ``integers``. ``summaries`` asks for the summary and the type of every loop, ``functions`` for
that of every whole function, ``bounds`` for how often every loop of every function runs, ``integers`` the same over the integers for the function that nobody calls, as
``bench/tpdb.py`` does. ``--half`` takes a pseudo-random half of the files of a suite, always the same one.

Each file is read by one version and then by the other, in turns who is first, so that other work on the machine meets both;
one process at a time, forked for the file from one that has loaded the package, so that nothing is kept from file to file.
Seconds are those of the processor, children included.

Bounds are compared by what they say, and by their values at 60 points, the same for variables of the same name: an upper
bound that is larger at one of them, or says nothing of it, is looser. The work is resumable: what DIR has is not done again.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import importlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]

POINTS = 60
SIZES = (5, 50, 2000, 10**6)
WHOLE = "all loops of the call"
VERSIONS = ("before", "after")
_ANSWERS = ("queries.loops.answering", "queries.answering", "queries.answers", "queries.program")
_BOUNDS = ("queries.bounds.answering", "queries.bounds")


# -- one file, by the version that is loaded --------------------------------------------------------------------------


def answered(question: str, file: Path, limit: float) -> Row:
    """What the package that is loaded says of one file: a row for each loop."""
    from loopless.errors import LooplessError

    asked = {"summaries": summaries, "functions": functions, "bounds": bounds, "integers": integers}[question]
    try:
        with tempfile.TemporaryDirectory() as folder:
            return {"rows": asked(_plain(file, Path(folder)), limit)}
    except LooplessError as error:
        return {"unread": str(error).splitlines()[0]}


def _plain(file: Path, folder: Path) -> Path:
    """The file; of a template with placeholders the function alone."""
    text = file.read_text(errors="replace")
    if "{0}" not in text or "void start" not in text:
        return file
    from loopscc_templates import as_function

    alone = folder / file.name
    alone.write_text(as_function(text))
    return alone


def _named(name: str, *places: str) -> Any:
    """What the package that is loaded calls ``name``, in the first of the modules that it has: versions differ."""
    for place in places:
        try:
            module = importlib.import_module(f"loopless.{place}")
        except ModuleNotFoundError:
            continue
        if hasattr(module, name):
            return getattr(module, name)
    raise ImportError(f"{name} is in none of {', '.join(places)}")


def summaries(file: Path, limit: float) -> dict[str, Row]:
    """The summary of each loop, as ``loopless summarize`` asks for it."""
    from loopless.queries.program import load
    from loopless.queries.settings import Settings

    Question = _named("Question", "queries.loops.answer", "queries.loop_answer", "queries.program")  # noqa: N806
    answer_all = _named("answer_all", *_ANSWERS)
    settings = Settings(workers=1, loop_timeout_s=limit)
    question = Question(approximate=True) if "approximate" in Question.__slots__ else Question()
    rows = {}
    for answer in answer_all(load([file], settings).loops, question, settings):
        rows[_place(answer.loop)] = {
            "kind": _kind_of_summary(answer),
            "parts": bool(answer.summary and answer.summary.cases),
            "type": answer.type,
            "codes": _codes(answer),
            "seconds": round(answer.time_ms / 1000, 3),
        }
    return rows


def functions(file: Path, limit: float) -> dict[str, Row]:
    """The summary of each whole function, as ``loopless summarize --whole`` asks for it."""
    from loopless.queries.program import load
    from loopless.queries.settings import Settings

    Question = _named("Question", "queries.loops.answer", "queries.loop_answer", "queries.program")  # noqa: N806
    settings = Settings(workers=1, loop_timeout_s=limit)
    program = load([file], settings)
    rows = {}
    for answer in _named("answer_functions", "queries.functions")(
        program.functions, Question(classify=False), settings
    ):
        rows[answer.name] = {
            "kind": _kind_of_summary(answer),
            "parts": bool(answer.summary and answer.summary.cases),
            "type": None,
            "codes": _codes(answer),
            "seconds": round(answer.time_ms / 1000, 3),
        }
    return rows


def _place(name: Any) -> str:
    """A loop by file, function and line, without the folder of the file."""
    return str(name.name).rsplit("/", 1)[-1]


def _kind_of_summary(answer: Any) -> str:
    if answer.refused is not None or answer.summary is None:
        return "refused"
    complete = answer.complete if hasattr(answer, "complete") else answer.summary.complete
    if complete and answer.summary.exact:
        return "complete"
    return "over-approximate" if getattr(answer.summary, "approximation", None) is not None else "in part"


def _codes(answer: Any) -> list[str]:
    """The reasons for what is missing."""
    if answer.refused is not None:
        return [f"{answer.refused.reason.code}: {answer.refused.detail[:160]}"]
    residual = answer.summary.residual if answer.summary is not None else ()
    return list(dict.fromkeys(f"{part.why.reason.code}: {part.why.detail[:160]}" for part in residual))


def bounds(file: Path, limit: float) -> dict[str, Row]:
    """The bounds of each loop of each function, as ``loopless bound`` finds them."""
    from loopless.queries.program import load
    from loopless.queries.settings import Settings

    settings = Settings(workers=1, loop_timeout_s=limit)
    program = load([file], settings)
    rows: dict[str, Row] = {}
    for found in _named("answer_bounds", *_BOUNDS)(program.functions, "all", settings):
        rows |= _bounds_of(found)
    return rows


def integers(file: Path, limit: float) -> dict[str, Row]:
    """The bounds of the function that nobody calls, over the integers."""
    from tpdb import start_of

    from loopless.queries.program import load
    from loopless.queries.settings import Settings

    settings = Settings(mathematical=True, workers=1, loop_timeout_s=limit, timeout_s=2 * limit)
    program = load([file], settings)
    (found,) = _named("answer_bounds", *_BOUNDS)([start_of(program)], "all", settings)
    return _bounds_of(found)


def _bounds_of(found: Any) -> dict[str, Row]:
    lower_class_of = _named("lower_class_of", "bounds.asymptotics.lower", "bounds.lower_asymptotics")
    rows = {}
    loops = found.counts if hasattr(found, "counts") else found.loops
    for loop in loops:
        why = [f"{r.reason.code}: {r.detail[:160]}" for r in (loop.refused, loop.refused_call) if r is not None]
        place = _place(loop.answer.loop)
        rows[f"{found.name}: {place}, an entry"] = _claimed(loop.entry, found.shown) | {"why": why[:1]}
        rows[f"{found.name}: {place}, a call"] = _claimed(loop.call, found.shown) | {"why": why[-1:]}
    if not loops:
        return rows
    whole = _claimed(found.call, found.shown, found.over_inputs)
    grows, lower = _class_of(found), lower_class_of(found.call, found.shown)
    whole["class"], whole["degree"] = (grows.text(), str(grows.degree)) if grows is not None else (None, None)
    whole["lower"], whole["lower_degree"] = (lower.text, lower.degree) if lower is not None else (None, None)
    whole["why"] = [f"{found.refused.reason.code}: {found.refused.detail[:160]}"] if found.refused is not None else []
    rows[f"{found.name}: {WHOLE}"] = whole
    return rows


def _class_of(found: Any) -> Any:
    return _named("class_of", "queries.bounds.answers", "queries.bound_answers", "queries.bounds")(found)


def _claimed(claim: Any, shown: Mapping[Any, str], beside: Any = None) -> Row:
    """What is claimed, and the values of the upper bound: the lesser one where there are two."""
    from loopless.terms import FALSE, TRUE, EvaluationError, evaluate, holds

    terms = [term for term in (claim.upper, beside) if term is not None]
    used = set().union(*(t.variables for t in terms), claim.when.variables, claim.never.variables)
    values: list[int | None] = []
    for at in range(POINTS) if terms else ():
        point = {var: _value(shown.get(var, var.name), var.type, at) for var in used}
        try:
            told = holds(claim.when, point) and not holds(claim.never, point)
            values.append(min(int(evaluate(term, point)) for term in terms) if told else None)
        except EvaluationError:
            values.append(None)
    return {
        "kind": ("exact" if claim.exact else "at most") if claim.upper is not None else "none",
        "always": claim.when is TRUE and not claim.has_gap,
        "never": claim.never is not FALSE,
        "completed": getattr(claim, "completed", None) is not None,
        "upper": str(claim.upper)[:300],
        "when": str(claim.when)[:300],
        "values": values,
    }


def _value(name: str, of_type: Any, at: int) -> int:
    """The value of a variable at a point: small ones and large ones in turn."""
    size = SIZES[at % len(SIZES)]
    value = random.Random(f"{name} {at}").randint(-size, size)
    return abs(value) if not of_type.signed else value if of_type.width is None or of_type.width >= 32 else value % 100


def serve(limit: float) -> None:
    """Answers the files that are named on the standard input, each in a process of its own."""
    _named("answer_all", *_ANSWERS)
    _named("answer_bounds", *_BOUNDS)  # loaded once, for all files
    for line in sys.stdin:
        question, file = json.loads(line)
        at, to = os.pipe()
        started = time.perf_counter()
        child = os.fork()
        if child == 0:
            os.close(at)
            try:
                said = json.dumps(answered(question, Path(file), limit))
            except Exception as error:  # noqa: BLE001  a crash is the finding
                said = json.dumps({"unread": f"crash: {type(error).__name__}: {error}"})
            with os.fdopen(to, "w") as out:
                out.write(said)
            os._exit(0)
        os.close(to)
        with os.fdopen(at) as pipe:
            found = json.loads(pipe.read() or '{"unread": "crash"}')
        used = os.wait4(child, 0)[2]
        found |= {"cpu": used.ru_utime + used.ru_stime, "wall": time.perf_counter() - started}
        print(json.dumps(found), flush=True)


# -- both versions on all files ---------------------------------------------------------------------------------------


class Version:
    """One version of the code, waiting for files."""

    def __init__(self, checkout: Path, limit: float) -> None:
        paths = [str(checkout.resolve() / "src"), str(Path(__file__).resolve().parent)]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0"}
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", "--limit", str(limit)], env=environment,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip

    def ask(self, question: str, file: Path) -> Row:
        """Its answer for one file."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([question, str(file)]) + "\n")
        self.process.stdin.flush()
        found: Row = json.loads(self.process.stdout.readline())
        return found

    def close(self) -> None:
        """No file follows."""
        self.process.communicate()


def files_of(folder: Path, *, half: bool) -> list[Path]:
    """The C files of a suite in a fixed order that has nothing to do with their names."""
    every = [folder] if folder.is_file() else list(folder.rglob("*.[ci]"))

    def drawn(file: Path) -> str:
        return hashlib.sha256(f"half {file.name}".encode()).hexdigest()

    files = sorted(every, key=lambda file: (drawn(file), str(file)))
    return files[: (len(files) + 1) // 2] if half else files


def work(options: argparse.Namespace) -> None:
    """Ask both versions for all files that are not done yet."""
    options.keep.mkdir(parents=True, exist_ok=True)
    kept = options.keep / "rows.jsonl"
    done = {(row["suite"], row["file"]) for row in kept_rows(options.keep)}
    versions = [Version(checkout, options.limit) for checkout in (options.before, options.after)]
    until = time.monotonic() + options.seconds if options.seconds else None
    for suite in options.suites:
        question, _, name = suite.partition(":")
        label = f"{question}, {Path(name).name}"
        for at, file in enumerate(files_of(Path(name), half=options.half)):
            short = str(file.relative_to(name)) if file != Path(name) else file.name
            if (label, short) in done:
                continue
            if until is not None and time.monotonic() > until:
                break
            first = at % 2
            found = {VERSIONS[i]: versions[i].ask(question, file) for i in (first, 1 - first)}
            with kept.open("a", encoding="utf-8") as out:
                out.write(json.dumps({"suite": label, "file": short, **found}) + "\n")
    for version in versions:
        version.close()


def kept_rows(keep: Path) -> list[Row]:
    """The files that are done."""
    kept = keep / "rows.jsonl"
    return [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []


# -- the comparison ---------------------------------------------------------------------------------------------------

KINDS = ("complete", "in part", "over-approximate", "refused")
"""Of summaries, the best first."""


@dataclass
class Compared:
    """One suite."""

    rows: list[tuple[str, Row, Row]] = field(default_factory=list)
    """By name, before and after."""
    alone: list[str] = field(default_factory=list)
    """Found by one version only, or read by one only."""
    cpu: list[tuple[float, float]] = field(default_factory=list)
    """Of each file, before and after."""


def compared(kept: Sequence[Row]) -> dict[str, Compared]:
    """By suite."""
    suites: dict[str, Compared] = {}
    for row in kept:
        suite = suites.setdefault(row["suite"], Compared())
        old, new = (row[version] for version in VERSIONS)
        suite.cpu.append((old["cpu"], new["cpu"]))
        if "rows" not in old or "rows" not in new:
            if old.get("unread") != new.get("unread"):
                suite.alone.append(f"{row['file']}: {old.get('unread', 'read')} → {new.get('unread', 'read')}")
            continue
        before, after = old["rows"], new["rows"]
        suite.alone += [f"{row['file']} {name}" for name in before.keys() ^ after.keys()]
        suite.rows += [(f"{row['file']} {n}", before[n], after[n]) for n in before if n in after]
    return suites


def worse(one: Row, other: Row) -> Iterator[str]:
    """In what ``one`` says less than ``other``."""
    if "parts" in one:
        if KINDS.index(one["kind"]) > KINDS.index(other["kind"]) and not (one["parts"] and other["kind"] == "in part"):
            yield f"{other['kind']}, here {one['kind']}"
        if other["type"] is not None and one["type"] is None:
            yield f"type {other['type']}, here none"
        return
    if other["kind"] != "none" and one["kind"] == "none":
        yield "a bound"
    elif other["always"] and not one["always"] and other["kind"] != "none":
        yield "a bound for all inputs"
    if other["kind"] == "exact" and one["kind"] == "at most" and not one["completed"]:
        yield "exact"
    if other["never"] and not one["never"]:
        yield "inputs for which it never ends"
    for name in ("degree", "lower_degree"):
        mine, others = one.get(name), other.get(name)
        if others is not None and (
            mine is None or (_number(mine) - _number(others)) * (-1 if "lower" in name else 1) > 0
        ):
            yield f"{name} {others}, here {mine}"


def _number(degree: object) -> float:
    above, _, below = str(degree).partition("/")
    return float(above) / float(below or 1)


def looser(one: Row, other: Row) -> bool:
    """Whether the values of an upper bound are larger somewhere, or missing. An exact count is the number itself: a
    bound below it is about points from which no run ends without undefined behaviour.
    """
    if "values" not in one or "none" in (one["kind"], other["kind"]):
        return False
    pairs = zip(one["values"], other["values"], strict=True)
    larger = one["kind"] != "exact"
    return any(theirs is not None and (mine is None or (larger and mine > theirs)) for mine, theirs in pairs)


def table(suites: Mapping[str, Compared]) -> str:
    """A line for each suite."""
    lines = [
        "| suite | files | answers | complete or exact | for all inputs | lost | gained | looser | tighter | seconds before "
        "| after | ratio | median ratio |",
        "|---" * 13 + "|",
    ]
    for name, suite in suites.items():
        pairs = [(old, new) for _, old, new in suite.rows]
        exact = [sum(row["kind"] in ("complete", "exact") for row in rows) for rows in zip(*pairs, strict=True)] or [
            0,
            0,
        ]
        always = [sum(_always(row) for row in rows) for rows in zip(*pairs, strict=True)] or [0, 0]
        of_values = [str(sum(looser(*p) for p in found)) if pairs and "parts" not in pairs[0][0] else ""
                     for found in ([(n, o) for o, n in pairs], pairs)]  # fmt: skip
        before, after = (sum(column) for column in zip(*suite.cpu, strict=True))
        ratio = statistics.median(new / old for old, new in suite.cpu)
        lines.append(
            f"| {name} | {len(suite.cpu)} | {len(pairs)} | {exact[0]} → {exact[1]} | {always[0]} → {always[1]} "
            f"| {sum(any(worse(n, o)) for o, n in pairs)} | {sum(any(worse(o, n)) for o, n in pairs)} "
            f"| {of_values[0]} | {of_values[1]} | {before:.0f} | {after:.0f} | {after / before:.2f} | {ratio:.2f} |"
        )
    return "\n".join(lines)


def _always(row: Row) -> bool:
    """Whether an answer covers all states."""
    return (
        row["kind"] in ("complete", "over-approximate") if "parts" in row else row["kind"] != "none" and row["always"]
    )


def by_code(suites: Mapping[str, Compared]) -> Iterator[str]:
    """How many answers lack something for each reason, before and after."""
    for name, suite in suites.items():
        counts = [
            collections.Counter(why[:4] for row in rows for why in {one[:4]: one for one in row.get("codes", ())})
            for rows in zip(*((old, new) for _, old, new in suite.rows), strict=True)
        ]
        for code in sorted(set().union(*counts)):
            before, after = (count[code] for count in counts)
            yield f"{name}: {code}: {before} → {after}"


def lists(suites: Mapping[str, Compared], *, every: bool) -> Iterator[str]:
    """What was lost, and with ``every`` what was gained."""
    for name, suite in suites.items():
        yield from (f"{name}: by one version only: {what}" for what in suite.alone)
        for at, old, new in suite.rows:
            lost = list(worse(new, old))
            if lost:
                why = (new.get("codes") or new.get("why") or [""])[0]
                shown = f" ({old['upper'][:80]} when {old['when'][:60]})" if "upper" in old else ""
                yield f"{name}: lost: {at}: {'; '.join(lost)}{shown} {why}"
            elif looser(new, old):
                yield f"{name}: looser: {at}: {old['upper'][:120]} when {old['when'][:80]} → {new['upper'][:120]} when {new['when'][:80]}"
            gained = list(worse(old, new))
            if every and gained:
                yield f"{name}: gained: {at}: {'; '.join(gained)}"


def alike(suites: Mapping[str, Compared]) -> Iterator[str]:
    """How long the loops took that both versions summarize completely: what else took time was for more answers."""
    for name, suite in suites.items():
        both = [(o["seconds"], n["seconds"]) for _, o, n in suite.rows if o["kind"] == n["kind"] == "complete"]
        if both:
            before, after = (sum(column) for column in zip(*both, strict=True))
            yield f"{name}: {len(both)} loops complete by both: {before:.1f} → {after:.1f} s by the wall"


def slowed(kept: Sequence[Row], number: int) -> Iterator[str]:
    """The files that took the most time more than before."""
    rows = sorted(kept, key=lambda row: row["before"]["cpu"] - row["after"]["cpu"])
    for row in rows[:number]:
        yield f"slower: {row['suite']} {row['file']}: {row['before']['cpu']:.1f} → {row['after']['cpu']:.1f} s"


def arguments() -> argparse.ArgumentParser:
    """What the command takes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="a checkout")
    parser.add_argument("--after", type=Path, help="another one")
    parser.add_argument("suites", nargs="*", help="QUESTION:FOLDER")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--half", action="store_true", help="a half of the files")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for a loop")
    parser.add_argument("--seconds", type=float, default=0.0, help="begin no file after that time")
    parser.add_argument("--report", action="store_true", help="only report what is in --keep")
    parser.add_argument("--every", action="store_true", help="list what was gained too")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the files that got slower are listed")
    parser.add_argument("--serve", action="store_true", help="answer files, as one version")
    return parser


def main() -> int:
    """Work through the suites, and print the table."""
    parser = arguments()
    options = parser.parse_args()
    if options.serve:
        serve(options.limit)
        return 0
    if options.keep is None or not (options.report or (options.before and options.after and options.suites)):
        parser.error("--keep is needed, and --before, --after and suites, or --report")
    if not options.report:
        work(options)
    kept = kept_rows(options.keep)
    suites = compared(kept)
    print(table(suites))
    print(
        "\n".join(
            ["", *alike(suites), *by_code(suites), *lists(suites, every=options.every), *slowed(kept, options.slowest)]
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
