"""Bounds as numbers for other tools: CBMC's unwinding limits, and flow facts of WCET tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from loopless.queries.bound_answers import FunctionBound, LoopBound
from loopless.queries.inputs import number_at
from loopless.queries.loop_name import LoopName
from loopless.queries.runs import RETURNS, RunBound, by_end, is_recursion
from loopless.report.bounds import Values, selected
from loopless.report.flow_facts import Fact
from loopless.terms import TRUE, Condition, Const, Term, range_of

_MOST_UNWOUND: Final = 1 << 20
"""A bound that only a type gives is no number to unwind to where it is larger."""


# -- CBMC -------------------------------------------------------------------------------------------------------------


def unwindset(
    answers: Sequence[FunctionBound], names: Sequence[str], given: Values | None
) -> tuple[str, list[str]]:
    """CBMC's option with a number for each loop that has one, and the names of the loops that have none.

    CBMC counts the visits of a loop's header in one entry, and numbers the loops of a function from 0 by the places
    where they end.
    """
    limits: list[str] = []
    missing: list[str] = []
    for found, bound in selected(answers, names):
        loop = bound.answer.loop
        if loop.name.endswith(RETURNS):
            continue  # the way back up of a recursion: CBMC counts calls only
        own = [b.answer.loop for b in found.loops if b.answer.loop.inlined_from is None]
        most = _number(bound, found, given)
        if most is None:
            missing.append(bound.answer.loop.name)
        else:
            limits.append(f"{_cbmc_name(loop, own)}:{most + 1}")
    return ("--unwindset " + ",".join(limits) if limits else ""), missing


def _cbmc_name(loop: LoopName, own: Sequence[LoopName]) -> str:
    """How CBMC names a loop; a function that calls itself goes by its own name."""
    if is_recursion(loop):
        return loop.function
    return f"{loop.function}.{by_end(own).index(loop)}"


def facts(
    answers: Sequence[FunctionBound], names: Sequence[str], given: Values | None
) -> tuple[list[Fact], list[str]]:
    """Numbers for the loops, for WCET tools, and the names of the loops that have none."""
    found: list[Fact] = []
    missing: list[str] = []
    for function, bound in selected(answers, names):
        loop = bound.answer.loop
        if is_recursion(loop):
            continue
        most = _number(bound, function, given)
        total, exact = None, False
        if function.name == "main" and function.refused is None:
            total, exact = _total(bound.call.upper, bound.call.when, function, given)
        sure = not bound.calls.unshown  # what these tools print says nothing of what is taken for granted
        least = most if sure and bound.entry.exact and isinstance(bound.entry.upper, Const) and most is not None else 0
        exact = exact and sure and bound.call.exact
        found.append(Fact(loop.file, loop.line, least, most, total, exact, bound.from_header))
        if most is None:
            missing.append(loop.name)
    return found, missing


def _number(bound: LoopBound, found: FunctionBound, given: Values | None) -> int | None:
    pairs = ((bound.any_entry, TRUE), (bound.call.upper, bound.call.when))
    values = [_value(term, when, found, given) for term, when in pairs]
    return min((value for value in values if value is not None), default=None)


def _value(term: Term | None, when: Condition, found: FunctionBound, given: Values | None) -> int | None:
    """The number that a bound evaluates to at the given values, else for all values of the types, if it is small."""
    value = number_at(found, term, when, given)
    if value is None and term is not None and when is TRUE:
        most = range_of(term)[1]
        value = most if most is not None and most <= _MOST_UNWOUND else None
    return value


def _total(
    term: Term | None, when: Condition, found: FunctionBound, given: Values | None
) -> tuple[int | None, bool]:
    """As :func:`_value`, and whether it is the number at these values, not the greatest for all."""
    return _value(term, when, found, given), number_at(found, term, when, given) is not None


def facts_of_run(
    entry: FunctionBound, loops: Sequence[RunBound], given: Values | None
) -> tuple[list[Fact], list[str]]:
    """As :func:`facts`, for the loops of a run of the program."""
    found: list[Fact] = []
    for run in loops:
        most = _of_any_entry(run, entry, given)
        total, is_value = _total(run.total, TRUE, entry, given)
        exact = is_value and run.exact
        from_header = all(copy.from_header for copy in run.copies)
        found.append(Fact(run.loop.file, run.loop.line, 0, most, total, exact, from_header))
    return found, [run.loop.name for run, fact in zip(loops, found, strict=True) if fact.most is None]


def _of_any_entry(run: RunBound, entry: FunctionBound, given: Values | None) -> int | None:
    """A number of iterations that no entry exceeds: none takes more than all together."""
    values = [_value(term, TRUE, entry, given) for term in (run.any_entry, run.total)]
    return min((value for value in values if value is not None), default=None)


def unwindset_of_run(
    entry: FunctionBound, loops: Sequence[RunBound], given: Values | None
) -> tuple[str, list[str]]:
    """As :func:`unwindset`, for the loops of a run of the program."""
    numbers = [(run, _of_any_entry(run, entry, given)) for run in loops]
    limits = [f"{run.loop.function}.{run.number}:{most + 1}" for run, most in numbers if most is not None]
    missing = [run.loop.name for run, most in numbers if most is None]
    return ("--unwindset " + ",".join(limits) if limits else ""), missing
