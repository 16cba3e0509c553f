"""A loop summarized anew under what holds where the program enters it and stays true in all iterations.

That a counter starts at 0 and is never negative makes paths impossible, and conditions linear.
"""

from __future__ import annotations

from collections.abc import Collection

from loopless import terms as t
from loopless.limits.summary import ENTERED_LOOP_OPERATIONS, ENTRY_INVARIANT_OPERATIONS
from loopless.logic import budget
from loopless.paths import LoopPaths, NoPaths, Path
from loopless.paths.invariants import inductive
from loopless.portfolio import Method, NoAnswer, Tried
from loopless.refusals import Refused
from loopless.summary.entry import Entry, EntrySummary
from loopless.summary.rewrite.entry import entered_with
from loopless.summary.transitions.system import mentions
from loopless.terms.relation import added


def about(paths: LoopPaths, facts: t.Condition) -> t.Condition:
    """What the facts say of nothing but variables whose entry values matter."""
    variables = _mattering(paths)
    parts = list(t.conjuncts(facts))
    for var in sorted(facts.variables - variables):
        equation = next((part for part in parts if _value(part, var) is not None), None)
        if equation is not None:
            value = {var: _value(equation, var) or var}
            parts = [t.substitute(part, value) for part in parts if part is not equation]
    return t.conjunction(fact for fact in parts if fact.variables <= variables)


def _value(fact: t.Condition, var: t.Var) -> t.Term | None:
    """The value that an equation gives to a variable."""
    if not isinstance(fact, t.Compare) or fact.relation != "eq":
        return None
    poly = t.polynomial(fact.term)
    factor = poly.pop(((var, 1),), 0)
    rest: t.Term = t.from_polynomial({monomial: -factor * other for monomial, other in poly.items()})
    return rest if abs(factor) == 1 and var not in rest.variables else None


def _mattering(paths: LoopPaths) -> set[t.Var]:
    """The variables whose values at the header are read, or are those at an exit."""
    found: set[t.Var] = set()
    for path in paths.all:
        found |= path.condition.variables | (path.outputs - path.update.keys())
        terms = (*path.update.values(), *((path.result,) if path.result is not None else ()))
        found |= {var for term in terms for var in term.variables}
    return found


def inductive_facts(paths: LoopPaths | NoPaths, facts: t.Condition) -> t.Condition:
    """Which of the ``facts`` stay true in all iterations; true where they say nothing of what moves."""
    if isinstance(paths, NoPaths):
        return t.TRUE
    kept = lasting_facts(paths, facts, _deciding(paths) & _mattering(paths))
    return t.conjunction(kept) if any(part.variables & set(paths.state) for part in kept) else t.TRUE


def lasting_facts(
    paths: LoopPaths, facts: t.Condition, variables: Collection[t.Var] | None = None
) -> tuple[t.Condition, ...]:
    """Which of the ``facts``, and of weaker ones, about ``variables`` (None: those whose entry values matter) stay true
    in all iterations.
    """
    about_these = frozenset(_mattering(paths) if variables is None else variables)
    candidates: dict[t.Condition, None] = {}
    for fact in t.conjuncts(facts):
        for part in (fact, *_weaker(fact)):
            if part.variables <= about_these:
                candidates.setdefault(part)
    return tuple(inductive(paths, candidates))


def _deciding(paths: LoopPaths) -> frozenset[t.Var]:
    """The variables by which paths are chosen, checks aside, and that move by constants or by others of these, and all
    that do not move.
    """
    undefined = [path for path in paths.exits if path.exit is not None and path.exit.kind == "undefined"]
    found: set[t.Var] = set(paths.invariants)
    for path in paths.all:
        if path in undefined:
            continue
        for part in t.conjuncts(path.condition):
            if not any(mentions(other.condition, ~part) for other in undefined):
                found |= part.variables
    known = set(paths.invariants)
    while True:
        more = {v for v in found - known if all(_is_step(path, v, known) for path in paths.iterative)}
        if not more:
            return frozenset(known & found)
        known |= more


def _is_step(path: Path, var: t.Var, known: Collection[t.Var]) -> bool:
    """Whether a path adds to ``var`` what depends on ``known`` variables only."""
    try:
        return added(path, var).variables <= frozenset(known)
    except t.TermTooLarge:
        return False


def _weaker(fact: t.Condition) -> tuple[t.Condition, ...]:
    """For x == c what may stay true while x moves: x >= c, x <= c."""
    if not isinstance(fact, t.Compare) or fact.relation != "eq" or len(fact.variables) != 1:
        return ()
    (var,) = fact.variables
    poly = t.polynomial(fact.term)
    if poly.pop(((var, 1),), 0) != 1:
        return ()
    value: t.Term = t.from_polynomial({monomial: -factor for monomial, factor in poly.items()})
    return (var.ge(value), var.le(value)) if isinstance(value, t.Const) else ()


def _run(question: Entry, _: Tried[EntrySummary]) -> EntrySummary:
    with budget(ENTRY_INVARIANT_OPERATIONS):
        kept = inductive_facts(question.paths, question.facts)
    if kept is t.TRUE:
        raise NoAnswer
    with budget(ENTERED_LOOP_OPERATIONS):
        narrow, other = question.narrowed(kept)
    if isinstance(other, Refused) or isinstance(narrow, NoPaths):
        raise NoAnswer(other if isinstance(other, Refused) else None)
    with budget(ENTRY_INVARIANT_OPERATIONS):
        found = entered_with(other, question.entered & about(narrow, question.facts))
    return EntrySummary(narrow, found)


METHOD = Method("entry invariants", "ours; inductive subsets as Houdini's (Flanagan and Leino, FME 2001)", _run)
"""The answer keeps the name of the method that gave the summary under the invariants."""
