"""Jobs of a campaign with an error planted in them; top-level functions, so that they reach any worker process."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from pathlib import Path
from typing import Any

import loopless_fuzz.campaigns.functions
import loopless_fuzz.campaigns.loops
from loopless.paths import LoopPaths
from loopless.queries.functions import compose
from loopless.summary import CallSummary, LoopSummary, Outcome, summarize
from loopless.terms import add, const
from loopless_fuzz.campaigns.campaign import Work
from loopless_fuzz.campaigns.keeping import keep_program
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.programs import judge_program
from loopless_fuzz.campaigns.rows import Row


def one_too_many(paths: LoopPaths) -> Outcome:
    """A wrong summary: one iteration more in each case."""
    found = summarize(paths)
    if not isinstance(found, LoopSummary):
        return found
    cases = tuple(dataclasses.replace(case, iterations=add(case.iterations, const(1))) for case in found.cases)
    return dataclasses.replace(found, cases=cases)


def slow(paths: LoopPaths) -> Outcome:
    """A summary that is not made in time."""
    time.sleep(60)
    return summarize(paths)


def failing(paths: LoopPaths) -> Outcome:
    """No summary but an error."""
    raise ZeroDivisionError("planted")


def another_result(*args: Any) -> Any:
    """A wrong summary of a function: one more is returned."""
    found = compose(*args)
    if not isinstance(found, CallSummary):
        return found
    cases = [dataclasses.replace(c, result=add(c.result, const(1)) if c.result else None) for c in found.cases]
    return dataclasses.replace(found, cases=tuple(cases))


def judge_too_many(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.loops.summarize = one_too_many
    return judge_program(plan, seed, base, skip)


def keep_too_many(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    loopless_fuzz.campaigns.loops.summarize = one_too_many
    return keep_program(plan, row, keep, base, seconds)


def judge_another_result(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.functions.compose = another_result
    return judge_program(plan, seed, base, skip)


def keep_another_result(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    loopless_fuzz.campaigns.functions.compose = another_result
    return keep_program(plan, row, keep, base, seconds)


def judge_slowly(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.loops.summarize = slow
    return judge_program(plan, seed, base, skip)


def judge_dying(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    if not (base / "died").exists():
        (base / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return judge_program(plan, seed, base, skip)


def judge_failing(plan: Plan, seed: int, base: Path, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.loops.summarize = failing
    return judge_program(plan, seed, base, skip)


def keep_failing(plan: Plan, row: Row, keep: Path, base: Path, seconds: float) -> Path:
    loopless_fuzz.campaigns.loops.summarize = failing
    return keep_program(plan, row, keep, base, seconds)


WRONG_LOOPS = Work(judge_too_many, keep_too_many)
WRONG_FUNCTIONS = Work(judge_another_result, keep_another_result)
HANGING = Work(judge_slowly, keep_program)
DYING = Work(judge_dying, keep_program)
FAILING = Work(judge_failing, keep_failing)
