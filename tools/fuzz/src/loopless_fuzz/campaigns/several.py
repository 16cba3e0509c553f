"""Programs of several functions in a campaign: run, bounded, judged, and what is wrong made small and kept."""

from __future__ import annotations

import random
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from loopless import clock
from loopless.check.interpreter.run import Interpreter
from loopless.flowgraph.model import Flowgraph
from loopless.queries.jobs.sandbox import note
from loopless.queries.settings import Settings
from loopless_fuzz.campaigns.functions import disagreement
from loopless_fuzz.campaigns.keeping import path_of, write_facts
from loopless_fuzz.campaigns.plan import SEVERAL, Plan
from loopless_fuzz.campaigns.programs import JUDGE_S, host, workplace
from loopless_fuzz.campaigns.rows import ProgramRow, Row
from loopless_fuzz.campaigns.run_bounds import Bounded, bounded, judged
from loopless_fuzz.generator.generate import nondet_stream
from loopless_fuzz.generator.programs.generate import generate_program
from loopless_fuzz.generator.programs.model import Program
from loopless_fuzz.generator.programs.printer import print_program
from loopless_fuzz.generator.programs.reduce import reduce
from loopless_fuzz.judging.counting import Counts, counted, run

_OTHERS: Final = 3
"""Functions beside ``main`` of which bounds are asked; which ones, the seed says."""
_STEPS: Final = 20_000
_INTERPRETED: Final = 2
"""Runs of each program that are interpreted, too."""
_BUDGET: Final = 400
"""How many candidates are tried to make a case smaller."""


def streams(seed: int, count: int) -> list[tuple[int, ...]]:
    """What input functions return in the runs of a program; small numbers mostly, so that they lie in ranges."""
    found = []
    for number in range(count):
        rng = random.Random(f"inputs:{seed}:{number}")
        first = tuple(rng.randint(-2, 22) for _ in range(4))
        found.append((*first, *nondet_stream(1000 * seed + number)))
    return found


def judge_several(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of a seed. ``skip``: stages that met a limit before and are left out."""

    def judge(row: ProgramRow) -> None:
        judge_text(print_program(generate_program(seed)), row, plan, seed, workplace(base))

    return judged_row(SEVERAL, seed, skip, judge)


def judged_row(campaign: str, seed: int, skip: tuple[str, ...], judge: Callable[[ProgramRow], None]) -> Row:
    """The row of a seed that ``judge`` fills; a crash, on whatever program, is a finding."""
    row = Row(campaign, seed)
    row.program = ProgramRow()
    try:
        row.stage = "judging"
        note(row, JUDGE_S)
        if row.stage not in skip:
            judge(row.program)
        row.stage, row.status = "", "done"
    except Exception:  # noqa: BLE001  # the campaign goes on
        row.status, row.note = "crash", traceback.format_exc(limit=-6)
    return row


def judge_text(
    text: str,
    row: ProgramRow,
    plan: Plan,
    seed: int,
    folder: Path,
    inputs: Sequence[tuple[int, ...]] | None = None,
) -> None:
    """Run a program, ask for its bounds, and compare; the first thing that is wrong is noted of each run. ``inputs``:
    those of the runs, else the seed says which.
    """
    inputs = streams(seed, plan.inputs) if inputs is None else inputs
    subject, file = counted(text), folder / "case.c"
    file.write_text(text, encoding="utf-8")
    row.functions, row.loops = len(subject.functions), len(subject.lines)
    runs = run(subject, inputs, host())
    names = [name for name in (function.name for function in subject.functions) if name != "main"]
    names = [name for name in names if _is_called(name, runs)]
    chosen = random.Random(f"functions:{seed}").sample(names, min(_OTHERS, len(names)))
    answer = bounded(file, subject, settings(plan), chosen)
    for number, (stream, counts) in enumerate(zip(inputs, runs, strict=True)):
        _note_run(row, counts)
        wrong = list(_compared(row, answer, counts))
        if number < _INTERPRETED:
            wrong += _interpreted(row, answer, counts, stream)
        row.mismatches += [([number], text) for text in wrong[:1]]


def settings(plan: Plan) -> Settings:
    """How bounds are asked for: in this process's own time, one loop after the other."""
    return Settings(loop_timeout_s=plan.limit_s, workers=1)


def _is_called(name: str, runs: Sequence[Counts]) -> bool:
    return any(counts.calls.get(name, 0) for counts in runs)


def _note_run(row: ProgramRow, counts: Counts) -> None:
    row.runs += 1
    row.cut += counts.cut
    row.undefined += counts.outcome.status == "undefined"
    row.iterations += sum(count.total for count in counts.loops)
    row.outcomes[counts.outcome.status] = row.outcomes.get(counts.outcome.status, 0) + 1


def _compared(row: ProgramRow, answer: Bounded, counts: Counts) -> Iterator[str]:
    for finding in judged(answer, counts):
        of_kind = row.found.setdefault(finding.what, {})
        of_kind[finding.verdict] = of_kind.get(finding.verdict, 0) + 1
        if finding.verdict == "below":
            yield finding.wrong


def _interpreted(row: ProgramRow, answer: Bounded, counts: Counts, stream: Sequence[int]) -> list[str]:
    """What the interpreter of flowgraphs says otherwise of a run than the machine does."""
    graph = answer.program["main"].as_written()
    if counts.cut or not isinstance(graph, Flowgraph):
        return []
    module = answer.program.source.inlined
    interpreter = Interpreter(module, graph)
    found = interpreter.run([], stream, max_steps=_STEPS, deadline=clock.now() + 1).outcome
    if found.status in ("timeout", "crashed", "unknown"):
        return []
    row.interpreted += 1
    # Not the counters, and not what only the program that counts has: a global that nothing mentions is not compiled.
    own = {name: value for name, value in counts.outcome.globals.items() if name in module.globals}
    native = replace(counts.outcome, globals=own, outputs=())
    wrong = disagreement(found.status, found, native)
    return [f"interpreter: {wrong}"] if wrong else []


# ------------------------------------------------------------------------------------------------------------ keeping


def keep_several(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    """Write the case of a row that is wrong, and write it again each time that it has become smaller."""
    note(None, 2 * seconds)
    folder, path = workplace(base), path_of(keep, row)
    keep.mkdir(parents=True, exist_ok=True)
    program = generate_program(row.seed)
    kind = _kind(row)
    facts = {"profile": row.profile, "seed": row.seed}
    ends = clock.wall() + seconds

    def fails(candidate: Program) -> bool:
        if clock.wall() > ends:
            return False
        text = print_program(candidate)
        found = again(text, plan, row.seed, folder)
        wrong = [said for said in found if _kind_of(said) == kind]
        if wrong:
            write_facts(path, text, {**facts, "wrong": wrong[:5]})
        return bool(wrong)

    if fails(program):
        reduce(program, fails, _BUDGET)
    else:
        told = row.program.mismatches if row.program is not None else []
        write_facts(path, print_program(program), {**facts, "wrong": [str(each) for each in told] or row.note})
    return path


def again(text: str, plan: Plan, seed: int, folder: Path) -> list[str]:
    """What is wrong of a program, or how judging it crashes; nothing where it does not compile."""
    row = ProgramRow()
    try:
        judge_text(text, row, plan, seed, folder)
    except Exception as error:  # noqa: BLE001  # that may be what is looked for
        return [f"crash: {type(error).__name__}"]
    return [wrong for _, wrong in row.mismatches]


def _kind(row: Row) -> str:
    if row.program is not None and row.program.mismatches:
        return _kind_of(row.program.mismatches[0][1])
    last = row.note.strip().splitlines()[-1] if row.note.strip() else ""
    return f"crash: {last.split(':')[0].rsplit('.', 1)[-1]}"


def _kind_of(wrong: str) -> str:
    """What a mismatch is about, without its places and numbers: the same kind is looked for in smaller programs."""
    if wrong.startswith(("crash", "interpreter")):
        return wrong if wrong.startswith("crash") else "interpreter"
    words = ("exactly", "at most", "at least", "never ends", "is not named")
    scope = "run" if " in a run" in wrong or "is not named" in wrong else "call"
    return f"{scope} {next((word for word in words if word in wrong), '')}"
