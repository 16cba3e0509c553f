"""One program of a campaign, from its text to its row; runs in a worker process."""

from __future__ import annotations

import os
import re
import tempfile
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from loopless.check.oracle.native import NativeHost
from loopless.queries.jobs.sandbox import note
from loopless.refusals import Reason, Refused
from loopless.summary import CallSummary, FunctionOutcome
from loopless_fuzz.campaigns.functions import Bench, compose_function, edge_rows, unplaced
from loopless_fuzz.campaigns.loops import Subject, judge_loop, read, short, summarize_loop
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.rows import FunctionRow, LoopRow, Row
from loopless_fuzz.generator.generate import features, inputs_of, nondet_stream, print_program
from loopless_fuzz.generator.inputs import Arguments

START_S: Final = 15.0
"""Seconds for what comes before the first loop: a new process, clang."""
JUDGE_S: Final = 120.0
"""Seconds for judging one loop, and for all calls of a function."""
TIME_LIMIT: Final = "L302 time-limit"
_PLACED: Final = 200
"""Entry states of a function of which it is asked in which regions they lie."""

_hosts: list[NativeHost] = []


def host() -> NativeHost:
    """The native child of this process."""
    if not _hosts:
        _hosts.append(NativeHost())
    return _hosts[0]


def workplace(base: Path) -> Path:
    """A folder of this process below ``base``; temporary files go there, too, since workers are killed."""
    folder = base / str(os.getpid())
    folder.mkdir(exist_ok=True)
    tempfile.tempdir = str(folder)
    return folder


def judge_program(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    """The row of a seed. ``skip``: stages that met a limit before and are left out."""
    program = plan.program(seed)
    row = Row(plan.profile, seed, sorted(features(program)))
    try:
        text = print_program(plan.program(seed))
        judge_text(
            plan, row, text, partial(_drawn, plan, seed), (workplace(base), skip), everything=plan.everything(seed)
        )
        row.status = "done"
    except Exception:  # noqa: BLE001  # a crash on any program is a finding, and the campaign goes on
        row.status, row.note = "crash", traceback.format_exc(limit=-6)
    return row


def _drawn(plan: Plan, seed: int, bench: Bench) -> list[Arguments]:
    """The arguments of the calls of a generated program."""
    signature = bench.oracle.signature(bench.graph.source_name)
    drawn = inputs_of(plan.of_seed(seed), signature, seed, plan.inputs)
    return [*drawn, *edge_rows(bench.graph, seed, plan.inputs // 2)]


def judge_text(
    plan: Plan,
    row: Row,
    text: str,
    arguments: Callable[[Bench], Sequence[Arguments]],
    work: tuple[Path, Sequence[str]],
    *,
    everything: bool,
) -> None:
    """Judge the loops and calls of the program of a text. ``work``: a folder for files, and the stages to leave out."""
    folder, skip = work
    subject = read(text, folder)
    if subject.graph is None:
        assert subject.refused is not None
        row.note = str(subject.refused)
        return
    _summarize(plan, row, subject, skip)
    if plan.loops:
        for loop, loop_row in zip(subject.loops, row.loops, strict=True):
            if _starts(row, f"judging {short(loop)}", skip, JUDGE_S):
                judge_loop(subject, loop, loop_row, row.seed, plan.states, everything=everything)
            else:
                loop_row.unjudged = "time limit"
    if plan.functions:
        _call(plan, row, subject, text, arguments, skip)
    row.stage = ""


def _starts(row: Row, stage: str, skip: Sequence[str], seconds: float) -> bool:
    """Tell the parent what comes next and how long it may take; False where it is to be left out."""
    row.stage = stage
    note(row, seconds)
    return stage not in skip


def _summarize(plan: Plan, row: Row, subject: Subject, skip: Sequence[str]) -> None:
    """Summarize all loops, the inner ones first."""
    rows = {loop.name: LoopRow(short(loop), loop.depth) for loop in subject.loops}
    row.loops = list(rows.values())
    if row.loops:
        row.loops[0].seconds.update(subject.seconds)
    for loop in sorted(subject.loops, key=lambda loop: -loop.depth):
        if _starts(row, f"summarizing {short(loop)}", skip, plan.limit_s):
            summarize_loop(subject, loop, rows[loop.name])
        else:
            rows[loop.name].causes = [TIME_LIMIT]
            subject.outcomes[loop.name] = Refused(Reason.TIME_LIMIT, loop.name, "the time limit of the campaign")


def _call(
    plan: Plan,
    row: Row,
    subject: Subject,
    text: str,
    arguments: Callable[[Bench], Sequence[Arguments]],
    skip: Sequence[str],
) -> None:
    found = row.function = FunctionRow()
    whole: FunctionOutcome | None = None
    if _starts(row, "composing", skip, plan.limit_s):
        whole = compose_function(subject, found)
    else:
        found.status, found.causes = "limit", [TIME_LIMIT]
    if not _starts(row, "calling", skip, JUDGE_S):
        return
    if isinstance(whole, CallSummary):
        wrong = unplaced(whole, row.seed, _PLACED)
        if wrong is not None:
            found.mismatches.append(([wrong[0]], f"whole: the state {wrong[1]}"))
            return
    bench = Bench(subject, text, whole, host())
    stream = nondet_stream(row.seed)
    rows = arguments(bench)
    for args, native in zip(rows, bench.native(rows, stream), strict=True):
        voices = bench.voices(args, stream)
        found.calls += 1
        found.compared += native.status not in ("timeout", "unknown", "crashed")
        _count(found.outcomes, native.status)
        last = voices[-1].evaluation
        summary = voices[1].evaluation
        known = summary.status != "unknown"
        _count(found.by, "whole" if voices[-1].name == "whole" else getattr(summary, "by", "") if known else "unknown")
        if not known and last is summary:
            _count(found.unknown, re.sub(r"\d+", "N", getattr(summary, "reason", "").split(" at ")[0])[:80])
        wrong_call = bench.difference(voices, native)
        if wrong_call:
            found.mismatches.append((list(args), wrong_call))
            return


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
