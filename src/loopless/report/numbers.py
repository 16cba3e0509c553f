"""Bounds as numbers for other tools: CBMC's unwinding limits, and flow facts of WCET tools."""

from __future__ import annotations

from collections.abc import Sequence

from loopless import terms as t
from loopless.bounds import Claim
from loopless.limits.bounds import LARGE_CONSTANT
from loopless.limits.report import MAX_UNWINDING
from loopless.queries.bounds.answers import FunctionBound, LoopBound
from loopless.queries.bounds.runs import RETURNS, RunBound, by_end, is_recursion
from loopless.queries.call_values.at_inputs import at_values, most_at, number_at
from loopless.queries.loops.name import LoopName
from loopless.report.bounds import Values, needed, selected
from loopless.report.flow_facts import FlowFact
from loopless.report.names import Names

# -- CBMC -------------------------------------------------------------------------------------------------------------


def unwindset(answers: Sequence[FunctionBound], names: Sequence[str], given: Values | None) -> tuple[str, list[str]]:
    """CBMC's option with a number for each loop that has one, and why others have none, a sentence each.

    CBMC counts the visits of a loop's header in one entry, and numbers the loops of a function from 0 by the places
    where they end.
    """
    limits: list[str] = []
    missing: list[str] = []
    for bound in selected(answers, names):
        found, loop = bound.function, bound.answer.loop
        if loop.name.endswith(RETURNS):
            continue  # the way back up of a recursion: CBMC counts calls only
        own = [other.answer.loop for other in found.own]
        most = _number(bound, given, unwound=True)
        if most is None:
            missing.append(_why_missing(loop.name, [Claim(bound.any_entry), bound.call], found, given))
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
) -> tuple[list[FlowFact], list[str]]:
    """Numbers for the loops, for WCET tools, and why others have none, a sentence each."""
    found: list[FlowFact] = []
    missing: list[str] = []
    for bound in selected(answers, names):
        function, loop = bound.function, bound.answer.loop
        if is_recursion(loop):
            continue
        most = _number(bound, given)
        total, exact = None, False
        if function.name == "main" and function.refused is None:
            total, exact = _total(bound.call.upper, bound.call.when, function, given)
        sure = not bound.counts.calls.unshown  # what these tools print says nothing of what is taken for granted
        least = (
            most
            if sure and bound.per_entry.exact and isinstance(bound.per_entry.upper, t.Const) and most is not None
            else 0
        )
        exact = exact and sure and bound.call.exact
        found.append(FlowFact(loop.file, loop.line, least, most, total, exact, bound.counts.from_header))
        if most is None:
            missing.append(_why_missing(loop.name, [Claim(bound.any_entry), bound.call], function, given))
    return found, missing


def _number(bound: LoopBound, given: Values | None, *, unwound: bool = False) -> int | None:
    """A number of iterations that no entry exceeds; ``unwound``: none to which nobody would unwind a loop."""
    pairs = ((bound.any_entry, t.TRUE), (bound.counts.over_inputs, t.TRUE), (bound.call.upper, bound.call.when))
    values = [_value(term, when, bound.function, given) for term, when in pairs if not (unwound and _by_type(term))]
    return min((value for value in values if value is not None), default=None)


def _why_missing(name: str, claims: Sequence[Claim], found: FunctionBound, given: Values | None) -> str:
    """Why a loop has no number, and what of that can be helped by giving values to inputs."""
    told = [claim for claim in claims if claim.upper is not None or claim.never is not t.FALSE]
    here = [at_values(found.names, claim, given or {}) for claim in told]
    nodes = [node for claim in claims for node in (claim.upper, claim.when) if node is not None]
    names = Names(found.counts[0].answer if found.counts else None, nodes, found.shown)
    if any(each.never for each in here):
        return f"no number for {name}: it never ends{' for these values' if given else ''}; --at does not help"
    needs = [needed(each, names) for each in here]
    shortest = min((each for each in needs if each), key=len, default=[])
    if not shortest:
        why = "no bound is known for these values" if here and given else "no bound is known; --at does not help"
        if any(_by_type(claim.upper) for claim in told):
            why = "only the end of a type bounds it; --at does not help"
        return f"no number for {name}: {why}"
    return f"no number for {name}: it depends on {' and '.join(shortest)}; --at gives values to inputs"


def _why_missing_in_run(run: RunBound, entry: FunctionBound, given: Values | None) -> str:
    return _why_missing(run.loop.name, [Claim(run.any_entry), Claim(run.total)], entry, given)


def _by_type(term: t.Term | None) -> bool:
    """Whether a bound is a number that only a type gives."""
    return isinstance(term, t.Const) and term.value >= LARGE_CONSTANT


def _value(term: t.Term | None, when: t.Condition, found: FunctionBound, given: Values | None) -> int | None:
    """The number that a bound evaluates to at the given values, else for all values of the other inputs, if it is
    small.
    """
    value = number_at(found.names, term, when, given)
    if value is None and term is not None and when is t.TRUE:
        most = most_at(found.names, term, given or {})
        value = most if most is not None and most <= MAX_UNWINDING else None
    return value


def _total(
    term: t.Term | None, when: t.Condition, found: FunctionBound, given: Values | None
) -> tuple[int | None, bool]:
    """As :func:`_value`, and whether it is the number at these values, not the greatest for all."""
    return _value(term, when, found, given), number_at(found.names, term, when, given) is not None


def facts_of_run(
    entry: FunctionBound, loops: Sequence[RunBound], given: Values | None
) -> tuple[list[FlowFact], list[str]]:
    """As :func:`facts`, for the loops of a run of the program."""
    found: list[FlowFact] = []
    for run in loops:
        most = _of_any_entry(run, entry, given)
        total, is_value = _total(run.total, t.TRUE, entry, given)
        exact = is_value and run.exact
        from_header = all(copy.from_header for copy in run.copies)
        found.append(FlowFact(run.loop.file, run.loop.line, 0, most, total, exact, from_header))
    without = [run for run, fact in zip(loops, found, strict=True) if fact.most is None]
    return found, [_why_missing_in_run(run, entry, given) for run in without]


def _of_any_entry(run: RunBound, entry: FunctionBound, given: Values | None, *, unwound: bool = False) -> int | None:
    """A number of iterations that no entry exceeds: none takes more than all together."""
    terms = [term for term in (run.any_entry, run.total) if not (unwound and _by_type(term))]
    values = [_value(term, t.TRUE, entry, given) for term in terms]
    return min((value for value in values if value is not None), default=None)


def unwindset_of_run(entry: FunctionBound, loops: Sequence[RunBound], given: Values | None) -> tuple[str, list[str]]:
    """As :func:`unwindset`, for the loops of a run of the program."""
    numbers = [(run, _of_any_entry(run, entry, given, unwound=True)) for run in loops]
    limits = [f"{run.loop.function}.{run.number}:{most + 1}" for run, most in numbers if most is not None]
    missing = [_why_missing_in_run(run, entry, given) for run, most in numbers if most is None]
    return ("--unwindset " + ",".join(limits) if limits else ""), missing
