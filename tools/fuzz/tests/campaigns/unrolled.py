"""A summary of any loop with paths that is right by its making: its first iterations, one after another.

It says nothing of more iterations. With ``slip`` it is wrong in one place: what is read is taken from another element.
"""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

import loopless_fuzz.campaigns.loops
from loopless.paths import LoopPaths
from loopless.refusals import Reason, Refused
from loopless.summary import Case, LoopSummary, Outcome, Residual, Undefined
from loopless.terms import (
    FALSE,
    TRUE,
    Condition,
    Read,
    Term,
    Var,
    add,
    conjunction,
    const,
    read,
    replace_terms,
    substitute,
    walk,
)
from loopless_fuzz.campaigns.campaign import Work
from loopless_fuzz.campaigns.keeping import keep_program
from loopless_fuzz.campaigns.plan import Plan
from loopless_fuzz.campaigns.programs import judge_program
from loopless_fuzz.campaigns.rows import Row

MOST = 3
"""How many iterations are told."""
BRANCHES = 40
"""With more ways through the first iterations nothing is said."""


def unrolled(paths: LoopPaths) -> Outcome:
    """The first iterations of a loop."""
    if paths.counters or any(path.unknowns or not path.exact for path in paths.all):
        return Refused(Reason.NO_CLOSED_FORM, paths.loop.name, "what an iteration does is not known")
    cases: list[Case] = []
    undefined: list[Undefined] = []
    front: list[tuple[Condition, dict[Var, Term], dict[str, int]]] = [(TRUE, {}, {})]
    for count in range(MOST + 1):
        after = []
        for holding, values, taken in front:
            for path in paths.exits:
                when = conjunction((holding, substitute(path.condition, values)))
                assert path.exit is not None
                if when is FALSE:
                    continue
                if path.exit.kind == "undefined":
                    undefined.append(Undefined(when, path.exit.detail, path.exit.line))
                    continue
                then = values | {var: substitute(term, values) for var, term in path.update.items()}
                counts = {name: const(number) for name, number in taken.items()}
                cases.append(Case(when, then, path.exit, path.id, const(count), counts, ()))
            for path in paths.iterative:
                when = conjunction((holding, substitute(path.condition, values)))
                if when is not FALSE:
                    next_values = values | {var: substitute(term, values) for var, term in path.update.items()}
                    after.append((when, next_values, {**taken, path.id: taken.get(path.id, 0) + 1}))
        front = after
        if len(front) > BRANCHES or count == MOST:
            break
    more = Refused(Reason.NO_CLOSED_FORM, paths.loop.name, "nothing is said of so many iterations")
    residual = [Residual(when, more) for when, _, _ in front]
    return LoopSummary(paths.loop, paths, tuple(cases), FALSE, tuple(undefined), tuple(residual), "unrolled")


def slip(paths: LoopPaths) -> Outcome:
    """The same, but of the last element that a final value speaks of, the byte before it is taken."""
    found = unrolled(paths)
    if not isinstance(found, LoopSummary):
        return found
    return LoopSummary(
        found.loop, found.paths, tuple(map(_slipped, found.cases)), FALSE, found.undefined, found.residual, found.method
    )


def _slipped(case: Case) -> Case:
    then = {var: _moved(term) for var, term in case.then.items()}
    return Case(case.when, then, case.exit, case.exit_path, case.iterations, case.per_path, ())


def _moved(term: Term) -> Term:
    reads = sorted({part for part in walk(term) if isinstance(part, Read)}, key=lambda part: part.key)
    if not reads or term is reads[0]:
        return term  # a temporary
    last = reads[-1]
    return replace_terms(term, {last: read(last.array, add(last.offset, const(-1)), last.type)})


def _as_it_is(_: Any, paths: LoopPaths, outcome: Outcome) -> tuple[LoopPaths, Outcome]:
    return paths, outcome


def judge_unrolled(plan: Plan, seed: int, base: FilePath, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.loops.summarize = unrolled
    loopless_fuzz.campaigns.loops.from_entry = _as_it_is
    return judge_program(plan, seed, base, skip)


def judge_slip(plan: Plan, seed: int, base: FilePath, skip: tuple[str, ...] = ()) -> Row:
    loopless_fuzz.campaigns.loops.summarize = slip
    loopless_fuzz.campaigns.loops.from_entry = _as_it_is
    return judge_program(plan, seed, base, skip)


def keep_slip(plan: Plan, row: Row, keep: FilePath, base: FilePath, seconds: float) -> FilePath:
    loopless_fuzz.campaigns.loops.summarize = slip
    loopless_fuzz.campaigns.loops.from_entry = _as_it_is
    return keep_program(plan, row, keep, base, seconds)


UNROLLED = Work(judge_unrolled, keep_program)
SLIPS = Work(judge_slip, keep_slip)
