"""Loops that a signed overflow ends: what they would do if the values beside their control had no largest number.

C leaves undefined what a run does behind a signed overflow, so a counter beside a loop (``count++``) bounds it by the
letter: at most INT_MAX iterations. Who asks for bounds wants to know that the loop hangs, and that its counter
overflows only because of that. So loops whose bound is as large as a type are asked about once more, in the function
without overflow checks (:mod:`loopless.flowgraph.exact_arithmetic`): where it never ends there, it never ends here
either, or meets that overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from loopless import terms as t
from loopless.bounds import Claim
from loopless.bounds.model import by_types, least, reads
from loopless.check.interpreter.relevance import controlling
from loopless.flowgraph.exact_arithmetic import OVERFLOW, as_typed, overflow_checks
from loopless.flowgraph.model import Check, Flowgraph, LoopInfo
from loopless.graphs import predecessors, reachable
from loopless.logic import feasible
from loopless.queries.bounds.answers import FunctionBound, LoopIterations, OverflowEnd
from loopless.queries.jobs.effort import inductions_of
from loopless.queries.loops.never_ending import undecided
from loopless.queries.program import AnalyzedFunction, AnalyzedLoop
from loopless.refusals import Refused

Bounded = Callable[[Sequence[AnalyzedFunction]], Sequence[FunctionBound]]
"""How functions are bounded."""


def with_overflow_ends(
    functions: Sequence[AnalyzedFunction], found: Sequence[FunctionBound], bounded: Bounded
) -> list[FunctionBound]:
    """The bounds of the functions, and of their loops which a signed overflow ends: first of a counter beside control,
    then of any variable.
    """
    answers = list(found)
    for of_control in (False, True):
        asked = [
            at
            for at, (function, answer) in enumerate(zip(functions, answers, strict=True))
            if _is_open(function, [loop for loop, _ in _suspects(function, answer, of_control=of_control)], of_control)
        ]
        without = [functions[at].in_exact_arithmetic if of_control else functions[at].without_overflow for at in asked]
        for at, exact, answer in zip(asked, without, bounded(without) if without else (), strict=True):
            answers[at] = _compared(functions[at], answers[at], exact, answer, of_control=of_control)
    return answers


def _is_open(function: AnalyzedFunction, suspects: Sequence[AnalyzedLoop], of_control: bool) -> bool:  # noqa: FBT001
    """Whether one of the loops may have no bound without overflow, as far as is known without a search."""
    if not suspects or not of_control:
        return bool(suspects)
    counted = inductions_of(function.in_exact_arithmetic)
    return any(loop.name not in counted or least(counted[loop.name].bounds) is None for loop in suspects)


def _suspects(
    function: AnalyzedFunction, found: FunctionBound, *, of_control: bool
) -> Iterator[tuple[AnalyzedLoop, Sequence[Check]]]:
    """The loops whose bound may rest on the overflow of a counter beside control, or ``of_control`` where it rests on
    no such one, with the checks of it.
    """
    graph = function.graph()
    if isinstance(graph, Refused):
        return
    counts = {one.answer.loop.name: one for one in found.counts}
    asked = [loop for loop in function.loops if loop.id.info is not None and loop.name in counts]
    if of_control:
        asked = [loop for loop in asked if counts[loop.name].ends_by_overflow is None]
        asked = [loop for loop in asked if _rests_on_types(counts[loop.name].entry)]
    else:
        asked = [loop for loop in asked if _may_rest_on_overflow(counts[loop.name])]
    control = controlling(graph) if asked and not of_control else ()
    for loop in asked:
        info = loop.id.info
        assert info is not None
        if any(True for _ in overflow_checks(graph, info.blocks, control)):
            # What overflows on the way to the loop is not there in the other function, either.
            yield loop, tuple(overflow_checks(graph, _on_the_way(graph, info, of_control=of_control), control))


def _on_the_way(graph: Flowgraph, loop: LoopInfo, *, of_control: bool) -> list[str]:
    """The blocks of the loop and those from which a way leads there, without those outside of all loops where their
    checks stay.
    """
    before = predecessors({label: block.successors for label, block in graph.blocks.items()})
    found = set(reachable((loop.header,), lambda label: before[label])) | set(loop.blocks)
    if not of_control:
        found &= {label for one in graph.loops for label in one.blocks}
    return sorted(found)


def _may_rest_on_overflow(counts: LoopIterations) -> bool:
    """Whether a bound is as large as a type, or none is known beside a summary that meets overflows."""
    if counts.entry.never is t.TRUE:
        return False
    for claim in (counts.entry, counts.call):
        if claim.upper is not None and by_types(claim.upper):
            return True
    summary = counts.answer.summary
    return summary is not None and any(region.kind == OVERFLOW for region in summary.undefined)


def _compared(
    function: AnalyzedFunction,
    found: FunctionBound,
    exact: AnalyzedFunction,
    answer: FunctionBound,
    *,
    of_control: bool,
) -> FunctionBound:
    graph, wide = function.graph(), exact.graph()
    if isinstance(graph, Refused) or isinstance(wide, Refused):
        return found
    typed = as_typed(wide)
    without = {one.answer.loop.name: one for one in answer.counts}
    checks = {loop.name: checks for loop, checks in _suspects(function, found, of_control=of_control)}
    counts = []
    for one in found.counts:
        name = one.answer.loop.name
        if name in checks and name in without:
            end = _end(graph, checks[name], one, without[name], typed, of_control=of_control)
            one = replace(one, ends_by_overflow=end)
        counts.append(one)
    return replace(found, counts=tuple(counts))


def _end(
    graph: Flowgraph,
    checks: Sequence[Check],
    counts: LoopIterations,
    without: LoopIterations,
    typed: dict[t.Var, t.Term],
    *,
    of_control: bool,
) -> OverflowEnd | None:
    """What the loop does without its overflow that it does not do with it; None where that is nothing."""
    known = frozenset(graph.variables)
    entry, call = (
        _hidden(claim.never, plain.never, typed, known)
        for claim, plain in ((without.entry, counts.entry), (without.call, counts.call))
    )
    if of_control:  # a search that leaves the memory is ended by that, whatever counts its steps
        entry, call = (t.FALSE if reads(states) else states for states in (entry, call))
    rests = _rests_on_types(counts.entry) and (without.entry.upper is None or without.entry.has_gap)
    # Of what aggregates say it may not be decided whether any input does so.
    rests = rests or undecided(entry) or undecided(call)
    if undecided(entry):
        known_states = t.disjunction(one.condition for one in without.recurrent if not one.chosen)
        entry = _hidden(known_states, counts.entry.never, typed, known)
    entry, call = (t.FALSE if undecided(states) else states for states in (entry, call))
    if entry is t.FALSE and call is t.FALSE and not rests:
        return None
    places = tuple(dict.fromkeys(str(check.loc) for check in checks if check.loc is not None))
    return OverflowEnd(entry, call, without.entry.entered, _counters(graph, checks), places, of_control)


def _rests_on_types(claim: Claim) -> bool:
    return claim.upper is not None and not claim.has_gap and by_types(claim.upper)


def _hidden(never: t.Condition, plain: t.Condition, typed: dict[t.Var, t.Term], known: frozenset[t.Var]) -> t.Condition:
    """Of the states from which the loop never ends without overflow, those of which the other bound does not say so."""
    states = t.substitute(never, typed)
    if states is t.FALSE or not states.variables <= known:
        return t.FALSE
    hidden = states if plain is t.FALSE else states & ~plain
    return hidden if hidden is not t.FALSE and feasible(hidden) else t.FALSE


def _counters(graph: Flowgraph, checks: Sequence[Check]) -> tuple[str, ...]:
    """The source names of what overflows, as far as each check speaks of one variable."""
    names = dict.fromkeys(
        graph.variables[var].shown
        for check in checks
        if len(check.condition.variables) == 1
        for var in check.condition.variables
        if var in graph.variables
    )
    return tuple(name for name in names if name)
