"""Nested loops, inside out: the summary of an inner loop is a step of the paths around it (LoopSCC, section 4.2).

A loop whose summary is not complete is looked at again under what is known where it is entered, such as that a counter
starts at 0, and under what of that stays true, such as that it is not negative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

from loopless.flowgraph.model import Flowgraph, LoopInfo
from loopless.logic import BudgetExceeded, budget
from loopless.paths import Exit, Inner, InnerStep, LoopPaths, NoPaths, Path, loop_paths
from loopless.paths.context import entry_facts
from loopless.refusals import Refused
from loopless.summary.methods.bounded_unrolling import unfolded
from loopless.summary.model import Outcome, Summary
from loopless.summary.portfolio import settled, summarize
from loopless.summary.rewrite.entry import entered_with, inductive
from loopless.summary.transitions.system import mentions
from loopless.terms import (
    FALSE,
    TRUE,
    Compare,
    Condition,
    Const,
    Sum,
    Term,
    TermTooLarge,
    Var,
    conjunction,
    conjuncts,
    from_polynomial,
    greater_equal,
    less_equal,
    negate,
    polynomial,
    sub,
    walk,
)

OPERATIONS: Final = 2_000_000
"""isl's operations for saying where a loop is entered, and for a loop that leaves soon from there."""
AGAIN: Final = 40_000_000
"""isl's operations for looking at a loop again."""


@dataclass(frozen=True, slots=True)
class _Question:
    """An inner loop, the variables whose values behind it matter, whether all its checks do, and what it may assume."""

    header: str
    used: tuple[Var, ...]
    all_checks: bool
    given: Condition


@dataclass(slots=True)
class Known:
    """What is known of the inner loops of one function: loops around the same one often ask the same."""

    paths: dict[_Question, LoopPaths | NoPaths] = field(default_factory=dict)
    outcomes: dict[_Question, Outcome] = field(default_factory=dict)

    def apart(self) -> Known:
        """A copy to work with under a budget, under which less may be found."""
        return Known(dict(self.paths), dict(self.outcomes))


def paths_of(
    graph: Flowgraph,
    loop: LoopInfo,
    interest: Iterable[Var] | None = None,
    *,
    all_checks: bool | None = None,
    given: Condition = TRUE,
    known: Known | None = None,
) -> LoopPaths | NoPaths:
    """As :func:`loopless.paths.loop_paths`, with the loops inside summarized first.

    ``known``: what was found for other loops of ``graph``; what is found is put there.
    """
    inside = known if known is not None else Known()

    def inner(within: LoopInfo, used: tuple[Var, ...], context: Condition, checks: bool) -> Inner | Refused:  # noqa: FBT001  passed on
        outcome = _in_context(graph, within, _Question(within.header, used, checks, TRUE), context, inside)
        return outcome if isinstance(outcome, Refused) else _steps(outcome, graph)

    return loop_paths(graph, loop, interest, inner, all_checks=all_checks, given=given)


def _in_context(graph: Flowgraph, loop: LoopInfo, asked: _Question, context: Condition, known: Known) -> Outcome:
    """The summary of an inner loop that is entered in states of ``context`` only, which is all that it need cover."""
    kept = _kept(_inner_paths(graph, loop, asked, known), context)
    if kept is TRUE:
        return _outcome(graph, loop, asked, known)
    found = _outcome(graph, loop, replace(asked, given=kept), known)
    if isinstance(found, Summary) and found.complete:
        return found
    return _outcome(graph, loop, asked, known) if isinstance(found, Refused) else found


def _inner_paths(graph: Flowgraph, loop: LoopInfo, asked: _Question, known: Known) -> LoopPaths | NoPaths:
    found = known.paths.get(asked)
    if found is None:
        found = paths_of(graph, loop, asked.used, all_checks=asked.all_checks, given=asked.given, known=known)
        known.paths[asked] = found
    return found


def _outcome(graph: Flowgraph, loop: LoopInfo, asked: _Question, known: Known) -> Outcome:
    found = known.outcomes.get(asked)
    if found is None:
        found = known.outcomes[asked] = summarize(_inner_paths(graph, loop, asked, known))
    return found


def from_entry(
    graph: Flowgraph,
    paths: LoopPaths,
    outcome: Outcome,
    interest: Iterable[Var] | None = None,
    known: Known | None = None,
) -> tuple[LoopPaths, Outcome]:
    """Where ``outcome``, the summary by ``paths``, is not complete: paths and a summary of the states in which the
    program enters the loop, if that is complete, or the only one.
    """
    if isinstance(outcome, Summary) and outcome.complete:
        return paths, outcome
    try:
        facts = conjunction(fact for fact in conjuncts(entry_facts(graph, paths.loop)) if _is_plain(fact))
        entered = _about(paths, facts)
        if entered is TRUE:
            return paths, outcome
        if isinstance(outcome, Summary):
            with budget(OPERATIONS):
                found = entered_with(outcome, entered)
            if found.complete:
                return paths, found
    except (BudgetExceeded, TermTooLarge):
        return paths, outcome
    other = _under_what_stays(graph, paths, facts, entered, interest, known)
    if other is not None and other[1].complete:
        return other
    short = _of_few_iterations(paths, entered)
    if short is not None:
        return paths, short
    return other if other is not None and isinstance(outcome, Refused) else (paths, outcome)


def _under_what_stays(
    graph: Flowgraph,
    paths: LoopPaths,
    facts: Condition,
    entered: Condition,
    interest: Iterable[Var] | None,
    known: Known | None,
) -> tuple[LoopPaths, Summary] | None:
    """Paths and a summary of a loop that is entered under ``facts``, by those of them that stay true."""
    try:
        with budget(OPERATIONS):
            kept = _kept(paths, facts)
        if kept is TRUE:
            return None
        inside = known.apart() if known is not None else None
        with budget(AGAIN):
            narrow = paths_of(graph, paths.loop, interest, given=kept, known=inside)
            other = summarize(narrow)
            if isinstance(other, Refused) or isinstance(narrow, NoPaths):
                return None
        with budget(OPERATIONS):
            return narrow, entered_with(other, conjunction((entered, _about(narrow, facts))))
    except (BudgetExceeded, TermTooLarge):
        return None


def _of_few_iterations(paths: LoopPaths, entered: Condition) -> Summary | None:
    """The summary of a loop that leaves after few iterations where ``entered`` holds; None if it is not complete."""
    try:
        with budget(OPERATIONS):
            found = unfolded(paths, entered)
    except BudgetExceeded:
        return None
    found = settled(found) if found is not None else None
    return found if found is not None and found.complete else None


def _about(paths: LoopPaths, facts: Condition) -> Condition:
    """Those of the facts that speak of nothing but variables whose entry values matter."""
    variables = _mattering(paths)
    return conjunction(fact for fact in conjuncts(facts) if fact.variables <= variables)


def _is_plain(fact: Condition) -> bool:
    """Whether a fact is about polynomials, so that every format has words for it."""
    return all(isinstance(node, Var | Const | Sum | Condition) for node in walk(fact))


def _mattering(paths: LoopPaths) -> set[Var]:
    """The variables whose values at the header are read, or are those at an exit."""
    found: set[Var] = set()
    for path in paths.all:
        found |= path.condition.variables | (path.outputs - path.update.keys())
        terms = (*path.update.values(), *((path.result,) if path.result is not None else ()))
        found |= {var for term in terms for var in term.variables}
    return found


def _kept(paths: LoopPaths | NoPaths, facts: Condition) -> Condition:
    """Which of the ``facts`` stay true in all iterations; true where they say nothing of what moves."""
    if isinstance(paths, NoPaths):
        return TRUE
    deciding = _deciding(paths) & _mattering(paths)
    candidates: dict[Condition, None] = {}
    for fact in conjuncts(facts):
        for part in (fact, *_weaker(fact)):
            if part.variables <= deciding:
                candidates.setdefault(part)
    kept = inductive(paths, candidates)
    return conjunction(kept) if any(part.variables & set(paths.state) for part in kept) else TRUE


def _deciding(paths: LoopPaths) -> frozenset[Var]:
    """The variables by which paths are chosen, checks aside, and that move by constants or by others of these, and all
    that do not move.
    """
    undefined = [path for path in paths.exits if path.exit is not None and path.exit.kind == "undefined"]
    found: set[Var] = set(paths.invariants)
    for path in paths.all:
        if path in undefined:
            continue
        for part in conjuncts(path.condition):
            if not any(mentions(other.condition, negate(part)) for other in undefined):
                found |= part.variables
    known = set(paths.invariants)
    while True:
        more = {v for v in found - known if all(_is_step(path, v, known) for path in paths.iterative)}
        if not more:
            return frozenset(known & found)
        known |= more


def _is_step(path: Path, var: Var, known: Collection[Var]) -> bool:
    """Whether a path adds to ``var`` what depends on ``known`` variables only."""
    try:
        return sub(path.update.get(var, var), var).variables <= frozenset(known)
    except TermTooLarge:
        return False


def _weaker(fact: Condition) -> tuple[Condition, ...]:
    """For x == c what may stay true while x moves: x >= c, x <= c."""
    if not isinstance(fact, Compare) or fact.relation != "eq" or len(fact.variables) != 1:
        return ()
    (var,) = fact.variables
    poly = polynomial(fact.term)
    if poly.pop(((var, 1),), 0) != 1:
        return ()
    value: Term = from_polynomial({monomial: -factor for monomial, factor in poly.items()})
    return (greater_equal(var, value), less_equal(var, value)) if isinstance(value, Const) else ()


def _steps(summary: Summary, graph: Flowgraph) -> Inner:
    """What a loop does, as a step of a path around it."""
    loop = summary.loop
    names = {other.name for other in graph.loops if other.header in loop.blocks}
    steps: list[InnerStep] = []
    for case in summary.cases:
        counts = {loop.name: case.iterations, **case.totals}
        steps.append(InnerStep(case.when, case.then, case.exit, counts, frozenset(names - counts.keys()), case.result))
    if summary.diverges is not FALSE:
        steps.append(InnerStep(summary.diverges, {}, Exit("endless", loop.line, loop.header), {}))
    for undefined in summary.undefined:
        exit = Exit("undefined", undefined.line, loop.header, detail=undefined.kind)
        steps.append(InnerStep(undefined.when, {}, exit, {}))
    for residual in summary.residual:
        exit = Exit("unknown", loop.line, loop.header, detail=residual.why.detail, refused=residual.why)
        steps.append(InnerStep(residual.when, {}, exit, {}))
    return Inner(tuple(steps), frozenset(summary.paths.shown), summary.assumptions)
