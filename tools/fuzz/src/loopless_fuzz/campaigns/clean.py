"""Programs whose runs the sanitizers call clean: the model must meet no undefined behaviour in them, either.

What lives how long, the flowgraph says, and the methods and the judge both read it there. So only native runs can
contradict it. Each program is run natively on several inputs; where all witnesses agree that a run is clean, the
judge's interpreter must return the same, with calls inlined and as they are. Of one program of some files commands are
asked, too: ``eval``, ``verify``, and ``bound`` beside native counts.
"""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from loopless import clock
from loopless.check.certificates.property import Property
from loopless.check.interpreter.run import Interpreter
from loopless.check.oracle.native import NativeLimits, NativeOracle, NativeRun
from loopless.check.outcome import Outcome
from loopless.errors import LooplessError
from loopless.flowgraph import build
from loopless.flowgraph.model import Flowgraph
from loopless.queries.evaluation.calls import evaluate
from loopless.queries.jobs.sandbox import note
from loopless.queries.program import load
from loopless.queries.settings import Settings
from loopless.queries.verification.answering import verify
from loopless.source import ir
from loopless.source.compile import compile_ir
from loopless.source.inlining import choose
from loopless.source.reader import read_module
from loopless.source.worker import WORKER
from loopless_fuzz.campaigns.keeping import path_of, write_facts
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.programs import JUDGE_S, host, workplace
from loopless_fuzz.campaigns.rows import CleanRow, ProgramRow, Row
from loopless_fuzz.campaigns.several import judge_text
from loopless_fuzz.generator.clean.generate import generate_clean
from loopless_fuzz.generator.clean.pieces import CleanProgram, Language, reduce, text_of
from loopless_fuzz.judging.sanitized import has_sanitizers, sanitized

BATCH: Final = 10
"""Programs of one file: the compilers take as long to start as they take for one program."""
CPP_EVERY: Final = 3
"""Each third file is in C++."""
ASKED_EVERY: Final = 4
"""Of a program of each fourth file commands are asked, if it is in C: that takes twice as long as all else."""
_STEPS: Final = 20_000
_RUN_S: Final = 20.0
"""Seconds for one run by the interpreter."""
_VERIFY_S: Final = 2.0
_SMALL_INPUTS: Final = (0, 1, 2, 3, 5, 7, 8, 12, 20, 33, 63, 64, 100, -1, -2, -9, -40)
_BUDGET: Final = 300
"""How many candidates are tried to make a case smaller."""
_RUNS: Final = 8
"""Runs of each program, at most."""
_ASKED_S: Final = 60.0
_WRAPPER: Final = """extern int __VERIFIER_nondet_int(void);
int main(void)
{
    /*begin main | | */;
    int a = __VERIFIER_nondet_int();
    int b = __VERIFIER_nondet_int();
    return /*leave*/(%s(a, b) & 1);
}
"""
_ERROR: Final = "extern void reach_error(void);\nint main(void) { if (%s(%d, %d) %s %d) reach_error(); return 0; }\n"


def language_of(seed: int) -> Language:
    """That of the program of a seed."""
    return "c++" if seed // BATCH % CPP_EVERY == CPP_EVERY - 1 else "c"


def inputs_of(seed: int, count: int) -> list[tuple[int, int]]:
    """The arguments of the runs of a program; small numbers, so that programs that count by them end soon."""
    rng = random.Random(f"clean inputs:{seed}")
    found = [(0, 0), (rng.choice(_SMALL_INPUTS), rng.choice(_SMALL_INPUTS))]
    while len(found) < count:
        found.append((rng.choice(_SMALL_INPUTS), rng.randint(-200, 200)))
    return found[:count]


@dataclass(frozen=True, slots=True)
class Clean:
    """A run that is clean: the function, its arguments, and what it returns."""

    entry: str
    a: int
    b: int
    value: int


# ----------------------------------------------------------------------------------------------------------- judging


def judge_clean(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of the programs of a file, of which ``seed`` is the first. ``skip``: stages that met a limit before."""
    row = Row(plan.profile, seed)
    row.clean = CleanRow(language=language_of(seed))
    try:
        folder = workplace(base)
        programs = [generate_clean(each, language_of(seed)) for each in range(seed, seed + BATCH)]
        if _starts(row, "judging", skip, JUDGE_S):
            runs = _judge(programs, row.clean, plan, folder)
            asked = random.Random(f"asked:{seed}").choice(programs)
            commands = seed // BATCH % ASKED_EVERY == 0 and row.clean.language == "c"
            if commands and _starts(row, "asking", skip, _ASKED_S):
                _ask(asked, [run for run in runs if run.entry == asked.entry], row.clean, plan, folder)
        row.stage, row.status = "", "done"
    except Exception:  # noqa: BLE001  # a crash on any program is a finding, and the campaign goes on
        row.status, row.note = "crash", traceback.format_exc(limit=-6)
    return row


def _starts(row: Row, stage: str, skip: Sequence[str], seconds: float) -> bool:
    row.stage = stage
    note(row, seconds)
    return stage not in skip


def _judge(programs: Sequence[CleanProgram], row: CleanRow, plan: Plan, folder: Path) -> list[Clean]:
    """Run the programs of a file in all ways, note what differs, and give the runs that are clean."""
    text = text_of(*programs)
    file = folder / f"case{programs[0].suffix}"
    file.write_text(text, encoding="utf-8")
    runs = list(_clean_runs(programs, text, file, row, plan, folder))
    for name, module in _modules(programs[0], file):
        row.mismatches += _compared(name, module, runs, row)
    return runs


def _clean_runs(
    programs: Sequence[CleanProgram], text: str, file: Path, row: CleanRow, plan: Plan, folder: Path
) -> Iterator[Clean]:
    """The runs of which all witnesses say that they are clean, and what they return."""
    count = min(plan.inputs, _RUNS)
    calls = [(program.entry, *pair) for program in programs for pair in inputs_of(program.seed, count)]
    there = has_sanitizers(programs[0].language)
    beside = sanitized(text, programs[0].language, calls, folder) if there else None
    oracle = NativeOracle([file], limits=NativeLimits(seconds=0.5), uninitialised=False, host=host())
    natively: list[Outcome] = []
    for program in programs:
        pairs = inputs_of(program.seed, count)
        natively += oracle.run_many(program.entry, [NativeRun(pair) for pair in pairs])
    row.programs += len(programs)
    row.sanitized += beside is not None
    for number, ((entry, a, b), native) in enumerate(zip(calls, natively, strict=True)):
        row.runs += 1
        if native.status != "ok" or native.return_value is None:
            kind = native.status if beside is None or beside[number] is None else f"{native.status}, but not to gcc"
            row.outcomes[kind] = row.outcomes.get(kind, 0) + 1
        elif beside is not None and beside[number] != native.return_value:
            kind = "not clean to gcc" if beside[number] is None else "another value by gcc"
            row.outcomes[kind] = row.outcomes.get(kind, 0) + 1
        else:
            row.clean += 1
            yield Clean(entry, a, b, native.return_value)


def _modules(first: CleanProgram, file: Path) -> Iterator[tuple[str, ir.Module]]:
    """The file as it is written, and with the calls of some functions inlined, or of all that can be."""
    text = compile_ir(file)
    module = read_module(text)
    yield "as written", module
    names = choose(module, everything=True)
    rng = random.Random(f"inlined:{first.seed}")
    if rng.random() < 0.3:
        names = tuple(name for name in names if rng.random() < 0.6)
    yield "inlined", read_module(WORKER.inline(text, names, 60.0, str(file))) if names else module


def _compared(name: str, module: ir.Module, runs: Sequence[Clean], row: CleanRow) -> Iterator[tuple[list[object], str]]:
    """What the interpreter of the judge says otherwise; the first of each program."""
    interpreters: dict[str, Interpreter | str] = {}
    wrong: set[str] = set()
    for run in runs:
        if run.entry in wrong:
            continue
        if run.entry not in interpreters:
            graph = build(module.functions[run.entry], module)
            readable = isinstance(graph, Flowgraph)
            interpreters[run.entry] = Interpreter(module, graph, checked=True) if readable else str(graph)
        interpreter = interpreters[run.entry]
        if isinstance(interpreter, str):
            _count(row.unknown, interpreter)
            continue
        found = interpreter.run([run.a, run.b], max_steps=_STEPS, deadline=clock.now() + _RUN_S)
        if found.status in ("unknown", "timeout"):
            _count(row.unknown, found.reason or found.status)
            continue
        row.compared[name] = row.compared.get(name, 0) + 1
        if (found.status, found.outcome.return_value) != ("ok", run.value):
            wrong.add(run.entry)
            said = f"{found.status} {found.reason}" if found.status != "ok" else str(found.outcome.return_value)
            yield [run.entry, run.a, run.b], f"{name}: it returns {run.value}, the interpreter says {said}"


def _count(counts: dict[str, int], reason: str) -> None:
    words = " ".join("N" if any(sign.isdigit() for sign in word) else word for word in reason.split()[:12])
    counts[words] = counts.get(words, 0) + 1


# ---------------------------------------------------------------------------------------------------------- commands


def _ask(program: CleanProgram, runs: Sequence[Clean], row: CleanRow, plan: Plan, folder: Path) -> None:
    """Ask ``eval``, ``verify`` and ``bound`` about one program, of which these runs are clean."""
    text, file = text_of(program), folder / f"asked{program.suffix}"
    settings = Settings(loop_timeout_s=min(plan.limit_s, _VERIFY_S), workers=1, sandboxed=False)
    for run in runs[-1:]:
        where: list[object] = [run.entry, run.a, run.b]
        file.write_text(text, encoding="utf-8")
        found = evaluate(load([file], settings)[run.entry], [run.a, run.b])
        _count(row.asked, f"eval {found.status}")
        if found.status != "unknown" and (found.status, found.return_value) != ("ok", run.value):
            row.mismatches.append(
                (where, f"eval: it returns {run.value}, eval says {found.status} {found.return_value}")
            )
        for sign, truth in (("==", "false"), ("!=", "true")):
            file.write_text(text + _ERROR % (run.entry, run.a, run.b, sign, run.value), encoding="utf-8")
            asked = load([file], replace(settings, apart=False))
            within = replace(settings, sandboxed=True)  # counted work alone would not end it in time
            verdict = verify(asked, Property.UNREACH_CALL, within, clock.now() + _VERIFY_S).verdict
            _count(row.asked, f"verify {verdict} where {truth}")
            if verdict not in (truth, "unknown"):
                text_ = f"verify: {run.entry}({run.a}, {run.b}) is {run.value}, and with {sign} verify says {verdict}"
                row.mismatches.append((where, text_))
    if runs:
        counted = ProgramRow()
        bounded = replace(plan, inputs=len(runs), limit_s=settings.loop_timeout_s or _VERIFY_S)
        inputs = [(run.a, run.b) for run in runs]
        judge_text(text + _WRAPPER % program.entry, counted, bounded, program.seed, folder, inputs)
        for kind, verdicts in counted.found.items():
            for verdict, count in verdicts.items():
                row.asked[f"bound {kind} {verdict}"] = row.asked.get(f"bound {kind} {verdict}", 0) + count
        row.mismatches += [([program.entry, *where], f"bound: {said}") for where, said in counted.mismatches]


# ----------------------------------------------------------------------------------------------------------- keeping


def keep_clean(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the first program of a row that is wrong, and write it again each time that it has become smaller."""
    note(None, 2 * seconds)
    folder, path = workplace(base), path_of(keep, row)
    keep.mkdir(parents=True, exist_ok=True)
    told = row.clean.mismatches if row.clean is not None else []
    entry = str(told[0][0][0]) if told and told[0][0] else ""
    seed = int(entry.removeprefix("run")) if entry.startswith("run") else row.seed
    program = generate_clean(seed, language_of(row.seed))
    path = path.with_name(f"{row.profile}-{seed}{program.suffix}")
    facts = {"profile": row.profile, "seed": seed}
    kind = told[0][1].partition(":")[0] if told else ""
    ends = clock.wall() + seconds

    def fails(candidate: CleanProgram) -> bool:
        if clock.wall() > ends:
            return False
        wrong = [said for said in again(candidate, plan, folder, kind) if said.startswith(kind)]
        if wrong:
            write_facts(path, text_of(candidate), {**facts, "wrong": wrong[:5]})
        return bool(wrong)

    if fails(program):
        reduce(program, fails, _BUDGET)
    else:
        wrong = [str(each) for each in told] or row.note.splitlines()
        write_facts(path, text_of(program), {**facts, "wrong": wrong})
    return path


def again(program: CleanProgram, plan: Plan, folder: Path, kind: str) -> list[str]:
    """What is wrong of one program; nothing where it does not compile, or no run is clean."""
    row = CleanRow(language=program.language)
    try:
        runs = _judge([program], row, plan, folder)
        if kind in ("eval", "verify", "bound"):
            _ask(program, runs, row, plan, folder)
    except LooplessError:
        return []
    except Exception as error:  # noqa: BLE001  # that may be what is looked for
        return [f"crash: {type(error).__name__}"]
    return [f"{said} ({', '.join(map(str, where))})" for where, said in row.mismatches]
