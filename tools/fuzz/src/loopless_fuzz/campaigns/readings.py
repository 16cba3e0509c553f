"""Functions that read arrays with other signs and widths than declared: what answers say of calls beside native runs.

Judged are the bound at given elements, the call evaluated, the summary of the function called with elements, and what
is printed: the JSON of the bound and of the summary, read by an evaluator that knows the documented notation only.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from loopless import terms as t
from loopless.check.oracle.native import NativeOracle, NativeRun
from loopless.queries.bounds.answering import answer_bounds
from loopless.queries.bounds.answers import FunctionBound
from loopless.queries.call_values.at_inputs import at_values
from loopless.queries.call_values.given_memory import GivenMemory, Value
from loopless.queries.evaluation.calls import evaluate
from loopless.queries.functions import FunctionAnswer, answer_functions
from loopless.queries.jobs.sandbox import note
from loopless.queries.loops.answer import Question
from loopless.queries.program import AnalyzedFunction, load
from loopless.summary import CallSummary
from loopless_fuzz.campaigns.keeping import path_of, write_facts
from loopless_fuzz.campaigns.plan import READINGS, Plan
from loopless_fuzz.campaigns.programs import JUDGE_S, host, workplace
from loopless_fuzz.campaigns.rows import ProgramRow, Row
from loopless_fuzz.campaigns.several import settings
from loopless_fuzz.generator.readings import Reading, reading
from loopless_fuzz.judging.printed import Array, Untold, evaluate_text

Document = Mapping[str, Any]
_EVALUATED: Final = 4
"""The function is evaluated for so many inputs: all other answers are of its summary, too."""


@dataclass(frozen=True, slots=True)
class Printing:
    """How answers are printed as JSON: the bound of a function, and its summary."""

    bound: Callable[[FunctionBound, None], Document]
    summary: Callable[[FunctionAnswer], Document]


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with what the tool says of it."""

    program: Reading
    function: AnalyzedFunction
    bound: FunctionBound
    answer: FunctionAnswer
    printed_bound: Document
    printed: Document


@dataclass(frozen=True, slots=True)
class _Call:
    """One call: what it is given, and what the native run came to."""

    contents: tuple[tuple[int, ...], ...]
    n: int
    result: int
    taken: int


def judge_readings(printing: Printing, plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of a seed. ``skip``: stages that met a limit before and are left out."""
    row = Row(READINGS, seed)
    row.program = ProgramRow(functions=1, loops=1)
    try:
        row.stage = "judging"
        note(row, JUDGE_S)
        if row.stage not in skip:
            judge(reading(seed), row.program, plan, seed, workplace(base), printing)
        row.stage, row.status = "", "done"
    except Exception:  # noqa: BLE001  # a crash on any program is a finding, and the campaign goes on
        row.status, row.note = "crash", traceback.format_exc(limit=-6)
    return row


def keep_reading(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the program of a row that is wrong."""
    del plan, base
    note(None, 2 * seconds)
    keep.mkdir(parents=True, exist_ok=True)
    told = row.program.mismatches if row.program is not None else []
    facts = {"profile": row.profile, "seed": row.seed, "wrong": [str(each) for each in told[:5]] or row.note}
    write_facts(path_of(keep, row), reading(row.seed).text, facts)
    return path_of(keep, row)


def judge(program: Reading, row: ProgramRow, plan: Plan, seed: int, folder: Path, printing: Printing) -> None:
    """Run a program, ask for its answers, and compare; the first thing that is wrong is noted of each run."""
    file = folder / "case.c"
    file.write_text(program.text, encoding="utf-8")
    function = load([file], settings(plan))["f"]
    (bound,) = answer_bounds([function], "all", settings(plan))
    (answer,) = answer_functions([function], Question(), settings(plan))
    subject = Subject(program, function, bound, answer, printing.bound(bound, None), printing.summary(answer))
    for number, call in enumerate(_calls(program, seed, plan.inputs, row)):
        wrong = []
        for kind, exact, found, truth in _told(subject, call, evaluated=number < _EVALUATED):
            verdict = "unknown" if found is None else "tight" if found == truth else "above"
            if found is not None and (found < truth or (exact and found != truth)):
                verdict = "below"
                wrong.append(f"{kind}: {found} where the run says {truth} for {call.contents}, n = {call.n}")
            of_kind = row.found.setdefault(kind, {})
            of_kind[verdict] = of_kind.get(verdict, 0) + 1
        row.mismatches += [([number], text) for text in wrong[:1]]


def _calls(program: Reading, seed: int, count: int, row: ProgramRow) -> Iterator[_Call]:
    """The calls that meet no undefined behaviour."""
    rows = program.rows(seed, count)
    runs = [NativeRun((*contents, n)) for contents, n in rows]
    with NativeOracle(program.counted, host=host()) as oracle:
        pairs = zip(oracle.run_many("f", runs), oracle.run_many("g", runs), strict=True)
        for (contents, n), (result, taken) in zip(rows, pairs, strict=True):
            row.runs += 1
            row.outcomes[result.status] = row.outcomes.get(result.status, 0) + 1
            if result.return_value is not None and taken.return_value is not None:
                row.iterations += taken.return_value
                yield _Call(contents, n, result.return_value, taken.return_value)


def _told(subject: Subject, call: _Call, *, evaluated: bool) -> Iterator[tuple[str, bool, int | None, int]]:
    """What each answer says of a call: of which kind it is, whether it is exact, the number and the truth."""
    claim = subject.bound.call
    names = [name for name, _ in subject.program.arrays]
    given: dict[str, Value] = {**dict(zip(names, call.contents, strict=True)), "n": call.n}
    here = at_values(subject.bound.names, claim, given)
    yield "bound --at", claim.exact and not here.whatever, here.value, call.taken
    bound = _printed(subject, call, subject.printed_bound["upper"])
    yield "printed bound", claim.exact, bound, call.taken
    summary = subject.answer.summary
    if summary is not None:
        yield "summary", True, _summarized(summary, given), call.result
        yield "printed summary", True, _printed_result(subject, call), call.result
    if evaluated:
        yield "eval", True, _evaluated(subject, call), call.result


def _summarized(summary: CallSummary, given: Mapping[str, Value]) -> int | None:
    memory = GivenMemory(summary.layouts, given)
    numbers = {name: value for name, value in given.items() if isinstance(value, int)}
    names = {input.var.name for input in summary.inputs} | {p.var.name for p in summary.parameters if p.var is not None}
    try:
        return summary(memory.read, **{name: value for name, value in numbers.items() if name in names}).get("return")
    except (ValueError, t.EvaluationError):
        return None


def _evaluated(subject: Subject, call: _Call) -> int | None:
    found = evaluate(subject.function, [*map(list, call.contents), call.n])
    return found.return_value if found.status == "ok" else None


def _printed(subject: Subject, call: _Call, expression: Document | None) -> int | None:
    """What an expression of the JSON comes to."""
    if expression is None:
        return None
    arrays = {
        name: Array(element.width, element.signed, held)
        for (name, element), held in zip(subject.program.arrays, call.contents, strict=True)
    }
    definitions = [(part["name"], part["is"]) for part in expression.get("definitions", ())]
    pointers = dict.fromkeys(arrays, 0)
    try:
        return evaluate_text(expression["text"], {"n": call.n, **pointers}, arrays, definitions)
    except Untold:
        return None


def _printed_result(subject: Subject, call: _Call) -> int | None:
    """What is returned, by the one case of the printed summary whose condition holds."""
    for case in subject.printed["cases"]:
        holds = _printed(subject, call, case["when"])
        if holds is None:
            return None
        if holds:
            return _printed(subject, call, case["then"].get("return"))
    return None
