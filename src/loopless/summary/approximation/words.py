"""Relations in few words: equalities solved, and what only the ends of types say left out, which makes them larger."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from loopless.logic import Region
from loopless.summary.model import Case
from loopless.terms import (
    INTEGERS,
    TRUE,
    Compare,
    Condition,
    Term,
    Var,
    conjunction,
    conjuncts,
    disjunction,
    disjuncts,
    polynomial,
    substitute,
)

_LARGE: Final = 1 << 28
"""Numbers from here on come from the ends of types. A guess."""
_MOST_ARMS: Final = 3
"""A relation of more alternatives is enlarged to its convex hull. A guess."""


def written(case: Case, region: Region, entry: Region) -> Case:
    """The case with the facts that ``region`` says, where the entry values are in ``entry``, and with free variables
    that equalities determine in terms of others.
    """
    counters = [var for var in case.free if var.type is INTEGERS]
    values = [var for var in case.free if var.type is not INTEGERS]
    found = region.equalities([*values, *counters])
    solved: dict[Var, Term] = {var: term for var, term in found.items() if var in case.free}
    left = tuple(var for var in case.free if var not in solved)
    facts = _facts(region.gist(entry), frozenset(counters))
    solved_facts = substitute(facts, solved)
    return replace(
        case,
        then={var: substitute(term, solved) for var, term in case.then.items()},
        iterations=substitute(case.iterations, solved),
        per_path={path: substitute(term, solved) for path, term in case.per_path.items()},
        result=substitute(case.result, solved) if case.result is not None else None,
        free=left,
        facts=solved_facts,
    )


def _facts(region: Region, counters: frozenset[Var]) -> Condition:
    condition = larger(region.joined().rough_condition(), counters)
    if len(disjuncts(condition)) <= _MOST_ARMS and len(list(_arms(condition))) <= _MOST_ARMS:
        return condition
    return larger(region.hull().rough_condition(), counters)


def _arms(condition: Condition) -> Iterable[Condition]:
    for part in conjuncts(condition):
        if len(disjuncts(part)) > 1:
            yield from disjuncts(part)


def larger(condition: Condition, counters: frozenset[Var]) -> Condition:
    """``condition`` without the conjuncts that speak of large numbers, but for those that bound sums of counters: it
    holds at least where the condition does.
    """
    arms = disjuncts(condition)
    if len(arms) > 1:
        return disjunction(larger(arm, counters) for arm in arms)
    kept: list[Condition] = []
    for part in conjuncts(condition):
        if len(disjuncts(part)) > 1:
            kept.append(disjunction(larger(arm, counters) for arm in disjuncts(part)))
        elif not _is_large(part, counters):
            kept.append(part)
    return conjunction(kept) if kept else TRUE


def _is_large(part: Condition, counters: frozenset[Var]) -> bool:
    if not isinstance(part, Compare):
        return False
    factors = polynomial(part.term)
    if any(abs(factor) >= _LARGE for monomial, factor in factors.items() if monomial):
        return True
    return abs(factors.get((), 0)) >= _LARGE and not part.variables & counters
